"""`manage.py evaluate` prints figures of systems, or says what was wrong in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from retrieval.management.commands.evaluate import named_files
from retrieval.models import Run
from tests.retrieval.encoders.rerankers.conftest import cross_encoder  # noqa: F401  (a fixture)

pytestmark = pytest.mark.django_db
DOUBLE = "def double(number):\n    return 2 * number\n"
HALVE = "def halve(number):\n    return number / 2\n"
SHOUT = "def shout(text):\n    return text.upper()\n"
PAIRS = [
    {"idx": "q-1", "doc": "double a number", "code": DOUBLE, "label": 1},
    {"idx": "q-1", "doc": "double a number", "code": HALVE, "label": 0},
    {"idx": "q-2", "doc": "shout loud", "code": SHOUT, "label": 1},
    {"idx": "q-3", "doc": "sing", "code": SHOUT, "label": 0},
]
RUN = "q-1 Q0 2 1 3 mine\nq-1 Q0 1 2 2 mine\nq-1 Q0 0 3 1 mine\nq-2 Q0 2 1 1 mine\n"


@pytest.fixture
def small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The name of a benchmark that was imported."""
    pairs, codebase = tmp_path / "pairs.json", tmp_path / "codebase.json"
    pairs.write_text(json.dumps(PAIRS))
    codebase.write_text(json.dumps({DOUBLE: 0, HALVE: 1, SHOUT: 2}))
    call_command("import", "cosqa", str(pairs), "--codebase", str(codebase), "--name", "small")
    assert "benchmark: small@1 has 4 labels, 2 matches" in capsys.readouterr().out
    return "small"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "mine.run"
    path.write_text(RUN)
    return path


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    call_command("evaluate", *map(str, arguments), "--json")
    printed = json.loads(capsys.readouterr().out)
    assert isinstance(printed, dict)
    return printed


def test_several_systems_at_once(capsys: pytest.CaptureFixture[str], small: str, run: Path) -> None:
    printed = evaluated(capsys, small, "--encoder", "bm25", "bow", "--run", run, "--metrics", "mrr,recall@1")
    assert list(printed) == ["bm25", "bow", "mine"]
    assert (printed["bm25"]["mrr"], printed["bm25"]["text_option"]) == (1, "whole")
    mine = printed["mine"]
    assert mine["mrr"] == pytest.approx((1 / 3 + 1) / 2)
    assert mine["condensed"]["mrr"] == pytest.approx((1 / 2 + 1) / 2)
    assert mine["judged"]["mrr"] == pytest.approx((2 / 3 + 1) / 2)
    assert mine["queries"] == {"scored": 2, "without_match": 1, "without_results": 0, "not_judged": 0}
    assert mine["intervals"]["mrr"] == pytest.approx([1 / 3, 1])
    assert (mine["benchmark"], mine["pool"], mine["text_option"]) == ("small@1", "collection", None)
    assert Run.objects.count() == 3


def test_a_snippet_whose_docstring_cannot_be_told_is_never_found_and_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cut_off = 'def plus(a, b):\n    """Add two numbers."""\n    return (a + b'
    pairs = [
        {"doc": "add two numbers", "code": cut_off, "label": 1},
        {"doc": "add two numbers", "code": "def add(two): return two", "label": 0},
    ]
    (tmp_path / "pairs.json").write_text(json.dumps(pairs))
    call_command("import", "cosqa", str(tmp_path / "pairs.json"), "--name", "cut")
    capsys.readouterr()
    whole = evaluated(capsys, "cut", "--encoder", "bow", "--metrics", "recall@10")
    call_command(
        "evaluate", "cut", encoder=["bow"], metrics="recall@10", text_option="without_docstring", json=True
    )
    printed = capsys.readouterr()
    assert whole["bow"]["recall@10"] == 1
    assert json.loads(printed.out)["bow"]["recall@10"] == 0
    assert "1 function left out of the search: their docstring" in printed.err


def test_table(capsys: pytest.CaptureFixture[str], small: str, run: Path) -> None:
    call_command("evaluate", small, run=[f"theirs={run}"], metrics="mrr", text_option="without_docstring")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("theirs (without docstring, the whole collection; run ")
    assert lines[2].split() == ["mrr", "0.6667", "0.3333–1.0000", "0.8333", "0.7500"]
    assert lines[3] == "mean over 2 queries, 0 without results; 1 without a match is skipped"
    assert lines[4] == "With fewer than 30 queries intervals are too short."
    assert lines[5].startswith("coverage: 75.0% of the judged functions")


