"""`manage.py ncs-report` prints what the score sheet says."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

SHEET = "No.,StackOverflow ID,NCS FRank,UNIF FRank\n1,11,NF,1\n2,12,5,1\n3,13,10,NF\n4,14,11,1\n"


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    path = tmp_path / "sheet.csv"
    path.write_text(SHEET)
    return path


def test_json(capsys: pytest.CaptureFixture[str], sheet: Path) -> None:
    call_command("ncs-report", str(sheet), "--json")
    assert json.loads(capsys.readouterr().out) == {
        "NCS": {
            "answered@1": 0,
            "answered@5": 1,
            "answered@10": 2,
            "mrr": pytest.approx((0 + 1 / 5 + 1 / 10 + 1 / 11) / 4),
        },
        "UNIF": {"answered@1": 3, "answered@5": 3, "answered@10": 3, "mrr": 3 / 4},
    }


def test_table(capsys: pytest.CaptureFixture[str], sheet: Path) -> None:
    call_command("ncs-report", str(sheet))
    assert capsys.readouterr().out.splitlines() == [
        "system   answered@1   answered@5  answered@10     MRR",
        "NCS               0            1            2  0.0977",
        "UNIF              3            3            3  0.7500",
        "4 questions",
    ]


def test_what_was_wrong_is_told(tmp_path: Path, sheet: Path) -> None:
    with pytest.raises(CommandError, match="missing: cannot be read: No such file"):
        call_command("ncs-report", str(tmp_path / "missing"))
    with pytest.raises(CommandError, match="cannot be read: Is a directory"):
        call_command("ncs-report", str(tmp_path))
    sheet.write_text(SHEET + "5,15,?,1\n")
    with pytest.raises(CommandError, match="line 6: expected a rank"):
        call_command("ncs-report", str(sheet))


@pytest.mark.real_data
def test_the_real_sheet(capsys: pytest.CaptureFixture[str], real_data: Path) -> None:
    """The first 60 of the 287 questions, counted again here."""
    path = real_data / "ncs" / "score_sheet-60.csv"
    call_command("ncs-report", str(path), "--json")
    found = json.loads(capsys.readouterr().out)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 60
    assert list(found) == ["NCS", "NCS_postrank", "UNIF_android", "UNIF_stackoverflow"]
    for system, figures in found.items():
        ranks = [int(row[f"{system} FRank"]) for row in rows if row[f"{system} FRank"] != "NF"]
        assert figures["answered@5"] == len([rank for rank in ranks if rank <= 5])
        assert figures["mrr"] == pytest.approx(sum(1 / rank for rank in ranks) / 60)
