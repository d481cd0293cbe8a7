"""What one real completion proved about a service."""

from __future__ import annotations

from dflashtui.model.base import Value
from dflashtui.model.generation import Generation, Outcome


class SmokeResult(Value):
    """The end of a smoke test."""

    host: str
    unit: str
    url: str
    """Where the completion was asked for."""
    generation: Generation
    model: str | None = None
    """The name that was asked for."""
    served: tuple[str, ...] = ()
    """The names that `/v1/models` gave."""
    expected: tuple[str, ...] = ()
    """The names that the inventory or the unit's command allow; empty: not known."""
    is_chat: bool = True
    """False: it has no chat, a plain completion was asked for."""
    trouble: str | None = None
    """Why a completion that came does not count: the model is another one."""

    @property
    def is_proven(self) -> bool:
        """A completion came, and the right model gave it."""
        return self.generation.is_ok and self.trouble is None

    @property
    def verdict(self) -> str:
        """`proven`, `wrong-model`, or the word of the outcome."""
        if not self.generation.is_ok:
            return self.generation.outcome.value
        return "wrong-model" if self.trouble else "proven"

    @property
    def words(self) -> str:
        """Why, in a sentence."""
        return self.trouble or self.generation.words or "it answered, and the model is the right one"

    @property
    def is_locked(self) -> bool:
        """It asks for another key."""
        return self.generation.outcome is Outcome.UNAUTHORISED
