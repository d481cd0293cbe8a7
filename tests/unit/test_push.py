"""Pushes by the real shipped program, on a folder that stands for a host."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from dflashtui.errors import ActionRefused, PushRefused
from dflashtui.model.push import Outcome, PushResult
from dflashtui.ops.push import Push, Terms, Wanted, resolve, wanted_text
from dflashtui.ops.rollback import wanted_before
from dflashtui.pusher.records import Store
from tests.faults.marks import fault
from tests.support.pusher_root import HOST, PusherRoot

UNIT = "a.service"
OLD = "[Service]\nType=exec\nExecStart=/bin/sleep 1\n"
NEW = "[Service]\nType=exec\nExecStart=/bin/sleep 2\n"


@pytest.fixture
def host(tmp_path: Path) -> PusherRoot:
    return PusherRoot(tmp_path)


PLAIN = Terms()


async def push(host: PusherRoot, text: str = NEW, unit: str = UNIT, terms: Terms = PLAIN) -> PushResult:
    return await Push(wanted_text(HOST, unit, text, "a test"), terms).run(host.opened)


async def roll_back(host: PusherRoot, number: int | None = None, *, force: bool = False) -> PushResult:
    async with host.open() as opened:
        look = await opened.look(UNIT)
    return await Push(wanted_before(look, number), Terms(force=force)).run(host.opened)


async def test_a_new_unit_is_there_loaded_and_recorded(host: PusherRoot) -> None:
    (host.root / "pending").write_text("Id=other.service\nNeedDaemonReload=yes\n\nId=b.service\nNeedDaemonReload=no\n")
    done = await push(host)
    target = host.units / UNIT
    assert (done.outcome, done.number) == (Outcome.DONE, 1)
    assert target.read_text() == NEW
    assert stat.S_IMODE(target.stat().st_mode) == 0o644
    assert host.reloads == 1
    assert done.reload_also == ("other.service",)
    assert "daemon-reload also takes in: other.service" in done.notes
    assert host.leftovers == []
    kept = host.state / "units" / UNIT
    record = json.loads((kept / "1.json").read_text())
    assert (record["who"], record["state"], record["change"]) == ("me", "done", done.change)
    assert (kept / "texts" / str(done.after_sha256)).read_text() == NEW
    assert [stat.S_IMODE(path.stat().st_mode) for path in (kept, kept / "texts", kept / "1.json")] == [
        0o700,
        0o700,
        0o600,
    ]


async def test_the_program_is_shipped_whole(host: PusherRoot) -> None:
    host.write(UNIT, OLD)
    done = await Push(wanted_text(HOST, UNIT, NEW, "a test"), Terms()).run(host.shipped)
    assert (done.outcome, (host.units / UNIT).read_text(), host.leftovers) == (Outcome.DONE, NEW, [])
    assert json.loads((host.state / "lock").read_text() or "null") is None


@fault("E5", how="the same text is pushed twice", result="unchanged: no write, no reload, no record, same mtimes")
async def test_with_nothing_to_do_nothing_is_written_or_reloaded(host: PusherRoot) -> None:
    await push(host)
    before = host.tree()
    again = await push(host)
    assert again.outcome is Outcome.UNCHANGED
    assert host.tree() == before
    assert host.reloads == 1


async def test_a_text_that_is_there_but_not_loaded_is_loaded(host: PusherRoot) -> None:
    host.write(UNIT, OLD)
    (host.units / UNIT).write_text(NEW)
    done = await push(host)
    assert (done.outcome, done.number, host.reloads) == (Outcome.DONE, None, 1)


@fault("E14", how="--dry-run of a push", result="says what it would do; not one file is written, no reload")
async def test_a_dry_run_leaves_no_trace_and_still_says_what_would_be(host: PusherRoot) -> None:
    host.write(UNIT, OLD)
    before = host.tree()
    tried = await push(host, terms=Terms(dry_run=True))
    assert (tried.outcome, tried.is_dry_run) == (Outcome.DONE, True)
    assert "would write the unit file" in tried.message
    assert host.tree() == before
    assert host.reloads == 0


@fault(
    "B7",
    how="another writer after our push",
    result="refused until --force; the other text is kept, rollback brings it back",
)
async def test_a_change_behind_our_back_needs_a_word(host: PusherRoot) -> None:
    await push(host, OLD)
    target = host.units / UNIT
    target.write_text(OLD + "# by hand\n")
    refused = await push(host)
    assert refused.outcome is Outcome.REFUSED
    assert "was changed by somebody since push 1 by me" in refused.message
    assert "--force" in refused.message
    assert target.read_text() == OLD + "# by hand\n"
    forced = await push(host, terms=Terms(force=True))
    assert forced.outcome is Outcome.DONE
    back = await roll_back(host)
    assert back.outcome is Outcome.DONE
    assert target.read_text() == OLD + "# by hand\n"


@fault("I11", how="the file changes after its difference was shown", result="refused, also with --force")
async def test_what_was_shown_is_what_is_replaced(host: PusherRoot) -> None:
    host.write(UNIT, OLD)
    refused = await push(host, terms=Terms(seen_sha256="0" * 64, force=True))
    assert refused.outcome is Outcome.REFUSED
    assert "since its difference was shown" in refused.message


@fault("B10", how="modes 0600 and 0777", result="0600 is kept, 0777 becomes 0644; both are told")
async def test_a_private_file_stays_private_and_an_executable_one_does_not(host: PusherRoot) -> None:
    private, loose = host.write(UNIT, OLD), host.write("b.service", OLD)
    private.chmod(0o600)
    loose.chmod(0o777)
    assert f"{private}: mode 0600 is kept" in (await push(host)).notes
    assert f"{loose}: mode 0777 becomes 0644" in (await push(host, unit="b.service")).notes
    assert [stat.S_IMODE(path.stat().st_mode) for path in (private, loose)] == [0o600, 0o644]


@fault("E6", how="rollback without a push, twice, by number", result="nothing to undo, and who has undone it")
async def test_rolling_back_once_twice_by_number_and_from_a_first_push(host: PusherRoot) -> None:
    with pytest.raises(ActionRefused, match="nothing to undo"):
        await roll_back(host)
    await push(host, OLD)
    await push(host, NEW)
    assert (await roll_back(host)).outcome is Outcome.DONE
    assert (host.units / UNIT).read_text() == OLD
    with pytest.raises(ActionRefused, match="rollback 3 by me has undone push 2 already"):
        await roll_back(host)
    assert (await roll_back(host, 2)).outcome is Outcome.DONE
    assert (host.units / UNIT).read_text() == NEW
    with pytest.raises(ActionRefused, match=r"no push 9 is kept there \(kept: 1, 2, 3, 4\)"):
        await roll_back(host, 9)


@fault("E6", how="rollback of the first push", result="the unit file is removed, the manager reloaded")
async def test_the_first_push_of_a_unit_rolled_back_removes_it(host: PusherRoot) -> None:
    await push(host)
    removed = await roll_back(host)
    assert (removed.outcome, host.reloads) == (Outcome.DONE, 2)
    assert not (host.units / UNIT).exists()


@fault("E6", how="rollback after a hand edit", result="refused until --force")
async def test_a_roll_back_over_a_hand_edit_needs_a_word(host: PusherRoot) -> None:
    host.write(UNIT, OLD)
    await push(host)
    (host.units / UNIT).write_text("[Service]\n")
    assert (await roll_back(host)).outcome is Outcome.REFUSED
    assert (await roll_back(host, force=True)).outcome is Outcome.DONE
    assert (host.units / UNIT).read_text() == OLD


@fault("E6", how="the kept text is overwritten", result="refused: damaged; what stands there stays")
async def test_a_damaged_text_is_not_put_back(host: PusherRoot) -> None:
    host.write(UNIT, OLD)
    done = await push(host)
    kept = host.state / "units" / UNIT / "texts" / str(done.before_sha256)
    kept.write_text("rubbish")
    refused = await roll_back(host)
    assert refused.outcome is Outcome.REFUSED
    assert "is damaged" in refused.message
    assert (host.units / UNIT).read_text() == NEW


async def test_a_text_that_does_not_verify_is_not_installed(host: PusherRoot) -> None:
    host.write(UNIT, OLD)
    refused = await push(host, NEW + "Nonsense=1\n", terms=Terms(force=True))
    assert refused.outcome is Outcome.REFUSED
    assert "systemd-analyze verify refuses it: 4:Nonsense=1" in refused.message
    assert (host.units / UNIT).read_text() == OLD
    assert host.leftovers == []
    assert not (host.state / "units").exists()


@pytest.mark.parametrize(("trouble", "words"), [("no-reload", "Reload failed: busy"), ("bad-setting", "bad-setting")])
@fault("E2", how="the manager does not load the new file", result="the old file is back; failed")
async def test_what_the_manager_does_not_take_is_taken_back(host: PusherRoot, trouble: str, words: str) -> None:
    host.write(UNIT, OLD)
    (host.root / trouble).touch()
    failed = await push(host)
    assert failed.outcome is Outcome.FAILED
    assert words in failed.message
    assert (host.units / UNIT).read_text() == OLD
    assert host.leftovers == []


@fault(
    "B13",
    how="a second push while the first holds the lock",
    result="refused with who and since when; free when the first ends",
)
async def test_the_second_operator_learns_who_holds_the_lock(host: PusherRoot) -> None:
    async with host.open("anna at desk") as first:
        await first.prepare(UNIT, NEW, before=None)
        refused = await push(host)
        assert refused.outcome is Outcome.REFUSED
        assert "another push is under way: anna at desk since" in refused.message
    assert (await push(host)).outcome is Outcome.DONE


@fault("E1", how="other bytes than were sent", result="refused by its hash; nothing is installed")
async def test_a_text_that_arrived_damaged_is_not_installed(host: PusherRoot) -> None:
    async with host.open() as opened:
        with pytest.raises(PushRefused, match="arrived damaged"):
            await opened._ask("prepare", unit=UNIT, before=None, text="QUJD", sha256="0" * 64)
    assert not (host.units / UNIT).exists()


def _masked(host: PusherRoot) -> None:
    (host.units / UNIT).symlink_to("/dev/null")


def _link(host: PusherRoot) -> None:
    (host.root / "elsewhere").write_text(OLD)
    (host.units / UNIT).symlink_to(host.root / "elsewhere")


def _folder(host: PusherRoot) -> None:
    (host.units / UNIT).mkdir()


def _fifo(host: PusherRoot) -> None:
    os.mkfifo(host.units / UNIT)


def _masked_until_reboot(host: PusherRoot) -> None:
    folder = host.root / "run/systemd/system"
    folder.mkdir(parents=True)
    (folder / UNIT).symlink_to("/dev/null")


def _no_verify(host: PusherRoot) -> None:
    (host.root / "usr/bin/systemd-analyze").unlink()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_masked, "the unit is masked: dflashtui unmask a.service"),
        (_link, "is a link to"),
        (_folder, "is a folder, not a file"),
        (_fifo, "is a FIFO, not a file"),
        (_masked_until_reboot, "masks the unit"),
        (_no_verify, "systemd-analyze is not installed there"),
    ],
)
@fault(
    "B5",
    how="link to /dev/null, link, folder, FIFO in the unit's place",
    result="named as what it is, nothing followed, the FIFO not opened",
)
async def test_what_stands_in_the_way_is_named_and_left_alone(host: PusherRoot, spoil: object, words: str) -> None:
    assert callable(spoil)
    spoil(host)
    before = host.tree() if spoil is not _fifo else {}
    refused = await push(host, terms=Terms(force=True))
    assert refused.outcome is Outcome.REFUSED
    assert refused.message.startswith(f"{HOST}: {UNIT}: ")
    assert words in refused.message
    assert (host.tree() if spoil is not _fifo else {}) == before
    assert host.reloads == 0


@pytest.mark.parametrize("name", ["../../x.service", "a/b.service", "-rf.service", ".x.service", "x", "a b.service"])
@fault("E4", how="../../x.service, -rf.service and others on the host's side", result="refused there, too")
async def test_no_name_leaves_the_folder(host: PusherRoot, name: str) -> None:
    refused = await push(host, unit=name)
    assert refused.outcome is Outcome.REFUSED
    assert "is no unit name that can be pushed" in refused.message


@pytest.mark.parametrize("text", ["", "[Service]\nExecStart=/bin/true\0\n", "[Servce]\nExecStart=/bin/true\n"])
@fault("E2", how="empty text, NUL, misspelt section", result="refused with the line number, nothing is sent")
async def test_a_text_that_systemd_would_ignore_is_refused_before_it_is_sent(host: PusherRoot, text: str) -> None:
    refused = await push(host, text)
    assert refused.outcome is Outcome.REFUSED
    assert f"{UNIT}:" in refused.message
    assert not host.state.exists()


def test_only_the_newest_records_are_kept_with_their_texts(tmp_path: Path) -> None:
    store, before = Store(str(tmp_path), "units", UNIT), None
    for number in range(1, 24):
        after = store.keep(b"%d" % number)
        entry = {"name": UNIT, "path": "/x", "before": before, "after": after}
        store.write({"number": number, "state": "done", "at": float(number), "files": [entry]})
        before = after
    store.tidy()
    assert [record["number"] for record in store.records()] == list(range(4, 24))
    assert store.next_number() == 24
    assert {path.read_bytes() for path in (Path(store.folder) / "texts").iterdir()} == {b"%d" % n for n in range(3, 24)}


@fault("A4", how="the answer to a push never came", result="asked again: done, or nothing was changed")
async def test_an_answer_that_never_came_is_looked_up(host: PusherRoot) -> None:
    done = await push(host)
    lost = done.model_copy(update={"outcome": Outcome.UNKNOWN, "number": None})
    found = await resolve(host.opened, lost)
    assert (found.outcome, found.number) == (Outcome.DONE, 1)
    other = await resolve(host.opened, lost.model_copy(update={"change": "f" * 16}))
    assert (other.outcome, other.ok) == (Outcome.FAILED, False)
    assert "nothing was changed" in other.message


def test_a_wanted_text_knows_its_hash() -> None:
    assert wanted_text(HOST, UNIT, "", "t") == Wanted(
        host=HOST,
        unit=UNIT,
        text="",
        origin="t",
        sha256="e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    )
