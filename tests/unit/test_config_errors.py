"""Every mistake is told, at once, with file, line, key and what was expected (fault catalogue, part G)."""

from pathlib import Path

import pytest

from dflashtui.config.read import load
from dflashtui.errors import ConfigError
from tests.faults.marks import fault

HOST = "[hosts.ct129]\n[hosts.ct200]\n"


def problems(folder: Path, text: str) -> list[str]:
    path = folder / "hosts.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        load(path)
    return [problem.removeprefix(f"{path}:") for problem in raised.value.problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '[hosts.a]\nport = "22"',
            '2: hosts.a.port: expected a port from 1 to 65535, not "22": write it without quotes',
        ),
        ("[hosts.a]\nport = 70000", "2: hosts.a.port: expected a port from 1 to 65535, not 70000"),
        ("[hosts.a]\nport = true", "2: hosts.a.port: expected a port from 1 to 65535, not true"),
        ('[hosts.a]\nadress = "x"', '2: hosts.a.adress: unknown key; did you mean "address"?'),
        ("[groups.g]\nzzz = 1\n[hosts.a]", "2: groups.g.zzz: unknown key; the keys here are: protected, read_only"),
        ('[host.a]\nuser = "x"\n[hosts.b]', '1: host: unknown key; did you mean "hosts"?'),
        ("[hosts.a]\nuser = 5", "2: hosts.a.user: expected text in quotes, not 5"),
        ('[hosts.a]\nuser = "-l root"', '2: hosts.a.user: expected a login name, not "-l root"'),
        ('[hosts.a]\nunits = "x"', '2: hosts.a.units: expected a list, such as ["a", "b"], not "x"'),
        (
            '[hosts.a]\ntransport = "shh"',
            '2: hosts.a.transport: expected one of "ssh", "local", not "shh"; did you mean "ssh"?',
        ),
        ("hosts = 5", "1: hosts: expected a table, not 5"),
        ("[hosts]\na = 5", "2: hosts.a: expected a table, not 5"),
        (
            '[hosts.a]\nunits = ["nginx"]',
            (
                '2: hosts.a.units[0]: expected the full name of a unit, such as "sglang.service", not "nginx"; '
                'did you mean "nginx.service"?'
            ),
        ),
        ('[hosts.a]\ngroup = "g"\n[groups.gg]', '2: hosts.a.group: no group "g"; did you mean "gg"?'),
        ('[defaults]\ngroup = "g"\n[hosts.a]', '2: defaults.group: no group "g"; the groups are: none'),
    ],
)
def test_one_mistake_in_a_host(tmp_path: Path, text: str, expected: str) -> None:
    assert problems(tmp_path, text) == [expected]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('hosts = ["ct20"]', 'hosts[0]: no host "ct20"; did you mean "ct200"?'),
        ('hosts = ["web"]', 'hosts[0]: no host "web"; the hosts are: "ct129", "ct200"'),
        ('hosts = []\nreference = "ct12"', 'reference: no host "ct12"; did you mean "ct129"?'),
        ('hosts = []\ntemplate = "vllm"\nfile = "b"', "file: expected either template or file, not both"),
        ('hosts = []\nengine = "vlm"', 'did you mean "vllm"?'),
        ("hosts = []\ngpus = [-1]", "gpus[0]: expected a GPU index from 0 on"),
        ('hosts = []\nlisten = "30000"', 'listen: expected HOST:PORT, such as "0.0.0.0:30000"'),
        ('hosts = []\nlisten = "::1:80"', "listen: expected HOST:PORT"),
        ('hosts = []\nlisten = "a:70000"', "listen: expected a port from 1 to 65535, not 70000"),
        ('hosts = []\npython = "venv/bin/python"', "python: expected an absolute path on the host"),
        ('hosts = []\nargs = { "--x" = 1 }', "args.--x: expected the name of an option"),
        ("hosts = []\nargs = { x = 1979-05-27 }", "args.x: expected text, a number"),
        ("hosts = []\nargs = { x = nan }", "args.x: expected a finite number"),
        ('hosts = []\ndescription = "a\\nb"', "description: expected one line of text"),
        ('hosts = []\nenvironment = { "A B" = "1" }', 'environment."A B": expected the name of an environment'),
        ('hosts = []\nreadiness = { timeout = "1 fortnight" }', "readiness.timeout: expected a time span"),
        ('hosts = []\nreadiness = { url = "file:///etc/passwd" }', "readiness.url: expected a URL"),
        ('hosts = []\noverlays = [{ source = "a" }]', "overlays[0].package: is missing"),
        ("", "is missing: expected the hosts that it runs on"),
    ],
)
def test_one_mistake_in_a_unit(tmp_path: Path, line: str, expected: str) -> None:
    (problem,) = problems(tmp_path, f'{HOST}[units."u.service"]\n{line}\n')
    assert expected in problem
    assert 'units."u.service"' in problem


@fault("G1", how="many mistakes in one file", result="all told, with lines")
def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = problems(
        tmp_path, '[hosts.a]\nport = 0\nuser = 5\n[units."u.service"]\nhosts = ["b"]\ngpus = ["x"]\n[oops]\n'
    )
    assert [int(problem.split(":")[0]) for problem in found] == [2, 3, 5, 6, 7]


