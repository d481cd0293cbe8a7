"""A fault of the console itself: the log has it whole, the terminal gets one line, and no values of anybody's."""

from __future__ import annotations

import logging
import sys

from rich.text import Text

from dflashtui import paths
from dflashtui.mask import masked
from dflashtui.text import printable
from dflashtui.tui.discreet import DiscreetApp

LOG = logging.getLogger(__name__)


class OwnFaults(DiscreetApp):
    """An app that ends in order when it fails."""

    def _fatal_error(self) -> None:
        """In place of Textual's: that prints the local variables of every frame, and those may hold secrets."""
        error = sys.exc_info()[1]
        LOG.critical("the console failed", exc_info=error)
        what = printable(masked(f"{type(error).__name__}: {error}"), limit=300)
        self.panic(
            Text(
                f"dflashtui ended by a fault of its own: {what}\n"
                f"The log has all of it: {paths.state_folder() / paths.LOG_NAME}\n"
                "What was running on the hosts goes on. Please report it, with that part of the log."
            )
        )
