"""What the command palette offers: every key that works now, every host, unit, view and theme."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.command import DiscoveryHit, Hit, Provider
from textual.content import Content

from dflashtui.text import printable
from dflashtui.tui.keys import shown_key
from dflashtui.tui.places import Place
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.subject import host_subject, unit_subject
from dflashtui.tui.tools import Tools

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from textual.command import Hits


class Offer(NamedTuple):
    """One command."""

    words: str
    """Safe to print."""
    help: str
    """Our own words: the palette reads them as markup."""
    run: Callable[[], Awaitable[object] | object]


class Commands(Provider):
    """Palette and keys call the same actions."""

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for offer in self._offers():
            yield DiscoveryHit(Content(offer.words), offer.run, text=offer.words, help=offer.help)

    async def search(self, query: str) -> Hits:
        """Those that match."""
        matcher = self.matcher(query)
        for offer in self._offers():
            score = matcher.match(offer.words)
            if score > 0:
                yield Hit(score, matcher.highlight(offer.words), offer.run, text=offer.words, help=offer.help)

    def _offers(self) -> Iterator[Offer]:
        screen = self.screen
        if not isinstance(screen, Tools):
            return
        yield from _keys(screen)
        for host in screen.newest.hosts:
            place = Place("host", host_subject(host.name))
            yield Offer(f"host {printable(host.name)}", "go to the host", partial(screen.enter, place))
            for unit in host.units or ():
                place = Place("host", unit_subject(host.name, unit.name))
                words = f"unit {unit_label(unit.name)} on {printable(host.name)}"
                yield Offer(words, "go to the unit", partial(screen.enter, place))
        for theme in screen.app.available_themes:
            yield Offer(f"theme {theme}", "change the colours", partial(screen.use_theme, theme))


def _keys(screen: Tools) -> Iterator[Offer]:
    """Every action that a key would do now, with its keys."""
    found: dict[str, tuple[list[str], str, Callable[[], Awaitable[object]]]] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        is_move = binding.group is not None and binding.group.description == "move"
        if not active.enabled or not binding.id or not binding.tooltip or is_move:
            continue
        run: Callable[[], Awaitable[object]] = partial(screen.app.run_action, binding.action, active.node)
        known = found.setdefault(binding.action, ([], binding.tooltip, run))
        known[0].append(shown_key(binding.key))
    for keys, words, run in found.values():
        yield Offer(f"{words}   {' '.join(keys)}", "", run)
