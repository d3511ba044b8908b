import json
import os
from pathlib import Path
from typing import Any

import pytest

from sandbox.backends import checks
from sandbox.backends.checks import (
    ProtectionMissing,
    Run,
    bubblewrap_checks,
    docker_checks,
    find_missing_protections,
    require_protections,
)
from sandbox.backends.execution import ENVIRONMENT
from sandbox.host_users import USERS, HostUsers
from sandbox.protocol import Check, Sandbox
from sandbox.reports.report import Outcome, Report
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
    "MB where it may write": {"/tmp": 64, "/dev/shm": 32},
    "lowering its score": "PermissionError",
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
    assert find_missing_protections(docker_checks(seeing(), VERSION, LIMITS, "")) == ()


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
        ({"MB where it may write": {"/tmp": 64, "/dev/shm": 64}}, "temporary space limited"),
        ({"MB where it may write": {"/tmp": 64, "/dev/mqueue": 0}}, "temporary space limited"),
        ({"sockets": ["/run/docker.sock"]}, "no engine socket"),
        ({"processes": 200}, "own processes alone"),
        ({"environment": ["AWS_SECRET_ACCESS_KEY"]}, "nothing of the caller's environment"),
    ],
)
def test_each_protection_that_is_not_seen_is_missing(seen: dict[str, Any], lacking: str) -> None:
    assert names(find_missing_protections(docker_checks(seeing(**seen), VERSION, LIMITS, ""))) == [lacking]


@pytest.mark.parametrize("limit", ["MemoryLimit", "SwapLimit", "PidsLimit"])
def test_an_engine_that_cannot_hold_a_limit_is_told(limit: str) -> None:
    (lacking,) = find_missing_protections(docker_checks(seeing(), VERSION, {**LIMITS, limit: False}, ""))
    assert lacking.name.startswith("limit of")


def test_what_a_kernel_does_not_tell_does_not_hold_and_is_needed_unless_it_is_the_runtimes_own() -> None:
    told = {name: value for name, value in SEEN.items() if name != "NoNewPrivs"}
    report = Report(Outcome.PASSED, stdout=json.dumps(told))
    assert names(
        find_missing_protections(docker_checks(lambda program, limits: report, VERSION, LIMITS, ""))
    ) == ["no new privileges"]
    assert (
        find_missing_protections(docker_checks(lambda program, limits: report, VERSION, LIMITS, "runsc"))
        == ()
    )


def test_a_runtime_with_its_own_kernel_needs_no_filter_of_the_engines() -> None:
    seen = {"Seccomp": "0", "NoNewPrivs": "0"}
    found = docker_checks(seeing(**seen), VERSION, LIMITS, "runsc")
    assert find_missing_protections(found) == ()
    assert "runsc" in next(check.advice for check in found if check.name == "system calls filtered")
    assert len(find_missing_protections(docker_checks(seeing(**seen), VERSION, LIMITS, "crun"))) == 2


def test_where_no_program_runs_that_is_what_is_missing() -> None:
    failed = Report(Outcome.UNAVAILABLE, detail="the engine is gone")
    (lacking,) = find_missing_protections(docker_checks(lambda program, limits: failed, VERSION, LIMITS, ""))
    assert (lacking.name, lacking.found) == ("a program runs", "the engine is gone")


def test_weak_versions_are_notes_with_advice() -> None:
    old = {"KernelVersion": "5.10.1", "Components": [{"Name": "runc", "Version": "1.1.5"}]}
    found = docker_checks(seeing(), old, LIMITS, "")
    assert names(tuple(check for check in found if check.advice)) == [
        "runc without a known weakness",
        "kernel without a known weakness",
    ]
    assert find_missing_protections(found) == ()


@pytest.mark.parametrize("mode", [0o755, 0o4755])
def test_a_bubblewrap_that_makes_root_is_noted(tmp_path: Path, mode: int) -> None:
    bwrap = tmp_path / "bwrap"
    bwrap.write_text("#!/bin/sh\necho bubblewrap 0.8.0\n")
    bwrap.chmod(mode)
    found = {check.name: check for check in bubblewrap_checks(seeing(), str(bwrap), None, None)}
    assert found["bubblewrap"].found == "bubblewrap 0.8.0"
    assert found["bubblewrap without setuid"].ok == (mode == 0o755)
    assert not found["memory limit held by the kernel"].ok
    assert find_missing_protections(tuple(found.values())) == ()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["name=seccomp,profile=default"], "leased while it lives"),
        (["name=userns"], "the engine's (userns): all count for it too"),
        (["name=seccomp,profile=default", "name=rootless"], "the engine's (rootless): all count for it too"),
    ],
)
def test_an_engine_with_user_namespaces_has_one_user_for_all(options: list[str], told: str) -> None:
    found = docker_checks(seeing(), VERSION, {**LIMITS, "SecurityOptions": options}, "")
    (check,) = [one for one in found if one.name == "own user of the machine for each run"]
    assert (check.ok, check.found, check.required) == (told.startswith("leased"), told, False)
    assert bool(check.advice) != check.ok


@pytest.mark.parametrize(
    ("users", "apart", "told"),
    [
        (HostUsers(USERS), True, "leased while it lives"),
        (HostUsers(USERS), False, "the owner of this user namespace: all count for it too"),
        (None, True, f"user {os.geteuid()} for all"),
    ],
)
def test_a_caller_without_users_to_give_is_told(
    users: HostUsers | None, apart: bool, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "are_users_told_apart", lambda: apart)
    found = bubblewrap_checks(seeing(), "/bin/true", None, users)
    (check,) = [one for one in found if one.name == "own user of the machine for each run"]
    assert (check.ok, check.found, check.required) == (told.startswith("leased"), told, False)


def test_an_engine_that_lets_programs_lower_their_score_is_noted() -> None:
    found = docker_checks(seeing(**{"lowering its score": ""}), VERSION, LIMITS, "")
    (check,) = [one for one in found if one.name == "first to go when memory runs out"]
    assert not check.ok and not check.required and "CAP_SYS_RESOURCE" in check.advice
    assert all(one.ok for one in docker_checks(seeing(), VERSION, LIMITS, "") if one.name == check.name)


class Leaky(FakeSandbox):
    def check(self) -> tuple[Check, ...]:
        return (
            Check("no network", False, "connecting: reached"),
            Check("kernel", False, "old", required=False),
        )


def test_a_missing_protection_is_required_by_name() -> None:
    with pytest.raises(ProtectionMissing, match=r"no network \(connecting: reached\)$"):
        require_protections(Leaky().check())
    require_protections(FakeSandbox().check())


def test_every_required_protection_holds_here(sandbox: Sandbox) -> None:
    found = sandbox.check()
    require_protections(found)
    assert {"no capability", "no network", "system calls filtered"} < {
        check.name for check in found if check.ok
    }
