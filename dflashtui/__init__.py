"""The operations console for LLM inference engines on GPU hosts."""

__version__ = "0.1.0"
