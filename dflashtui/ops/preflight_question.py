"""What every check of a preflight is asked about: one unit on one host, its command taken apart once for all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflashtui.config.model import Config, Host, Unit
    from dflashtui.model.sample import HostSample
    from dflashtui.transport.base import Transport


@dataclass(frozen=True, slots=True)
class Question:
    """One unit on one host."""

    config: Config
    unit: Unit
    host: Host
    transport: Transport
    unit_text: str
    """The unit file: as rendered, or with its drop-ins as the host has it."""
    argv: tuple[str, ...]
    """`ExecStart=` as the program gets it, `$VARIABLE` not yet replaced; empty: the unit has none."""
    interpreter: str | None
    """The Python that runs the unit: the first word of `argv`, else its script's, else the inventory's."""
    user: str | None
    """`User=`; `None`: root, or the user of the user manager."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """`Environment=` and the readable files of `EnvironmentFile=`. Values may be secrets."""
    working_directory: str | None = None
    gpu_sample: HostSample | None = None
    """The host's GPUs, memory and clock at this moment; `None`: could not be read."""
    survey_seconds: float = 25.0
    """How long a program on the host may look; what it has found by then is taken."""
    keeps: bool = True
    """Whether the host may keep what was read of its files, for the next look."""
