"""One file a deployment, kept in the state folder: whole at every moment, brought up to date with every step."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

from dflashtui.mask import masked_in
from dflashtui.model.deploy import DeployRecord
from dflashtui.ops.audit import who
from dflashtui.ops.state_files import replace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dflashtui.model.deploy import HostDeploy

FOLDER = "deploys"
RECORDS_KEPT = 100
NAME_LIMIT = 200


class DeployLog:
    """The record of one deployment; rows stand in the order of the hosts."""

    def __init__(self, folder: Path, unit: str, hosts: Sequence[str]) -> None:
        """`folder`: the state folder."""
        started = datetime.now(UTC)
        self.path = folder / FOLDER / f"{started:%Y%m%dT%H%M%S.%fZ}-{quote(unit, safe='@')[:NAME_LIMIT]}.json"
        self.problem: str | None = None
        """Why it could not be written, in words."""
        self._record = DeployRecord(unit=unit, who=who(), started_at=started)
        self._rows: dict[str, HostDeploy | None] = dict.fromkeys(hosts)

    def keep(self, row: HostDeploy) -> None:
        """Remember how a host stands."""
        self._rows[row.host] = row
        self._write()

    def end(self) -> None:
        """Nothing more will come. The oldest records go."""
        self._record = self._record.model_copy(update={"ended_at": datetime.now(UTC)})
        self._write()
        for old in sorted(self.path.parent.glob("*.json"))[:-RECORDS_KEPT]:
            old.unlink(missing_ok=True)

    def _write(self) -> None:
        rows = tuple(row for row in self._rows.values() if row)
        record = self._record.model_copy(update={"hosts": rows})
        try:
            replace(self.path, json.dumps(masked_in(record.model_dump(mode="json")), indent=1).encode())
        except OSError as failed:
            self.problem = f"{self.path}: the record cannot be written: {failed.strerror or failed}"
