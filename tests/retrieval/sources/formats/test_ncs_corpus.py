"""Neural Code Search's methods out of checkouts: by link, commit and lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from retrieval.sources import GivenLabel, Item, Problem, Query, Snippet
from retrieval.sources.formats.ncs import read_search_task
from retrieval.sources.formats.ncs_corpus import Method, parse_method_link
from retrieval.sources.readers.records import Refused

LINK = "https://github.com/ada/zoo/blob/abc1234/src/A.java#L2-L4"
JAVA = "class A {\n    void f() {\n        g();\n    }\n    int h() { return 1; }\n}\n"
QUESTION = {
    "stackoverflow_id": "7",
    "question": "How to call g?",
    "question_url": "https://stackoverflow.com/questions/7",
    "answer": "g();",
    "examples": [11],
    "examples_url": [LINK],
}


def task(folder: Path, rows: list[dict[str, Any]] | None = None, **changes: Any) -> list[Item]:
    """What is read of a question, and of rows of the corpus, with the checkouts in a folder."""
    (folder / "q.json").write_text(json.dumps([{**QUESTION, **changes}]))
    corpus = []
    if rows:
        (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
        corpus = [folder / "corpus.jsonl"]
    return list(read_search_task(folder / "q.json", corpus, folder / "code"))


@pytest.fixture(name="folder", params=["ada/zoo", "zoo-abc1234", "ada/zoo/abc1234"])
def _folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    file = tmp_path / "code" / request.param / "src" / "A.java"
    file.parent.mkdir(parents=True)
    file.write_text(JAVA)
    return tmp_path


def test_examples_are_matches_at_the_left_margin(folder: Path) -> None:
    code = "void f() {\n    g();\n}"
    assert task(folder) == [
        Query("How to call g?", "7", "https://stackoverflow.com/questions/7", "CC-BY-NC-4.0"),
        Snippet(code, "11", LINK),
        GivenLabel("How to call g?", code, 1),
    ]


def test_all_methods_of_the_corpus_are_searched(folder: Path) -> None:
    other = LINK.replace("#L2-L4", "#L5")
    rows = [
        {"id": 11, "url": LINK, "start_line": 2, "end_line": 4},
        {"id": 12, "url": other, "start_line": 5, "end_line": 5, "method_name": "h"},
        {"id": 13, "url": LINK, "start_line": 2, "end_line": 5},
    ]
    found = task(folder, rows)
    assert [item.source_id for item in found if isinstance(item, Snippet)] == ["11", "12", "11"]
    assert [str(item) for item in found if isinstance(item, Problem)] == [
        f"{folder}/corpus.jsonl, record 3: its link has lines 2 to 4, its row 2 to 5"
    ]


def test_what_is_not_there_costs_its_label_and_is_counted(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    query, problem = task(tmp_path)
    assert isinstance(query, Query)
    assert isinstance(problem, Problem) and problem.costs_labels
    assert problem.message == "ada/zoo at this commit is not there: methods left out: 1"


def test_lines_of_another_commit_are_refused(folder: Path) -> None:
    problem = task(folder, examples_url=[LINK.replace("L4", "L99")])[1]
    assert "has 7 lines, not 99: another commit?" in str(problem)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"examples": [1, 2]}, "lists of the same length"),
        ({"examples": None}, "lists of the same length"),
        ({"examples": [True]}, "must be ids"),
        ({"examples_url": ["https://example.org/a.java#L1"]}, "expected a link"),
    ],
)
def test_bad_examples_are_told(folder: Path, changes: dict[str, Any], why: str) -> None:
    assert why in str(next(item for item in task(folder, **changes) if isinstance(item, Problem)))


@pytest.mark.parametrize(
    "path", ["../x.java", "a/../../x.java", "%2e%2e/x.java", "/etc/passwd", "a//b", "a%00b", "a%5c..%5cb"]
)
def test_no_link_leads_out_of_a_repository(path: str) -> None:
    with pytest.raises(Refused, match=r"leads out|expected a link"):
        parse_method_link(f"https://github.com/a/b/blob/abc1234/{path}#L1")


def test_owners_that_are_no_names_are_refused() -> None:
    with pytest.raises(Refused):
        parse_method_link("https://github.com/../b/blob/abc1234/x.java#L1")
    assert parse_method_link(LINK) == Method("ada", "zoo", "abc1234", "src/A.java", 2, 4)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.java").write_text(JAVA)
    place = tmp_path / "code" / "ada" / "zoo" / "src"
    place.mkdir(parents=True)
    (place / "A.java").symlink_to(tmp_path / "secret.java")
    assert [type(item) for item in task(tmp_path)] == [Query, Problem]