def test_a_file_may_have_a_sign_of_equality_in_its_path(
    capsys: pytest.CaptureFixture[str], small: str, tmp_path: Path
) -> None:
    file = tmp_path / "lr=2e-5" / "epoch=3.run"
    file.parent.mkdir()
    file.write_text(RUN)
    found = evaluated(capsys, small, "--run", f"tuned={file}", f"tuned, k=10={file}", file)
    assert list(found) == ["tuned", "tuned, k=10", "mine"]


def test_what_is_unknown_is_told_beside_the_figures(
    capsys: pytest.CaptureFixture[str], small: str, run: Path
) -> None:
    run.write_text(RUN + "q-1 Q0 nowhere 4 0.5 me\n")
    call_command("evaluate", small, "--run", str(run), "--json")
    told = capsys.readouterr()
    assert (
        "unknown to small@1, kept in their ranks as unjudged: 1 function (in 1 row; the first is 'nowhere' in"
        in told.err
    )
    assert json.loads(told.out)["mine"]["mrr"] == pytest.approx((1 / 3 + 1) / 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tiny", "--encoder", "bm25"], "There is no benchmark 'tiny'; there are small"),
        (["small"], "Say what to evaluate"),
        (["small", "--encoder", "bm26"], "no encoder is called 'bm26'"),
        (["small", "--encoder", "bm25", "--metrics", "mrrr"], "there is no metric 'mrrr'"),
        (["small", "--encoder", "bm25", "--text-option", "half"], "there is no text option 'half'"),
        (["small", "--encoder", "bm25", "--pool", "candidates"], "no candidates to search"),
        (["small", "--run", "missing"], "missing: cannot be read: No such file"),
        (["small", "--run", "a=b", "a=c"], "Two systems are called 'a'"),
        (["small", "--encoder", "bow", "--run", "bow=c"], "Two systems are called 'bow'"),
    ],
)
def test_a_mistake_is_told(small: str, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("evaluate", *arguments)
    assert not Run.objects.exists()


def test_a_second_import_publishes_what_came_with_it(
    small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = tmp_path / "more.json"
    more.write_text(json.dumps([{"idx": "q-3", "doc": "sing", "code": HALVE, "label": 1}]))
    codebase = tmp_path / "codebase.json"
    for file in (more, more):
        call_command("import", "cosqa", str(file), "--codebase", str(codebase), "--name", small)
        assert "benchmark: small@2 has 5 labels, 3 matches" in capsys.readouterr().out


@pytest.fixture
def copies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A benchmark whose first query has two matches, the same but for blanks."""
    pairs, codebase = tmp_path / "copies.json", tmp_path / "copies-code.json"
    spaced = DOUBLE.replace("return 2", "return  2")
    again = {"idx": "q-1", "doc": "double a number", "code": spaced, "label": 1}
    pairs.write_text(json.dumps([*PAIRS, again]))
    codebase.write_text(json.dumps({DOUBLE: 0, HALVE: 1, SHOUT: 2, spaced: 3}))
    call_command("import", "cosqa", str(pairs), "--codebase", str(codebase), "--name", "copies")
    capsys.readouterr()
    return "copies"


def test_copies_count_once_and_distractors_are_drawn_by_a_seed_that_is_kept(
    capsys: pytest.CaptureFixture[str], copies: str, run: Path
) -> None:
    """q-1 ranks shout, halve, double, its copy: both others are drawn, so it is third; q-2 is first."""
    run.write_text(RUN + "q-1 Q0 3 4 0.5 mine\n")
    metrics = "precision@10,distinct_matches@10,mrr_distractors,mrr_distractors:7"
    mine = evaluated(capsys, copies, "--run", run, "--metrics", metrics)["mine"]
    assert mine["precision@10"] == pytest.approx((2 / 10 + 1 / 10) / 2)
    assert mine["distinct_matches@10"] == 1
    assert mine["mrr_distractors"] == mine["mrr_distractors:7"] == pytest.approx((1 / 3 + 1) / 2)
    assert mine["options"]["mrr_distractors:7"]["seed"] == 7
    assert mine["options"]["mrr_distractors"]["seed"] == 20_604
    assert "Jaccard of 0.8" in mine["options"]["distinct_matches@10"]["near_duplicates"]
    assert Run.objects.get().options["metrics"] == mine["options"]
    call_command("evaluate", copies, run=[str(run)], metrics="mrr_distractors:7")
    told = "mrr_distractors:7: seed 7, distractors 3, fewest 2\n"
    assert told in capsys.readouterr().out, "q-1 has two matches, and neither is a distractor"
    assert set(Run.objects.get().options["metrics"]) == set(mine["options"])
    call_command("leaderboard", copies, metric="distinct_matches@10")
    assert "distinct_matches@10" in capsys.readouterr().out


def test_a_name_too_long_is_refused_before_anything_is_scored(small: str, run: Path) -> None:
    with pytest.raises(CommandError, match="at most 120 letters"):
        call_command("evaluate", small, run=[str(run), f"{'x' * 121}={run}"])
    assert not Run.objects.exists()


def test_distractors_need_a_collection(small: str, run: Path) -> None:
    with pytest.raises(CommandError, match="draws its 999 distractors from the whole collection"):
        call_command("evaluate", small, run=[str(run)], pool="candidates", metrics="mrr_distractors")


@pytest.mark.parametrize("name", ["distinct_matches", "mrr_distractors@5", "mrr:7", "mrr_distractors:x"])
def test_how_a_metric_is_written(small: str, run: Path, name: str) -> None:
    with pytest.raises(CommandError, match=r"write|there is no metric"):
        call_command("evaluate", small, run=[str(run)], metrics=name)


def test_grades_of_a_folder_score_as_its_files_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Gains 2^4-1 = 15, 2^2-1 = 3, and 0 below 0: (3 + 15/log2(3)) ÷ (15 + 3/log2(3)) = 0.7378."""
    codes = [f"def f{number}(x):\n    return {number}" for number in range(4)]
    (tmp_path / "qrels").mkdir()
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "sort a list"}\n')
    rows = [json.dumps({"_id": f"d{number}", "text": code}) for number, code in enumerate(codes)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(rows) + "\n")
    grades = {"d0": -1, "d1": 2, "d2": 0, "d3": 4}
    lines = [f"q\t{name}\t{grade}\n" for name, grade in grades.items()]
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    call_command("import", "beir", str(tmp_path), "--name", "whole")
    run, qrels = tmp_path / "a.run", tmp_path / "a.qrels"
    run.write_text("q Q0 d1 1 3 me\nq Q0 d3 2 2 me\nq Q0 d0 3 1 me\n")
    qrels.write_text("".join(f"q 0 {name} {grade}\n" for name, grade in grades.items()))
    capsys.readouterr()
    call_command("evaluate", "whole", "--run", f"mine={run}", "--metrics", "ndcg,ndcg_linear,mrr")
    stored = capsys.readouterr().out
    given = ("--qrels", str(qrels), "--run", str(run), "--metrics", "ndcg,ndcg_linear,mrr")
    call_command("evaluate-files", *given)
    alone = capsys.readouterr().out
    for figure in ("0.7378", "0.8597", "1.0000"):
        assert figure in stored and figure in alone


@pytest.mark.parametrize(
    ("content", "name"),
    [("q0 Q0 d0 1 2.0 mysys\n", "mysys"), ('{"q0": {"d0": 1.0}}', "my"), ("language,query,url\n", "my")],
)
def test_the_tag_of_a_run_names_its_system(tmp_path: Path, content: str, name: str) -> None:
    path = tmp_path / ("my.json" if content.startswith("{") else "my.run")
    path.write_text(content)
    assert list(named_files([str(path)], set())) == [name]
    assert list(named_files([f"given={path}"], set())) == ["given"]


def test_a_reranker_ranks_the_first_results_of_each_encoder_again(
    capsys: pytest.CaptureFixture[str],
    small: str,
    cross_encoder: Path,  # noqa: F811
) -> None:
    name = f"cross-encoder:{cross_encoder}"
    found = evaluated(capsys, small, "--encoder", "bm25", "bow", "--rerank", name, "--depth", 2)
    assert list(found) == [f"bm25 >2> {name}", f"bow >2> {name}"]
    note = found[f"bm25 >2> {name}"]["second_stage"]
    assert (note["first_stage"], note["depth"], note["usd"]) == ("bm25", 2, 0)
    call_command("evaluate", small, "--encoder", f"bm25 >2> {name}")
    assert "ranked the first 2 results of bm25 again" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--encoder", "bm25", "--rerank", "bm25"], "no reranker is called 'bm25'"),
        (["--encoder", "bm25", "--rerank", "cross-encoder:/no/such"], "/no/such"),
        (["--encoder", "bm25", "--rerank", "cross-encoder:/f", "--depth", "0"], "--depth is 1 to 1,000"),
        (["--encoder", "bm25", "--rerank", "cross-encoder:/f", "--depth", "1001"], "--depth is 1 to 1,000"),
        (["--run", "mine.run", "--rerank", "cross-encoder:/f"], "needs a first stage"),
    ],
)
def test_a_second_stage_that_can_not_be_is_refused(small: str, more: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("evaluate", small, *more)
    assert not Run.objects.exists()
