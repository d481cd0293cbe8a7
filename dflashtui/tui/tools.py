"""Help, command line, themes, shell: what a person needs beside the views."""

from __future__ import annotations

import asyncio
import os
import signal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import SuspendNotSupported
from textual.binding import Binding

from dflashtui import paths
from dflashtui.errors import DflashError
from dflashtui.ops.saved_filters import SavedFilters
from dflashtui.text import printable
from dflashtui.tui import help as help_text
from dflashtui.tui import lines
from dflashtui.tui.copying import shell_argv
from dflashtui.tui.details.parts import heading
from dflashtui.tui.dialogs.line import CommandLine
from dflashtui.tui.dialogs.text import TextScreen
from dflashtui.tui.keys import described, normal_keys, shown_key
from dflashtui.tui.listing.widget import RowList
from dflashtui.tui.log.saving import form_of
from dflashtui.tui.log.widget import LogPane
from dflashtui.tui.panes.detail_pane import DetailPane
from dflashtui.tui.places import Place
from dflashtui.tui.styled import Cell, cell
from dflashtui.tui.subject import host_subject, unit_subject
from dflashtui.tui.travel import Travel
from dflashtui.tui.views import VIEWS

if TYPE_CHECKING:
    from textual.binding import BindingType

WORD_ACTIONS = {"q": "leave", "problems": "problems", "freeze": "freeze", "help": "keys"}


