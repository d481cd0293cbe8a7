"""Reads audio."""

import io

import soundfile  # type: ignore[import-not-found]  # missing on purpose: this is the failure that tests look for


def load_audio(data: bytes) -> object:
    """Samples and rate."""
    return soundfile.read(io.BytesIO(data))
