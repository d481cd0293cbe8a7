import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from dflashtui.errors import ActionDenied, ActionRefused, CommandFailed, NoSystemd, OutcomeUnknown, SourceUnavailable
from dflashtui.model.action import UnitAction, Verb
from dflashtui.source.systemd import open_units
from dflashtui.source.systemd_bus import Bus, connected
from dflashtui.source.systemd_command import Systemctl
from dflashtui.source.systemd_units import BusUnits, SystemctlUnits
from dflashtui.source.units import UnitSource
from tests.faults.marks import fault

from .systemd_fakes import SYSTEMD, FakeManager, FakeTransport, Refusal, until

JOB = "/org/freedesktop/systemd1/job/7"
DENIED = Refusal("org.freedesktop.DBus.Error.InteractiveAuthorizationRequired", "Interactive authentication required.")
FORBIDDEN = {"systemctl --no-ask-password": (1, "", "Failed to stop x.service: Interactive authentication required.\n")}


def action(verb: Verb = Verb.START, unit: str = "x.service", signal: str | None = None) -> UnitAction:
    return UnitAction(verb=verb, host="gpu-x", unit=unit, signal=signal)


@pytest.fixture
def manager() -> FakeManager:
    return FakeManager()


@asynccontextmanager
async def opened(
    manager: FakeManager, *, become: str = "none", answers: dict[str, tuple[int, str, str]] | None = None
) -> AsyncIterator[tuple[UnitSource, FakeTransport]]:
    async with manager.serving() as socket:
        transport = FakeTransport(socket, answers)
        async with open_units(transport, manager="system", become=become) as source:
            yield source, transport


async def asked(manager: FakeManager, member: str) -> None:
    await until(lambda: manager.calls[member] > 0)


def is_gone(bus: Bus) -> bool:
    try:
        bus.require()
    except SourceUnavailable:
        return True
    return False


def end_job(manager: FakeManager, result: str, *, job: str = JOB, sender: str | None = None) -> None:
    manager.emit("JobRemoved", "uoss", [7, job, "x.service", result], sender=sender)


@fault("A5", how="the link is left while a job is waited for", result="unknown at once, never waited for in vain")
async def test_a_job_whose_link_is_left_has_an_unknown_outcome(manager: FakeManager) -> None:
    async with opened(manager) as (source, _):
        doing = asyncio.ensure_future(source.perform(action(Verb.RESTART)))
        await asked(manager, "RestartUnit")
        await asyncio.sleep(0.05)
        assert not doing.done()
    with pytest.raises(OutcomeUnknown, match=r"systemctl restart x\.service: outcome unknown: .*the link was left"):
        await asyncio.wait_for(doing, 5)


@pytest.mark.parametrize("result", ["done", "failed", "canceled", "timeout", "dependency"])
async def test_the_result_is_that_of_our_job(manager: FakeManager, result: str) -> None:
    async with opened(manager) as (source, transport):
        doing = asyncio.ensure_future(source.perform(action()))
        await asked(manager, "StartUnit")
        end_job(manager, "failed" if result == "done" else "done", job="/org/freedesktop/systemd1/job/6")
        end_job(manager, "done" if result != "done" else "failed", sender=":1.66")
        await asyncio.sleep(0.05)
        assert not doing.done(), "nobody else's job, and nobody else's word about ours"
        end_job(manager, result)
        assert await doing == (result, "bus")
        assert ("StartUnit", ["x.service", "replace"]) in manager.arguments
        assert transport.ran == []


async def test_a_result_that_comes_before_the_reply(manager: FakeManager) -> None:
    manager.early_results = {"StopUnit": "canceled"}
    async with opened(manager) as (source, _):
        assert await source.perform(action(Verb.STOP)) == ("canceled", "bus")


@pytest.mark.parametrize(
    ("verb", "method", "arguments"),
    [
        (Verb.RESET_FAILED, "ResetFailedUnit", ["x.service"]),
        (Verb.DISABLE, "DisableUnitFiles", [["x.service"], False]),
        (Verb.MASK, "MaskUnitFiles", [["x.service"], False, False]),
        (Verb.UNMASK, "UnmaskUnitFiles", [["x.service"], False]),
        (Verb.KILL, "KillUnit", ["x.service", "all", 15]),
    ],
)
async def test_actions_without_a_job(manager: FakeManager, verb: Verb, method: str, arguments: list[object]) -> None:
    async with opened(manager) as (source, _):
        assert await source.perform(action(verb)) == ("done", "bus")
    assert (method, arguments) in manager.arguments
    changes_files = verb in {Verb.DISABLE, Verb.MASK, Verb.UNMASK}
    assert manager.calls["Reload"] == int(changes_files)


