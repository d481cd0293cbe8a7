"""Text for the tests of hosts.toml."""

import json
from datetime import date

FULL = """
[defaults]
user = "ops"
port = 2222
become = "sudo"
[defaults.vars]
models = "/models"
cache = "/cache"

[groups.lab]
protected = true

[hosts.ct129]
address = "fe80::1%eth0"
port = 22
group = "lab"
units = ["sglang-*.service", "nginx.service"]
identity_file = "~/.ssh/id_ed25519"
known_hosts = "known_hosts"
[hosts.ct129.vars]
models = "/fast"

[hosts.here]
transport = "local"
manager = "user"

[units."a.service"]
description = "A – sglang"
hosts = ["ct129", "here", "ct129"]
template = "sglang"
engine = "sglang"
python = "/venv/bin/python"
gpus = [1, "GPU-5d1f0a3c", "MIG-GPU-5d1f0a3c/1/0"]
listen = "[::]:30001"
args = { mem-fraction-static = 0.75, speculative-config = { method = "dflash" }, quiet = true }
extra_args = ["--trust-remote-code"]
environment = { A = "1" }
reference = "here"
[units."a.service".readiness]
url = "https://example.org:8443/health"
via = "console"
timeout = "1h 30min"
[[units."a.service".overlays]]
source = "patches/sglang"
package = "sglang"

[units."b@1.service"]
hosts = []
file = "b.service"

[console]
theme = "mine"
mouse = false
bell = "on-bad"
[console.keymap]
"unit.restart" = "ctrl+r"
"""


def written(value: object) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{quoted(key)} = {written(item)}" for key, item in value.items()) + "}"
        case list():
            return "[\n" + ",\n".join(map(written, value)) + "]"
        case str():
            return quoted(value)
        case date():
            return value.isoformat()
        case float():
            return repr(value)
        case _:
            return json.dumps(value)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
