"""What the launcher imports."""

from .multimodal.audio import load_audio


def run_server() -> None:
    """Never reached on a host without the module soundfile."""
    load_audio(b"")