async def test_a_signal_by_name(manager: FakeManager) -> None:
    async with opened(manager) as (source, _):
        await source.perform(action(Verb.KILL, signal="SIGKILL"))
        assert ("KillUnit", ["x.service", "all", 9]) in manager.arguments
        with pytest.raises(ActionRefused, match="SIGFOO"):
            await source.perform(action(Verb.KILL, signal="SIGFOO"))


async def test_nothing_to_enable_is_no_success(manager: FakeManager) -> None:
    async with opened(manager) as (source, _):
        with pytest.raises(
            CommandFailed, match=r"systemctl enable x\.service: exit 1: the unit file has no \[Install\]"
        ):
            await source.perform(action(Verb.ENABLE))


@fault("B17", how="polkit denies", result="the right that is missing is named")
async def test_a_denial_names_the_right(manager: FakeManager) -> None:
    manager.refusals["StartUnit"] = DENIED
    async with opened(manager) as (source, transport):
        with pytest.raises(ActionDenied, match=r'manage-units with unit "x\.service" and verb "start"'):
            await source.perform(action())
        assert transport.ran == []
    manager.refusals["DisableUnitFiles"] = DENIED
    async with opened(manager) as (source, _):
        with pytest.raises(ActionDenied, match="manage-unit-files"):
            await source.perform(action(Verb.DISABLE))


async def test_sudo_where_it_may_be_used(manager: FakeManager) -> None:
    manager.refusals["StartUnit"] = DENIED
    answers = {"sudo": (0, "", "sudo: unable to resolve host gpu-x: Name or service not known\n")}
    async with opened(manager, become="sudo", answers=answers) as (source, transport):
        assert await source.perform(action()) == ("done", "sudo")
        assert transport.ran == [("sudo", "-n", "systemctl", "start", "x.service")]


@pytest.mark.parametrize(
    ("stderr", "result"),
    [
        ("sudo: unable to resolve host h: x\nJob for x.service failed because the control process exited.\n", "failed"),
        ("Job for x.service canceled.\n", "canceled"),
        ("A dependency job for x.service failed. See 'journalctl -xe' for details.\n", "dependency"),
        ("Job for x.service failed because a timeout was exceeded.\n", "timeout"),
    ],
)
async def test_jobs_that_ended_otherwise_by_sudo(manager: FakeManager, stderr: str, result: str) -> None:
    manager.refusals["StartUnit"] = DENIED
    async with opened(manager, become="sudo", answers={"sudo": (1, "", stderr)}) as (source, _):
        assert await source.perform(action()) == (result, "sudo")


@fault("B16", how="sudo -n says that a password is required", result="denied with the line for sudoers")
async def test_sudo_that_asks_for_a_password(manager: FakeManager) -> None:
    manager.refusals["StartUnit"] = DENIED
    answers = {"sudo": (1, "", "sudo: unable to resolve host h: x\nsudo: a password is required\n")}
    async with opened(manager, become="sudo", answers=answers) as (source, _):
        with pytest.raises(ActionDenied, match=r"NOPASSWD: /usr/bin/systemctl start x\.service"):
            await source.perform(action())


async def test_sudo_takes_no_name_for_an_option(manager: FakeManager) -> None:
    manager.refusals["StartUnit"] = DENIED
    async with opened(manager, become="sudo") as (source, transport):
        with pytest.raises(ActionRefused, match="option"):
            await source.perform(action(unit="-f.service"))
        assert transport.ran == []


async def test_what_the_manager_refuses(manager: FakeManager) -> None:
    manager.refusals["StartUnit"] = Refusal(f"{SYSTEMD}.NoSuchUnit", "Unit x.service not found.")
    async with opened(manager) as (source, _):
        with pytest.raises(CommandFailed, match=r"systemctl start x\.service: exit 5: Unit x\.service not found"):
            await source.perform(action())


async def test_a_name_that_systemd_would_mangle_is_not_sent(manager: FakeManager) -> None:
    async with opened(manager) as (source, _):
        with pytest.raises(ActionRefused, match="no unit name"):
            await source.perform(action(unit="ok.service;reboot"))
    assert manager.calls["StartUnit"] == 0


async def test_the_bus_ends_before_the_result(manager: FakeManager) -> None:
    async with opened(manager) as (source, _):
        doing = asyncio.ensure_future(source.perform(action(Verb.STOP)))
        await asked(manager, "StopUnit")
        manager.hang_up()
        with pytest.raises(OutcomeUnknown, match=r"systemctl stop x\.service: outcome unknown"):
            await doing


