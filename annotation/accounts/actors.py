"""Who does something without an account."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass


@dataclass(frozen=True)
class AtShell:
    """Whoever runs a command: nobody's account, but a user of the operating system."""

    name: str

    @classmethod
    def now(cls) -> AtShell:
        """Who runs this process; the number of a user without a name."""
        try:
            return cls(pwd.getpwuid(os.getuid()).pw_name)
        except KeyError:
            return cls(str(os.getuid()))

    def __str__(self) -> str:
        return f"by the command line, as the system's user {self.name}"
