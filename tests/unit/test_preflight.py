"""The runner of the preflight, and its checks of the place where a unit runs, on hosts that are scripts."""

import asyncio
import json
import struct
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dflashtui.cli import main
from dflashtui.config.model import Config, Host, Unit
from dflashtui.errors import SourceUnavailable, TransportLost
from dflashtui.exit_code import ExitCode
from dflashtui.model.gpu import Gpu, GpuProcess
from dflashtui.model.preflight import PreflightFinding
from dflashtui.model.sample import HostSample
from dflashtui.ops import (
    preflight_disk,
    preflight_gpus,
    preflight_machine,
    preflight_manager,
    preflight_model,
    preflight_port,
    preflight_program_file,
    preflight_unit,
)
from dflashtui.ops.preflight import preflight
from dflashtui.ops.preflight_asked import asked
from dflashtui.ops.preflight_asking import finding
from dflashtui.ops.preflight_model import Named, named_models
from dflashtui.ops.preflight_port import place_of
from dflashtui.ops.preflight_question import Question
from dflashtui.ops.preflight_report import document, lines
from dflashtui.sampler import pack
from dflashtui.survey.place import Place
from dflashtui.survey.weights import found as weights
from tests.support.fake_transport import FakeProcess, FakeTransport

UNIT = "engine.service"
TEXT = """\
[Service]
Type=exec
User=llm
WorkingDirectory=/srv/llm
Environment=PORT=30001 "GREETING=a b"
EnvironmentFile=-/etc/engine.env
ExecStart=/srv/venv/bin/python -m sglang.launch_server --model-path /models/%N --port $PORT
"""
NOW = datetime(2026, 12, 1, tzinfo=UTC)
GIB = 1 << 30
EVERYWHERE = "0.0.0.0"  # noqa: S104 - an argument of a unit


def question(transport: FakeTransport, **changes: object) -> Question:
    unit = Unit(name=UNIT, hosts=("fake",), engine="sglang", gpus=(0,))
    host = Host(name="fake", user="root")
    asked_about = Question(
        config=Config(hosts=(host,), units=(unit,)),
        unit=unit,
        host=host,
        transport=transport,
        unit_text=TEXT,
        argv=("/srv/venv/bin/python", "-m", "sglang.launch_server", "--port", "$PORT"),
        interpreter="/srv/venv/bin/python",
        user="llm",
        environment={"PORT": "30001"},
        working_directory="/srv/llm",
    )
    return replace(asked_about, **changes)  # type: ignore[arg-type]  # the fields' names are the keywords


def ids(found: Sequence[PreflightFinding], *levels: str) -> set[str]:
    return {one.id for one in found if one.level in (levels or ("fatal", "warning", "unknown"))}


@pytest.fixture
def host() -> FakeTransport:
    fake = FakeTransport()
    fake.answer("id", "-un", stdout=b"root\n")
    fake.programs[tuple(pack.ARGV)] = not_found
    return fake


async def not_found(_: FakeProcess) -> int:
    return 127


async def test_a_unit_is_taken_apart_once(host: FakeTransport) -> None:
    host.answer("env", "LC_ALL=C", "systemctl", "cat", stdout=f"# /etc/systemd/system/{UNIT}\n{TEXT}".encode())
    host.answer("cat", "--", "/etc/engine.env", stdout=b'# a comment\nKEY="a b"\nPORT=30002\nexport X=1\n')
    found = await asked(Config(), UNIT, Host(name="fake"), host)
    assert found.argv[3:] == ("--model-path", "/models/engine", "--port", "$PORT")
    assert found.environment == {"PORT": "30002", "GREETING": "a b", "KEY": "a b"}
    assert (found.interpreter, found.user, found.working_directory) == ("/srv/venv/bin/python", "llm", "/srv/llm")
    assert found.gpu_sample is None
    assert place_of(found) == ("", 30002)


