"""`manage.py evaluate-languages`: each language by itself, and the mean of languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

pytestmark = pytest.mark.django_db
LINK = "https://github.com/a/b/blob/1/{}#L1"
FILES = ("one.py", "two.py", "one.go", "two.go", "one.rb")


@pytest.fixture(name="rated")
def _rated(tmp_path: Path) -> str:
    """A benchmark of Python and Go, with a Ruby function that nobody judged, and a run of both."""
    functions = [
        {"repo": "a/b", "path": path, "func_name": "f", "url": LINK.format(path), "code": f"code of {path}"}
        | {"language": {"py": "python", "go": "go", "rb": "ruby"}[path[-2:]]}
        for path in FILES
    ]
    labels = [("Python", "sort", "one.py", 3), ("Python", "sort", "two.py", 0), ("Go", "sort", "two.go", 2)]
    (tmp_path / "f.jsonl").write_text("\n".join(map(json.dumps, functions)))
    (tmp_path / "q.csv").write_text("query\nsort\n")
    (tmp_path / "a.csv").write_text(
        "Language,Query,GitHubUrl,Relevance\n"
        + "".join(f"{name},{query},{LINK.format(path)},{value}\n" for name, query, path, value in labels)
    )
    found = ("one.go", "two.py", "nowhere.py", "two.go", "one.rb", "one.py")
    (tmp_path / "r.csv").write_text(
        "language,query,url\n" + "".join(f"python,sort,{LINK.format(path)}\n" for path in found)
    )
    call_command("import", "codesearchnet", str(tmp_path / "f.jsonl"), name="csn")
    call_command("import", "table", str(tmp_path / "q.csv"), name="csn", query="query")
    call_command("import", "qrels", str(tmp_path / "a.csv"), name="rated", queries="csn", snippets="csn")
    call_command("evaluate", "rated", run=[f"theirs={tmp_path / 'r.csv'}"], metrics="mrr")
    return "rated"


def test_each_language_has_its_own_list_and_the_mean_counts_each_once(
    rated: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Go finds one.go, then its match: 1/2. Python finds two.py, then its match: 1/2. Over all it is 1/4."""
    capsys.readouterr()
    call_command("evaluate-languages", rated, metric="mrr", json=True)
    assert json.loads(capsys.readouterr().out) == {
        "theirs (text not known)": {"Go": 0.5, "Python": 0.5, "mean": 0.5}
    }
    call_command("evaluate-languages", rated, metric="recall@1")
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["system", "Go", "Python", "mean"],
        ["theirs", "(text", "not", "known)", "0.0000", "0.0000", "0.0000"],
    ]


def test_judged_functions_alone_decide_what_is_within(rated: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Within the judged ones Go's match is first: 1. Python's follows a 0: 1 / log2(3)."""
    capsys.readouterr()
    call_command("evaluate-languages", rated, json=True)
    (found,) = json.loads(capsys.readouterr().out).values()
    assert found["Go"] == 1
    assert found["Python"] == pytest.approx(0.6309, abs=1e-4)
    assert found["mean"] == pytest.approx((found["Go"] + found["Python"]) / 2)


def test_codesearchnets_rows_stand_below_as_reported(rated: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    call_command("evaluate-languages", rated)
    told = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert told[0].startswith("as reported: CodeSearchNet, Table 4")
    printed = ["0.3070", "0.2570", "0.3180", "0.3380", "0.4060", "0.3950", "0.3370"]
    assert told[2].split() == ["ElasticSearch", *printed]
    assert len(told) == 2 + 6


@pytest.mark.parametrize("metric", ["mrr_distractors", "nonsense"])
def test_what_no_language_has_is_refused(rated: str, metric: str) -> None:
    with pytest.raises(CommandError):
        call_command("evaluate-languages", rated, metric=metric)
