"""Where things are on this host, for the system's manager or for the login user's."""

from __future__ import annotations

import os
import pwd
import re
from typing import Any

from dflashtui.pusher.trouble import Refusal

PROGRAM_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
UNIT_NAME = re.compile(r"[A-Za-z0-9:_\\][A-Za-z0-9:_.\\@-]*\.[a-z]+\Z")
LONGEST_NAME = 255
SYSTEM_FOLDERS = (
    "/etc/systemd/system.control",
    "/run/systemd/system.control",
    "/run/systemd/transient",
    "/run/systemd/generator.early",
    "/etc/systemd/system",
    "/run/systemd/system",
    "/run/systemd/generator",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
    "/run/systemd/generator.late",
)
"""In the order in which a name is looked for (systemd.unit(5))."""


class Places:
    """`order`: `manager` (`system` or `user`), and in tests `root`, a folder that stands for `/`."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.is_user = order.get("manager") == "user"
        self.root = str(order.get("root") or "")
        self.runtime = "%s/run/user/%d" % (self.root, os.getuid())
        home = self.root + pwd.getpwuid(os.getuid()).pw_dir
        self.units = home + "/.config/systemd/user" if self.is_user else self.root + "/etc/systemd/system"
        self.state = home + "/.local/state/dflashtui" if self.is_user else self.root + "/var/lib/dflashtui"
        self.unit_folders = self._user_folders(home) if self.is_user else [self.root + one for one in SYSTEM_FOLDERS]

    def _user_folders(self, home: str) -> list[str]:
        return [
            home + "/.config/systemd/user.control",
            self.runtime + "/systemd/user.control",
            self.runtime + "/systemd/transient",
            self.units,
            self.root + "/etc/systemd/user",
            self.runtime + "/systemd/user",
            self.runtime + "/systemd/generator",
            home + "/.local/share/systemd/user",
            *(self.root + folder + "/systemd/user" for folder in ("/usr/local/lib", "/usr/lib", "/lib")),
        ]

    def unit(self, name: str) -> str:
        """The path of a unit's file. Refuses what is no plain unit name, so that no path leaves the folder."""
        if len(name) > LONGEST_NAME or not UNIT_NAME.match(name):
            raise Refusal("bad-name", "%r is no unit name that can be pushed" % name)
        return os.path.join(self.units, name)

    def program(self, name: str) -> str | None:
        """The whole path of a program of the host."""
        for folder in PROGRAM_FOLDERS:
            path = self.root + os.path.join(folder, name)
            if os.access(path, os.X_OK):
                return path
        return None

    def environment(self) -> dict[str, str]:
        """For the host's programs: no words of another language, the user's own manager."""
        own = {"PATH": ":".join(PROGRAM_FOLDERS), "LC_ALL": "C", "TZ": "UTC", "HOME": os.environ.get("HOME", "/")}
        return {**own, "XDG_RUNTIME_DIR": self.runtime} if self.is_user else own
