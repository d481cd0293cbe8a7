"""The second stage: makes modules of the texts that came along, and runs `main`. Parses on any Python 3.

What it imports comes from the standard library, whatever the unit's own folders hold under the same names: the unit's
module path is put aside, and is read as data only.
"""

import os
import sys
import types

OLDEST = (3, 8)


def load(sources: list) -> None:  # type: ignore[type-arg]  # older Pythons must reach the message
    """Run `sources`, pairs of module name and text in the order of their imports, then the survey."""
    if sys.version_info < OLDEST:
        sys.exit("this interpreter is Python %d.%d, the survey needs 3.8" % sys.version_info[:2])
    path = list(sys.path)
    sys.path[:] = own_library(path)
    for name, text in sources:
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(text, "<%s>" % name, "exec"), module.__dict__)  # noqa: S102 - the texts are our own
    sys.modules["dflashtui.survey.main"].run(path)


def own_library(path: list) -> list:  # type: ignore[type-arg]  # as above
    """The folders of the standard library among those of `sys.path`."""
    library = os.path.dirname(os.__file__)
    wanted = (library, os.path.join(library, "lib-dynload"))
    return [one for one in path if one in wanted or one.endswith((".zip", "/lib-dynload"))] or list(wanted)