async def test_drop_ins_of_the_host_count_beside_the_text_that_would_be_pushed(host: FakeTransport) -> None:
    parts = f"# /etc/systemd/system/{UNIT}\n{TEXT}\n# /etc/systemd/system/{UNIT}.d/x.conf\n[Service]\nEnvironment=A=b\n"
    host.answer("env", "LC_ALL=C", "systemctl", "cat", stdout=parts.encode())
    unit = Unit(name=UNIT, hosts=("fake",), template="python", python="/own/python")
    found = await asked(Config(hosts=(Host(name="fake"),), units=(unit,)), UNIT, Host(name="fake"), host)
    assert found.argv == ("/own/python",)
    assert (found.environment["A"], found.environment["PYTHONUNBUFFERED"]) == ("b", "1")
    await preflight_unit.check(found)
    sudo = replace(found, host=Host(name="fake", become="sudo"))
    host.answer("env", "LC_ALL=C", "systemctl", "show", stdout=b"LoadState=masked\n")
    assert (await preflight_manager.check(sudo))[0].command == ("sudo", "-n", "systemctl", "unmask", "--", UNIT)
    until_boot = b"LoadState=masked\nFragmentPath=/run/systemd/system/engine.service\n"
    host.answer("env", "LC_ALL=C", "systemctl", "show", stdout=until_boot)
    assert (await preflight_manager.check(sudo))[0].command[-3:] == ("--runtime", "--", UNIT)  # type: ignore[index]


async def test_a_script_is_run_by_the_interpreter_of_its_first_line(host: FakeTransport) -> None:
    host.answer("env", "LC_ALL=C", "systemctl", "cat", stdout=b"[Service]\nExecStart=/v/bin/vllm serve /m\n")
    host.answer("head", "-c", "256", "--", "/v/bin/vllm", stdout=b"#!/v/bin/python3.12\nimport re\n")
    assert (await asked(Config(), UNIT, Host(name="fake"), host)).interpreter == "/v/bin/python3.12"


async def test_a_unit_that_is_nowhere_is_fatal(host: FakeTransport) -> None:
    host.answer("env", "LC_ALL=C", "systemctl", "cat", stderr=b"No files found", exit_status=1)
    found = await preflight(Config(), UNIT, Host(name="fake"), host)
    assert found.verdict == "fatal"
    assert "fake has no engine.service" in found.findings[0].message


async def test_one_check_s_trouble_is_its_own(host: FakeTransport) -> None:
    host.answer("env", "LC_ALL=C", "systemctl", "cat", stdout=TEXT.encode())

    async def finds(asked_about: Question) -> list[PreflightFinding]:
        return [finding(asked_about, "a:note", "note", "n"), finding(asked_about, "a:fatal", "fatal", "f")]

    async def hangs(_: Question) -> list[PreflightFinding]:
        await asyncio.Event().wait()
        return []

    async def cannot(_: Question) -> list[PreflightFinding]:
        raise SourceUnavailable("fake", "source", "no right to look")

    async def breaks(_: Question) -> list[PreflightFinding]:
        raise ZeroDivisionError

    for one in (hangs, cannot, breaks):
        one.__module__ = f"preflight_{one.__name__}"
    began = time.monotonic()
    checks = (finds, hangs, cannot, breaks)
    found = await preflight(Config(), UNIT, Host(name="fake"), host, limit_seconds=0.3, checks=checks)
    assert time.monotonic() - began < 2
    assert [one.level for one in found.findings] == ["fatal", "unknown", "unknown", "unknown", "note"]
    assert found.findings[0].id == "a:fatal"
    said = " ".join(one.message for one in found.findings)
    assert all(
        words in said for words in ("its time ran out", "source: no right to look", "failed where it should not")
    )

    async def loses(_: Question) -> list[PreflightFinding]:
        raise TransportLost("fake", "cut")

    with pytest.raises(TransportLost):
        await preflight(Config(), UNIT, Host(name="fake"), host, checks=(hangs, loses))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"fine /srv/venv/bin/python\n", None),
        (b"missing /srv/venv\n", "/srv/venv/bin/python is not there: /srv/venv does not exist"),
        (b"link /srv/venv/bin/python\n/gone/python\n", "leads to /gone/python, which is gone or closed to llm"),
        (b"closed /srv\n", "llm may not look into /srv, on the way to /srv/venv/bin/python"),
        (b"plain /srv/venv/bin/python\n", "/srv/venv/bin/python is not executable by llm"),
    ],
)
async def test_where_the_way_to_the_program_ends(host: FakeTransport, said: bytes, told: str | None) -> None:
    host.answer("runuser", "-u", "llm", "--", "sh", "-c", preflight_program_file.WALK, stdout=said)
    host.answer("runuser", "-u", "llm", "--", "sh", "-c", preflight_program_file.ENTER, stdout=b"fine\n")
    found = await preflight_program_file.check(question(host))
    assert [one.level for one in found] == (["fatal"] if told else [])
    assert told is None or told in found[0].message


