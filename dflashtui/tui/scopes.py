"""The scopes of keys: within one, a key may do one thing only."""

from __future__ import annotations

from dflashtui.tui.app import DflashApp
from dflashtui.tui.changes.diff_screen import DiffScreen
from dflashtui.tui.changes.result_screen import ResultScreen
from dflashtui.tui.compare.picking import PickScreen
from dflashtui.tui.compare.screen import CompareScreen
from dflashtui.tui.crash.card import CrashCard
from dflashtui.tui.crash.command import CommandScreen
from dflashtui.tui.dialogs.confirm import Confirm, LightConfirm
from dflashtui.tui.dialogs.line import CommandLine
from dflashtui.tui.dialogs.menu import Menu
from dflashtui.tui.dialogs.run import RunScreen
from dflashtui.tui.dialogs.text import TextScreen
from dflashtui.tui.listing.widget import RowList
from dflashtui.tui.log.widget import LogPane
from dflashtui.tui.panes.detail_pane import DetailPane
from dflashtui.tui.preflight.fixing import FixScreen
from dflashtui.tui.preflight.screen import PreflightScreen
from dflashtui.tui.screen import MainScreen
from dflashtui.tui.serving.sheet import Sheet

SCOPES = (
    DflashApp,
    MainScreen,
    RowList,
    LogPane,
    DetailPane,
    Menu,
    Confirm,
    LightConfirm,
    RunScreen,
    TextScreen,
    Sheet,
    CommandLine,
    CrashCard,
    CommandScreen,
    DiffScreen,
    ResultScreen,
    PreflightScreen,
    FixScreen,
    CompareScreen,
    PickScreen,
)
