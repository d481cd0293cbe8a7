"""The import sweep on a real host: as the unit's user, through its own way of finding modules, against the truth."""

from __future__ import annotations

import asyncio
import inspect
import io
import json
import zipfile
from typing import TYPE_CHECKING

import pytest

from dflashtui.cli.fleets import opener
from dflashtui.config.read import load
from dflashtui.ops import preflight_arguments, preflight_imports
from dflashtui.ops.preflight import preflight
from tests.fleet.environments import FOLDER, PYTHON, SITE, clear, lay_out
from tests.support import import_truth
from tests.support.site_files import distribution, site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dflashtui.config.model import Config
    from dflashtui.model.preflight import PreflightFinding
    from tests.fleet.harness.fleet import TestFleet
    from tests.support.site_files import Files

pytestmark = pytest.mark.timeout(180)
HOST = "gpu-a"
UNIT = "sweep.service"
APP = f"{FOLDER}/app"
UNIT_TEXT = f"""[Service]
User=ops
WorkingDirectory={APP}
Environment=PYTHONPATH={FOLDER}/own
ExecStart={PYTHON} -m sglang.launch_server --model-path /models/m --attention-backend fa5 --tp-sise 2
"""
LAUNCH = """import soundfile
from sglang.srt import engine
import beside, own_code, edited, by_path
if __name__ == "__main__":
    engine.main()
"""
ENGINE = """from xgrammar import StructuralTag
import PIL.Image
import os
if os.environ.get("FAST"):
    import fast_kernels
def main():
    import late_one
    from sglang.srt.entrypoints import http_server
"""
SERVER_ARGS = """ATTENTION = ["fa3", "triton"]
def prepare_server_args(argv):
    parser.add_argument("--model-path", "--model", type=str, required=True)
    parser.add_argument("--attention-backend", type=str, choices=ATTENTION)
    parser.add_argument("--tp-size", type=int)
"""
FINDER = f"""import sys
from importlib.util import spec_from_file_location
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "edited":
            return spec_from_file_location(name, "{FOLDER}/edited/src/edited.py")
def install():
    sys.meta_path.append(Finder)
"""
SGLANG = {
    "sglang/__init__.py": "",
    "sglang/launch_server.py": LAUNCH,
    "sglang/srt/__init__.py": "",
    "sglang/srt/engine.py": ENGINE,
    "sglang/srt/server_args.py": SERVER_ARGS,
    "sglang/srt/entrypoints/__init__.py": "",
    "sglang/srt/entrypoints/http_server.py": "import zmq.asyncio\n",
}
ASKED = ("soundfile==0.13.1", "xgrammar==0.1.32", "pillow", "pyzmq>=25")
FILES = site(
    distribution("sglang", "0.5.11", SGLANG, requires=ASKED),
    distribution("xgrammar", "0.1.10", {"xgrammar/__init__.py": "class Grammar: ...\n"}),
    {
        "__editable___edited_finder.py": FINDER.encode(),
        "__editable__.edited.pth": b"import __editable___edited_finder; __editable___edited_finder.install()\n",
        "more.pth": f"{FOLDER}/more\n".encode(),
    },
)
BESIDE = {
    "app/beside.py": "import json\n",
    "own/own_code.py": "import closed.inner\n",
    "own/closed/__init__.py": "",
    "own/closed/inner.py": "",
    "edited/src/edited.py": "def __getattr__(name): ...\n",
    "more/by_path.py": "from edited import anything\n",
}
NEWER = "class Grammar: ...\nclass StructuralTag: ...\n"
WHEELS = {
    "soundfile-0.13.1": distribution("soundfile", "0.13.1"),
    "xgrammar-0.1.32": distribution("xgrammar", "0.1.32", {"xgrammar/__init__.py": NEWER}),
    "pillow-12.0.0": distribution("pillow", "12.0.0", {"PIL/__init__.py": "", "PIL/Image.py": ""}),
    "pyzmq-27.0.0": distribution("pyzmq", "27.0.0", {"zmq/__init__.py": "", "zmq/asyncio.py": ""}),
}
COMMAND = ("soundfile==0.13.1", "xgrammar==0.1.32", "pillow", "pyzmq>=25")


