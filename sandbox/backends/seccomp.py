"""One table of permitted system calls, as a BPF program for bubblewrap and as a JSON profile for Docker.

The table (image/seccomp.json) lists what is permitted; everything else fails with EPERM, clone3 with
ENOSYS, so that the C library falls back to clone, whose flags a filter can see. A foreign architecture
kills the process.
"""

import itertools
import json
import platform
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from sandbox.protocol import SandboxUnavailable

_EPERM, _ENOSYS = 1, 38
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _AND, _RETURN, _EQUAL, _AT_LEAST = 0x20, 0x54, 0x06, 0x15, 0x35
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16
_X32_BIT = 0x40000000


class UnknownArchitecture(SandboxUnavailable):
    """The table has no numbers for this processor; the message names those that it has."""


@dataclass(frozen=True, slots=True)
class _Architecture:
    column: int
    audit: int
    docker: str


_ARCHITECTURES = {
    "x86_64": _Architecture(0, 0xC000003E, "SCMP_ARCH_X86_64"),
    "aarch64": _Architecture(1, 0xC00000B7, "SCMP_ARCH_AARCH64"),
}


def build_seccomp_filter(machine: str = "") -> bytes:
    """The filter as `struct sock_filter`s (8 bytes each), for `bwrap --seccomp`."""
    return b"".join(_instructions(_architecture(machine), _table()))


def docker_profile(machine: str = "") -> str:
    """The same rules as JSON text for the engine, which takes the text itself and not a path."""
    table, architecture = _table(), _architecture(machine)
    profile = {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": _EPERM,
        "architectures": [architecture.docker],
        "syscalls": [
            {"names": [*table["allowed"]], "action": "SCMP_ACT_ALLOW"},
            *_docker_conditions(table["conditional"]),
            {"names": [*table["not_implemented"]], "action": "SCMP_ACT_ERRNO", "errnoRet": _ENOSYS},
        ],
    }
    return json.dumps(profile, sort_keys=True)


def _docker_conditions(conditional: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    for name, rule in conditional.items():
        compared = [list(_docker_comparisons(argument)) for argument in rule["arguments"]]
        for chosen in itertools.product(*compared):
            yield {"names": [name], "action": "SCMP_ACT_ALLOW", "args": [*chosen]}


def _docker_comparisons(argument: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    for value in argument["allowed_values"]:
        yield {
            "index": argument["index"],
            "op": "SCMP_CMP_MASKED_EQ",
            "value": argument["mask"],
            "valueTwo": value,
        }


def _instructions(architecture: _Architecture, table: Mapping[str, Any]) -> Iterator[bytes]:
    column = architecture.column
    yield _statement(_LOAD, _ARCHITECTURE_OFFSET)
    yield _jump(_EQUAL, architecture.audit, 1, 0)
    yield _statement(_RETURN, _KILL)
    yield _statement(_LOAD, _NUMBER_OFFSET)
    yield _jump(_AT_LEAST, _X32_BIT, 0, 1)
    yield _statement(_RETURN, _ERRNO | _ENOSYS)
    for number in sorted(numbers[column] for numbers in table["allowed"].values() if numbers[column] >= 0):
        yield _jump(_EQUAL, number, 0, 1)
        yield _statement(_RETURN, _ALLOW)
    for rule in table["conditional"].values():
        yield from _condition(rule, rule["numbers"][column])
    for numbers in table["not_implemented"].values():
        yield _jump(_EQUAL, numbers[column], 0, 1)
        yield _statement(_RETURN, _ERRNO | _ENOSYS)
    yield _statement(_RETURN, _ERRNO | _EPERM)


def _condition(rule: Mapping[str, Any], number: int) -> Iterator[bytes]:
    """Allow when each argument named is one of its values."""
    checks = [check for argument in rule["arguments"] for check in _argument_check(argument)]
    yield _jump(_EQUAL, number, 0, len(checks) + 1)
    yield from checks
    yield _statement(_RETURN, _ALLOW)


def _argument_check(argument: Mapping[str, Any]) -> Iterator[bytes]:
    """Refuse unless the masked low word of the argument is one of the values: the kernel reads only it."""
    values = argument["allowed_values"]
    yield _statement(_LOAD, _ARGUMENTS_OFFSET + 8 * argument["index"])
    yield _statement(_AND, argument["mask"])
    for position, value in enumerate(values):
        yield _jump(_EQUAL, value, len(values) - position, 0)
    yield _statement(_RETURN, _ERRNO | _EPERM)


def _statement(code: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, 0, 0, value)


def _jump(code: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _architecture(machine: str) -> _Architecture:
    name = machine or platform.machine()
    if name not in _ARCHITECTURES:
        known = ", ".join(_ARCHITECTURES)
        raise UnknownArchitecture(f"the system call table has no numbers for {name}; it has them for {known}")
    return _ARCHITECTURES[name]


def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = json.loads(files("sandbox.image").joinpath("seccomp.json").read_text())
    return table
