"""What became of one start of one unit (contract, part 4: `probe --json`), and the news on the way there."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from dflashtui.model.base import Value
from dflashtui.model.finding import Cause


class Verdict(StrEnum):
    """The words of the contract, and `UNKNOWN`: nobody could look."""

    READY = "ready"
    CRASHED = "crashed"
    FAILED_TO_START = "failed-to-start"
    CRASH_LOOPING = "crash-looping"
    LOADING = "loading"
    SICK = "sick"
    STOPPED = "stopped"
    UNKNOWN = "unknown"


class Phase(Value):
    """A step of an engine's start, as its log tells it."""

    name: str
    """Stable: `import`, `arguments`, `distributed`, `weights`, `compile`, `kv-cache`, `graphs`, `http`, …"""
    words: str
    """For people: `capturing CUDA graphs`."""
    part: str | None = None
    """`target` or `draft`, where a model is loaded twice."""
    percent: int | None = None
    """What the engine's own bar says; never falls within a phase."""

    @property
    def key(self) -> str:
        """The phase without its progress: `weights:draft`."""
        return f"{self.name}:{self.part}" if self.part else self.name


class PhaseTime(Value):
    """When a phase began, and how long it took or has taken."""

    phase: Phase
    began_seconds: float
    """After the run's start."""
    seconds: float | None = None
    """`None`: it goes on."""
    usual_seconds: float | None = None
    """In the last good start of this unit on this host."""


class GoodStart(Value):
    """The last start that became ready: what later ones are compared with."""

    at: datetime
    seconds: float
    """From the start to ready."""
    phases: tuple[PhaseTime, ...] = ()


class SignsOfLife(Value):
    """Whether a silent process works; `None`: not known."""

    cpu_percent: float | None = None
    """Of one core, newest sample."""
    cpu_seconds: float | None = None
    """Used by the run so far."""
    memory_bytes: int | None = None
    """Of its control group."""
    gpu_memory_bytes: int | None = None
    """Held on all GPUs by the unit's processes."""
    gpu_memory_grown_bytes: int | None = None
    """Since the probe first saw it."""
    last_line_at: datetime | None = None


class ProbeUpdate(Value):
    """Something new while a start is watched. A front end draws the newest; `result` comes last, perhaps twice."""

    host: str
    unit: str
    elapsed_seconds: float
    witness: str
    """Who said it: `bus`, `journal`, `readiness`, `kernel`, `link`, `clock`."""
    words: str
    """What is going on, in a few words."""
    phase: PhaseTime | None = None
    suspected: Cause | None = None
    """An early cause; `None` again: withdrawn, the service went on."""
    result: ProbeResult | None = None
    """The verdict. A second one corrects the first: more lines arrived after the unit's end."""


class ProbeResult(Value):
    """The end of a probe."""

    host: str
    unit: str
    verdict: Verdict
    words: str
    """Why, in a sentence."""
    elapsed_seconds: float
    invocation_id: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    """`KILL`, `SEGV`, … without `SIG`."""
    cause: Cause | None = None
    others: tuple[Cause, ...] = ()
    """Further failures of the same run, that followed or stood beside."""
    phase: PhaseTime | None = None
    """The last one that began."""
    phases: tuple[PhaseTime, ...] = ()
    usual_seconds: float | None = None
    """From start to ready, the last time that it went well."""
    life: SignsOfLife | None = None
    superseded_by: str | None = None
    """The invocation that somebody else began meanwhile."""
    neighbours: tuple[str, ...] = ()
    """What the kernel said about this unit's processes and GPUs: Xids, kills for want of memory."""
    lines: tuple[str, ...] = ()
    """The last lines of the run, as they were written: not yet `printable()`."""
    is_complete: bool = True
    """False: what was read at once; more lines may follow."""


ProbeUpdate.model_rebuild()
