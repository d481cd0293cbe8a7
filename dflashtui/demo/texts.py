"""Unit files and properties of simulated services. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.demo.service import NEVER_RESTARTED
from dflashtui.demo.statuses import can_reload, status

if TYPE_CHECKING:
    from dflashtui.demo.service import Service


def unit_file(service: Service) -> str:
    """As `systemctl cat` shows it."""
    plan = service.plan
    reload = "ExecReload=/bin/kill -HUP $MAINPID\n" if can_reload(plan) else ""
    restart = "" if plan.behaviour in NEVER_RESTARTED else "Restart=on-failure\nRestartSec=10\n"
    gpus = ",".join(map(str, plan.gpus))
    return f"""# /etc/systemd/system/{plan.unit}
[Unit]
Description={plan.description}
After=network.target

[Service]
Type=simple
Environment=CUDA_VISIBLE_DEVICES={gpus}
Environment=PYTHONUNBUFFERED=1
ExecStart={plan.command}
{reload}{restart}TimeoutStopSec=60

[Install]
WantedBy=multi-user.target
"""


def properties(service: Service, now: float) -> dict[str, str]:
    """As `systemctl show` words them."""
    plan, unit = service.plan, status(service, now)
    values = {
        "Id": unit.name,
        "Description": unit.description,
        "LoadState": unit.load_state.value,
        "ActiveState": unit.active_state.value,
        "SubState": unit.sub_state,
        "Result": unit.result,
        "UnitFileState": unit.unit_file_state,
        "FragmentPath": unit.fragment_path,
        "MainPID": unit.main_pid or 0,
        "InvocationID": unit.invocation_id,
        "NRestarts": unit.n_restarts,
        "ExecMainCode": unit.exec_main_code,
        "ExecMainStatus": unit.exec_main_status,
        "NeedDaemonReload": "no",
        "ControlGroup": unit.control_group,
        "MemoryCurrent": unit.memory_current_bytes or "[not set]",
        "TasksCurrent": unit.tasks_current or "[not set]",
        "Type": "simple",
        "Restart": unit.restart,
        "RestartUSec": "10s",
        "TimeoutStopUSec": "1min",
        "ExecStart": f"{{ path={plan.command.split()[0]} ; argv[]={plan.command} ; ignore_errors=no }}",
        "Environment": f"CUDA_VISIBLE_DEVICES={','.join(map(str, plan.gpus))} PYTHONUNBUFFERED=1",
        "After": "network.target basic.target sysinit.target system.slice systemd-journald.socket",
        "WantedBy": "multi-user.target",
    }
    return {name: str(value or "") for name, value in values.items()}
