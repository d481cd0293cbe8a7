"""Units from templates and files: what comes out, and what is said of bad input."""

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dflashtui.cli import main
from dflashtui.config.model import Config, Host, Unit
from dflashtui.config.read import load
from dflashtui.errors import ConfigError, RenderError
from dflashtui.exit_code import ExitCode
from dflashtui.ops.render import Rendered, rendered
from dflashtui.ops.render_sandbox import TooLongError, bounded, sandbox
from dflashtui.unitfile.advice import advice
from dflashtui.unitfile.look import Look
from tests.faults.marks import fault

UNIT = "engine.service"
BASE = f"""\
[hosts.gpu-a]
address = "10.1.2.3"
[hosts.gpu-a.vars]
models = "/dev/shm"
items = "kept"
[hosts.gpu-b]
address = "10.1.2.4"
manager = "user"
[units."{UNIT}"]
hosts = ["gpu-a", "gpu-b"]
"""
ENGINE = """\
python = "/srv/venv/bin/python"
model = "/srv/models/Qwen3.6-27B"
gpus = [1, "GPU-00000000-0000-4000-8000-000000000001"]
listen = "[::]:30001"
extra_args = ["--trust-remote-code"]
environment = { SGLANG_ENABLE_SPEC_V2 = "1", GREETING = "100% of $5 \\"x\\"" }
[units."engine.service".args]
mem-fraction-static = 0.75
grammar-backend = "none"
enable-metrics = true
skip-server-warmup = false
cuda-graph-bs = [1, 2]
speculative-config = { method = "dflash", model = "/models/draft", n = 15 }
"""


