"""Users of the machine for sandboxes: each sandbox has one of its own, for as long as it lives.

The kernel counts pages in pipes, inotify instances and pending signals for each user of the machine, so two
programs under one user can starve each other. A user namespace alone changes nothing: what is counted in it
is counted for the user who made it, too.
"""

import fcntl
import grp
import itertools
import os
import pwd
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

USERS = range(60_800, 61_184)
"""The usual range: below 65,536, as containers and namespaces often end there, and nobody else's by habit.

Debian's own accounts end at 60,000, systemd uses some numbers up to 60,705 and then those from 61,184 on.
"""
FEWEST = 16
LOCKS = Path("/run/cosqa-sandbox/users")
_SUBORDINATE = (Path("/etc/subuid"), Path("/etc/subgid"))
_LARGEST = 2**31 - 1
# Each process begins elsewhere.
_turns = itertools.count(os.getpid() * 7)


def parse_users(text: str) -> range:
    """Read `FIRST-LAST`; raises ValueError where that is no range of at least 16 users, root not among them.

    >>> parse_users("60800-61183")
    range(60800, 61184)
    """
    found = re.fullmatch(r"([0-9]{1,10})-([0-9]{1,10})", text)
    users = range(int(found[1]), int(found[2]) + 1) if found else range(0)
    if len(users) < FEWEST or users[0] == 0 or users[-1] > _LARGEST:
        raise ValueError(f"expected FIRST-LAST, {FEWEST} users or more without root")
    return users


def users_of_backend(users: range, backend: str) -> range:
    """Half of them each: the two backends do not see each other's leases."""
    half = len(users) // 2
    return users[:half] if backend == "bubblewrap" else users[half:]


def find_unused_users(users: range) -> Iterator[int]:
    """Those that are nobody's account, group or subordinate user here, beginning somewhere among them."""
    # Whoever was used last has the most time to be gone.
    start = next(_turns) % len(users)
    return (user for user in (*users[start:], *users[:start]) if not _is_known(user))


def are_users_told_apart() -> bool:
    """Whether the kernel counts for each of these users alone: it does not inside a user namespace.

    There everything counts for the namespace's owner too.
    """
    return Path("/proc/self/uid_map").read_text().split() == ["0", "0", "4294967295"]


class NoUserFree(OSError):
    """All users of the range are taken: others will be free again."""

    def __init__(self, users: range) -> None:
        super().__init__(f"every user from {users[0]} to {users[-1]} is taken")


@dataclass(frozen=True, slots=True)
class UserLease:
    """A user that nobody else is given while `descriptor`, or a copy of it in a process, is open."""

    user: int
    descriptor: int

    def end(self) -> None:
        """Give the user back, as far as this process is concerned."""
        os.close(self.descriptor)


@dataclass(frozen=True, slots=True)
class HostUsers:
    """A range of users shared by all processes of this machine: a file for each, locked while it is leased.

    The lock belongs to the open file. It ends with the last process that has it open, however that ends.
    """

    users: range
    folder: Path = LOCKS

    def lease(self) -> UserLease:
        """A user that no other sandbox has. Raises NoUserFree, and OSError without a folder."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for user in find_unused_users(self.users):
            descriptor = os.open(self.folder / str(user), os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                continue
            return UserLease(user, descriptor)
        raise NoUserFree(self.users)


@cache
def _is_known(user: int) -> bool:
    return any(user in users for users in _subordinate_users()) or _is_account(user)


def _is_account(user: int) -> bool:
    for find in (pwd.getpwuid, grp.getgrgid):
        try:
            find(user)
        except KeyError:
            continue
        return True
    return False


@cache
def _subordinate_users() -> tuple[range, ...]:
    lines = [line for path in _SUBORDINATE if path.is_file() for line in path.read_text().splitlines()]
    fields = [line.split(":") for line in lines]
    return tuple(
        range(int(found[1]), int(found[1]) + int(found[2]))
        for found in fields
        if len(found) == 3 and found[1].isdigit() and found[2].isdigit()
    )
