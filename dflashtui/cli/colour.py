"""Whether to use colours."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dflashtui.cli.parser import Options


def wants_colour(options: Options) -> bool:
    """Only on a terminal, and not against the person's wish (https://no-color.org)."""
    return sys.stdout.isatty() and not options.no_color and not os.environ.get("NO_COLOR")
