"""`manage.py export-runs`: what is written is read back as the same run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from retrieval.metrics.ncs import summarize_first_ranks
from retrieval.models import Run
from retrieval.sources.formats.ncs import read_score_sheet

pytestmark = pytest.mark.django_db
LINK = "https://github.com/a/b/blob/1/{}#L1"
CODE = {
    "m.py": ("double", "def double(number):\n    return 2 * number"),
    "h.py": ("halve", "def halve(number):\n    return number / 2"),
    "s.go": ("Shout", "func Shout(text string) string { return text }"),
}
LABELS = "Language,Query,GitHubUrl,Relevance,Notes\n" + "".join(
    f"{language},{query},{LINK.format(path)},{value},\n"
    for language, query, path, value in (
        ("Python", "double a number", "m.py", 3),
        ("Python", "double a number", "h.py", 0),
        ("Go", '"shout, loud"', "s.go", 2),
        ("Go", "sing", "s.go", 0),
    )
)
RUN = "language,query,url\n" + "".join(
    f"python,{query},{LINK.format(path)}\n"
    for query, path in (
        ("double a number", "h.py"),
        ("double a number", "nowhere.py"),
        ("double a number", "m.py"),
        ('"shout, loud"', "m.py"),
    )
)


@pytest.fixture(name="rated")
def _rated(tmp_path: Path) -> str:
    """The name of a benchmark with a run called theirs."""
    functions = [
        {"repo": "a/b", "path": path, "func_name": name, "url": LINK.format(path), "code": code}
        | {"language": "go" if path.endswith("go") else "python"}
        for path, (name, code) in CODE.items()
    ]
    (tmp_path / "f.jsonl").write_text("\n".join(map(json.dumps, functions)))
    (tmp_path / "q.csv").write_text('query\ndouble a number\n"shout, loud"\nsing\n')
    (tmp_path / "a.csv").write_text(LABELS)
    (tmp_path / "theirs.csv").write_text(RUN)
    call_command("import", "codesearchnet", str(tmp_path / "f.jsonl"), name="csn")
    call_command("import", "table", str(tmp_path / "q.csv"), name="csn", query="query")
    call_command("import", "qrels", str(tmp_path / "a.csv"), name="rated", queries="csn", snippets="csn")
    call_command("evaluate", "rated", run=[f"theirs={tmp_path / 'theirs.csv'}"], metrics="mrr")
    return "rated"


def test_predictions_are_codesearchnets_form_and_read_back(rated: str, tmp_path: Path) -> None:
    call_command("export-runs", "predictions", rated, str(tmp_path / "out.csv"))
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines == [
        "language,query,identifier,url",
        f"python,double a number,halve,{LINK.format('h.py')}",
        f"python,double a number,double,{LINK.format('m.py')}",
        f'python,"shout, loud",double,{LINK.format("m.py")}',
    ]
    call_command("evaluate", rated, run=[f"back={tmp_path / 'out.csv'}"], metrics="mrr")
    lists = {found.key: found.places.tolist() for found in Run.objects.get(system="back").lists.all()}
    assert sorted(map(len, lists.values())) == [1, 2]


def test_a_trec_run_keeps_ranks_and_is_the_same_run(rated: str, tmp_path: Path) -> None:
    call_command("export-runs", "trec", rated, str(tmp_path / "out.run"), system=["theirs"])
    assert (tmp_path / "out.run").read_text().splitlines()[:3] == [
        "q1 Q0 d1 1 1.000000000 theirs_(text_not_known)",
        "q1 Q0 unknown-2 2 0.500000000 theirs_(text_not_known)",
        "q1 Q0 d0 3 0.333333333 theirs_(text_not_known)",
    ]
    call_command("evaluate", rated, run=[f"back={tmp_path / 'out.run'}"], metrics="mrr")
    assert Run.objects.get(system="back").digest == Run.objects.get(system="theirs").digest


def test_the_score_sheet_has_the_first_match_of_every_system(rated: str, tmp_path: Path) -> None:
    call_command("evaluate", rated, encoder=["bm25"], metrics="mrr")
    call_command("export-runs", "score-sheet", rated, str(tmp_path / "sheet.csv"))
    ranks = read_score_sheet(tmp_path / "sheet.csv")
    assert ranks == {"bm25": [1, 1, None], "theirs (text not known)": [3, None, None]}
    assert summarize_first_ranks(ranks["theirs (text not known)"]).mrr == pytest.approx(1 / 9)


HIDE = "void hide(View one) {\n    imm.hideSoftInput(one.getWindowToken(), 0);\n    log();\n}"
SUM = (
    "int sum(int[] all) {\n    int found = 0;\n    for (int each : all) found += each;\n    return found;\n}"
)
QUESTIONS = [
    {
        "stackoverflow_id": "7",
        "question": "hide keyboard",
        "answer": "imm.hideSoftInput(view.getWindowToken(), 0);",
    },
    {
        "stackoverflow_id": "8",
        "question": "open page",
        "answer": "startActivity(new Intent(ACTION_VIEW, uri));",
    },
]


def test_the_score_sheet_may_go_by_answers(tmp_path: Path) -> None:
    """The benchmark calls the sum a match; by the answer it is the method that hides the keyboard."""
    questions, rows = tmp_path / "questions.json", tmp_path / "rows.jsonl"
    questions.write_text(json.dumps(QUESTIONS))
    labelled = [
        ("7", "hide keyboard", "a", SUM, 1),
        ("7", "hide keyboard", "b", HIDE, 0),
        ("8", "open page", "a", SUM, 0),
    ]
    keys = ("query_id", "query", "snippet_id", "code", "label")
    rows.write_text("\n".join(json.dumps(dict(zip(keys, row, strict=True))) for row in labelled))
    (tmp_path / "r.run").write_text("7 Q0 a 1 2 x\n7 Q0 b 2 1 x\n8 Q0 b 1 2 x\n")
    call_command(
        "import",
        "table",
        str(rows),
        name="ncs",
        query="query",
        snippet="code",
        label="label",
        query_id="query_id",
        snippet_id="snippet_id",
    )
    call_command("evaluate", "ncs", run=[f"x={tmp_path / 'r.run'}"], metrics="mrr")
    sheets = {}
    for name, answers in (("labels", None), ("answers", questions)):
        call_command("export-runs", "score-sheet", "ncs", str(tmp_path / name), answers=answers)
        (sheets[name],) = read_score_sheet(tmp_path / name).values()
    assert sheets == {"labels": [1, None], "answers": [2, None]}
    with pytest.raises(CommandError, match="belongs to score-sheet"):
        call_command("export-runs", "trec", "ncs", str(tmp_path / "t"), answers=questions)
    questions.write_text(json.dumps([{**QUESTIONS[0], "stackoverflow_id": "99"}]))
    with pytest.raises(CommandError, match="No query has an answer"):
        call_command("export-runs", "score-sheet", "ncs", str(tmp_path / "s"), answers=questions)


def test_what_can_not_be_written_is_said(rated: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    with pytest.raises(CommandError, match=r"no run of 'ours' .* 'theirs"):
        call_command("export-runs", "trec", rated, out, system=["ours"])
    call_command("evaluate", rated, encoder=["bm25"], metrics="mrr")
    with pytest.raises(CommandError, match="takes a single run"):
        call_command("export-runs", "trec", rated, out)
    with pytest.raises(CommandError, match="No such file"):
        call_command("export-runs", "trec", rated, f"{out}/nowhere/run", system=["bm25"])


def test_a_function_without_a_link_leaves_no_file(rated: str, tmp_path: Path) -> None:
    benchmark = Run.objects.get().benchmark
    benchmark.snippets.members.update(origin="")
    with pytest.raises(CommandError, match="has no link"):
        call_command("export-runs", "predictions", rated, str(tmp_path / "out.csv"))
    assert not (tmp_path / "out.csv").exists()
