"""Where Debian packages come from: whatever this machine's own apt uses, with its proxies and certificates."""

import platform
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .shell import FleetUnavailableError, run

LENT = ("/etc/hosts", "/etc/ssl/certs/ca-certificates.crt", "/etc/resolv.conf")
PASSED_ON = re.compile(r'^(Acquire::(?:http|https|Check-Valid-Until|Check-Date|Retries)\b\S*) "(.*)";$', re.MULTILINE)
SETTINGS = "etc/apt/apt.conf.d/90fleet"


@dataclass(frozen=True, slots=True)
class Mirror:
    """A Debian archive of this machine's release."""

    uri: str
    codename: str
    settings: tuple[tuple[str, str], ...]
    """apt's own Acquire settings: proxies, certificates, checks of the date."""

    @property
    def environment(self) -> dict[str, str]:
        """The proxies in the form that debootstrap's downloader reads."""
        known = {"Acquire::http::Proxy": "http_proxy", "Acquire::https::Proxy": "https_proxy"}
        return {known[key]: value for key, value in self.settings if key in known}


def find_mirror() -> Mirror:
    """This machine's archive; FleetUnavailableError where it is no Debian or apt knows no archive of its release."""
    release = platform.freedesktop_os_release()
    if release.get("ID") != "debian":
        raise FleetUnavailableError(f"this is {release.get('PRETTY_NAME', 'no Debian')}; the test hosts need Debian")
    codename = release["VERSION_CODENAME"]
    form = "$(RELEASE)|$(CODENAME)|$(COMPONENT)|$(REPO_URI)"
    for line in run("apt-get", "indextargets", "--format", form, "Created-By: Packages").decode().splitlines():
        suite, name, component, uri = line.split("|", 3)
        if codename in {suite, name} and component == "main" and uri.startswith("http"):
            return Mirror(uri, codename, _settings())
    raise FleetUnavailableError(f"apt has no source for {codename} main (run apt-get update)")


def _settings() -> tuple[tuple[str, str], ...]:
    found = PASSED_ON.findall(run("apt-config", "dump").decode())
    return tuple((key, value) for key, value in found if value)


@contextmanager
def network_lent(root: Path, mirror: Mirror) -> Iterator[None]:
    """Let apt inside the root reach the archive as this machine does; afterwards the root knows nothing of it."""
    named = [value for _, value in mirror.settings if value.startswith("/")]
    before = {root / name.lstrip("/"): _bytes(root / name.lstrip("/")) for name in (*LENT, SETTINGS, *named)}
    for name in (*LENT, *named):
        _copy(Path(name), root)
    (root / SETTINGS).write_text("".join(f'{key} "{value}";\n' for key, value in mirror.settings))
    try:
        yield
    finally:
        for path, data in before.items():
            _restore(path, data)


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _copy(path: Path, root: Path) -> None:
    if path.is_file():
        copy = root / path.relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)


def _restore(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(data)
