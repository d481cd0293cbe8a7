"""The environment of the host that a unit's host should match, if it can be had in passing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflashtui.errors import DflashError
from dflashtui.ops.environment import read_environment
from dflashtui.ops.interpreters import where_on
from dflashtui.transport.connect import open_transport
from dflashtui.transport.gate import HandshakeGate

if TYPE_CHECKING:
    from dflashtui.model.environment import Environment
    from dflashtui.ops.preflight_question import Question

LIMIT_SECONDS = 8.0


async def reference_environment(question: Question) -> Environment | None:
    """`None`: no host is named, or it does not answer in time; its versions are a help, not a need."""
    name = question.unit.reference
    host = next((one for one in question.config.hosts if one.name == name), None)
    if host is None or host.name == question.host.name:
        return None
    try:
        async with asyncio.timeout(min(LIMIT_SECONDS, question.survey_seconds / 2)):
            async with open_transport(host, gate=HandshakeGate(), report_step=lambda _step: None) as transport:
                where = await where_on(transport, question.config, host, unit=question.unit.name)
                return await read_environment(transport, where, requires=False)
    except (DflashError, TimeoutError):
        return None
