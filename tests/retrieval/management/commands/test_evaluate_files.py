"""`manage.py evaluate-files` prints figures, or says what was wrong in one line."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

ROOT = Path(__file__).resolve().parents[4]
QRELS = "q1 0 a 3\nq1 0 b 1\nq2 0 c 2\nq3 0 a 0\n"
RUN = "q1 Q0 x 1 3 me\nq1 Q0 a 2 2 me\nq1 Q0 b 3 1 me\nq2 Q0 c 1 1 me\n"


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "qrels"
    path.write_text(QRELS)
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    path.write_text(RUN)
    return path


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    call_command("evaluate-files", *map(str, arguments), "--json")
    printed = json.loads(capsys.readouterr().out)
    assert isinstance(printed, dict)
    return printed


def test_json(capsys: pytest.CaptureFixture[str], qrels: Path, run: Path) -> None:
    names = "ndcg@10,ndcg_linear@10,mrr@10,map@10,mmrr,recall@100"
    printed = evaluated(capsys, "--qrels", qrels, "--run", run, "--metrics", names)
    log3 = math.log2(3)
    assert list(printed) == [*names.split(","), "queries"]
    assert printed.pop("queries") == {"scored": 2, "without_match": 1, "without_results": 0, "not_judged": 0}
    assert printed == pytest.approx(
        {
            "ndcg@10": ((7 / log3 + 1 / 2) / (7 + 1 / log3) + 1) / 2,
            "ndcg_linear@10": ((3 / log3 + 1 / 2) / (3 + 1 / log3) + 1) / 2,
            "mrr@10": (1 / 2 + 1) / 2,
            "map@10": ((1 / 2 + 2 / 3) / 2 + 1) / 2,
            "mmrr": ((1 / 2 + 1 / (3 - 1)) / 2 + 1) / 2,
            "recall@100": 1,
        }
    )


def test_table(capsys: pytest.CaptureFixture[str], qrels: Path, run: Path) -> None:
    call_command("evaluate-files", "--qrels", str(qrels), "--run", str(run), "--metrics", "mrr@10,map")
    assert capsys.readouterr().out.splitlines() == [
        "mrr@10  0.7500",
        "map     0.7917",
        "mean over 2 queries, 0 without results",
        "1 judged query without a match is skipped",
        "0 queries of the run are not judged",
    ]


def test_one_query_is_told_as_one(capsys: pytest.CaptureFixture[str], qrels: Path, run: Path) -> None:
    qrels.write_text("q1 0 a 1\nq2 0 a 0\nq3 0 a 0\n")
    call_command("evaluate-files", "--qrels", str(qrels), "--run", str(run), "--metrics", "mrr")
    assert capsys.readouterr().out.splitlines()[1:3] == [
        "mean over 1 query, 0 without results",
        "2 judged queries without a match are skipped",
    ]


def test_undefined_is_null(capsys: pytest.CaptureFixture[str], qrels: Path, run: Path) -> None:
    qrels.write_text("q1 0 a 0\n")
    assert evaluated(capsys, "--qrels", qrels, "--run", run, "--metrics", "mrr")["mrr"] is None
    call_command("evaluate-files", "--qrels", str(qrels), "--run", str(run), "--metrics", "mrr")
    assert "mrr  undefined" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("ndgc@10", r"there is no metric 'ndgc@10'; there are ndcg\[@k\]"),
        ("mrr,", "there is no metric ''"),
        ("precision", "write precision@k"),
    ],
)
def test_a_wrong_name_is_told(qrels: Path, run: Path, names: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("evaluate-files", qrels=qrels, run=run, metrics=names)


def test_a_wrong_file_is_told(tmp_path: Path, qrels: Path, run: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read: Is a directory"):
        call_command("evaluate-files", qrels=tmp_path, run=run)
    with pytest.raises(CommandError, match="missing: cannot be read: No such file"):
        call_command("evaluate-files", qrels=qrels, run=tmp_path / "missing")
    with pytest.raises(CommandError, match="line 1: expected 6 columns"):
        call_command("evaluate-files", qrels=qrels, run=qrels)


def manage(home: Path, *command: object) -> subprocess.CompletedProcess[str]:
    """As from a shell, with a database that cannot be reached."""
    unreachable = {"COSQA_HOME": str(home), "DATABASE_URL": "postgres://nobody@127.0.0.1:9/none"}
    return subprocess.run(
        [sys.executable, "manage.py", *map(str, command)],
        cwd=ROOT,
        env=os.environ | unreachable,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_from_a_shell_without_a_database(tmp_path: Path, qrels: Path, run: Path) -> None:
    done = manage(tmp_path / "home", "evaluate-files", "--qrels", qrels, "--run", run, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["mrr@10"] == 0.75


def test_a_mistake_ends_with_one_line_and_code_1(tmp_path: Path, qrels: Path) -> None:
    done = manage(tmp_path / "home", "evaluate-files", "--qrels", qrels, "--run", qrels)
    assert done.returncode == 1
    assert done.stderr.startswith("cosqa: ")
    assert len(done.stderr.splitlines()) == 1


def test_groups_of_near_duplicates(
    capsys: pytest.CaptureFixture[str], qrels: Path, run: Path, tmp_path: Path
) -> None:
    """Both matches of q1 are in one group, c has a group's name for its own and is another."""
    groups = tmp_path / "groups"
    groups.write_text("a\tc\nb\tc\n\n")
    arguments = ("--qrels", qrels, "--run", run, "--metrics", "distinct_matches@10")
    assert evaluated(capsys, *arguments, "--groups", groups)["distinct_matches@10"] == 1
    groups.write_text("a c\nb d\n")
    assert evaluated(capsys, *arguments, "--groups", groups)["distinct_matches@10"] == 1.5


@pytest.mark.parametrize(
    ("metric", "lines", "why"),
    [
        ("distinct_matches@10", None, "by --groups"),
        ("distinct_matches@10", "a b c\n", "line 1: expected `document group`, found 3 columns"),
        ("distinct_matches@10", "a b\na c\n", "line 2: 'a' is in a second group"),
        ("mrr_distractors", None, "use evaluate BENCHMARK"),
    ],
)
def test_what_files_do_not_say(
    qrels: Path, run: Path, tmp_path: Path, metric: str, lines: str | None, why: str
) -> None:
    groups = tmp_path / "groups"
    groups.write_text(lines or "")
    given = {"groups": groups} if lines else {}
    with pytest.raises(CommandError, match=why):
        call_command("evaluate-files", qrels=qrels, run=run, metrics=metric, **given)


def test_qrels_of_beir_are_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, qrels: Path, run: Path
) -> None:
    beir = tmp_path / "test.tsv"
    rows = (line.split() for line in QRELS.splitlines())
    lines = ["query-id\tcorpus-id\tscore", *(f"{query}\t{code}\t{grade}" for query, _, code, grade in rows)]
    beir.write_text("\n".join(lines) + "\n")
    assert evaluated(capsys, "--qrels", beir, "--run", run) == evaluated(
        capsys, "--qrels", qrels, "--run", run
    )


def test_a_bad_line_of_beir_is_told(tmp_path: Path, run: Path) -> None:
    beir = tmp_path / "test.tsv"
    beir.write_text("query-id\tcorpus-id\tscore\nq1\ta\tmany\n")
    with pytest.raises(CommandError, match="line 2: expected a number from -1000 to 1000 as relevance"):
        call_command("evaluate-files", qrels=beir, run=run)
