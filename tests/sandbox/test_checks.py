import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.checks import ProtectionMissing, Run, bubblewrap_checks, docker_checks, missing, require
from sandbox.execution import ENVIRONMENT
from sandbox.protocol import Check, Sandbox
from sandbox.report import Outcome, Report
from tests.fakes import FakeSandbox

SEEN: dict[str, Any] = {
    "CapEff": "0000000000000000",
    "NoNewPrivs": "1",
    "Seccomp": "2",
    "uid": 65534,
    "connecting": "OSError",
    "interfaces": ["lo"],
    "writing to /": "OSError",
    "writing to /packages": "OSError",
    "MB in /tmp and /dev/shm": [64, 64],
    "sockets": [],
    "processes": 2,
    "environment": sorted(ENVIRONMENT),
}
VERSION = {"KernelVersion": "6.1.0", "Components": [{"Name": "runc", "Version": "1.3.3"}]}
LIMITS = {"MemoryLimit": True, "SwapLimit": True, "PidsLimit": True, "DefaultRuntime": "runc"}


def seeing(**changes: Any) -> Run:
    report = Report(Outcome.PASSED, stdout=json.dumps({**SEEN, **changes}))
    return lambda program, limits: report


def names(checks: tuple[Check, ...]) -> list[str]:
    return [check.name for check in checks]


def test_nothing_is_missing_where_all_is_seen() -> None:
    assert missing(docker_checks(seeing(), VERSION, LIMITS, "")) == ()


@pytest.mark.parametrize(
    ("seen", "lacking"),
    [
        ({"CapEff": "000001ffffffffff"}, "no capability"),
        ({"NoNewPrivs": "0"}, "no new privileges"),
        ({"Seccomp": "0"}, "system calls filtered"),
        ({"uid": 0}, "not root"),
        ({"connecting": ""}, "no network"),
        ({"interfaces": ["lo", "eth0"]}, "no interface but its own loopback"),
        ({"writing to /": ""}, "read-only root"),
        ({"writing to /packages": ""}, "read-only packages"),
        ({"MB in /tmp and /dev/shm": [64, 12000]}, "temporary space limited"),
        ({"sockets": ["/run/docker.sock"]}, "no engine socket"),
        ({"processes": 200}, "own processes alone"),
        ({"environment": ["AWS_SECRET_ACCESS_KEY"]}, "nothing of the caller's environment"),
    ],
)
def test_each_protection_that_is_not_seen_is_missing(seen: dict[str, Any], lacking: str) -> None:
    assert names(missing(docker_checks(seeing(**seen), VERSION, LIMITS, ""))) == [lacking]


@pytest.mark.parametrize("limit", ["MemoryLimit", "SwapLimit", "PidsLimit"])
def test_an_engine_that_cannot_hold_a_limit_is_told(limit: str) -> None:
    (lacking,) = missing(docker_checks(seeing(), VERSION, {**LIMITS, limit: False}, ""))
    assert lacking.name.startswith("limit of")


def test_what_a_kernel_does_not_tell_does_not_hold_and_is_needed_unless_it_is_the_runtimes_own() -> None:
    told = {name: value for name, value in SEEN.items() if name != "NoNewPrivs"}
    report = Report(Outcome.PASSED, stdout=json.dumps(told))
    assert names(missing(docker_checks(lambda program, limits: report, VERSION, LIMITS, ""))) == [
        "no new privileges"
    ]
    assert missing(docker_checks(lambda program, limits: report, VERSION, LIMITS, "runsc")) == ()


def test_a_runtime_with_its_own_kernel_needs_no_filter_of_the_engines() -> None:
    seen = {"Seccomp": "0", "NoNewPrivs": "0"}
    found = docker_checks(seeing(**seen), VERSION, LIMITS, "runsc")
    assert missing(found) == ()
    assert "runsc" in next(check.advice for check in found if check.name == "system calls filtered")
    assert len(missing(docker_checks(seeing(**seen), VERSION, LIMITS, "crun"))) == 2


def test_where_no_program_runs_that_is_what_is_missing() -> None:
    failed = Report(Outcome.UNAVAILABLE, detail="the engine is gone")
    (lacking,) = missing(docker_checks(lambda program, limits: failed, VERSION, LIMITS, ""))
    assert (lacking.name, lacking.found) == ("a program runs", "the engine is gone")


def test_weak_versions_are_notes_with_advice() -> None:
    old = {"KernelVersion": "5.10.1", "Components": [{"Name": "runc", "Version": "1.1.5"}]}
    found = docker_checks(seeing(), old, LIMITS, "")
    assert names(tuple(check for check in found if check.advice)) == [
        "runc without a known weakness",
        "kernel without a known weakness",
    ]
    assert missing(found) == ()


@pytest.mark.parametrize("mode", [0o755, 0o4755])
def test_a_bubblewrap_that_makes_root_is_noted(tmp_path: Path, mode: int) -> None:
    bwrap = tmp_path / "bwrap"
    bwrap.write_text("#!/bin/sh\necho bubblewrap 0.8.0\n")
    bwrap.chmod(mode)
    found = {check.name: check for check in bubblewrap_checks(seeing(), str(bwrap), None)}
    assert found["bubblewrap"].found == "bubblewrap 0.8.0"
    assert found["bubblewrap without setuid"].ok == (mode == 0o755)
    assert not found["memory limit held by the kernel"].ok
    assert missing(tuple(found.values())) == ()


class Leaky(FakeSandbox):
    def check(self) -> tuple[Check, ...]:
        return (
            Check("no network", False, "connecting: reached"),
            Check("kernel", False, "old", required=False),
        )


def test_a_missing_protection_is_required_by_name() -> None:
    with pytest.raises(ProtectionMissing, match=r"no network \(connecting: reached\)$"):
        require(Leaky().check())
    require(FakeSandbox().check())


def test_every_required_protection_holds_here(sandbox: Sandbox) -> None:
    found = sandbox.check()
    require(found)
    assert {"no capability", "no network", "system calls filtered"} < {
        check.name for check in found if check.ok
    }
