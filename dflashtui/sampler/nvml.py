"""All GPUs of the host, and the library behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dflashtui.sampler.card import Card, words

if TYPE_CHECKING:
    from dflashtui.sampler.processes import ProcessTable

AGAIN_SECONDS = 60.0


class Nvml:
    """NVML from its start to its end, and again while no GPU answers: a driver may be loaded later.

    It is not started anew for one lost GPU among others: where nothing else keeps a driver awake, that takes
    seconds for each GPU and clears their counters.
    """

    def __init__(self, nvml: Any, processes: ProcessTable) -> None:  # noqa: ANN401 - pynvml
        """`nvml`: the module pynvml."""
        self._nvml = nvml
        self._processes = processes
        self._cards: list[Card] | None = None
        self._again_at = 0.0
        self._facts: dict[str, Any] = {}

    def read(self, now: float) -> dict[str, Any]:
        """`gpus`, `driver_version` and `cuda_driver_version`, or `nvml` with `code` and `words` of what is wrong.

        `now`: seconds of a monotonic clock.
        """
        if now >= self._again_at and all(card.is_lost for card in self._cards or ()):
            self._again_at = now + AGAIN_SECONDS
            self._restart()
        if self._cards is None:
            return self._facts
        try:
            gpus = [card.read(now) for card in self._cards]
        except self._nvml.NVMLError as error:
            self._again_at = now + AGAIN_SECONDS
            self._give_up(error)
            return self._facts
        return {"gpus": self._with_holders(gpus, now), **self._facts}

    def _restart(self) -> None:
        known = [card.known for card in self._cards or ()]
        if self._cards is not None:
            self._shut_down()
        try:
            self._nvml.nvmlInit()
            count = self._nvml.nvmlDeviceGetCount()
        except self._nvml.NVMLError as error:
            self._give_up(error)
            return
        self._cards = [Card(self._nvml, index, known[index] if index < len(known) else None) for index in range(count)]
        self._facts = self._versions()

    def _versions(self) -> dict[str, Any]:
        cuda = self._ask("nvmlSystemGetCudaDriverVersion_v2")
        return {
            "driver_version": self._ask("nvmlSystemGetDriverVersion"),
            "cuda_driver_version": cuda and "%d.%d" % (cuda // 1000, cuda % 1000 // 10),
        }

    def _ask(self, call: str) -> Any:  # noqa: ANN401 - pynvml
        try:
            return getattr(self._nvml, call)()
        except self._nvml.NVMLError:
            return None

    def _give_up(self, error: Any) -> None:  # noqa: ANN401 - pynvml
        self._facts = {"nvml": {"code": error.value, "words": words(self._nvml, error)}}
        self._shut_down()

    def _shut_down(self) -> None:
        """Also after a failed start: each successful `nvmlInit` counts, and a driver in use cannot be unloaded."""
        self._cards = None
        self._ask("nvmlShutdown")

    def _with_holders(self, gpus: list[dict[str, Any]], now: float) -> list[dict[str, Any]]:
        seen: set[int] = set()
        for gpu in gpus:
            pairs = gpu.get("processes")
            if pairs is not None:
                seen.update(pid for pid, _ in pairs)
                gpu["processes"] = [self._process(pid, used, now) for pid, used in pairs]
        self._processes.forget(seen)
        return gpus

    def _process(self, pid: int, used: int | None, now: float) -> dict[str, Any]:
        found: dict[str, Any] = {"pid": pid, **self._processes.facts(pid, now)}
        if used is not None:
            found["memory_used_bytes"] = used
        return found
