"""One host's root: an overlay over the image with its identity, users, keys, services and perhaps GPUs."""

import shutil
import uuid
from pathlib import Path

from . import keys
from .shell import run

SERVICES = Path(__file__).parent.parent / "services"
USERS = (("ops", 1000, ()), ("sud", 1001, ("systemd-journal",)))
SUDOERS = "sud ALL=(root) NOPASSWD: /usr/bin/systemctl\n"
# markup, a window title by escape sequence, wide characters, a right-to-left override
HOSTILE_UNIT = """\
[Unit]
Description=[/x] [bold]\x1b]0;pwned\x07 漢字 \u202eevil [@click=app.quit]x[/]

[Service]
Type=exec
ExecStart=/usr/bin/python3 /opt/fleet/hostile.py
"""
HOSTILE_NAMES = ("hostile.service", r"hostile-\x5b\x2fx\x5d.service")


def mount_overlay(image: Path, folder: Path) -> Path:
    """The merged root below `folder`."""
    upper, work, root = (folder / name for name in ("upper", "work", "root"))
    for path in (upper, work, root):
        path.mkdir(parents=True)
    run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={image},upperdir={upper},workdir={work}", root)
    return root


def identify(root: Path, host: str, addresses: dict[str, str]) -> None:
    """Its name, the names of the others, and a machine id of its own."""
    (root / "etc/hostname").write_text(f"{host}\n")
    (root / "etc/machine-id").write_text(f"{uuid.uuid4().hex}\n")
    names = "".join(f"{address} {name}\n" for name, address in addresses.items())
    (root / "etc/hosts").write_text(f"127.0.0.1 localhost\n::1 localhost\n{names}")


def add_users(root: Path) -> None:
    """`ops`: no rights, a lingering user manager. `sud`: may run systemctl by `sudo -n` and read the journal."""
    for name, uid, groups in USERS:
        more = ("-G", ",".join(groups)) if groups else ()
        run("useradd", "--root", root, "-m", "-u", str(uid), "-s", "/bin/bash", "-p", "*", *more, name)
    linger = root / "var/lib/systemd/linger"
    linger.mkdir(parents=True, exist_ok=True)
    (linger / "ops").touch()
    sudoers = root / "etc/sudoers.d/fleet"
    sudoers.write_text(SUDOERS)
    sudoers.chmod(0o440)


def install_keys(root: Path, host: str, login_key: str) -> list[str]:
    """The login key for every user; new host keys, whose public lines are returned."""
    for old in (root / "etc/ssh").glob("ssh_host_*"):
        old.unlink()
    keys.authorize(root, login_key)
    return keys.make_host_keys(root / "etc/ssh", host)


def install_services(root: Path) -> None:
    """The helper programs and their units, none enabled."""
    shutil.copytree(SERVICES, root / "opt/fleet", ignore=shutil.ignore_patterns("units*", "__pycache__"))
    units, user_units = root / "etc/systemd/system", root / "etc/systemd/user"
    for source, target in ((SERVICES / "units", units), (SERVICES / "units-user", user_units)):
        for unit in source.iterdir():
            shutil.copy(unit, target / unit.name)
    for name in HOSTILE_NAMES:
        (units / name).write_text(HOSTILE_UNIT)
    (root / "etc/fleet").mkdir()
