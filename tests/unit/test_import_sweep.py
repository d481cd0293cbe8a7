"""The import sweep against the truth: the same program is really imported, and mended fault by fault."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from dflashtui.survey import imports
from dflashtui.survey.place import OutOfTime, Place
from tests.support import import_truth

if TYPE_CHECKING:
    from pathlib import Path

LIBRARY = [path for path in sys.path if path.endswith(("lib-dynload", f"python3.{sys.version_info[1]}"))]

CASES: dict[str, dict[str, str]] = {
    "missing modules, all in one pass": {
        "app/__init__.py": "import soundfile\nfrom . import serve\n",
        "app/serve.py": "import PIL.Image\nfrom zmq.asyncio import Context\nimport json, orjson",
    },
    "a name that a module does not have": {
        "app.py": "from xgrammar import Grammar, StructuralTag\nfrom xgrammar.structural import Item, Tag",
        "xgrammar/__init__.py": "from .grammar import *\nfrom .structural import Tag",
        "xgrammar/grammar.py": "class Grammar: ...\n_hidden = 1",
        "xgrammar/structural.py": "Tag = Item = None\ndel Item",
    },
    "star imports with and without __all__": {
        "app.py": "from a import listed, _private, public\nfrom b import shown, hidden, far",
        "a.py": "from b import *\nfrom c import *",
        "b.py": "__all__ = ['listed']\n__all__ += ['shown']\nlisted = shown = 1\nfrom d import *",
        "c.py": "public = _private = 2",
        "d.py": "far = 3",
    },
    "guards": {
        "app.py": (
            "try:\n    import fast\nexcept ImportError:\n    import slow\n"
            "try:\n    import ujson\nexcept ImportError:\n    import json as ujson\n"
            "try:\n    import needed\nexcept ImportError as no:\n    raise ImportError('install it') from no\n"
            "try:\n    import kernels\nexcept (ValueError, ModuleNotFoundError):\n    kernels = None\n"
            "try:\n    import attention\nexcept ValueError:\n    pass\n"
            "try:\n    import json\nexcept ImportError:\n    import never\nelse:\n    import always\n"
            "try:\n    import json\nfinally:\n    import last\n"
            "from contextlib import suppress\nwith suppress(ImportError):\n    import perhaps\n"
        ),
    },
    "a guard around a module that fails itself": {
        "app.py": "try:\n    import inner\nexcept ImportError:\n    inner = None\nimport after",
        "inner.py": "from deeper import thing",
        "deeper.py": "thing = 1\nimport missing_deep",
    },
    "a guard against missing modules does not catch a missing name": {
        "app.py": "try:\n    from lib import new\nexcept ModuleNotFoundError:\n    new = None",
        "lib.py": "old = 1",
    },
    "conditions that can be told": {
        "app.py": (
            "import sys, os, typing\nfrom typing import TYPE_CHECKING\nimport importlib.util\n"
            "if TYPE_CHECKING:\n    import only_for_types\nelse:\n    import for_real\n"
            "if not typing.TYPE_CHECKING and sys.version_info >= (3, 8):\n    import modern\n"
            "if sys.platform == 'win32' or os.name == 'nt':\n    import winreg_not\n"
            "if sys.version_info[0] < 3:\n    import cStringIO\n"
            "if sys.platform.startswith('linux'):\n    import epoll_not\n"
            "if importlib.util.find_spec('nowhere') is not None:\n    import nowhere\n"
            "if importlib.util.find_spec('json'):\n    import jsonish\n"
            "if __name__ == '__main__':\n    import as_program\n"
        ),
    },
    "functions that run at import": {
        "app.py": (
            "from tools import setup as prepare, lazily\n"
            "def here():\n    import called\n    try:\n        import guarded\n    except ImportError:\n        pass\n"
            "def early(x=None):\n    if x:\n        return\n    return\n"
            "here()\nstate = prepare()\nearly()\nlazily()\n"
            "class Thing:\n    import in_class\n"
        ),
        "tools.py": "def setup():\n    import far_called\n\ndef lazily():\n    import unstarted\n    yield 1\n",
    },
    "relative imports and parents": {
        "app/__init__.py": "",
        "app/one/__init__.py": "from .. import two\nfrom ..two import helper\nfrom . import absent",
        "app/one/main.py": "from .sub.leaf import x",
        "app/one/sub/__init__.py": "import by_parent",
        "app/one/sub/leaf.py": "x = 1\nfrom ...two import nothing",
        "app/two.py": "def helper(): ...",
        "start.py": "import app.one.main",
    },
    "namespace packages over two folders": {
        "app.py": "import space.left.a, space.right\nfrom space import right, absent\nimport space.left.nothing",
        "space/left/a.py": "import gone_in_left",
        "second/space/right.py": "import gone_in_right",
    },
    "names that nobody can tell are no faults": {
        "app.py": (
            "from lazy import Anything\nfrom table import made, made_too\nfrom six_like import u\n"
            "from _json import scanstring\n"
            "from time import sleep, never_there\nfrom os.path import join\nimport xml.etree.ElementTree\n"
        ),
        "lazy.py": "def __getattr__(name):\n    return 1",
        "table.py": (
            "import sys\nfor name in ('made',):\n    globals()[name] = 1\n"
            "this = sys.modules[__name__]\nfor name in ('made_too',):\n    setattr(this, name, 1)\n"
        ),
        "six_like.py": "here = globals()\n\nhere.update(u=1)",
    },
    "circular imports that work": {
        "app.py": "import left",
        "left.py": "import right\nx = 1\nimport left_lacks",
        "right.py": "import left\ndef use():\n    from left import x\nimport right_lacks",
    },
    "a module that is no package": {"app.py": "import plain.inner\nimport json.decoder.deeper", "plain.py": "x = 1"},
    "a text for another Python": {"app.py": "import fine, broken", "fine.py": "", "broken.py": "print 'x'\n"},
    "odd encodings": {
        "app.py": "# -*- coding: latin-1 -*-\nimport missing_after_latin",
        "bom.py": "\ufeffimport missing_after_bom",
        "start.py": "import app, bom",
    },
    "modules by name": {
        "app.py": "import importlib\nmodule = importlib.import_module('by_name')\n__import__('by_builtin')",
    },
    "names bound in every way": {
        "app.py": "from ways import " + ", ".join("abcdefghijkl") + ", nothing",
        "ways.py": (
            "import json as a\nfrom json import loads as b\n[c, *d] = [1, 2]\ne: int = 1\nm: int\n"
            "for f in (1,): pass\nwith open('/dev/null') as g: pass\n"
            "if (h := 1): pass\ndef i(): ...\nasync def j(): ...\nclass k: ...\n"
            "def setter():\n    global l\n    l = 1\nsetter()\n"
        ),
    },
}


def laid_out(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        coding = "latin-1" if "latin-1" in text else "utf-8"
        path.write_text(text, encoding=coding)


def swept(folder: Path, **order: object) -> list[dict[str, Any]]:
    place = Place([str(folder), str(folder / "second"), *LIBRARY], 20.0)
    target = "start" if (folder / "start.py").exists() else "app"
    wanted = {"entry": {"kind": "script", "target": str(folder / "begin.py")}, "keeps": False, **order}
    if not (folder / "begin.py").exists():
        (folder / "begin.py").write_text(f"import {target}\n")
    return json.loads(json.dumps(list(imports.found(wanted, place))))  # type: ignore[no-any-return]


def certain(facts: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    faults = [fact for fact in facts if fact["kind"] == "fault" and fact["status"] == "certain"]
    return [(fact["fault"], fact["module"], fact["name"] or "") for fact in faults]


@pytest.mark.parametrize("case", CASES)
def test_what_is_certain_is_what_a_run_meets(case: str, tmp_path: Path) -> None:
    laid_out(tmp_path, CASES[case])
    found = certain(swept(tmp_path))
    argv = [sys.executable, "-I", import_truth.__file__, "import begin", str(tmp_path), str(tmp_path / "second")]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    truth = [tuple(json.loads(line)[:3]) for line in done.stdout.splitlines()]
    assert truth
    assert found == truth


def faults(facts: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {fact["module"]: fact for fact in facts if fact["kind"] == "fault"}


def test_less_sure_ways_are_told_apart_and_hand_it_on(tmp_path: Path) -> None:
    laid_out(
        tmp_path,
        {
            "app.py": (
                "import os, shared\nif os.environ.get('X'):\n    import plain_if, by_condition\n"
                "for _ in (1,):\n    import in_loop\n"
                "def later():\n    import in_function, by_function, both\n"
                "class Service:\n    def run(self):\n        import in_method\n"
                "try:\n    import by_guard\nexcept ImportError:\n    pass\n"
            ),
            "by_condition.py": "import handed_on, both\ndef f():\n    import later_still",
            "by_function.py": "import from_function",
            "by_guard.py": "import guarded_missing\nif later:\n    import guarded_condition",
            "shared.py": "",
        },
    )
    found = faults(swept(tmp_path))
    assert {name: fault["status"] for name, fault in found.items()} == {
        "plain_if": "conditional",
        "in_loop": "conditional",
        "handed_on": "conditional",
        "both": "conditional",
        "in_function": "late",
        "in_method": "late",
        "from_function": "late",
        "later_still": "late",
    }
    assert [link[0] for link in found["later_still"]["chain"]] == ["__main__", "app"]
    assert (found["later_still"]["by"], found["later_still"]["line"]) == ("by_condition", 3)


def test_other_peoples_packages_are_followed_as_far_as_they_lack_something(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    for name, requires in (("whole", "there"), ("lacking", "gone"), ("there", "")):
        asked = f"Requires-Dist: {requires}\n" if requires else ""
        laid_out(
            site,
            {
                f"{name}/__init__.py": f"import missing_in_{name}\ndef f():\n    import late_in_{name}\nx = 1",
                f"{name}-1.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n{asked}\n",
                f"{name}-1.dist-info/top_level.txt": f"{name}\n",
            },
        )
    laid_out(tmp_path, {"app.py": "from whole import x, y\nfrom lacking import x, y"})
    place = Place([str(tmp_path), str(site), *LIBRARY], 20.0)
    (tmp_path / "begin.py").write_text("import app")
    order = {"entry": {"kind": "script", "target": str(tmp_path / "begin.py")}, "keeps": False}
    facts = list(imports.found(order, place))
    assert certain(facts) == [
        ("missing-name", "whole", "y"),
        ("missing-module", "missing_in_lacking", ""),
        ("missing-name", "lacking", "y"),
    ]
    assert faults(facts)["whole"]["owner"] == "whole"
    assert "late_in_lacking" not in faults(facts)


def test_what_is_kept_is_used_until_a_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    laid_out(tmp_path, {"app.py": "import other, gone", "other.py": ""})
    first = swept(tmp_path, keeps=True)
    again = swept(tmp_path, keeps=True)
    assert (first[-1]["parsed"], again[-1]["parsed"]) == (3, 0)
    assert certain(again) == certain(first) == [("missing-module", "gone", "")]
    laid_out(tmp_path, {"other.py": "import gone_too", "cache/dflashtui/imports-0-311.json": "of an older release"})
    changed = swept(tmp_path, keeps=True)
    assert changed[-1]["parsed"] == 1
    assert ("missing-module", "gone_too", "") in certain(changed)
    (kept,) = (tmp_path / "cache/dflashtui").iterdir()
    kept.write_text('{"' + str(tmp_path / "app.py") + '": [[1, 2], 3]')
    assert certain(swept(tmp_path, keeps=True)) == certain(changed)
    kept.unlink()
    kept.parent.rmdir()
    kept.parent.write_text("no folder")
    assert certain(swept(tmp_path, keeps=True)) == certain(changed)


def test_bad_files_are_findings(tmp_path: Path) -> None:
    laid_out(tmp_path, {"app.py": "import " + ", ".join(BAD), "json.py": "", "queue/__init__.py": ""})
    for name, data in BAD.items():
        (tmp_path / f"{name}.py").write_bytes(data)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "around").symlink_to(tmp_path)
    laid_out(tmp_path, {"start.py": "import app\nimport loop, around.around.app"})
    facts = swept(tmp_path)
    found = faults(facts)
    assert {name: found[name]["fault"] for name in BAD if name in found} == {
        "unknown_coding": "syntax",
        "not_utf8": "syntax",
        "null_bytes": "syntax",
        "python2": "syntax",
        "deep": "syntax",
    }
    assert found["python2"]["line"] == 2
    assert [fact["module"] for fact in facts if fact["kind"] == "shadow"] == ["json", "queue"]
    assert found["loop"]["fault"] == "missing-module"


BAD = {
    "unknown_coding": b"# -*- coding: klingon -*-\nimport gone\n",
    "not_utf8": b"name = '\xff\xfe'\n",
    "null_bytes": b"x = 1\n\0\n",
    "python2": b"x = 1\nprint 'x'\n",
    "deep": b"x = " + b"(" * 5000 + b")" * 5000 + b"\n",
    "empty": b"",
    "only_comment": b"# import nothing\r\n",
    "old_lines": b"import json\rimport os\r",
}


def test_a_program_that_cannot_be_looked_at_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "elf").write_bytes(b"\x7fELF\0\0")
    (tmp_path / "shell").write_text("#!/bin/sh\nexec true\n")
    for entry, is_missing in (
        ({"kind": "script", "target": str(tmp_path / "nowhere.py")}, True),
        ({"kind": "module", "target": "nowhere.main"}, True),
        ({"kind": "script", "target": str(tmp_path / "elf")}, False),
        ({"kind": "script", "target": str(tmp_path / "shell")}, False),
    ):
        facts = list(imports.found({"entry": entry, "keeps": False}, Place([str(tmp_path), *LIBRARY], 20.0)))
        assert [fact["kind"] for fact in facts] == ["no-entry", "summary"]
        assert facts[0]["is_missing"] is is_missing


def test_modules_in_archives_are_there_and_folders_that_cannot_be_searched_are_told(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("zipped/__init__.py", "")
        archive.writestr("zipped/inner.py", "x = 1")
    (tmp_path / "listed").mkdir()
    (tmp_path / "listed/dotted.cpython-399-none.so").touch()
    (tmp_path / "begin.py").write_text("import zipped.inner, zipped.gone, dotted, json\nfrom nowhere import x")
    order = {"entry": {"kind": "script", "target": str(tmp_path / "begin.py")}, "keeps": False}
    path = [str(tmp_path / "packed.zip"), str(tmp_path / "absent"), str(tmp_path / "listed"), *LIBRARY]
    found = faults(list(imports.found(order, Place(path, 20.0))))
    assert {name: fault["fault"] for name, fault in found.items()} == dict.fromkeys(
        ("zipped.gone", "dotted", "nowhere"), "missing-module"
    )


def test_twenty_thousand_files_end_in_time_with_what_was_found(tmp_path: Path) -> None:
    for number in range(20_000):
        with open(f"{tmp_path}/m{number}.py", "w") as file:  # noqa: PTH123 - half as long as by a path
            file.write(f"import gone{number}, m{number + 1}\n")
    laid_out(tmp_path, {"app.py": "import m0"})
    (tmp_path / "begin.py").write_text("import app")
    order = {"entry": {"kind": "script", "target": str(tmp_path / "begin.py")}, "keeps": False}
    facts: list[dict[str, Any]] = []
    began = time.process_time()  # a busy machine is not the sweep's doing
    with pytest.raises(OutOfTime):
        facts.extend(imports.found(order, Place([str(tmp_path), *LIBRARY], 0.5)))
    assert time.process_time() - began < 3
    assert facts[-1]["kind"] == "summary"
    assert 0 < len(faults(facts)) <= facts[-1]["followed"]


def test_a_whole_package_is_followed_to_one_that_lacks_something(tmp_path: Path) -> None:
    """As starlette, whose wants are there, reaches an anyio without sniffio."""
    site = tmp_path / "site-packages"
    head = "Metadata-Version: 2.1\nVersion: 1\n"
    for name, requires in (("outer", "middle"), ("middle", "inner"), ("inner", "gone")):
        laid_out(
            site,
            {
                f"{name}/__init__.py": f"import {requires}",
                f"{name}-1.dist-info/METADATA": f"{head}Name: {name}\nRequires-Dist: {requires}\n\n",
                f"{name}-1.dist-info/top_level.txt": f"{name}\n",
            },
        )
    laid_out(tmp_path, {"app.py": "import outer"})
    (tmp_path / "begin.py").write_text("import app")
    order = {"entry": {"kind": "script", "target": str(tmp_path / "begin.py")}, "keeps": False}
    facts = list(imports.found(order, Place([str(tmp_path), str(site), *LIBRARY], 20.0)))
    assert certain(facts) == [("missing-module", "gone", "")]
