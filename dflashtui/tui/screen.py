"""The main screen: what can be done to the rows."""

from __future__ import annotations

from dflashtui.tui.travel import Travel


class MainScreen(Travel):
    """The console."""
