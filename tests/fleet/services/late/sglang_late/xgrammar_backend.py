"""Needs a name that xgrammar has from 0.1.25 on."""

from xgrammar import StructuralTag  # type: ignore[import-not-found] # only on the test hosts

__all__ = ["StructuralTag"]