async def test_a_user_that_is_missing_and_one_that_cannot_be_taken_on(host: FakeTransport) -> None:
    host.answer("runuser", stderr=b"runuser: user llm does not exist\n", exit_status=1)
    assert ids(await preflight_program_file.check(question(host)), "fatal") == {"program:user"}
    host.answer("id", "-un", stdout=b"ops\n")
    host.answer("sh", "-c", preflight_program_file.WALK, stdout=b"fine /srv/venv/bin/python\n")
    assert ids(await preflight_program_file.check(question(host))) == {"program:unknown"}
    assert await preflight_program_file.check(question(host, user=None)) == []
    host.answer("sh", "-c", preflight_program_file.WALK, stdout=b"missing /srv/venv\n")
    assert ids(await preflight_program_file.check(question(host)), "fatal") == {"program:missing"}


async def test_what_systemd_says_of_the_text_is_told_by_weight(host: FakeTransport) -> None:
    host.answer("stat", stdout=b"644 /etc/engine.env\n")
    program = ("env", "LC_ALL=C", "sh", "-c", preflight_unit.VERIFY)
    host.answer(*program, stdout=b"engine.service:3: Unknown key 'X'\n")
    found = await preflight_unit.check(question(host))
    assert {"unit:ignored"} <= ids(found, "warning")
    assert "unit:environment-file:/etc/engine.env" in ids(found, "note")
    host.answer(*program, stdout=b"Unit engine.service has a bad unit file setting.\n", exit_status=1)
    assert ids(await preflight_unit.check(question(host)), "fatal") == {"unit:refused"}
    no_program = b"Command /srv/venv/bin/python is not executable: No such file or directory\n"
    host.answer(*program, stdout=no_program, exit_status=1)
    assert ids(await preflight_unit.check(question(host)), "fatal", "unknown") == set()
    host.answer(*program, stdout=b"sh: systemd-analyze: not found\n", exit_status=127)
    assert ids(await preflight_unit.check(question(host)), "unknown") == {"unit:unverified"}
    host.answer("stat", exit_status=1)
    missing = question(host, unit_text=TEXT.replace("=-/etc", "=/etc"))
    assert "unit:environment-file:/etc/engine.env" in ids(await preflight_unit.check(missing), "fatal")


async def test_what_the_manager_would_say(host: FakeTransport) -> None:
    show = ("env", "LC_ALL=C", "systemctl", "show")
    host.answer(*show, stdout=b"LoadState=loaded\nResult=start-limit-hit\nNeedDaemonReload=yes\n")
    found = await preflight_manager.check(question(host))
    assert {one.id: one.command for one in found} == {
        "manager:start-limit": ("systemctl", "reset-failed", "--", UNIT),
        "manager:reload": ("systemctl", "daemon-reload"),
    }
    host.answer(*show, stdout=b"LoadState=masked\nFragmentPath=\n")
    host.answer("sh", "-c", preflight_program_file.WALK, stdout=b"missing /models\n")
    text = f"[Unit]\nConditionPathExists=/models/x\n{TEXT}"
    found = await preflight_manager.check(question(host, unit_text=text))
    assert ids(found, "fatal") == {"manager:masked", "manager:ConditionPathExists:/models/x"}
    assert "skipped in silence" in found[1].message


