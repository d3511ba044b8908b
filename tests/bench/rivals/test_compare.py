"""The command: what it takes, and that it explains itself from any folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.rivals import compare
from bench.rivals.measure import RIVALS, Found
from bench.rivals.ours import Workbench
from bench.rivals.tool import Sample

ROOT = Path(__file__).resolve().parents[3]


def test_it_explains_itself_from_any_folder(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "bench" / "rivals" / "compare.py"), "--help"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    for word in ("--rows", "--only", "--page", "label-studio", "doccano", "potato", "throw-away"):
        assert word in said


def test_every_rival_can_be_named() -> None:
    assert set(RIVALS) == set(compare.NAMES)
    chosen = compare.parser().parse_args(["--only", "potato", "--rows", "50,000"])
    assert (chosen.only, chosen.rows) == (["potato"], 50_000)
    assert compare.parser().parse_args([]).only == list(compare.NAMES)


@pytest.mark.parametrize("given", ["99", "50001", "many", "-1"])
def test_numbers_of_rows_have_bounds(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        compare.parser().parse_args(["--rows", given])
    assert "--rows" in capsys.readouterr().err


def test_a_report_names_who_did_not_run_and_has_no_column_for_them() -> None:
    found = Found(versions={Workbench.name: "abc", "doccano": "1.8.4"}, absent={"Potato": "no such version"})
    for name, seconds in ((Workbench.name, 0.01), ("doccano", 0.02)):
        found.samples[name]["next"] = [Sample(seconds, seconds)]
    said = compare.report(found, {"date": "today"})
    assert "- date: today" in said
    assert "2.0 ×, 2.0 ×" in said
    assert "**Potato did not run**: no such version" in said
    assert "Potato: CPU" not in said


def test_a_machine_that_others_use_is_said_to_be_busy() -> None:
    assert compare.load(0.3, 3.0, 2) == "0.3 when it began, 3.0 at its end, partly its own"
    assert "not quiet" in compare.load(0.5, 3.0, 2)
