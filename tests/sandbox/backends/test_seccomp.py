"""The filter is executed here, instruction by instruction, as the kernel would."""

import json
import struct

import pytest

from sandbox.backends.seccomp import UnknownArchitecture, build_seccomp_filter, docker_profile

ALLOW, EPERM, ENOSYS, KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
X86_64, AARCH64, I386 = 0xC000003E, 0xC00000B7, 0x40000003


def _verdict(program: bytes, number: int, arguments: tuple[int, ...] = (), architecture: int = X86_64) -> int:
    """Interpret the filter over `struct seccomp_data`."""
    values = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("=IIQ6Q", number, architecture, 0, *values)
    accumulator = position = 0
    while True:
        code, if_true, if_false, value = struct.unpack_from("=HBBI", program, position * 8)
        position += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif code == 0x54:
            accumulator &= value
        elif code == 0x15:
            position += if_true if accumulator == value else if_false
        elif code == 0x35:
            position += if_true if accumulator >= value else if_false
        elif code == 0x06:
            return int(value)
        else:
            raise AssertionError(f"instruction {code:#x}")


PROGRAM = build_seccomp_filter("x86_64")


@pytest.mark.parametrize("number", [0, 1, 9, 57, 59, 231, 257])
def test_what_every_program_needs_is_allowed(number: int) -> None:
    assert _verdict(PROGRAM, number) == ALLOW


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("ptrace", 101),
        ("mount", 165),
        ("umount2", 166),
        ("pivot_root", 155),
        ("unshare", 272),
        ("setns", 308),
        ("keyctl", 250),
        ("bpf", 321),
        ("userfaultfd", 323),
        ("io_uring_setup", 425),
        ("memfd_create", 319),
        ("process_vm_writev", 311),
        ("perf_event_open", 298),
        ("shmget", 29),
        ("kexec_load", 246),
        ("no such", 999),
    ],
)
def test_what_only_an_attack_needs_is_refused(name: str, number: int) -> None:
    assert _verdict(PROGRAM, number) == EPERM


def test_threads_are_allowed_and_namespaces_are_not() -> None:
    threads, new_user = 0x3D0F00, 0x10000000
    assert _verdict(PROGRAM, 56, (threads,)) == ALLOW
    assert _verdict(PROGRAM, 56, (threads | new_user,)) == EPERM
    assert _verdict(PROGRAM, 435) == ENOSYS


@pytest.mark.parametrize(
    ("family", "verdict"), [(1, ALLOW), (2, ALLOW), (10, ALLOW), (16, EPERM), (17, EPERM), (40, EPERM)]
)
def test_socket_families(family: int, verdict: int) -> None:
    assert _verdict(PROGRAM, 41, (family,)) == verdict


@pytest.mark.parametrize(
    ("number", "own", "foreign"),
    [
        (302, (0, 7), (1, 7)),
        (144, (0, 0), (1, 5)),
        (141, (0, 0, 10), (0, 1, 19)),
        (141, (1, 0, 10), (2, 0, 19)),
        (251, (1, 0, 7), (1, 1, 7)),
        (251, (2, 0, 7), (3, 0, 7)),
        (203, (0, 8), (1, 8)),
        (72, (3, 1030), (3, 1024)),
    ],
    ids=[
        "prlimit64",
        "sched_setscheduler",
        "setpriority of another process",
        "setpriority of all of a user",
        "ioprio_set of another process",
        "ioprio_set of all of a user",
        "sched_setaffinity",
        "fcntl",
    ],
)
def test_what_reaches_beyond_the_caller_is_refused(
    number: int, own: tuple[int, ...], foreign: tuple[int, ...]
) -> None:
    assert _verdict(PROGRAM, number, own) == ALLOW
    assert _verdict(PROGRAM, number, foreign) == EPERM


def test_both_architectures_have_a_filter() -> None:
    other = build_seccomp_filter("aarch64")
    assert _verdict(other, 57, architecture=AARCH64) == ALLOW
    assert _verdict(other, 97, architecture=AARCH64) == EPERM
    assert _verdict(other, 57) == KILL


def test_high_bits_of_an_argument_do_not_slip_past() -> None:
    pushes_input = 0x5412
    assert _verdict(PROGRAM, 16, (0, 0x541B)) == ALLOW
    assert _verdict(PROGRAM, 16, (0, pushes_input)) == EPERM
    assert _verdict(PROGRAM, 16, (0, (1 << 32) | pushes_input)) == EPERM


def test_other_architectures_are_refused() -> None:
    assert _verdict(PROGRAM, 1, architecture=I386) == KILL
    assert _verdict(PROGRAM, 0x40000000 | 1) == ENOSYS
    with pytest.raises(UnknownArchitecture, match="x86_64, aarch64"):
        build_seccomp_filter("riscv64")


def test_docker_gets_the_same_rules() -> None:
    profile = json.loads(docker_profile("x86_64"))
    allowed = {
        name for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]
    }
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    assert {"read", "execve", "clone"} <= allowed
    assert not allowed & {"mount", "ptrace", "unshare", "bpf", "clone3"}
    compared = [
        [(one["index"], one["valueTwo"]) for one in rule["args"]]
        for rule in profile["syscalls"]
        if rule["names"] == ["setpriority"]
    ]
    assert compared == [[(0, 0), (1, 0)], [(0, 1), (1, 0)]]