def wheel(files: Files) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


@pytest.fixture
def config(fleet: TestFleet, tmp_path: Path) -> Iterator[Config]:
    lay_out(fleet, HOST, FILES, wheels={f"{name}-py3-none-any.whl": wheel(one) for name, one in WHEELS.items()})
    for name, text in BESIDE.items():
        fleet.write_file(HOST, f"{FOLDER}/{name}", text)
    fleet.check(HOST, "chmod", "-R", "go+rX", FOLDER)
    fleet.check(HOST, "chmod", "700", f"{FOLDER}/own/closed")
    fleet.write_file(HOST, f"/etc/systemd/system/{UNIT}", UNIT_TEXT)
    path = tmp_path / "hosts.toml"
    path.write_text(fleet.config_path.read_text() + f'\n[units."{UNIT}"]\nhosts = ["{HOST}"]\nengine = "sglang"\n')
    yield load(path)
    clear(fleet, HOST)


def looked(config: Config) -> dict[str, PreflightFinding]:
    async def look() -> dict[str, PreflightFinding]:
        checks = (preflight_imports.check, preflight_arguments.check)
        async with opener()(config.host(HOST), lambda _: None) as transport:
            found = await preflight(config, UNIT, config.host(HOST), transport, checks=checks)
        return {one.id: one for one in found.findings}

    return asyncio.run(look())


def truth(fleet: TestFleet) -> list[tuple[str, str, str]]:
    """What the imports of that unit really meet on that host, mended one by one."""
    code = "import sglang.launch_server, sglang.srt.entrypoints.http_server"
    program = inspect.getsource(import_truth)
    argv = ("runuser", "-u", "ops", "--", "env", "-C", APP, f"PYTHONPATH={FOLDER}/own", PYTHON, "-c", program, code)
    lines = fleet.check(HOST, *argv).splitlines()
    return [tuple(json.loads(line)[:3]) for line in lines]


def test_one_pass_names_what_the_imports_meet_and_one_command_cures_it(fleet: TestFleet, config: Config) -> None:
    found = looked(config)
    fatal = [one for one in found.values() if one.level == "fatal" and one.check == "imports"]
    met = truth(fleet)
    assert {one.id for one in fatal} == {":".join(filter(None, ("imports", *fault))) for fault in met}
    assert met == [
        ("missing-module", "soundfile", ""),
        ("missing-name", "xgrammar", "StructuralTag"),
        ("missing-module", "PIL", ""),
        ("missing-module", "closed.inner", ""),
        ("missing-module", "zmq", ""),
    ]
    closed = found["imports:missing-module:closed.inner"].evidence
    assert f"{FOLDER}/own/closed cannot be read by the unit's user" in closed
    assert "fast_kernels" in found["imports:conditional"].evidence[0]
    assert "late_one" in found["imports:late"].evidence[0]
    assert found["arguments:--attention-backend"].level == "fatal"
    assert found["arguments:--tp-sise"].remedy == "write --tp-size"
    command = found["imports:missing-module:PIL"].command
    assert command == (PYTHON, "-m", "pip", "install", *COMMAND)
    fleet.check(HOST, *command)
    fleet.check(HOST, "chmod", "755", f"{FOLDER}/own/closed")
    assert truth(fleet) == []
    left = {one.id for one in looked(config).values() if one.check == "imports"}
    assert left == {"imports:conditional", "imports:late"}
    an_interpreter_that_cannot_start_is_told(fleet, config)


def an_interpreter_that_cannot_start_is_told(fleet: TestFleet, config: Config) -> None:
    fleet.write_file(HOST, f"{SITE}/ends.pth", "import os; os._exit(9)\n")
    told = looked(config)["imports:interpreter"]
    assert (told.level, told.evidence) == ("unknown", ("exit 9: no message",))
    fleet.check(HOST, "rm", PYTHON)
    told = looked(config)["imports:interpreter"]
    assert (told.level, told.evidence) == (
        "fatal",
        (f"exit 1: runuser: failed to execute {PYTHON}: No such file or directory",),
    )
