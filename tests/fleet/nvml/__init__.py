"""The NVML stand-in: a C library, its recorded values, and an nvidia-smi over it."""
