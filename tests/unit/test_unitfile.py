"""Unit files read as systemd reads them, and what the advice says of good and bad ones."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dflashtui.unitfile import quoting, reading
from dflashtui.unitfile.advice import advice
from dflashtui.unitfile.command import commands
from dflashtui.unitfile.reading import read, read_cat
from dflashtui.unitfile.words import UnbalancedQuotes, words
from tests.faults.marks import fault

GOOD = """\
[Unit]
Description=SGLang DFLASH on GPU 0
Wants=network-online.target
After=network-online.target nvidia-persistenced.service
StartLimitIntervalSec=900
StartLimitBurst=3
AssertPathExists=/dev/shm/models/qwen/config.json
AssertPathExists=/dev/shm/models/qwen

[Service]
Type=exec
User=llm
Environment=PYTHONUNBUFFERED=1 CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=GPU-0000
EnvironmentFile=-/etc/dflashtui/qwen.env
ExecStart=/srv/llm/venv/bin/python -m sglang.launch_server --model-path /dev/shm/models/qwen \\
  # why this port
  --port 30001 --json '{"a": "b"}' --ratio 50%% --cost $$5 --key ${SGLANG_KEY}
Restart=on-failure
RestartSec=20
RestartPreventExitStatus=2
KillMode=mixed
LimitMEMLOCK=infinity
LogRateLimitIntervalSec=1s
LogRateLimitBurst=1000000