class Tools(Travel):
    """What works on every view."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,f1", "keys", "help", id="console.help", tooltip="Keys of this pane, all keys, signs"),
        Binding("colon", "line", "command", show=False, id="console.line", tooltip="Type a command"),
        Binding(
            "M", "mouse", "mouse", show=False, id="console.mouse", tooltip="Mouse off, for the terminal's selection"
        ),
        Binding("plus", "grow(1)", "larger", show=False, id="console.larger", tooltip="This pane larger"),
        Binding("underscore", "grow(-1)", "smaller", show=False, id="console.smaller", tooltip="This pane smaller"),
    ]
    _has_mouse = True

    @cached_property
    def saved_filters(self) -> SavedFilters:
        """In the state folder; the demo's go with it."""
        return SavedFilters(None if self.fleet.is_demo else paths.state_folder() / "filters.json")

    def action_keys(self) -> None:
        """Three pages of help."""
        pane = self.focused
        text = next((node.HELP for node in pane.ancestors_with_self if node.HELP), "") if pane else ""
        working = help_text.working_keys(self.active_bindings.values())
        pages: dict[str, tuple[Cell, ...]] = {
            "this pane": (*help_text.marked_up(text), *heading("keys that work now"), *working),
            "all keys": help_text.all_keys({title: self._described(scope) for title, scope in SCOPES.items()}),
            "signs": help_text.signs(),
        }
        self.app.push_screen(TextScreen(cell("help", "strong"), pages, "this pane"))

    def _described(self, scope: type[RowList | LogPane | DetailPane | Travel]) -> list[tuple[list[str], str]]:
        keymap = self.config.console.keymap
        owner = type(self) if scope is Travel else scope
        return [
            ([shown_key(key) for key in (normal_keys(keymap[name]) if name in keymap else keys)], words)
            for name, (keys, words) in described(owner).items()
        ]

    @work(group="menu", exclusive=True)
    async def action_line(self) -> None:
        """Read a line and do it."""
        picture = self.newest
        units = dict.fromkeys(unit.name for host in picture.hosts for unit in host.units or ())
        known = lines.completions(VIEWS, self.fleet.names, units, self.app.available_themes)
        typed = await self.app.push_screen_wait(CommandLine(known))
        if typed is not None:
            try:
                await self._do(lines.parse(typed, VIEWS))
            except (lines.LineError, DflashError, OSError) as error:
                self.notify(printable(str(error)), severity="warning", markup=False)

    async def _do(self, line: lines.Line) -> None:
        match line.word:
            case "host":
                await self._go_to_host(line.rest)
            case "unit":
                await self._go_to_unit(line.rest)
            case "theme":
                self.use_theme(line.rest)
            case "since":
                await self.show_since(lines.seconds(line.rest))
            case "w":
                await self._save(Path(line.rest))
            case "filter":
                await self._use_filter(line.rest)
            case word:
                await self.run_action(WORD_ACTIONS.get(word, f"show('{word}')"))

    async def _go_to_host(self, name: str) -> None:
        if name not in self.fleet.names:
            raise lines.LineError(f"no host '{name}' in the inventory")
        await self.enter(Place("host", host_subject(name)))

    async def _go_to_unit(self, words: str) -> None:
        """`unit NAME`, or `unit NAME HOST` where several hosts have it; `.service` goes without saying."""
        name, _, host = words.partition(" ")
        found = [
            unit_subject(snapshot.name, unit.name)
            for snapshot in self.newest.hosts
            for unit in snapshot.units or ()
            if unit.name in {name, f"{name}.service"} and host.strip() in {"", snapshot.name}
        ]
        if not found:
            raise lines.LineError(f"no watched unit '{words}'")
        await self.enter(Place("host", found[0]))

    def use_theme(self, name: str) -> None:
        """Change the colours."""
        if name not in self.app.available_themes:
            raise lines.LineError(f"no theme '{name}'; there are {', '.join(self.app.available_themes)}")
        self.app.theme = name

    async def _save(self, path: Path) -> None:
        """What the log pane shows, into a new file; an old one is never overwritten."""
        pane = self.log_pane
        if pane is None:
            raise lines.LineError("no log on this view; l opens that of a unit")
        form = form_of(path.suffix)
        written = await asyncio.to_thread(_write_new, path, pane.saved_shown(form))
        self.notify(f"saved {len(pane.items_shown())} lines to {written}, as {form.value}", markup=False)

    async def _use_filter(self, words: str) -> None:
        """`NAME` puts saved filters in place, `save NAME` keeps those that hold, `drop NAME` forgets them."""
        pane = self.log_pane
        if pane is None:
            raise lines.LineError("no log on this view; l opens that of a unit")
        word, _, name = words.partition(" ")
        if word in {"save", "drop"} and name:
            kept = pane.patterns if word == "save" else None
            await asyncio.to_thread(self.saved_filters.keep, name.strip(), kept)
            self.notify(f"filters {'saved as' if kept else 'dropped:'} {name.strip()}", markup=False)
            return
        known = await asyncio.to_thread(self.saved_filters.all)
        if words not in known:
            raise lines.LineError(f"no filters saved as '{words}'; there are: {', '.join(known) or 'none yet'}")
        pane.filter_by(known[words])

    def action_leave(self) -> None:
        """End the console."""
        self.leave()

    def action_mouse(self) -> None:
        """Mouse reports off and on."""
        self._has_mouse = not self._has_mouse
        self._report_mouse(self._has_mouse)
        words = "mouse on" if self._has_mouse else "mouse off: the terminal's own selection works; M turns it on"
        self.notify(words, markup=False, timeout=3)

    def _report_mouse(self, wanted: bool) -> None:  # noqa: FBT001 - the state is the value
        """Textual has no public way to change this while it runs; these are xterm's modes 1000, 1003, 1006, 1015."""
        driver = self.app._driver  # noqa: SLF001 - see above
        if driver is not None and not self.app.is_headless:
            driver.write("".join(f"\x1b[?{mode}{'h' if wanted else 'l'}" for mode in (1000, 1003, 1015, 1006)))
            driver.flush()

    def action_grow(self, by: int) -> None:
        """Give the pane more room, or less."""
        if self.view is not None:
            self.view.grow(by)

    @work(group="shell", exclusive=True)
    async def action_shell(self) -> None:
        """A shell on the host. Hosts go on being watched; nothing is drawn until the shell ends."""
        row = self.row
        host = row.key.host if row is not None else (self.view.row.host if self.view and self.view.row else "")
        if not host:
            return
        argv = shell_argv(self.config, host) or (os.environ.get("SHELL", "/bin/sh"),)
        try:
            with self.app.batch_update(), self.app.suspend():
                status = await run_in_terminal(argv)
        except SuspendNotSupported:
            self.notify("this terminal cannot be lent to a shell", severity="warning", markup=False)
            return
        self.notify(f"{printable(host)}: the shell ended with status {status}", markup=False, timeout=3)


SCOPES: dict[str, type[RowList | LogPane | DetailPane | Travel]] = {
    "everywhere, and on rows": Travel,
    "lists": RowList,
    "details": DetailPane,
    "log": LogPane,
}


def _write_new(path: Path, data: bytes) -> Path:
    whole = path.expanduser()
    with whole.open("xb") as file:
        file.write(data)
    return whole


async def run_in_terminal(argv: tuple[str, ...]) -> int:
    """Run a program on the terminal; `ctrl+c` belongs to it meanwhile."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    try:
        return await (await asyncio.create_subprocess_exec(*argv)).wait()
    finally:
        loop.remove_signal_handler(signal.SIGINT)
