"""The processors; the audio one needs a module that the hosts do not have."""
