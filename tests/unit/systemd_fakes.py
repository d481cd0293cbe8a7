"""A service manager behind a real unix socket that speaks D-Bus, and a transport that leads to it."""

from __future__ import annotations

import asyncio
import io
import struct
from collections import Counter
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Never, cast

from dbus_fast import Message, MessageType, Variant
from dbus_fast._private.unmarshaller import Unmarshaller

from dflashtui.errors import SourceUnavailable, TransportLost
from dflashtui.source.systemd_names import matches, unit_name, unit_path
from dflashtui.transport.base import OUTPUT_LIMIT_BYTES, Completed, Stream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

SYSTEMD = "org.freedesktop.systemd1"
ROOT = "/org/freedesktop/systemd1"
UNIT_DEFAULTS: dict[str, Any] = {
    "LoadState": "loaded",
    "ActiveState": "inactive",
    "SubState": "dead",
    "NeedDaemonReload": False,
    "FragmentPath": "/etc/systemd/system/x",
    "Result": "success",
    "StateChangeTimestamp": 0,
}


class Refusal(Exception):
    """A D-Bus error to answer with."""

    def __init__(self, name: str, words: str) -> None:
        super().__init__(words)
        self.name = name
        self.words = words


class FakeManager:
    """Answers like systemd 252; `units` are its loaded and installed units by name."""

    def __init__(self) -> None:
        self.units: dict[str, dict[str, Any]] = {}
        self.aliases: dict[str, str] = {}
        self.owner = ":1.1"
        self.calls: Counter[str] = Counter()
        self.arguments: list[tuple[str, list[Any]]] = []
        self.refusals: dict[str, Refusal] = {}
        self.silent: set[str] = set()
        self.early_results: dict[str, str] = {}
        self.frozen = False
        self.held: list[Message] | None = None
        self.echoes = True
        self._writers: list[asyncio.StreamWriter] = []
        self._serial = 0

    def add(self, name: str, **properties: object) -> None:
        self.units[name] = {"Id": name, "Names": [name], **UNIT_DEFAULTS, **properties}

    def change(self, name: str, *, signal: bool = True, **properties: object) -> None:
        """Change a unit, as systemd tells of it."""
        self.units[name].update(properties)
        if signal:
            self.tell_changed(name, properties)

    def tell_changed(self, name: str, properties: dict[str, Any]) -> None:
        body = [f"{SYSTEMD}.Unit", {key: variant(value) for key, value in properties.items()}, []]
        self.emit("PropertiesChanged", "sa{sv}as", body, unit_path(name), "org.freedesktop.DBus.Properties")

    def emit(
        self,
        member: str,
        signature: str,
        body: list[Any],
        path: str = ROOT,
        interface: str = f"{SYSTEMD}.Manager",
        sender: str | None = None,
    ) -> None:
        self.send(
            Message(
                message_type=MessageType.SIGNAL,
                path=path,
                interface=interface,
                member=member,
                signature=signature,
                body=body,
                sender=sender or self.owner,
            )
        )

    def execute_anew(self) -> None:
        """As after daemon-reexec: another owner of the name."""
        old, self.owner = self.owner, f":1.{int(self.owner.rpartition('.')[2]) + 1}"
        body = [SYSTEMD, old, self.owner]
        driver = "org.freedesktop.DBus"
        self.emit("NameOwnerChanged", "sss", body, "/org/freedesktop/DBus", driver, driver)

    def send(self, message: Message) -> None:
        """As the bus passes it on: it adds the sender, which dbus-fast never writes (field 7; 6 is the destination)."""
        self._serial += 1
        message.serial = self._serial
        message.destination = message.sender
        data = bytes(message._marshall(negotiate_unix_fd=False)).replace(b"\x06\x01s\0", b"\x07\x01s\0", 1)
        for writer in self._writers:
            writer.write(data)

    def release(self) -> None:
        """Send the replies that were held back."""
        replies, self.held = self.held or [], None
        for reply in replies:
            self.send(reply)

    def hang_up(self) -> None:
        for writer in self._writers:
            writer.close()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Path]:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "bus"
            server = await asyncio.start_unix_server(self._converse, path)
            try:
                yield path
            finally:
                self.hang_up()
                server.close()
                await server.wait_closed()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await self._authenticate(reader, writer)
            self._writers.append(writer)
            while True:
                message = await read_message(reader)
                if not self.frozen:
                    self._answer(message)
        writer.close()

    async def _authenticate(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert await reader.readexactly(1) == b"\0"
        answers = {b"AUTH EXTERNAL\r\n": b"DATA\r\n", b"DATA\r\n": b"OK 0123456789abcdef0123456789abcdef\r\n"}
        while (line := await reader.readuntil(b"\r\n")) != b"BEGIN\r\n":
            writer.write(answers[line])

    def _answer(self, message: Message) -> None:
        member = message.member or ""
        self.calls[member] += 1
        self.arguments.append((member, message.body))
        if member in self.silent:
            return
        try:
            if member in self.refusals:
                raise self.refusals[member]
            signature, body = self._reply(message)
        except Refusal as refused:
            reply = Message.new_error(message, refused.name, refused.words)
        else:
            reply = Message.new_method_return(message, signature, body)
        reply.sender = message.destination if message.destination and message.destination != SYSTEMD else self.owner
        if result := self.early_results.get(member):
            self.emit("JobRemoved", "uoss", [7, f"{ROOT}/job/7", message.body[0], result])
        if self.held is not None and member == "GetAll":
            self.held.append(reply)
            return
        self.send(reply)
        if member == "GetAll" and self.echoes:
            self._echo(unit_name(message.path or "") or "")

    def _echo(self, name: str) -> None:
        """Reading a unit that is not loaded loads and unloads it."""
        unit = self.units.get(name, {"ActiveState": "inactive"})
        if unit["ActiveState"] == "inactive":
            self.emit("UnitNew", "so", [name, unit_path(name)])
            self.emit("UnitRemoved", "so", [name, unit_path(name)])
            self.tell_changed(name, {"ActiveState": "inactive"})

    def _reply(self, message: Message) -> tuple[str, list[Any]]:  # noqa: C901, PLR0911 - one line a method
        body = message.body
        match message.member:
            case "Hello":
                return "s", [":1.99"]
            case "GetNameOwner":
                return "s", [self.owner]
            case "ListUnitsByPatterns":
                return "a(ssssssouso)", [[row(unit) for unit in self._loaded(body[1])]]
            case "ListUnitFilesByPatterns":
                return "a(ss)", [[[f"/etc/systemd/system/{name}", "static"] for name in self._installed(body[1])]]
            case "GetAll":
                return "a{sv}", [self._properties(unit_name(message.path or "") or "")]
            case "Get" if body[1] == "Version":
                return "v", [Variant("s", "252.39-1~deb12u2")]
            case "Get" if body[0].endswith(".Job"):
                raise Refusal("org.freedesktop.DBus.Error.UnknownObject", "Unknown object")
            case "Get":
                name = unit_name(message.path or "") or ""
                return "v", [variant(self.units[name][body[1]])]
            case "StartUnit" | "StopUnit" | "RestartUnit":
                return "o", [f"{ROOT}/job/7"]
            case "EnableUnitFiles":
                return "ba(sss)", [False, []]
            case _:
                return "", []

    def _loaded(self, patterns: list[str]) -> list[dict[str, Any]]:
        return [
            unit
            for name, unit in self.units.items()
            if unit["ActiveState"] != "inactive" and any(matches(pattern, name) for pattern in patterns)
        ]

    def _installed(self, patterns: list[str]) -> list[str]:
        names = [*self.aliases, *(name for name, unit in self.units.items() if unit["FragmentPath"])]
        return [name for name in names if any(matches(pattern, name) for pattern in patterns)]

    def _properties(self, name: str) -> dict[str, Variant]:
        target = self.aliases.get(name, name)
        missing = {"Id": name, "Names": [name], "LoadState": "not-found", "ActiveState": "inactive", "SubState": "dead"}
        return {key: variant(value) for key, value in self.units.get(target, missing).items()}


def row(unit: dict[str, Any]) -> list[Any]:
    states = [unit["LoadState"], unit["ActiveState"], unit["SubState"]]
    return [unit["Id"], "", *states, "", unit_path(unit["Id"]), 0, "", "/"]


def variant(value: object) -> Variant:
    match value:
        case bool():
            return Variant("b", value)
        case int():
            return Variant("t", value)
        case bytes():
            return Variant("ay", value)
        case tuple():
            return Variant("(ss)", list(value))
        case list():
            return Variant("as", value)
        case _:
            return Variant("s", value)


async def read_message(reader: asyncio.StreamReader) -> Message:
    """One little-endian message (D-Bus specification, "Message Format")."""
    head = await reader.readexactly(16)
    body_bytes, _, fields_bytes = struct.unpack("<III", head[4:])
    rest = await reader.readexactly(-(-fields_bytes // 8) * 8 + body_bytes)
    message = Unmarshaller(cast("Any", io.BytesIO(head + rest))).unmarshall()  # any file will do
    assert message is not None
    return message


class FakeTransport:
    """Commands are answered by a script: the first word that matches, in order; the bus socket is a fake's."""

    def __init__(self, socket: Path | None = None, answers: dict[str, tuple[int, str, str]] | None = None) -> None:
        self.socket = socket
        self.answers = answers or {}
        self.ran: list[tuple[str, ...]] = []
        self.is_lost = False

    @property
    def host(self) -> str:
        return "gpu-x"

    @property
    def channels(self) -> int:
        return 0

    async def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", output_limit_bytes: int = OUTPUT_LIMIT_BYTES
    ) -> Completed:
        self.ran.append(tuple(argv))
        if self.is_lost:
            raise TransportLost(self.host, "the link is down")
        line = " ".join(argv)
        for words, (status, out, err) in self.answers.items():
            if words in line:
                return Completed(self.host, tuple(argv), status, out.encode(), err.encode())
        return Completed(self.host, tuple(argv), 0, b"", b"")

    @asynccontextmanager
    async def local_socket(self, path: str) -> AsyncIterator[Path]:
        if self.socket is None:
            raise SourceUnavailable(self.host, "socket", "forwarding is forbidden")
        yield self.socket

    @asynccontextmanager
    async def stream(self, argv: Sequence[str]) -> AsyncIterator[Stream]:
        if argv:
            raise SourceUnavailable(self.host, "stream", f"{argv[0]}: not found")
        yield cast("Stream", None)

    async def put(self, data: bytes, path: object, *, mode: int) -> None:
        raise NotImplementedError

    async def lost(self) -> Never:
        await asyncio.Event().wait()
        raise AssertionError

    async def open_tcp(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        raise NotImplementedError


async def until(holds: Callable[[], bool]) -> None:
    """Wait for a condition, at most 5 s."""
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 - a fake has no event to wait for
            await asyncio.sleep(0.005)
