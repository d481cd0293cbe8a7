"""Work for a worker of its own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from textual.dom import DOMNode
    from textual.worker import Worker

T = TypeVar("T")


def run_later(
    node: DOMNode,
    group: str,
    work: Callable[..., Coroutine[Any, Any, T]],
    *arguments: object,
    exit_on_error: bool = True,
) -> Worker[T]:
    """Run it in place of what runs in its group.

    The coroutine is made when the worker begins: one that is cancelled before leaves none behind unawaited.
    """
    made: Callable[[], Coroutine[None, None, T]] = partial(work, *arguments)
    worker: Worker[T] = node.run_worker(made, group=group, exclusive=True, exit_on_error=exit_on_error)
    return worker
