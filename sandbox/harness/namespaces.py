"""Namespaces of its own for a process that was forked: what bubblewrap gives to one that it starts.

Made by the C library's functions, called by way of `_ctypes`: ctypes itself loads more slowly than all else.
"""

from __future__ import annotations

import _ctypes
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_CLONE = {"x86_64": 56, "aarch64": 220}
_END_SIGNAL = 17  # SIGCHLD
_MOUNTS, _GROUPS, _IPC, _USERS, _PROCESSES, _NETWORK = (1 << bit for bit in (17, 25, 27, 28, 29, 30))
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_PROGRAMS, _REMOUNT = 1, 2, 4, 8, 0x1020
_PROC_FLAGS = _NO_SUID | _NO_DEVICES | _NO_PROGRAMS
_SET_DUMPABLE, _SET_FILTER, _DROP_BOUND, _BY_PROGRAM = 4, 22, 24, 2
_CAPABILITIES = 64  # more than any kernel has: the first one that it does not know ends the loop
_CAPABILITY_HEADER = (0x20080522).to_bytes(4, "little") + bytes(4)
_INTERNET, _DATAGRAM, _SET_INTERFACE_FLAGS, _UP = 2, 2, 0x8914, 0x41


def _named(name: str) -> Callable[..., int]:
    function = _ctypes.dlsym(_ctypes.dlopen(None, 0), name)  # type: ignore[arg-type]  # None: this process
    call = _ctypes.call_function
    return lambda *values: call(function, values)


_OUTSIDE = os.getuid(), os.getgid()
_syscall, _mount, _prctl, _capset = map(_named, ("syscall", "mount", "prctl", "capset"))
_socket, _ioctl = map(_named, ("socket", "ioctl"))


class Refused(Exception):
    """The kernel does not give what a sandbox needs; the message says what."""


def set_dumpable(value: int) -> None:
    """Whether others, and /proc, may look into this process."""
    _prctl(_SET_DUMPABLE, value, 0, 0, 0)


def clone_into_namespaces(protections: Collection[str]) -> int:
    """As `os.fork`, but the child is process 1 of namespaces of its own; this process has one thread alone.

    Raises Refused where the kernel gives none.
    """
    flags = _MOUNTS | _GROUPS | _IPC | _USERS | _END_SIGNAL
    flags |= _NETWORK if "own network" in protections else 0
    flags |= _PROCESSES if "own processes" in protections else 0
    made = _syscall(_CLONE[os.uname().machine], flags, 0, 0, 0, 0)
    if made < 0:
        raise Refused("no namespaces inside the sandbox")
    return made


def arrange_namespaces(tmp_bytes: int, protections: Collection[str]) -> None:
    """In the child: own user, /proc, /tmp, /dev/shm and loopback. Raises Refused and OSError."""
    user, group = _OUTSIDE
    set_dumpable(1)  # else these files are root's
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        _write(f"/proc/self/{name}", text)
    set_dumpable(0)
    if "own processes" in protections:
        _mounted(b"/proc", b"proc", _PROC_FLAGS, b"")
    # As bubblewrap's and Docker's: see shared_memory_mb in sandbox/backends/execution.py.
    for place, most in ((b"/tmp", tmp_bytes), (b"/dev/shm", tmp_bytes // 2)):
        _mounted(place, b"tmpfs", _NO_SUID | _NO_DEVICES, f"mode=0755,size={most}".encode())
    if "own network" in protections:
        _start_loopback()


def give_up_rights(rules: bytes, protections: Collection[str]) -> None:
    """No namespaces below, no capability, and only the system calls that `rules` permits. Raises Refused."""
    if "no nested namespaces" in protections:
        _write("/proc/sys/user/max_user_namespaces", "0")
    if {"read-only root", "own processes"} <= {*protections}:
        _mounted(b"/proc", b"none", _REMOUNT | _PROC_FLAGS | _READ_ONLY, b"")
    if "no rights" in protections:
        for capability in range(_CAPABILITIES):
            if _prctl(_DROP_BOUND, capability, 0, 0, 0):
                break
        if _capset(_CAPABILITY_HEADER, bytes(24)):
            raise Refused("capabilities were not dropped")
    if "system call filter" in protections:
        # struct sock_fprog: how many instructions, and where they are.
        place = id(rules) + bytes.__basicsize__ - 1
        program = (len(rules) // 8).to_bytes(8, "little") + place.to_bytes(8, "little")
        if _prctl(_SET_FILTER, _BY_PROGRAM, program, 0, 0):
            raise Refused("the system call filter was not loaded")


def _mounted(place: bytes, kind: bytes, flags: int, options: bytes) -> None:
    if _mount(kind, place, kind, flags, options):
        raise Refused(f"{place.decode()} could not be mounted")


def _start_loopback() -> None:
    descriptor = _socket(_INTERNET, _DATAGRAM, 0)
    request = b"lo".ljust(16, b"\0") + _UP.to_bytes(2, "little") + bytes(22)
    failed = descriptor < 0 or _ioctl(descriptor, _SET_INTERFACE_FLAGS, request)
    os.close(descriptor)
    if failed:
        raise Refused("loopback could not be started")


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
