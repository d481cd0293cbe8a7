"""The first thing that runs on a host: makes modules of the texts that came along. Parses on any Python 3."""

import sys
import types

OLDEST = (3, 8)


def load(sources, main):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - older Pythons must reach the message
    """Run `sources`, pairs of module name and text in the order of their imports, then `run()` of the module `main`."""
    if sys.version_info < OLDEST:
        sys.exit("python3 is %d.%d here, dflashtui needs 3.8" % sys.version_info[:2])
    for name, text in sources:
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(text, "<%s>" % name, "exec"), module.__dict__)  # noqa: S102 - the texts are our own
        place(name, module)  # type: ignore[no-untyped-call]  # as this one
    sys.modules[main].run()


def place(name, module):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - as above
    """Make it a part of its package, so that others can name it with `from package import module`."""
    package, _, short = name.rpartition(".")
    if package:
        setattr(sys.modules.setdefault(package, types.ModuleType(package)), short, module)