[Install]
WantedBy=multi-user.target
"""
START = "[Service]\nType=exec\nRestart=no\nExecStart=/bin/sleep 5\n[Install]\nWantedBy=multi-user.target\n"


def test_reads_lines_as_systemd_does() -> None:
    unit = read(
        "\ufeff[Unit]\r\nDescription = a # b \n;c\n [Service]\nExecStart=/bin/a \\\n# in between\n\t b\\\\\nKey=v\\"
    )
    found = [(entry.section, entry.key, entry.value, entry.line) for entry in unit.entries]
    assert found == [
        ("Unit", "Description", "a # b", 2),
        ("Service", "ExecStart", "/bin/a  \t b\\\\", 5),
        ("Service", "Key", "v", 8),
    ]
    assert not unit.slips


def test_an_empty_assignment_takes_back_what_came_before_also_in_a_drop_in() -> None:
    shown = "# /etc/systemd/system/a.service\n[Service]\nExecStart=/bin/a\nType=exec\n\n"
    shown += "# /etc/systemd/system/a.service.d/x.conf\n[Service]\nExecStart=\nExecStart=/bin/b\nType=simple\n"
    unit = read_cat(shown)
    (entry,) = unit.all("Service", "ExecStart")
    assert (entry.value, entry.line, entry.file) == ("/bin/b", 3, "/etc/systemd/system/a.service.d/x.conf")
    assert unit.value("Service", "Type") == "simple"


@pytest.mark.parametrize(
    ("written", "got"),
    [
        ('--cfg {"method":"dflash","n":15}', ["--cfg", "{method:dflash,n:15}"]),
        ('--cfg \'{"method":"dflash"}\'', ["--cfg", '{"method":"dflash"}']),
        (r'"{\"a\": 1}" a\x20b \u00e9 "\101" a\qb ""', ['{"a": 1}', "a b", "é", "A", r"a\qb", ""]),
        ("--a=\"b c\"'d e'f", ["--a=b cd ef"]),
    ],
)
def test_words(written: str, got: list[str]) -> None:
    assert [word.text for word in words(written)] == got


def test_a_command_line_is_taken_apart() -> None:
    first, second = commands(r"-@/bin/a name %%x $$y \; ';' ${B}c $W ; /bin/b")
    assert (first.prefixes, first.argv) == ("-@", ("/bin/a", "%x", "$y", ";", ";", "${B}c", "$W"))
    assert first.argv_in({"B": "b b", "W": " one  two "})[-3:] == ("b bc", "one", "two")
    assert second.argv == ("/bin/b",)
    with pytest.raises(UnbalancedQuotes):
        commands("/bin/echo it's")


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\0b"])
def test_what_no_line_can_hold_is_refused(text: str) -> None:
    for refuse in (quoting.argument, quoting.plain, lambda text: quoting.assignment("N", text)):
        with pytest.raises(ValueError, match="holds a"):
            refuse(text)


def test_a_backslash_at_the_end_of_a_plain_value_is_refused() -> None:
    with pytest.raises(ValueError, match="backslash"):
        quoting.plain("C:\\")


@settings(deadline=None, max_examples=60)
@given(st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"])))
def test_quoting_and_reading_are_inverse(text: str) -> None:
    (command,) = commands(f"/bin/a {quoting.argument(text)}")
    assert command.argv == ("/bin/a", text)


def test_a_good_unit_needs_no_advice() -> None:
    assert advice(GOOD, name="sglang.service") == ()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Type=exec", "Type=simple", ("type-simple", "warning", 11)),
        ("Type=exec\n", "", ("type-simple", "warning", None)),
        ("Type=exec", "Type=notify", ("type-never-ready", "error", 11)),
        ("Restart=on-failure\n", "", ("no-restart", "warning", None)),
        ("sglang.launch_server", "vllm.entrypoints.cli.main", ("restart-after-success", "warning", 18)),
        ("RestartSec=20", "RestartSec=100ms", ("restart-too-soon", "warning", 19)),
        ("StartLimitIntervalSec=900\n", "", ("start-limit-out-of-reach", "warning", 17)),
        ("StartLimitIntervalSec=900", "StartLimitIntervalSec=0", ("start-limit-out-of-reach", "warning", 5)),
        ("KillMode=mixed", "StartLimitIntervalSec=9", ("wrong-section", "error", 21)),
        ("KillMode=mixed\n", "", ("kill-mode", "warning", None)),
        ("KillMode=mixed", "KillMode=process", ("kill-mode-leaves", "warning", 21)),
        ("KillMode=mixed", "KilMode=mixed", ("unknown-key", "error", 21)),
        ("KillMode=mixed", "KillMode=mixed # so", ("trailing-comment", "error", 21)),
        ("[Service]", "[Servic]", ("unknown-section", "error", 10)),
        ("[Service]", "Service]", ("no-assignment", "error", 10)),
        ("[Unit]", "", ("outside-section", "error", 2)),
        ("qwen \\\n", "qwen \\ \n", ("broken-continuation", "error", 15)),
        ('\'{"a": "b"}\'', '{"a":"b"}', ("eaten-quotes", "error", 15)),
        ('\'{"a": "b"}\'', "it's", ("unbalanced-quotes", "error", 15)),
        ("50%%", "50%done", ("specifier", "error", 15)),
        ("50%%", "%Y-%m-%d", ("specifier", "error", 15)),
        ("50%%", "http://x/%C3%A9", ("specifier", "error", 15)),
        ("50%%", "%i", ("no-instance", "error", 15)),
        ("--port 30001", "| tee /tmp/x", ("no-shell", "error", 15)),
        ("--port 30001", "$(nproc)", ("no-shell", "error", 15)),
        ("$$5", "a$B", ("variable-in-word", "warning", 15)),
        ("EnvironmentFile=-/etc/dflashtui/qwen.env\n", "", ("unset-variable", "error", 14)),
        ("${SGLANG_KEY}", "--api-key abcdef123", ("secret-argument", "warning", 15)),
        ("/srv/llm/venv/bin/python", "python3", ("bare-program", "warning", 15)),
        ("/srv/llm/venv/bin/python", "venv/bin/python", ("relative-program", "error", 15)),
        ("/srv/llm/venv/bin/python", "cd /srv &&", ("no-shell", "error", 15)),
        ("/srv/llm/venv/bin/python", "/root/venv/bin/python", ("program-of-root", "warning", 12)),
        ("User=llm", "Environment=HF_TOKEN=hf_abcdefghijkl", ("secret-environment", "warning", 12)),
        ("User=llm", 'Environment=K={"a": 1}', ("environment-invalid", "error", 12)),
        ("User=llm", 'Environment=K={"a":1}', ("eaten-quotes", "error", 12)),
        ("User=llm", "Environment=PATH=/srv/bin:$PATH", ("environment-dollar", "error", 12)),
        ("User=llm", "PrivateDevices=yes", ("breaks-cuda", "error", 12)),
        ("User=llm", "StandardError=null", ("log-elsewhere", "warning", 12)),
        ("CUDA_VISIBLE_DEVICES=GPU-0000", "CUDA_VISIBLE_DEVICES=0", ("gpu-by-index", "note", 13)),
        (
            "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=GPU-0000",
            "CUDA_VISIBLE_DEVICES=0",
            ("gpu-order", "warning", 13),
        ),
        ("AssertPathExists=/dev/shm/models/qwen", "Documentation=http://x", ("shm-unchecked", "warning", 15)),
        ("AssertPathExists", "ConditionPathExists", ("condition-skips", "note", 7)),
        ("LogRateLimitIntervalSec=1s", "LogRateLimitIntervalSec=0", ("log-limit-zero", "warning", 23)),
        ("Restart=on-failure", "ExecStart=/bin/true", ("several-starts", "error", 18)),
        ("WantedBy=multi-user.target", "", ("no-install", "note", None)),
    ],
)
@fault("E2", how="unknown keys, bad values, two ExecStart, open quotes", result="each told with its line")
def test_what_will_bite_is_told_with_its_line(old: str, new: str, told: tuple[str, str, int | None]) -> None:
    assert old in GOOD
    found = {(each.id, each.level, each.line) for each in advice(GOOD.replace(old, new), name="sglang.service")}
    assert told in found


@fault("E12", how="secrets in Environment= and arguments", result="advice warns of it and does not repeat it")
def test_a_secret_is_never_shown() -> None:
    text = START.replace("sleep 5", 'a --api-key abcdef123 {"x":1} --password=hunter22').replace(
        "Restart", "Environment=HF_TOKEN=hf_qwertzuiop\nRestart"
    )
    said = str(advice(text))
    assert "secret-argument" in said
    assert not any(secret in said for secret in ("abcdef123", "hunter22", "qwertzuiop"))


def test_of_a_drop_in_and_of_other_units_nothing_is_missed() -> None:
    assert advice("[Service]\nNice=5\n", name="nice.conf") == ()
    assert {each.id for each in advice("[Service]\nKey=5\n", name="nice.conf")} == {"unknown-key"}
    assert advice("[Timer]\nOnBootSec=5\n", name="x.timer") == ()
    assert "no-start" in {each.id for each in advice("[Unit]\nDescription=x\n", name="x.service")}


@fault("E2", how="BOM and CRLF", result="told with the line")
def test_marks_and_line_ends_of_another_world_are_told() -> None:
    assert {"byte-order-mark", "crlf"} <= {each.id for each in advice("\ufeff" + START.replace("\n", "\r\n"))}
    assert "line-end" in {each.id for each in advice(START + "\0")}
    assert "empty" in {each.id for each in advice("")}


@settings(deadline=None, max_examples=80)
@given(
    st.lists(
        st.sampled_from([*GOOD.splitlines(keepends=True), "\\\n", "[\n", "=\n", "ExecStart='\n", '%\\$"', "\0", "x"])
    )
)
def test_any_text_is_read(lines: list[str]) -> None:
    assert all(each.message and each.remedy for each in advice("".join(lines)))


def test_a_text_that_is_no_answer_of_systemctl_cat_has_no_files_in_it() -> None:
    assert reading.files_of_cat("# no path\n[Service]\nExecStart=/bin/true\n") == ()
    assert reading.files_of_cat("") == ()