LISTENS = b'LISTEN 0 128 127.0.0.1:30001 0.0.0.0:* users:(("python3",pid=12,fd=5))\n'
CGROUP = b"/proc/12/cgroup:0::/system.slice/%s\n"


@pytest.mark.parametrize(
    ("printed", "holder", "host_flag", "expected"),
    [
        (b"", b"", EVERYWHERE, set()),
        (LISTENS, b"engine.service", EVERYWHERE, set()),
        (LISTENS, b"old.service", EVERYWHERE, {"port:30001"}),
        (LISTENS, b"old.service", "10.0.0.1", set()),
        (b"LISTEN 0 128 *:30001 *:*\n", b"", "10.0.0.1", {"port:30001"}),
    ],
)
async def test_whose_port_it_is(
    host: FakeTransport, printed: bytes, holder: bytes, host_flag: str, expected: set[str]
) -> None:
    host.answer("ss", "-Hltnp", "sport", "=", ":30001", stdout=printed)
    host.answer("grep", stdout=CGROUP % holder)
    argv = ("/srv/venv/bin/python", "-m", "x", "--port=30001", "--host", host_flag)
    found = await preflight_port.check(question(host, argv=argv))
    assert ids(found) == expected
    assert not expected or found[0].level == ("fatal" if holder else "unknown")


def sample(*gpus: Gpu, **more: object) -> HostSample:
    return HostSample.model_validate({"at": NOW, "gpus": gpus, **more})


def gpu(index: int, **more: object) -> Gpu:
    card = {"index": index, "uuid": f"GPU-{index}{index}", "memory_total_bytes": 100 * GIB, "memory_used_bytes": 0}
    return Gpu.model_validate({**card, **more})


async def test_gpus_by_index_and_by_uuid(host: FakeTransport) -> None:
    held = GpuProcess(pid=7, unit="old.service", memory_used_bytes=60 * GIB)
    own = GpuProcess(pid=8, unit=UNIT, memory_used_bytes=30 * GIB)
    cards = sample(gpu(0, processes=(own,), memory_used_bytes=30 * GIB), gpu(1, processes=(held,)), gpu(2, lost="gone"))
    visible = {"CUDA_VISIBLE_DEVICES": "0,GPU-11,GPU-22,5"}
    found = await preflight_gpus.check(question(host, gpu_sample=cards, environment=visible))
    assert ids(found, "fatal") == {"gpus:lost:2", "gpus:missing:5"}
    assert ids(found, "warning") == {"gpus:held:1"}
    assert "60.0 GiB of 100 GiB taken by old.service" in next(one.message for one in found if one.id == "gpus:held:1")
    other = Unit(name="other.service", hosts=("fake",), gpus=("GPU-00",))
    shared = question(host, gpu_sample=cards)
    shared = replace(shared, config=shared.config.model_copy(update={"units": (*shared.config.units, other)}))
    assert ids(await preflight_gpus.check(shared)) == {"gpus:pinned:other.service"}
    none = sample(gpu_problem="no driver").model_copy(update={"gpus": None})
    assert ids(await preflight_gpus.check(question(host, gpu_sample=none)), "fatal") == {"gpus:driver"}
    assert ids(await preflight_gpus.check(question(host))) == {"gpus:unknown"}
    vllm = ("/v/python", "-m", "vllm", "serve", "/m", "--gpu-memory-utilization=0.5")
    busy = sample(gpu(0, memory_used_bytes=70 * GIB))
    assert ids(await preflight_gpus.check(question(host, gpu_sample=busy, argv=vllm)), "fatal") == {"gpus:share:0"}
    assert ids(await preflight_gpus.check(question(host, gpu_sample=busy, argv=vllm[:5])), "fatal") == set()
    assert ids(await preflight_gpus.check(question(host, gpu_sample=sample(gpu(0)), argv=vllm))) == set()
    assert await preflight_gpus.check(question(host, argv=("/v/python", "-m", "x", "--device", "cpu"))) == []


