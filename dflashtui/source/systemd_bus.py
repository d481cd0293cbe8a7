"""A message bus with a service manager on it: calls with a time limit, signals that can be believed."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import quote

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus
from dbus_fast.auth import UID_NOT_SPECIFIED, AuthExternal
from dbus_fast.errors import AuthError
from dbus_fast.unpack import unpack_variants

from dflashtui.errors import ManagerRefused, SourceUnavailable, TransportError, TransportLost

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterator
    from pathlib import Path

    from dflashtui.errors import DflashError
    from dflashtui.transport.base import Transport

ANSWER_LIMIT_SECONDS = 10.0
LINK_CHECK_SECONDS = 5.0
CLOSE_LIMIT_SECONDS = 0.5
SYSTEMD = "org.freedesktop.systemd1"
SYSTEMD_PATH = "/org/freedesktop/systemd1"
MANAGER = "org.freedesktop.systemd1.Manager"
PROPERTIES_INTERFACE = "org.freedesktop.DBus.Properties"
DRIVER = "org.freedesktop.DBus"
DRIVER_PATH = "/org/freedesktop/DBus"
NO_OWNER = frozenset(
    {
        "org.freedesktop.DBus.Error.NameHasNoOwner",
        "org.freedesktop.DBus.Error.ServiceUnknown",
        "org.freedesktop.DBus.Error.NoReply",
        "org.freedesktop.DBus.Error.Disconnected",
    }
)
"""Errors of the bus, not of the manager: it is not there, perhaps only while it executes itself anew."""
ALREADY_SUBSCRIBED = "org.freedesktop.systemd1.AlreadySubscribed"
MATCHES = (
    f"type='signal',sender='{SYSTEMD}',path='{SYSTEMD_PATH}',interface='{MANAGER}'",
    f"type='signal',sender='{SYSTEMD}',path_namespace='{SYSTEMD_PATH}/unit',interface='{PROPERTIES_INTERFACE}'",
    f"type='signal',sender='{DRIVER}',path='{DRIVER_PATH}',member='NameOwnerChanged',arg0='{SYSTEMD}'",
)


class Signal(NamedTuple):
    """A signal of the manager; its body may hold variants. `OwnerChanged` is ours: the manager took its name anew."""

    member: str
    path: str
    body: list[object]


class Listener(Protocol):
    """Somebody who wants to hear of signals."""

    def on_signal(self, signal: Signal) -> None:
        """Called for each signal, in order; must not wait."""

    def on_lost(self) -> None:
        """The bus is gone: `Bus.require` now raises."""


class Bus:
    """An authenticated connection to a message bus."""

    def __init__(
        self, transport: Transport, connection: MessageBus, *, limit_seconds: float = ANSWER_LIMIT_SECONDS
    ) -> None:
        self.host = transport.host
        self._limit_seconds = limit_seconds
        self.is_reloading = False
        """The manager said that it reads its files anew; it answers nobody until it is done."""
        self._transport = transport
        self._connection = connection
        self._lost: DflashError | None = None
        self._owner: str | None = None
        self._subscribed: str | None = None
        self._listeners: set[Listener] = set()
        self._closing = False
        self._ended = asyncio.Event()

    @property
    def has_manager(self) -> bool:
        """Whether anybody owns the manager's name at this moment."""
        return self._owner is not None

    def require(self) -> None:
        """Raise `TransportLost` or `SourceUnavailable` if the bus is gone."""
        if self._lost is not None:
            raise self._lost

    @contextmanager
    def listening(self, listener: Listener) -> Iterator[None]:
        """Tell `listener` of every signal as long as the context lasts."""
        self._listeners.add(listener)
        try:
            yield
        finally:
            self._listeners.discard(listener)

    async def open(self) -> None:
        """Ask for the signals. Raises `SourceUnavailable` if there is no manager on this bus."""
        self._connection.add_message_handler(self._on_message)
        for rule in MATCHES:
            await self._ask(Message(DRIVER, DRIVER_PATH, DRIVER, "AddMatch", signature="s", body=[rule]))
        owner = Message(DRIVER, DRIVER_PATH, DRIVER, "GetNameOwner", signature="s", body=[SYSTEMD])
        try:
            self._owner = str((await self._ask(owner))[0])
            await self.subscribe()
        except ManagerRefused as refused:
            raise SourceUnavailable(self.host, "units", f"no service manager on the bus: {refused.words}") from refused

    async def subscribe(self) -> None:
        """Have the manager send its signals; needed again after it executed itself anew."""
        if self._owner is None or self._owner == self._subscribed:
            return
        owner = self._owner
        try:
            await self.call("Subscribe")
        except ManagerRefused as refused:
            if refused.name != ALREADY_SUBSCRIBED:
                raise
        self._subscribed = owner

    async def call(self, member: str, signature: str = "", *body: object) -> list[object]:
        """Call the manager. Raises `ManagerRefused`, `TransportLost`, `SourceUnavailable`."""
        return await self._ask(Message(SYSTEMD, SYSTEMD_PATH, MANAGER, member, signature=signature, body=list(body)))

    async def get_all(self, path: str) -> dict[str, object]:
        """Every property of an object. sd-bus takes the empty interface for all of them."""
        message = Message(SYSTEMD, path, PROPERTIES_INTERFACE, "GetAll", signature="s", body=[""])
        found = (await self._ask(message))[0]
        return found if isinstance(found, dict) else {}

    async def get(self, path: str, interface: str, name: str) -> object:
        """One property of an object."""
        body = [interface, name]
        message = Message(SYSTEMD, path, PROPERTIES_INTERFACE, "Get", signature="ss", body=body)
        return unpack_variants((await self._ask(message))[0])

    async def until_lost(self) -> None:
        """Return when the connection has ended and everybody was told why."""
        try:
            await self._connection.wait_for_disconnect()  # type: ignore[no-untyped-call] # it has no annotation
            reason = "the bus closed the connection"
        except (OSError, EOFError) as ended:
            reason = f"the connection to the bus ended: {str(ended) or type(ended).__name__}"
        self._ended.set()
        if not self._closing:
            self._tell_lost(await self._why(reason))

    def _tell_lost(self, why: DflashError) -> None:
        """Whoever waits for a signal waits in vain from now on."""
        self._lost = self._lost or why
        for listener in tuple(self._listeners):
            listener.on_lost()

    async def close(self) -> None:
        """Close the connection, and wait until its socket is closed. A job that is waited for may still go on there."""
        self._closing = True
        self._tell_lost(TransportLost(self.host, "the link was left before the manager said how it ended"))
        self._connection.disconnect()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_LIMIT_SECONDS):
                await self._ended.wait()

    async def _why(self, reason: str) -> DflashError:
        """Whether the link ended, or the bus alone."""
        try:
            async with asyncio.timeout(LINK_CHECK_SECONDS):
                (await self._transport.run(("true",))).check()
        except TransportError as lost:
            return lost
        except TimeoutError:
            return TransportLost(self.host, f"{reason}, and the host does not answer")
        return SourceUnavailable(self.host, "units", reason)

    async def _ask(self, message: Message) -> list[object]:
        self.require()
        if not self._connection.connected:
            raise SourceUnavailable(self.host, "units", "the connection to the bus has ended")
        asked = asyncio.ensure_future(self._connection.call(message))
        try:
            answer = await self._answer(asked, message)
        finally:
            asked.cancel()
        if answer.message_type is MessageType.ERROR:
            words = str(answer.body[0]) if answer.body else ""
            raise ManagerRefused(self.host, message.member or "", answer.error_name or "", words)
        return list(answer.body)

    async def _answer(self, asked: asyncio.Future[Message], message: Message) -> Message:
        while not (await asyncio.wait({asked}, timeout=self._limit_seconds))[0]:
            if not self.is_reloading:
                what = f"the bus gave no answer to {message.member} within {self._limit_seconds:g} s"
                raise SourceUnavailable(self.host, "units", what)
        try:
            answer: Message | None = asked.result()
        except (OSError, EOFError) as ended:
            raise await self._why(f"the connection to the bus ended: {ended}") from ended
        if answer is None:
            raise SourceUnavailable(self.host, "units", "the connection to the bus was closed")
        return answer

    def _on_message(self, message: Message) -> None:
        """Any peer may send us a signal unasked: only the manager and the bus itself are believed."""
        if message.message_type is not MessageType.SIGNAL:
            return
        body = message.body
        if message.sender == DRIVER and message.member == "NameOwnerChanged" and body[0] == SYSTEMD:
            self._owner = body[2] or None
            self.is_reloading = False
            self._tell(Signal("OwnerChanged", SYSTEMD_PATH, body))
        elif message.sender == self._owner:
            if message.member == "Reloading":
                self.is_reloading = bool(body[0])
            self._tell(Signal(message.member or "", message.path or "", body))

    def _tell(self, signal: Signal) -> None:
        for listener in tuple(self._listeners):
            listener.on_signal(signal)


