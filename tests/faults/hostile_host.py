"""A host that says the worst in every place: what terminals act upon, what looks like markup, and canary secrets."""

from __future__ import annotations

import base64
import json
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.faults.seed import seeded
from tests.support.fake_host import FakeHost, entry, inventory

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

UNIT = "engine.service"
FORBIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of which no character may reach a terminal, but for line ends and tabs of our own."""
CANARY = "Zq7/CNRYp4+Lx9wV"
"""Looks like nothing else here; `/` and `+` are written in other ways in URLs."""
TRACES = (CANARY[:8], CANARY[8:], quote(CANARY, safe=""), base64.b64encode(CANARY.encode()).decode()[:18])
LINKS = b"\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\"
WORST = (
    *(b"[/x]", b"[@click=app.quit]x[/]", b"[link=file:///etc/passwd]y[/link]", b"\x1b]0;title\x07", b"\x1b[2J", LINKS),
    *(b"\x1b]52;c;eA==\x07", b"\x1b[6n", b"\x1bP+q544e\x1b\\", b"\x9b31m", b"\xc2\x9b31m", b"\xff", b"\xed\xa0\x80"),
    *(b"\x00", b"\x07", b"\x08\x08\x08", b"\r", b"\x7f", b"\xc2\x85", "\u202erev\u202c".encode(), "\u2066x".encode()),
    *("\u200d\u200b\ufeff".encode(), "\u2028".encode(), ("e" + "\u0301" * 300).encode(), "👨\u200d👩\u200d👧".encode()),
    *(
        "日本語".encode(),
        "🇩🇪".encode(),
        "\U000e0041".encode(),
        "❤\ufe0f".encode(),
        b"\x1b[",
        b"\x1b",
        b"%s{x}$x",
        b"\t",
    ),
)
SECRETS = tuple(
    one.replace("S", CANARY)
    for one in (
        *("api_key=S", "args=(model_path='/m', api_key='S')", "Authorization: Bearer S", "Cookie: a=b; c=S", "pwd: S"),
        *("--api-key S --port 1", "GET /v1?token=S&x=1", '{"password": "S"}', "│ api_key = 'S' │", "HF_TOKEN=S"),
        '{\\"secret\\": \\"S\\"}',
    )
) + tuple(
    one.replace("Q", quote(CANARY, safe=""))
    for one in ("https://user:Q@host/simple", "--extra-index-url https://__token__:Q@host/simple", "https://x/?sig=Q")
)
BASIC = f"Authorization: Basic {base64.b64encode(CANARY.encode()).decode()}"
TRACEBACK = ("Traceback (most recent call last):", '  File "/srv/serve.py", line 7, in main', "    login('WORST')")


def worst_line(chance: random.Random) -> bytes:
    """Up to nine pieces and some random bytes, without a line end."""
    pieces = [*chance.choices(WORST, k=chance.randint(1, 9)), chance.randbytes(chance.randint(0, 6))]
    chance.shuffle(pieces)
    return b" ".join(pieces).replace(b"\n", b" ")


def messages(chance: random.Random, count: int) -> Iterator[bytes]:
    """Lines of a service: the worst of text, every form of a secret, and a crash in the end."""
    for _ in range(count):
        yield worst_line(chance)
    for secret in (*SECRETS, BASIC):
        yield f"{secret} ".encode() + worst_line(chance)
    for line in TRACEBACK:
        yield line.encode().replace(b"WORST", worst_line(chance))
    yield b"ConnectionError: password=%b for https://u:%b@h/ " % (CANARY.encode(), TRACES[2].encode()) + worst_line(
        chance
    )


def hostile_host(folder: Path, chance: random.Random, count: int = 30) -> FakeHost:
    """The programs of such a host."""
    host = FakeHost(folder / "host", UNIT)
    words = b"[@click=app.quit]x[/] " + worst_line(chance).replace(b"\0", b"") + f" --api-key {CANARY} ".encode()
    host.shows(
        **dict.fromkeys(("Description", "StatusText", "SubState", "Result", "FragmentPath", "ControlGroup"), words),
        Environment=f"HF_TOKEN={CANARY}".encode(),
        ExecStart=f"{{ path=/x ; argv[]=/x --api-key {CANARY} ; }}".encode(),
    )
    host.says(
        "unit-file",
        b"# /x.service\n[Service]\nEnvironment=HF_TOKEN=%b\nExecStart=/x \\\n  --api-key \\\n  %b\n"
        % ((CANARY.encode(),) * 2)
        + words,
    )
    host.says("refusal", b"password=%b " % CANARY.encode() + worst_line(chance) + b"\n")
    host.says("gpus", b"0, GPU-1, 00000000:01:00.0, 580, 5, 5, 100, 50, 70, 700, 50, 0, " + words + b"\n")
    host.logs(list(messages(chance, count)))
    (folder / "log").write_bytes(b"\n".join(messages(chance, count)))
    return host


def floods(host: FakeHost, count: int) -> Path:
    """The follower of the journal gets so many lines, as fast as it takes them. Gives where their number stands."""
    written = host.folder / "written"
    module = f"{sys.executable} -m tests.faults.hostile_host {count} {written}"
    flood = f'(*--follow*) cd "{Path(__file__).parents[2]}"; {module}; exec sleep 600;;'
    host.program("journalctl", f'case "$*" in {flood} (*) head -n 1 "$HERE/journal";; esac')
    return written


def _flood(count: int, written: Path) -> None:
    chance = seeded("a flood")
    for number in range(count):
        message = chance.choice((*SECRETS, BASIC)).encode() + b" " if number % 50 == 0 else b""
        sys.stdout.buffer.write(entry(UNIT, number, message + worst_line(chance)))
        if number % 1000 == 0:
            sys.stdout.buffer.flush()
            written.write_text(str(number))


def hostile_inventory(folder: Path) -> Path:
    """A hosts.toml with secrets of its own."""
    lines = (
        *('template = "sglang"', 'engine = "sglang"', 'python = "/usr/bin/python3"', 'model = "/m"'),
        'listen = "127.0.0.1:9"',
        f'environment = {{ HF_TOKEN = "{CANARY}", PIP_INDEX_URL = "https://me:{TRACES[2]}@x/simple" }}',
        f'args = {{ api-key = "{CANARY}" }}',
        '[[units."engine.service".overlays]]',
        'source = "patches"',
        'package = "patched"',
    )
    (folder / "patches").mkdir()
    (folder / "patches/__init__.py").write_text(f"token = '{CANARY}'\n")
    return inventory(folder, UNIT, lines)


def forms(folder: Path) -> tuple[tuple[str, ...], ...]:
    """Every command, in the forms that say most. What runs longer than a moment is left to `--timeout`."""
    log = str(folder / "log")
    unit_verbs = ("start", "stop", "reset-failed", "mask", "kill")
    return (
        ("--check",),
        *((verb, "-y", UNIT) for verb in unit_verbs),
        *(("logs", "-o", shape, UNIT) for shape in ("short", "full", "cat")),
        *(("diagnose", log), ("advise", log), ("advise", UNIT), ("render", UNIT), ("diff", UNIT), ("probe", UNIT)),
        *(("smoke", UNIT), ("push", "-y", UNIT), ("push", "--dry-run", UNIT), ("rollback", "-y", UNIT)),
        *(("rollback", "--list", UNIT), ("overlay", "status", UNIT), ("overlay", "push", "-y", UNIT)),
        *(("deploy", "-y", "--no-preflight", UNIT), ("compare", "here", "there"), ("sync", "here", "there", "x")),
        *(("-v", "stop", "-y", UNIT), ("nothing",), ("--host", "x\x1b[2J", "logs", UNIT), ("diagnose", "\x1b[2J")),
    )


SLOW_FORMS = (("preflight", UNIT), ("bench", "-y", "--requests", "1", UNIT), ("deploy", "-y", UNIT))


def forbidden(text: str) -> list[str]:
    """Characters that may not be there, as they are written in Python."""
    return sorted({ascii(one) for one in text if unicodedata.category(one) in FORBIDDEN and one not in "\n\t"})


def traces(data: bytes) -> list[str]:
    """Parts of the canary that are there, in whatever way they are written."""
    return [one for one in TRACES if one.encode() in data]


def require_clean(what: str, printed: bytes, *, is_json: bool) -> None:
    """No forbidden character, no part of the canary, valid UTF-8; JSON: a document a line."""
    text = printed.decode()
    assert forbidden(text) == [], (what, text[-2000:])
    assert traces(printed) == [], (what, text[-2000:])
    assert "fault of its own" not in text, (what, text[-3000:])
    if is_json:
        for line in text.splitlines():
            assert isinstance(json.loads(line), dict), what


if __name__ == "__main__":
    _flood(int(sys.argv[1]), Path(sys.argv[2]))