def safetensors(size: int) -> bytes:
    header = json.dumps({"__metadata__": {}, "w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    return struct.pack("<Q", len(header)) + header + b"\1" * size


def model_folder(folder: Path) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "qwen3", "secret": 1}')
    (folder / "tokenizer.json").write_text("{}")
    for name in "ab":
        (folder / f"{name}.safetensors").write_bytes(safetensors(100))
    index = {"weight_map": {"x": "a.safetensors", "y": "b.safetensors", "z": "../../etc/passwd"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda shard: shard.unlink(), "No such file or directory"),
        (lambda shard: shard.write_bytes(b""), "is empty"),
        (
            lambda shard: shard.write_bytes(shard.read_bytes()[:-1]),
            f"has {len(safetensors(100)) - 1} of {len(safetensors(100))} bytes",
        ),
        (lambda shard: shard.write_bytes(shard.read_bytes() + b"x"), "has 1 bytes more than its header says"),
        (lambda shard: shard.write_bytes(shard.read_bytes()[:20]), "ends inside its header"),
        (lambda shard: shard.write_bytes(b"<html>404</html>"), "does not begin as a safetensors file does"),
        (lambda shard: shard.write_bytes(struct.pack("<Q", 4) + b"[[[["), "has a header that cannot be read"),
        (
            lambda shard: shard.write_bytes(b"version https://git-lfs.github.com/spec/v1\n"),
            "is a Git LFS pointer, not the weights",
        ),
    ],
)
def test_a_shard_that_is_not_whole_is_found(tmp_path: Path, spoil, problem: str) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a lambda of a path
    folder = model_folder(tmp_path / "m")
    (fact,) = weights({"paths": [str(folder)]}, Place([], 5.0))
    assert (fact["bad"], fact["shards"], fact["has_tokenizer"]) == ([], 2, True)
    assert fact["config"] == {"model_type": "qwen3"}
    spoil(folder / "b.safetensors")
    (fact,) = weights({"paths": [str(folder)]}, Place([], 5.0))
    assert fact["bad"] == [["b.safetensors", problem]]


def test_folders_without_an_index_files_and_nothing(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "m")
    (folder / "model.safetensors.index.json").write_text("{")
    (folder / "config.json").write_text("[]")
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    paths = [str(folder), str(tmp_path / "m.gguf"), str(tmp_path / "none")]
    broken, file, none = weights({"paths": paths}, Place([], 5.0))
    assert (broken["config"], broken["config_problem"]) == (None, "is no table")
    assert broken["index_problem"].startswith("is no JSON")
    assert (file["kind"], file["problem"], file["bytes"]) == ("file", None, 4)
    assert (none["kind"], none["is_missing"]) == ("none", True)


def test_models_by_every_way_of_naming_them(host: FakeTransport) -> None:
    config = '{"method": "dflash", "model": "/models/draft"}'
    argv = ("/v/python", "-m", "vllm", "serve", "$M", f"--speculative-config={config}")
    named = named_models(question(host, argv=argv, environment={"M": "/models/target"}))
    assert named == (Named("model", "/models/target"), Named("draft", "/models/draft"))
    by_unit = question(host, argv=("/v/python", "x.py"))
    by_unit = replace(by_unit, unit=by_unit.unit.model_copy(update={"model": "org/name"}))
    assert named_models(by_unit) == (Named("model", "org/name"),)


async def test_a_name_of_the_hub_is_no_fault(host: FakeTransport) -> None:
    found = await preflight_model.check(question(host, argv=("/v/python", "-m", "vllm", "serve", "org/name")))
    assert [(one.id, one.level) for one in found] == [("model:model:hub", "note")]


