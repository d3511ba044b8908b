"""Who a container, a control group or a process belongs to, as a short text that a reaper can check.

A process number alone is not enough: numbers come back, and another namespace has its own.
"""

import functools
import os
import socket
from pathlib import Path


def identify_own_process() -> str:
    """This process: machine, namespace of process numbers, number, start time in clock ticks."""
    return _of(os.getpid())


def is_dead(owner: str) -> bool:
    """Whether it ended. False for one of another machine or namespace, which cannot be seen from here."""
    place, _, process = owner.rpartition(":")[0].rpartition(":")
    if place != _place() or not process.isdigit():
        return False
    return _started(int(process)) != owner.rpartition(":")[2]


@functools.cache
def _of(process: int) -> str:
    return f"{_place()}:{process}:{_started(process)}"


def _place() -> str:
    return f"{socket.gethostname()}:{os.readlink('/proc/self/ns/pid').strip('pid:[]')}"


def _started(process: int) -> str:
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    # The name in brackets may hold anything; after it come the state (field 3) … and the start (field 22).
    fields = status.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
