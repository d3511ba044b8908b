"""Tables with columns of one's own."""

from pathlib import Path

import pytest

from retrieval.sources import GivenLabel, Problem, Query, Snippet
from retrieval.sources.table import Columns, read


def test_columns_are_mapped_and_an_empty_label_is_unjudged(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("n,q,c,l\n7,ask,code,2\n8,ask,more,\n9,ask,bad,4\n10,,none,1\n")
    columns = Columns(query="q", snippet="c", label="l", snippet_id="n", scale="graded")
    items = list(read(path, columns))
    assert items[:3] == [
        Query("ask", "1", "a.csv"),
        Snippet("code", "7", "a.csv"),
        GivenLabel("ask", "code", 2, "graded"),
    ]
    assert [type(item) for item in items[3:]] == [Query, Snippet, Problem, Problem]
    assert str(items[5]).endswith("record 4: \"l\" is '4'; expected 0 to 3")


@pytest.mark.parametrize("columns", [{}, {"query": "q", "label": "l"}])
def test_a_mapping_of_no_use_is_refused(columns: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="name the column"):
        Columns(**columns)  # type: ignore[arg-type]  # texts alone


def test_a_missing_column_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"q": "a", "c": "b"}\n')
    told = [str(item) for item in read(path, Columns(query="q", snippet="c", label="judged"))]
    assert told[-1].endswith('has no "judged"')
    assert len(told) == 1
