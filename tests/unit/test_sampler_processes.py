from pathlib import Path

import pytest

from dflashtui.sampler.masking import LIMIT, command_line
from dflashtui.sampler.processes import FRESH_SECONDS, ProcessTable


def write(
    proc: Path, pid: int, *, started: int, group: str = "0::/system.slice/a.service", argv: str = "a\0b\0"
) -> None:
    folder = proc / str(pid)
    folder.mkdir(exist_ok=True)
    (folder / "stat").write_text(f"{pid} (a b) S " + "0 " * 18 + f"{started} 0 0\n")
    (folder / "cgroup").write_text(group)
    (folder / "cmdline").write_text(argv)
    (folder / "comm").write_text("nvidia-worker\n")


@pytest.fixture
def table(tmp_path: Path) -> ProcessTable:
    users = tmp_path / "passwd"
    users.write_text(
        f"broken line\nroot:x:0:0::/root:/bin/sh\ntoor:x:0:0::/:/bin/sh\nme:x:{tmp_path.stat().st_uid}:0::/:\n"
    )
    return ProcessTable(str(tmp_path), str(users))


def test_a_pid_that_is_used_again_is_another_process(table: ProcessTable, tmp_path: Path) -> None:
    write(tmp_path, 5, started=100)
    assert table.facts(5, now=0)["unit"] == "a.service"
    write(tmp_path, 5, started=200, group="0::/system.slice/b.service")
    assert table.facts(5, now=0.1)["unit"] == "b.service"


def test_a_renamed_or_moved_process_is_noticed_after_a_while(table: ProcessTable, tmp_path: Path) -> None:
    write(tmp_path, 5, started=100)
    table.facts(5, now=0)
    write(tmp_path, 5, started=100, argv="VLLM::EngineCore\0")
    assert table.facts(5, now=FRESH_SECONDS)["command"] == "a b"
    assert table.facts(5, now=FRESH_SECONDS + 1)["command"] == "VLLM::EngineCore"


def test_a_process_that_is_gone_has_no_facts(table: ProcessTable, tmp_path: Path) -> None:
    write(tmp_path, 5, started=100)
    table.facts(5, now=0)
    (tmp_path / "5" / "stat").unlink()
    assert table.facts(5, now=0) == {}


def test_a_process_without_arguments_is_called_by_its_name(table: ProcessTable, tmp_path: Path) -> None:
    write(tmp_path, 5, started=100, argv="")
    assert table.facts(5, now=0)["command"] == "nvidia-worker"


def test_the_user_is_named_by_the_first_line_that_has_the_number(table: ProcessTable, tmp_path: Path) -> None:
    write(tmp_path, 5, started=100)
    assert table.facts(5, now=0)["user"] == ("root" if tmp_path.stat().st_uid == 0 else "me")


def test_an_orphan_says_what_holds_it(table: ProcessTable, tmp_path: Path) -> None:
    write(tmp_path, 5, started=100, group="0::/user.slice/user-0.slice/session-5.scope\n")
    facts = table.facts(5, now=0)
    assert "unit" not in facts
    assert facts["held_by"] == "session-5.scope"


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (["vllm", "serve", "m", "--api-key", "s3cret", "--port", "80"], "vllm serve m --api-key *** --port 80"),
        (["vllm", "--api-key", "one", "two", "--port", "80"], "vllm --api-key *** *** --port 80"),
        (["x", "--hf-token=abc", "--max-total-tokens", "8192"], "x --hf-token=*** --max-total-tokens 8192"),
        (["x", "--tokenizer-path", "/m", "--keep", "y"], "x --tokenizer-path /m --keep y"),
        (["env", "HF_TOKEN=hf_abcdefghijkl", "PATH=/bin", "x"], "env HF_TOKEN=*** PATH=/bin x"),
        (["x", "hf_abcdefghijklmnop", "sk-abcdefghijklmnop"], "x *** ***"),
        (["curl", "http://me:pw@host:80/a"], "curl http://***@host:80/a"),
        (["python3", "-c", "import a\nprint(1)"], "python3 -c import a print(1)"),
        (["x", "--admin-api-key", "--verbose", "y"], "x --admin-api-key --verbose y"),
        (["ssl", "--ssl-keyfile-password", "p"], "ssl --ssl-keyfile-password ***"),
    ],
)
def test_secrets_do_not_leave_the_host(argv: list[str], shown: str) -> None:
    assert command_line(argv) == shown


def test_a_long_command_line_is_masked_before_it_is_cut() -> None:
    shown = command_line(["x" * 190, "--api-key", "a" * 50])
    assert len(shown) == LIMIT
    assert "a" * 3 not in shown
