import json
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.__main__ import Machine, main
from sandbox.protocol import Check
from sandbox.runner import Backend, Sandbox
from tests.fakes import FakeSandbox


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    program, candidate = tmp_path / "program.py", tmp_path / "candidate.py"
    program.write_text("assert f(2) == 4\n")
    candidate.write_text("def f(x):\n    return x * x\n")
    return program, candidate


def test_run_prints_the_report(
    files: tuple[Path, Path], bubblewrap: Sandbox, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, candidate = map(str, files)
    status = main(
        ["--home", str(home), "run", program, "--candidate", candidate, "--backend", "bubblewrap", "--json"]
    )
    report = json.loads(capsys.readouterr().out)
    assert (status, report["outcome"], report["backend"]) == (0, "passed", "bubblewrap")


def test_run_applies_a_program_to_another_candidate_and_repeats_it(
    files: tuple[Path, Path], bubblewrap: Sandbox, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files[1].write_text("import os\n\ndef square(x):\n    print(os.urandom(8).hex())\n    return x * x\n")
    command = ["--home", str(home), "run", str(files[0]), "--candidate", str(files[1]), "--json"]
    assert main([*command, "--backend", "bubblewrap", "--as", "f", "--times", "2"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["outcome"], report["applied_as"], report["flaky"]) == ("passed", "f", ["passed", "passed"])


def test_run_takes_a_function_that_is_indented_as_a_whole(
    files: tuple[Path, Path], bubblewrap: Sandbox, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files[1].write_text("    # doubles\n    def f(x):\n        return x * 2\n")
    command = ["--home", str(home), "run", str(files[0]), "--candidate", str(files[1]), "--json"]
    assert main([*command, "--backend", "bubblewrap"]) == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == "passed"


def test_run_takes_cases(
    files: tuple[Path, Path], bubblewrap: Sandbox, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files[0].write_text("def one():\n    assert f(2) == 4\n\ndef two():\n    assert f(2) == 5\n")
    command = ["--home", str(home), "run", str(files[0]), "--candidate", str(files[1])]
    assert main([*command, "--backend", "bubblewrap", "--cases", "one, two"]) == 0
    assert capsys.readouterr().out.splitlines()[:4] == [
        "outcome: failed",
        "cases: 2, held: 1",
        "  case one: held, 1 assertion",
        "  case two: failed line 5: assert f(2) == 5 left: 4 right: 5",
    ]
    assert main([*command, "--backend", "bubblewrap", "--cases", "one,three,f"]) == 2
    told = capsys.readouterr().err
    assert told == "sandbox: the program defines no function three, f at its top level: it has one, two\n"


def test_call_prints_the_value(
    files: tuple[Path, Path], bubblewrap: Sandbox, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--home", str(home), "call", str(files[1]), "--backend", "bubblewrap"]
    assert main([*command, "f(3)"]) == 0
    assert capsys.readouterr().out == "9\n"
    assert main([*command, "f('')"]) == 0
    assert "TypeError" in capsys.readouterr().out
    assert main([*command, "f(3)", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == "9"
    assert main([*command, "x = 3"]) == 2


def test_a_program_that_cannot_be_run_is_status_2(files: tuple[Path, Path], tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "sandbox",
        "--home",
        str(tmp_path),
        "run",
        str(files[0]),
        "--backend",
        "docker",
    ]
    nowhere = {"DOCKER_HOST": "unix:///nowhere.sock", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, env=nowhere, check=False, timeout=60)
    assert done.returncode == 2
    assert "no Docker engine answers" in done.stderr


def test_check_shows_protections_and_versions(
    bubblewrap: Sandbox, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--home", str(home), "check", "--backend", "bubblewrap"]
    assert main(asked) == 0
    assert "All that is required holds." in capsys.readouterr().out
    assert main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["backend"], told["ok"], told["image"]) == ("bubblewrap", True, bubblewrap.image)
    assert {"name", "ok", "found", "required", "advice"} == set(told["checks"][0])


class Unprotected(Machine):
    def open(self, backend: Backend) -> Sandbox:
        class Leaky(FakeSandbox):
            def check(self) -> tuple[Check, ...]:
                return (Check("no network", False, "reached", advice="pull the plug"),)

        return Leaky()


@pytest.mark.parametrize(("command", "status"), [("check", 1), ("run", 2), ("call", 2)])
def test_without_a_required_protection_nothing_is_executed(
    files: tuple[Path, Path], command: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    program, candidate = map(str, files)
    words = {"check": ["check"], "run": ["run", program], "call": ["call", candidate, "f(1)"]}[command]
    assert main(words, machine=Unprotected(Path())) == status
    told = capsys.readouterr()
    assert "no network" in told.out + told.err
    assert ("pull the plug" in told.out) == (command == "check")


def test_coverage_is_told_of_files(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    program, candidate = map(str, files)
    assert main(["images", "coverage", program, candidate]) == 0
    assert "2  100.0%  the standard library is enough" in capsys.readouterr().out
    assert main(["images", "coverage", "--json", program]) == 0
    assert json.loads(capsys.readouterr().out)["functions"] == 1
