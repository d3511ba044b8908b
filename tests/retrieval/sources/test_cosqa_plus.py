"""A release's files by their old and new names."""

import json
from pathlib import Path

import pytest

from retrieval.sources import GivenLabel, Query, Snippet
from retrieval.sources.cosqa_plus import LICENCE, read, release_in

PAIR = {"pair-idx": 0, "query-idx": 4, "query": "ask", "code-idx": 7, "code": "answer", "label": 1}


@pytest.mark.parametrize("prefix", ["", "test_agent_", "gpt4o_augment_"])
@pytest.mark.parametrize("pairs", ["pairs", "pairs_true"])
def test_files_of_all_versions_are_found(tmp_path: Path, prefix: str, pairs: str) -> None:
    for name in ("query", "codebase", pairs):
        (tmp_path / f"{prefix}{name}.json").write_text("[]")
    release = release_in(tmp_path)
    assert release.pairs == tmp_path / f"{prefix}{pairs}.json"
    assert release.queries
    assert release.codebase


def test_pairs_alone_bring_their_queries_and_code(tmp_path: Path) -> None:
    (tmp_path / "pairs_for_search.json").write_text(json.dumps([PAIR]))
    assert list(read(release_in(tmp_path))) == [
        Query("ask", "4", "pairs_for_search.json", LICENCE),
        Snippet("answer", "7", "pairs_for_search.json", LICENCE),
        GivenLabel("ask", "answer", 1),
    ]