@asynccontextmanager
async def connected(
    transport: Transport, socket: Path, *, limit_seconds: float = ANSWER_LIMIT_SECONDS
) -> AsyncIterator[Bus]:
    """A bus with a subscribed manager, through a local socket. Raises `SourceUnavailable`, `TransportLost`."""
    connection = await _connection(transport.host, socket, limit_seconds)
    bus = Bus(transport, connection, limit_seconds=limit_seconds)
    async with beside(bus.until_lost()):
        try:
            await bus.open()
            yield bus
        finally:
            await bus.close()


async def _connection(host: str, socket: Path, limit_seconds: float) -> MessageBus:
    # the bus takes the identity of the other end's user; a local uid would be refused
    connection = MessageBus(f"unix:path={quote(str(socket))}", auth=AuthExternal(uid=UID_NOT_SPECIFIED))
    try:
        async with asyncio.timeout(limit_seconds):
            return await connection.connect()
    except TimeoutError as silent:
        raise SourceUnavailable(host, "units", f"the bus did not answer within {limit_seconds:g} s") from silent
    except (OSError, EOFError, AuthError) as refused:
        raise SourceUnavailable(host, "units", f"cannot talk to the bus: {refused}") from refused


@asynccontextmanager
async def beside(work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Run `work` as long as the context lasts."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