class Inventory:
    """A hosts.toml in a folder, with templates beside it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "hosts.toml"
        self.templates = folder / "templates"
        self.templates.mkdir()

    def write(self, more: str) -> None:
        self.path.write_text(BASE + more)

    def template(self, text: str, more: str = 'template = "own"\n') -> None:
        (self.templates / "own.service.j2").write_text(text)
        self.write(more)

    def render(self, host: str = "gpu-a") -> Rendered:
        return rendered(load(self.path), UNIT, host)

    def refusal(self) -> str:
        """Names the unit and the host, whatever else it says."""
        with pytest.raises(RenderError) as refused:
            self.render()
        said = str(refused.value)
        assert said.endswith("(rendering engine.service for gpu-a)")
        assert (refused.value.host, refused.value.unit) == ("gpu-a", UNIT)
        return said


@pytest.fixture
def inventory(tmp_path: Path) -> Inventory:
    return Inventory(tmp_path)


def test_sglang(inventory: Inventory) -> None:
    inventory.write(f'template = "sglang"\nengine = "sglang"\n{ENGINE}')
    found = inventory.render()
    assert found.origin == "template sglang"
    look = Look(found.text, UNIT)
    (command,) = look.starts
    assert command.argv[:5] == (
        "/srv/venv/bin/python",
        "-m",
        "sglang.launch_server",
        "--model-path",
        "/srv/models/Qwen3.6-27B",
    )
    assert command.argv[5:9] == ("--host", "::", "--port", "30001")
    assert command.argv[9:] == (
        *(
            "--mem-fraction-static",
            "0.75",
            "--grammar-backend",
            "none",
            "--enable-metrics",
            "--cuda-graph-bs",
            "1",
            "2",
        ),
        *("--speculative-config", '{"method": "dflash", "model": "/models/draft", "n": 15}', "--trust-remote-code"),
    )
    variables = {each.name: each.value for each in look.environment}
    assert variables.pop("PATH").startswith("/srv/venv/bin:/usr/local/sbin:")
    assert variables == {
        "PYTHONUNBUFFERED": "1",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": "1,GPU-00000000-0000-4000-8000-000000000001",
        "SGLANG_ENABLE_SPEC_V2": "1",
        "GREETING": '100% of $5 "x"',
    }
    assert [entry.value for entry in look.unit.all("Unit", "AssertPathExists")] == [
        "/srv/models/Qwen3.6-27B",
        "/models/draft",
    ]
    assert look.unit.value("Service", "Type") == "exec"
    assert (
        look.unit.value("Unit", "Description")
        == "sglang Qwen3.6-27B on GPU 1,GPU-00000000-0000-4000-8000-000000000001 (port 30001)"
    )
    assert {each.id for each in advice(found.text, name=UNIT)} == set()


@pytest.mark.parametrize("template", ["sglang", "vllm", "openai", "python"])
def test_every_packaged_template_is_good_advice_in_itself(inventory: Inventory, template: str) -> None:
    more = ENGINE.replace("--trust-remote-code", "/srv/server.py").replace("gpus = [1, ", "gpus = [")
    inventory.write(f'template = "{template}"\nengine = "none"\n{more}')
    for host in ("gpu-a", "gpu-b"):
        text = inventory.render(host).text
        assert advice(text, name=UNIT) == ()
        assert max(map(len, text.splitlines())) < 400


def test_vllm_comes_back_after_its_engine_died_and_a_wrapper_gets_its_own_arguments(inventory: Inventory) -> None:
    inventory.write(f'template = "vllm"\n{ENGINE}')
    look = Look(inventory.render().text)
    assert look.starts[0].argv[2:5] == ("vllm.entrypoints.cli.main", "serve", "/srv/models/Qwen3.6-27B")
    assert look.unit.value("Service", "Restart") == "always"
    args = 'args = { host = false, port = 1, tree_budget = 64, m = "x" }\n'
    inventory.write(
        f'template = "openai"\npython = "/v/python"\nlisten = "0.0.0.0:30000"\nextra_args = ["/s.py"]\n{args}'
    )
    assert Look(inventory.render().text).starts[0].argv == (
        "/v/python",
        "/s.py",
        "--port",
        "1",
        "--tree_budget",
        "64",
        "-m",
        "x",
    )


ANY_TEXT = st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=30)


@settings(deadline=None, max_examples=25, derandomize=True)
@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
@fault("E3", how="any text as argument, variable and description", result="one argument, byte for byte, or a refusal")
def test_a_value_stays_one_argument_and_makes_no_line_of_its_own(argument: str, variable: str, described: str) -> None:
    unit = Unit(
        name=UNIT,
        hosts=("h",),
        template="python",
        python="/v/python",
        description=f"a{described}b",
        extra_args=(argument,),
        args={"x": {"k": variable}},
        environment={"V": variable},
    )
    look = Look(rendered(Config(hosts=(Host(name="h"),), units=(unit,)), UNIT, "h").text)
    assert look.starts[0].argv == ("/v/python", argument, "-x", json.dumps({"k": variable}, ensure_ascii=False))
    assert look.variables["V"].value == variable
    assert look.unit.value("Unit", "Description").replace("%%", "%") == f"a{described}b"
    assert (len(look.unit.entries), len(look.unit.slips), len(look.unit.headers)) == (22, 0, 3)


@fault("E11", how="a user's manager", result="its own targets and folders in the rendered text")
def test_a_user_manager_has_other_targets_and_folders(inventory: Inventory) -> None:
    inventory.write('template = "python"\npython = "/v/bin/python"\n')
    text = inventory.render("gpu-b").text
    assert "WantedBy=default.target" in text
    assert "EnvironmentFile=-%h/.config/dflashtui/engine.env" in text
    assert "network-online" not in text


def test_an_own_template_extends_a_packaged_one_and_sees_the_vars(inventory: Inventory) -> None:
    extends = '{% extends "packaged/python.service.j2" %}{% block service_more %}\n'
    inventory.template(
        f"{extends}Nice={{{{ vars.items | plain }}}}\n{{% endblock %}}", 'template = "own"\npython = "/v/python"\n'
    )
    found = inventory.render()
    assert "\nNice=kept\n" in found.text
    assert found.origin == str(inventory.templates / "own.service.j2")


def test_a_file_is_pushed_as_it_is_beside_hosts_toml(inventory: Inventory) -> None:
    text = "[Service]\nExecStart=/bin/{{ true }} 50%\r\n"
    (inventory.path.parent / "x.service").write_bytes(text.encode())
    inventory.write('file = "x.service"\n')
    assert inventory.render().text == text


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (
            "[Service]\nX={{ vars.modls }}",
            'own.service.j2:2: [hosts.gpu-a.vars] in hosts.toml sets no modls; did you mean "models"?',
        ),
        (
            "[Service]\n\nX={{ unit.model }}",
            'own.service.j2:3: [units."engine.service"] in hosts.toml sets no model; add it there',
        ),
        ("[Service]\nX={{ nothing }}", "own.service.j2:2: nothing is called nothing here"),
        ("[Service]\nX={{ vars.models", "own.service.j2:2: "),
        ("{# nothing #}\n# nor here", "own.service.j2: renders nothing that systemd would read"),
        ("{% include '../hosts.toml' %}", "own.service.j2:1: there is no template"),
        ("{% include 'own.service.j2' %}", "own.service.j2:1: includes or extends itself without an end"),
        ("X={{ ''.__class__ }}", "own.service.j2:1: access to attribute '__class__' of 'str' object is unsafe."),
        ("X={{ vars.update({}) }}", "own.service.j2:1: "),
        ("X={{ 'x' * 10 ** 9 }}", "own.service.j2:1: a text of more than 1 MiB is refused"),
        ("X={{ 9 ** 9 ** 9 }}", "own.service.j2:1: a power beyond 64 is refused"),
        ("X={{ 'a\\nb' | argument }}", "own.service.j2:1: holds a newline, which no line of a unit file can"),
    ],
)
@fault("E3", how="a variable that is missing, a template that is broken", result="refused with file and line")
def test_what_a_template_does_wrong_is_told_with_its_line(inventory: Inventory, template: str, said: str) -> None:
    inventory.template(template)
    refused = inventory.refusal()
    assert refused.startswith(str(inventory.templates))
    assert said in refused


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", 'hosts.toml: units."engine.service": sets neither template nor file'),
        (
            'template = "sglang"\npython = "/v/python"\n',
            'sglang.service.j2:4: [units."engine.service"] in hosts.toml sets no model',
        ),
        (
            'template = "python"\nenvironment = { A = "x\\ny" }\n',
            ':12: units."engine.service".environment.A: holds a newline',
        ),
        (
            'template = "python"\nargs = { a = [{ b = "x\\ry" }] }\n',
            ':12: units."engine.service".args.a[0].b: holds a carriage return',
        ),
        (
            'template = "python"\ngpus = [1]\nenvironment = { CUDA_VISIBLE_DEVICES = "2" }\n',
            'hosts.toml:13: units."engine.service".environment.CUDA_VISIBLE_DEVICES: says otherwise than gpus (1)',
        ),
        ('file = "../x.service"\n', 'hosts.toml: units."engine.service".file: '),
        ('file = "gone.service"\n', "gone.service: cannot be opened: No such file or directory"),
        ('file = "link.service"\n', "leaves the folder; write the absolute path itself"),
        ('file = "pipe.service"\n', "pipe.service: is a pipe"),
        ('file = "empty.service"\n', "empty.service: renders nothing that systemd would read"),
    ],
)
def test_what_hosts_toml_does_wrong_is_told_with_its_key(inventory: Inventory, more: str, said: str) -> None:
    folder = inventory.path.parent
    (folder / "link.service").symlink_to("/etc/hostname")
    (folder / "empty.service").touch()
    os.mkfifo(folder / "pipe.service")
    inventory.write(more)
    assert said in inventory.refusal()


@fault("G4", how="a link out of the folder", result="no template")
def test_a_template_that_a_link_takes_out_of_the_folder_is_none(inventory: Inventory) -> None:
    (inventory.path.parent / "x.service.j2").write_text("[Service]\nExecStart=/bin/true\n")
    (inventory.templates / "link.service.j2").symlink_to("../x.service.j2")
    inventory.write('template = "link"\n')
    with pytest.raises(ConfigError, match='no packaged template "link"'):
        inventory.render()
    inventory.template("{% include 'link.service.j2' %}")
    assert 'there is no template "link.service.j2"' in inventory.refusal()


@pytest.mark.parametrize("name", ["../x.service", "a/b.service", "-x.service"])
def test_a_unit_name_with_a_slash_is_refused(inventory: Inventory, name: str) -> None:
    inventory.path.write_text(f'[hosts.a]\n[units."{name}"]\nhosts = ["a"]\n')
    with pytest.raises(ConfigError, match=r"hosts\.toml:2: units\..*expected the name of a unit"):
        load(inventory.path)


@fault("G4", how="a loop without end", result="ended")
def test_a_loop_without_an_end_is_ended(inventory: Inventory) -> None:
    loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    (inventory.templates / "loop.j2").write_text(loop)
    template = sandbox(inventory.templates).get_template("loop.j2")
    began = time.monotonic()
    with pytest.raises(TooLongError), bounded(0.05):
        template.render()
    assert time.monotonic() - began < 2


def test_the_command_prints_one_text_for_all_hosts_that_get_the_same(
    inventory: Inventory, capsys: pytest.CaptureFixture[str]
) -> None:
    inventory.template("[Service]\nType=simple\nEnvironment=HF_TOKEN=hf_abcdefghijkl\nExecStart=/bin/true\n")
    assert main(["-c", str(inventory.path), "render", "engine"]) == ExitCode.OK
    printed = capsys.readouterr()
    assert printed.out.startswith("# engine.service on gpu-a, gpu-b, from ")
    assert printed.out.count("ExecStart=/bin/true") == 1
    assert "engine.service:2: warning: Type=simple" in printed.err
    assert "secrets are masked here" in printed.err
    assert "hf_abc" not in printed.out + printed.err
    assert main(["-c", str(inventory.path), "render", "engine", "--host", "gpu-b", "--json"]) == ExitCode.OK
    (document,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (document["schema"], document["host"], document["unit"]) == (1, "gpu-b", UNIT)
    assert {"type-simple", "secret-environment"} <= {each["id"] for each in document["advice"]}
    assert main(["-c", str(inventory.path), "render", "engin"]) == ExitCode.USAGE
    assert 'did you mean "engine.service"?' in capsys.readouterr().err


def test_advise_takes_files_and_units(inventory: Inventory, capsys: pytest.CaptureFixture[str]) -> None:
    inventory.write('template = "python"\npython = "/v/bin/python"\n')
    file = inventory.path.parent / "hand.service"
    file.write_text('[Service]\nExecStart=/bin/echo {"a":1}\n')
    assert main(["-c", str(inventory.path), "advise", "engine"]) == ExitCode.OK
    assert "engine.service on gpu-a: nothing to say\n" in capsys.readouterr().out
    assert main(["-c", str(inventory.path), "advise", str(file)]) == ExitCode.FAILED
    assert f"{file}:2: error: ExecStart=: systemd takes the quotes out of" in capsys.readouterr().out
    assert main(["-c", str(inventory.path), "advise", "--json", str(file)]) == ExitCode.FAILED
    assert json.loads(capsys.readouterr().out)["advice"][0]["line"] == 2
    assert main(["-c", str(inventory.path), "advise", "./gone.service"]) == ExitCode.UNKNOWN
    assert "./gone.service: No such file or directory" in capsys.readouterr().err
    assert main(["-c", str(inventory.path), "advise", "nobody"]) == ExitCode.USAGE
    assert "nobody is no file here, and the inventory defines no unit" in capsys.readouterr().err
