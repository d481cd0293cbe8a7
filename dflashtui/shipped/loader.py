"""The first thing that runs on a host: makes modules of the texts that came along. Parses on any Python 3."""

import sys
import types

OLDEST = (3, 8)


class Texts:
    """Finds modules among texts; each is compiled when it is first imported, which saves those that are not needed."""

    def __init__(self, texts) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - older Pythons must reach the message
        self.texts = texts

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, ARG002
        """See importlib.abc.MetaPathFinder."""
        return type(sys.__spec__)(name, self) if name in self.texts else None  # type: ignore[arg-type]  # it is one

    def create_module(self, spec):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
        """A usual one."""

    def exec_module(self, module):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
        """Run its text."""
        name = module.__name__
        exec(compile(self.texts[name], "<%s>" % name, "exec"), module.__dict__)  # noqa: S102 - the texts are our own


def load(sources, main):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - as above
    """Have `sources`, pairs of module name and text, importable, and run `run()` of the module `main`."""
    if sys.version_info < OLDEST:
        sys.exit("python3 is %d.%d here, dflashtui needs 3.8" % sys.version_info[:2])
    folders = {name.rpartition(".")[0] for name, _ in sources}
    for package in (folders | {name.partition(".")[0] for name in folders}) - {""}:
        module = types.ModuleType(package)
        module.__path__ = []
        sys.modules[package] = module
    sys.meta_path.insert(0, Texts(dict(sources)))
    __import__(main, fromlist=["run"]).run()
