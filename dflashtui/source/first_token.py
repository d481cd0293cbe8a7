"""When an answer really begins. Pure."""

from __future__ import annotations

SHORTEST_ECHO = 8
"""Characters: a shorter prompt may well begin its own answer."""


class FirstToken:
    """Some servers stream the prompt back before they compute (seen: `transformers serve` 5.17): that is no token."""

    def __init__(self, prompt: str) -> None:
        self._prompt = prompt.strip()
        self._text = ""
        self._first: float | None = None
        self._beyond: float | None = None
        """When the first piece came that reaches beyond the prompt."""

    def take(self, text: str, at: float, *, is_thought: bool = False) -> None:
        """A piece with text in it, by the monotonic clock in seconds."""
        self._first = at if self._first is None else self._first
        if self._beyond is not None:
            return
        self._text += text
        said = self._text.strip()
        if is_thought or not self._prompt.startswith(said[: len(self._prompt)]) or len(said) > len(self._prompt):
            self._beyond = at

    @property
    def is_echoed(self) -> bool:
        """Whether the answer begins with the whole prompt."""
        return len(self._prompt) >= SHORTEST_ECHO and self._text.lstrip().startswith(self._prompt)

    @property
    def seconds(self) -> float | None:
        """When the first token of its own came; `None`: none has."""
        return self._beyond if self.is_echoed else self._first
