"""Which names hosts, users and units may bear. Each function gives back what is good and raises `ValueError`.

Names end up as arguments of ssh and systemctl: what could be read as an option, or as two words, is refused here.
"""

from __future__ import annotations

import re

from dflashtui.config.words import shown

LABEL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*\Z")
HOSTNAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_.])?\Z")
USER = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.@+\\-]*\$?\Z")
UNIT_PREFIX = re.compile(r"[A-Za-z0-9:_.\\][A-Za-z0-9:_.\\-]*(?:@[A-Za-z0-9:_.\\@-]+)?\Z")
UNIT_GLOB = re.compile(r"[A-Za-z0-9:_.\\*?\[][A-Za-z0-9:_.\\@*?!^\[\]-]*\Z")
UNIT_SUFFIXES = (
    "service",
    "socket",
    "timer",
    "target",
    "path",
    "slice",
    "scope",
    "mount",
    "automount",
    "swap",
    "device",
)
GLOB_CHARACTERS = frozenset("*?[")
LONGEST_NAME = 253
LONGEST_UNIT_NAME = 255
"""systemd's UNIT_NAME_MAX."""


def label(text: str) -> str:
    """The name of a host, a group or a template."""
    if LABEL.match(text) and len(text) <= LONGEST_NAME:
        return text
    raise ValueError(f"expected a name of letters, digits, dots, - and _, not {shown(text)}{_host_hint(text)}")


def address(text: str) -> str:
    """What ssh is told to connect to: a host name, an alias of ssh_config, an IPv4 or IPv6 address (zone allowed)."""
    good = _is_ipv6(text) if ":" in text else HOSTNAME.match(text) and len(text) <= LONGEST_NAME
    if good:
        return text
    raise ValueError(f"expected a host name or an IP address, not {shown(text)}{_host_hint(text)}")


def _is_ipv6(text: str) -> bool:
    from ipaddress import AddressValueError, IPv6Address  # noqa: PLC0415 - few files need it

    try:
        zone = IPv6Address(text).scope_id
    except AddressValueError:
        return False
    return zone is None or LABEL.match(zone) is not None


def _host_hint(text: str) -> str:
    if text.startswith("-"):
        return ": ssh would take it for an option"
    if "@" in text:
        return ': the user goes into a line of its own, user = "…"'
    if text.startswith("["):
        return ": an IPv6 address is written without brackets here"
    if re.search(r":\d+\Z", text):
        return ": the port goes into a line of its own, port = …"
    if text and not text.isascii():
        return ": write an international name in its xn-- form"
    return ""


def user(text: str) -> str:
    r"""A login name, also `DOMAIN\user` and `user@domain`."""
    if USER.match(text) and len(text) <= LONGEST_NAME:
        return text
    raise ValueError(f"expected a login name, not {shown(text)}")


def unit(text: str) -> str:
    """The full name of one unit: systemd's characters, a suffix, no wildcard."""
    if GLOB_CHARACTERS & set(text):
        raise ValueError(f"expected the name of one unit, not the pattern {shown(text)}")
    prefix, _, suffix = text.rpartition(".")
    if suffix not in UNIT_SUFFIXES:
        raise ValueError(_lacks_suffix(text))
    if not UNIT_PREFIX.match(prefix) or len(text) > LONGEST_UNIT_NAME:
        raise ValueError(f"expected the name of a unit, not {shown(text)}{_unit_hint(prefix)}")
    return text


def _lacks_suffix(text: str) -> str:
    complete = f"{text}.service"
    hint = f"; did you mean {shown(complete)}?" if UNIT_PREFIX.match(text) else ""
    return f'expected the full name of a unit, such as "sglang.service", not {shown(text)}{hint}'


def _unit_hint(prefix: str) -> str:
    if prefix.startswith("-"):
        return ": systemctl would take it for an option"
    if prefix.endswith("@"):
        return f": a template cannot run, name an instance ({shown(prefix + '1.service')})"
    return ": systemd allows letters, digits and :-_.\\@, at most 255"


def unit_or_glob(text: str) -> str:
    """A unit to watch: its full name, or a pattern as `systemctl list-units` reads it."""
    if not GLOB_CHARACTERS & set(text):
        return unit(text)
    if not UNIT_GLOB.match(text) or len(text) > LONGEST_UNIT_NAME:
        raise ValueError(f"expected a unit name or a pattern with * and ?, not {shown(text)}")
    return text
