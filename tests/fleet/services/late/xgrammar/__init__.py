"""A stand-in for xgrammar 0.1.10."""

__version__ = "0.1.10"