def test_what_is_said_of_models() -> None:
    cards = sample(
        gpu(0, memory_used_bytes=90 * GIB, processes=(GpuProcess(pid=1, unit="x", memory_used_bytes=90 * GIB),))
    )
    about = question(FakeTransport(), gpu_sample=cards, argv=("/v/python", "--speculative-algorithm", "DFLASH"))
    whole = {"kind": "folder", "config": {}, "shards": 2, "bytes": 20 * GIB, "bad": [], "has_tokenizer": True}
    target, draft = Named("model", "/m"), Named("draft", "/d")
    assert list(preflight_model.judged(about, target, whole)) == []
    assert ids(list(preflight_model.judged(about, draft, whole))) == {"model:draft:dflash"}
    closed = {"kind": "none", "problem": "Permission denied", "is_missing": False}
    assert ids(list(preflight_model.judged(about, target, closed))) == {"model:model:closed"}
    assert ids(list(preflight_model.room(about, [whole]))) == {"model:room"}
    assert ids(list(preflight_model.room(about, [{**whole, "bytes": 5 * GIB}]))) == set()


async def test_disks_memory_and_clock(host: FakeTransport) -> None:
    host.answer("sh", "-c", preflight_disk.HOME_OF, stdout=b"/home/llm\n")
    head = b"Filesystem 1024-blocks Used Available Capacity Mounted on\n"
    host.answer(
        "df",
        "-P",
        "-k",
        stdout=head + b"/dev/a 9 9 0 100% /\ntmpfs 9 9 50000 1% /dev/shm\n/dev/b 9 9 9999999 1% /home\n",
    )
    host.answer("df", "-P", "-i", stdout=head + b"/dev/a 9 9 500 9% /\ntmpfs 0 0 0 - /dev/shm\n")
    host.answer("runuser", "-u", "llm", "--", "sh", "-c", preflight_disk.NEAREST, stdout=b"/home\n")
    found = await preflight_disk.check(question(host))
    assert ids(found, "fatal") == {"disk:/"}
    assert ids(found, "warning") == {"disk:shm", "disk:inodes:/", "disk:rights:/home"}
    late = sample(memory_available_bytes=GIB, memory_total_bytes=64 * GIB, host_time=NOW + timedelta(hours=2))
    found = await preflight_machine.check(question(host, gpu_sample=late))
    assert ids(found, "warning") == {"machine:memory", "machine:clock"}
    assert "2h ahead" in found[1].message
    assert await preflight_machine.check(question(host, gpu_sample=sample(host_time=NOW))) == []


async def test_the_report_shows_no_secret_and_nothing_that_acts_on_a_terminal(host: FakeTransport) -> None:
    host.answer("env", "LC_ALL=C", "systemctl", "cat", stdout=TEXT.encode())

    async def finds(about: Question) -> list[PreflightFinding]:
        message = "--api-key hunter22 \x1b]0;x\x07"
        return [finding(about, "a:b", "warning", message, "HF_TOKEN=hf_abcdefghij", remedy="do", command=("a", "b c"))]

    found = await preflight(Config(), UNIT, Host(name="fake"), host, checks=(finds,))
    said = "\n".join(lines(found, colour=False)) + json.dumps(document(found))
    assert not any(secret in said for secret in ("hunter22", "hf_abc", "\x1b"))
    assert "$ a 'b c'" in said
    assert (document(found)["verdict"], document(found)["schema"]) == ("warning", 1)


def test_a_host_that_cannot_be_reached_is_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hosts.toml"
    path.write_text(f'[hosts.a]\naddress = "127.0.0.1"\nport = 1\n[units."{UNIT}"]\nhosts = ["a"]\n')
    assert main(["-c", str(path), "preflight", "engine"]) == ExitCode.UNKNOWN
    assert "a: " in capsys.readouterr().err
    path.write_text(path.read_text() + "[hosts.b]\n")
    assert main(["-c", str(path), "preflight", "nobody"]) == ExitCode.USAGE