async def test_the_link_ends_before_the_reply(manager: FakeManager) -> None:
    manager.silent.add("RestartUnit")
    async with opened(manager) as (source, transport):
        doing = asyncio.ensure_future(source.perform(action(Verb.RESTART)))
        await asked(manager, "RestartUnit")
        transport.is_lost = True
        manager.hang_up()
        with pytest.raises(OutcomeUnknown):
            await doing


async def test_nothing_is_sent_once_the_bus_is_gone(manager: FakeManager) -> None:
    async with manager.serving() as socket, connected(FakeTransport(socket), socket) as bus:
        source = BusUnits(bus, Systemctl(FakeTransport()), via="bus", version=252, become="none")
        manager.hang_up()
        await until(lambda: is_gone(bus))
        with pytest.raises(SourceUnavailable):
            await source.perform(action())
    assert manager.calls["StartUnit"] == 0


async def test_no_answer_within_the_limit_is_unknown(manager: FakeManager) -> None:
    """polkit may hang with the request in hand."""
    manager.silent.add("StartUnit")
    async with manager.serving() as socket, connected(FakeTransport(socket), socket, limit_seconds=0.1) as bus:
        source = BusUnits(bus, Systemctl(FakeTransport()), via="bus", version=252, become="none")
        with pytest.raises(OutcomeUnknown, match=r"no answer to StartUnit within 0\.1 s"):
            await source.perform(action())


async def test_a_job_that_ended_while_the_manager_came_anew(manager: FakeManager) -> None:
    async with opened(manager) as (source, _):
        doing = asyncio.ensure_future(source.perform(action()))
        await asked(manager, "StartUnit")
        manager.execute_anew()
        with pytest.raises(OutcomeUnknown, match="reloading"):
            await doing


async def test_systemctl_as_the_way() -> None:
    transport = FakeTransport(answers={"sudo": (0, "", ""), **FORBIDDEN})
    source = SystemctlUnits(Systemctl(transport), version=252, become="sudo")
    assert await source.perform(action(Verb.STOP)) == ("done", "sudo")
    assert transport.ran[0][-4:] == ("--no-ask-password", "stop", "--", "x.service")
    denied = SystemctlUnits(Systemctl(FakeTransport(answers=FORBIDDEN)), version=252, become="none")
    with pytest.raises(ActionDenied, match='become = "sudo"'):
        await denied.perform(action(Verb.STOP))


async def test_a_users_manager_is_never_driven_by_sudo() -> None:
    transport = FakeTransport(answers={"systemctl --user": (1, "", "Access denied")})
    source = SystemctlUnits(Systemctl(transport, "/run/user/1000"), version=252, become="sudo")
    with pytest.raises(ActionDenied):
        await source.perform(UnitAction(verb=Verb.STOP, host="gpu-x", unit="x.service", manager="user"))
    assert [argv[:4] for argv in transport.ran] == [("env", "LC_ALL=C", "TZ=UTC", "XDG_RUNTIME_DIR=/run/user/1000")]


@fault("B15", how="no systemd", result="a state of its own")
async def test_no_systemd_is_its_own_state() -> None:
    transport = FakeTransport(
        answers={"test -d /run/systemd/system": (1, "", ""), "cat /proc/1/comm": (0, "sleep\n", "")}
    )
    with pytest.raises(NoSystemd, match="process 1 is sleep"):
        async with open_units(transport, manager="system", become="none"):
            pass


async def test_systemctl_is_the_last_way() -> None:
    transport = FakeTransport(answers={"systemctl --version": (0, "systemd 252 (252.39)\n+PAM\n", "")})
    async with open_units(transport, manager="system", become="none") as source:
        assert (source.via, source.systemd_version) == ("systemctl", 252)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((124, "", ""), "no answer within 10 s"),
        ((1, "", "Failed to connect to bus: No such file\n"), "Failed to connect to bus"),
        ((0, "MainPID=many\n", ""), "cannot read b'MainPID=many'"),
    ],
)
async def test_systemctl_that_cannot_say(answer: tuple[int, str, str], words: str) -> None:
    source = SystemctlUnits(Systemctl(FakeTransport(answers={"systemctl show": answer})), version=252, become="none")
    with pytest.raises(SourceUnavailable, match=words):
        await anext(source.watch(["x.service"]))


@fault("B15", how="the user's manager does not run", result="told with loginctl enable-linger")
async def test_a_users_manager_that_does_not_run() -> None:
    answers = {"id -un": (0, "ops\n", ""), "id -u": (0, "1000\n", ""), "test -d /run/user": (1, "", "")}
    with pytest.raises(SourceUnavailable, match="loginctl enable-linger ops") as failed:
        async with open_units(FakeTransport(answers=answers), manager="user", become="none"):
            pass
    assert not isinstance(failed.value, NoSystemd)
