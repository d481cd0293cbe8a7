"""A unit that failed, its journal, and the host's answers."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

from dflashtui.config.model import Config, Unit
from dflashtui.model.journal import JournalEntry
from dflashtui.model.unit import ActiveState, Readiness
from dflashtui.transport.base import Completed
from tests.tui.stage import READY, ago, config_of, host, unit

if TYPE_CHECKING:
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.unit import UnitStatus
    from tests.tui.fake import FakeFleet

PYTHON = "/root/venv/bin/python"
RUN, NEXT_RUN = "a" * 32, "b" * 32
UNIT = "sglang-smoke.service"
SITE = "/root/venv/lib/python3.12/site-packages"
TRACEBACK = (
    "Traceback (most recent call last):",
    f'  File "{SITE}/sglang/launch_server.py", line 36, in run_server',
    "    from sglang.srt.entrypoints.http_server import launch_server",
    f'  File "{SITE}/sglang/srt/entrypoints/openai/streaming_asr.py", line 21, in <module>',
    "    import soundfile as sf",
    "ModuleNotFoundError: No module named 'soundfile'",
)


def crashed(**values: object) -> UnitStatus:
    usual: dict[str, object] = {
        "active_state": ActiveState.FAILED,
        "sub_state": "failed",
        "result": "exit-code",
        "exec_main_code": 1,
        "exec_main_status": 1,
        "main_pid": None,
        "invocation_id": RUN,
        "since": ago(65),
        "started_at": ago(69),
        "exited_at": ago(65),
        "readiness": Readiness.FAILED,
        "readiness_detail": None,
        "memory_current_bytes": None,
        "cpu_percent": None,
    }
    return unit(UNIT, **(usual | values))


def host_with(*units: UnitStatus, **values: object) -> HostSnapshot:
    return host("h-crash", units=(READY, *units), **values)


def entries(*texts: str, run: str = RUN, first: int = 0) -> tuple[JournalEntry, ...]:
    return tuple(
        JournalEntry(
            cursor=f"s=a;i={first + number:x};b=b;m=0;t={first + number:x};x=0",
            at=ago(65) + timedelta(milliseconds=number),
            message=text,
            unit=UNIT,
            invocation_id=run,
            pid=7,
            transport="stdout",
        )
        for number, text in enumerate(texts)
    )


def inventory(snapshot: HostSnapshot) -> Config:
    defined = Unit(name=UNIT, hosts=(snapshot.name,), engine="sglang", python=PYTHON, listen="127.0.0.1:30001")
    return config_of(snapshot).model_copy(update={"units": (defined,)})


def environment(**values: object) -> dict[str, object]:
    return {
        "python": "3.12.11",
        "executable": PYTHON,
        "prefix": "/root/venv",
        "is_venv": True,
        "is_externally_managed": False,
        "site": SITE,
        "is_site_writable": True,
        "site_owner": "root",
        "user": "root",
        "has_pip": True,
        "has_ensurepip": True,
        "distributions": {"sglang": {"name": "sglang", "version": "0.5.11"}},
        "pins": [{"by": "sglang", "by_version": "0.5.11", "requirement": "soundfile==0.13.1"}],
    } | values


def prepare(fleet: FakeFleet, *texts: str) -> None:
    """What the host says when it is asked."""
    fleet.journal = entries("loading the model", *(texts or TRACEBACK))
    answer = json.dumps(environment()).encode()
    fleet.answers[PYTHON] = Completed("h-crash", (PYTHON,), 0, answer, b"")
