"""For all tests.

Hypothesis is imported at the start: its plugin would import it in the summary, where CPython 3.11 may refuse to parse
it after tests of dbus-fast ("AST constructor recursion depth mismatch").
"""

import hypothesis

assert hypothesis.__version__

pytest_plugins = ["tests.fleet.plugin"]