def test_line_and_key_are_found_in_nested_and_multi_line_values(tmp_path: Path) -> None:
    text = f"""{HOST}
[units."u.service"]
hosts = [
  "ct129",  # a comment with ] and "
  "ct2oo",
]
description = '''
not one
line'''
"""
    first, second = problems(tmp_path, text)
    assert first.startswith('7: units."u.service".hosts[1]: no host "ct2oo"')
    assert second.startswith('9: units."u.service".description')


@pytest.mark.parametrize(
    "name", ["-oProxyCommand=x", "user@h", "h:22", "a b", "a\\u001b]0;x", "a/b", "", "müller", "[::1]"]
)
@fault("G2", how="names that are options", result="refused")
def test_names_of_hosts_that_could_be_read_as_more_are_refused(tmp_path: Path, name: str) -> None:
    (problem,) = problems(tmp_path, f'[hosts."{name}"]\n')
    assert "expected a name of letters, digits, dots, - and _" in problem
    assert problem.isprintable()


@pytest.mark.parametrize("name", ["-oProxyCommand=x", "user@h", "h:22", "a b", "", "[::1]", "1:2:3", "fe80::1%a b"])
def test_addresses_that_could_be_read_as_more_are_refused(tmp_path: Path, name: str) -> None:
    assert "expected a host name or an IP address" in problems(tmp_path, f'[hosts.a]\naddress = "{name}"\n')[0]


@pytest.mark.parametrize(
    "name",
    [
        "../../x.service",
        "-rf.service",
        "a;b.service",
        "a b.service",
        "x" * 250 + ".service",
        "*.service",
        "x",
        "a@.service",
    ],
)
@fault("E4", how="slashes, blanks, semicolons, 300 characters", result="refused with line and key")
def test_unit_names_that_systemd_refuses_are_refused(tmp_path: Path, name: str) -> None:
    (problem,) = problems(tmp_path, f'{HOST}[units."{name}"]\nhosts = ["ct129"]\n')
    assert "expected the" in problem


def test_a_forgotten_pair_of_quotes_is_one_mistake(tmp_path: Path) -> None:
    text = f'{HOST}[units.sglang.service]\nhosts = ["ct129"]\n[hosts.gpu.example]\nport = 22\n'
    assert problems(tmp_path, text) == [
        '3: units.sglang.service: a name with dots stands in quotes: [units."sglang.service"]',
        '5: hosts.gpu.example: a name with dots stands in quotes: [hosts."gpu.example"]',
    ]


def test_secrets_are_not_repeated(tmp_path: Path) -> None:
    text = f"""{HOST}
[units."u.service"]
hosts = ["ct129"]
environment = {{ API_KEY = 31337, B = "s3cret\\u0000" }}
args = {{ api-key = "s3cret\\u0000" }}
extra_args = ["--api-key=s3cret\\u0000", 31337]
[units."u.service".readiness]
url = "ftp://me:s3cret@h/"
"""
    found = problems(tmp_path, text)
    assert len(found) == 6
    assert not any("s3cret" in problem or "31337" in problem for problem in found)


def test_text_of_the_file_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    text = '[hosts.a]\nuser = "\\u001b]0;pwned\\u0007"\n"\\u001b[2J\\u202e" = 1\n'
    assert all(problem.isprintable() for problem in problems(tmp_path, text))


def test_what_is_not_toml_is_told_with_everything_else(tmp_path: Path) -> None:
    assert problems(tmp_path, "[hosts.a]\nuser = root\nport = 0\naddress = 10.1.2.3\n") == [
        "2: is not TOML: Invalid value; text stands in quotes",
        "3: hosts.a.port: expected a port from 1 to 65535, not 0",
        "4: is not TOML: Expected newline or end of document after a statement",
    ]


def test_what_an_unreadable_line_may_say_is_not_called_missing(tmp_path: Path) -> None:
    assert problems(tmp_path, f'{HOST}[units."u.service"]\nhosts = ct129\n') == [
        "4: is not TOML: Invalid value; text stands in quotes"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[hosts.a]\nuser = "a"\nuser = "b"\n', "3: hosts.a.user: is set a second time, first on line 2"),
        ("[hosts.a]\n[hosts.a]\n", "2: is not TOML: Cannot declare ('hosts', 'a') twice"),
        ("[hosts.a\nport = 1\n", "1: is not TOML: "),
        ("[hosts.a]\nunits = [\n", "2: is not TOML: "),
        ("[hosts.a]\nport = " + "9" * 5000, "1: cannot be read: "),
        ("a = " + "[" * 50000, "1: nests too deep to be read"),
        ("", "1: defines no host"),
        ("# nothing\n", "1: defines no host"),
        ("[hosts]\n", "1: defines no host"),
    ],
)
def test_unreadable_text(tmp_path: Path, text: str, expected: str) -> None:
    (problem,) = problems(tmp_path, text)
    assert problem.startswith(expected)


def test_a_template_must_exist_and_stay_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/mine.service.j2").touch()
    (tmp_path / "outside").touch()
    (tmp_path / "templates/link.service.j2").symlink_to(tmp_path / "outside")
    names = ("mime", "../x", "link")
    units = "".join(f'[units."u{at}.service"]\nhosts = []\ntemplate = "{name}"\n' for at, name in enumerate(names))
    near, path, link = problems(tmp_path, HOST + units)
    assert 'did you mean "mine"?' in near
    assert "expected a name of letters" in path
    assert 'no packaged template "link"' in link
