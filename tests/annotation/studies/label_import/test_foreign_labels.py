"""Files of foreign labels: what is read, and what each broken or hostile one is told."""

from __future__ import annotations

import io
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.studies.label_import import foreign_labels
from annotation.studies.label_import.foreign_labels import (
    ForeignLabel,
    Format,
    NotImported,
    read_foreign_labels,
)

CSN = "Language,Query,GitHubUrl,Relevance,Notes\n"
PLAIN = "item,rater,label\n"


def labels(text: str | bytes, form: Format = Format.CSV) -> list[ForeignLabel]:
    return read_foreign_labels(io.BytesIO(text.encode() if isinstance(text, str) else text), form)


def problems(text: str | bytes, form: Format = Format.CSV) -> list[str]:
    with pytest.raises(NotImported) as raised:
        labels(text, form)
    return raised.value.problems


def test_codesearchnet() -> None:
    found = labels(
        CSN + 'Go,sort a list,http://x,3,\nGo,"sort, a list",http://x,0,"two\nlines"\n', Format.CODESEARCHNET
    )
    assert [(one.row, one.line, one.value, one.rater) for one in found] == [(1, 2, 3, ""), (2, 4, 0, "")]
    assert found[1].item == ("Go", "sort, a list", "http://x") and found[1].notes == "two\nlines"
    assert found[0].cluster == "sort a list"


def test_one_query_in_two_languages_is_one_cluster_and_two_items() -> None:
    one, two = labels(CSN + "Go,q,u,1,\nPython,q,u,1,\n", Format.CODESEARCHNET)
    assert one.cluster_hash == two.cluster_hash and one.item_hash != two.item_hash


def test_item_rater_label_and_perhaps_a_query_in_any_order() -> None:
    found = labels("notes,label,query,item,rater\nhm,1,q,a,ann\n,-0.5,q,b,ann\n")
    assert [(one.item, one.cluster, one.rater, one.value, one.notes) for one in found] == [
        (("a",), "q", "ann", 1, "hm"),
        (("b",), "q", "ann", -0.5, ""),
    ]


def test_without_a_query_each_item_is_its_own() -> None:
    assert labels(PLAIN + "a,ann,1\n")[0].cluster == "a"


def test_without_a_rater_column_nobody_is_named_and_an_item_may_come_again() -> None:
    found = labels("item,label\na,1\na,0\na,1\n")
    assert [(one.row, one.rater, one.value) for one in found] == [(1, "", 1), (2, "", 0), (3, "", 1)]


def test_a_byte_order_mark_windows_lines_and_empty_lines_are_no_problem() -> None:
    found = labels(b"\xef\xbb\xbfitem,rater,label\r\na,ann,1\r\n\r\n , ,\r\nb,ann,0\r\n")
    assert [(one.line, one.row) for one in found] == [(2, 1), (5, 2)]


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\nitem;rater;label\na, b;ann;1\n",
        '"sep=|"\r\nitem|rater|label\r\n"a, b"|ann|1\r\n',
        "item\trater\tlabel\ra, b\tann\t1\r",
        "\ufeffitem;rater;label\na, b;ann;1",
    ],
)
def test_a_table_is_read_as_elsewhere(text: str) -> None:
    ((item, rater, value),) = [(one.item, one.rater, one.value) for one in labels(text)]
    assert (item, rater, value) == (("a, b",), "ann", 1)


def test_what_no_database_can_save_is_made_visible() -> None:
    assert labels(PLAIN + "a\x00b,ann,1\n")[0].item == ("a␀b",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "line 1: the header must name item, label; item, label missing. It has: nothing."),
        ("item,rater\n", "label missing. It has: item, rater."),
        (PLAIN, "there is no label in it"),
        (PLAIN + "a,ann,1\nb,ann\n", "line 3: expected 3 columns as in the header, found 2"),
        (PLAIN + "a,ann,1,extra\n", "line 2: expected 3 columns as in the header, found 4"),
        (PLAIN + ",ann,1\n", "line 2: item is empty"),
        (PLAIN + "a, ,1\n", "line 2: rater is empty"),
        (PLAIN + "a,ann,yes\n", "line 2: a label is a number, found 'yes'"),
        (PLAIN + "a,ann,nan\n", "line 2: a label is a number, found 'nan'"),
        (PLAIN + "a,ann,inf\n", "line 2: a label is a number, found 'inf'"),
        (PLAIN + "a,ann,1e300\n", "line 2: a label is a number"),
        (PLAIN + "a,ann,1\nb,ann,0\na,ann,0\n", "line 4: 'ann' has judged this item already, in line 2"),
        (PLAIN + f"a,{'x' * 121},1\n", "line 2: a rater's name has at most 120 characters"),
        (PLAIN + f"{'x' * 2001},ann,1\n", "line 2: item has more than 2,000 characters"),
        (PLAIN + 'a,ann,1\n"b,ann,0\n', "line 3: is not CSV: the quotes that begin a cell are"),
        (PLAIN + '"a"b,ann,1\nc,ann,x\n', "line 2: is not CSV: text follows the quotes that end a cell"),
        (PLAIN + '"a"b,ann,1\nc,ann,x\n', "line 3: a label is a number, found 'x'"),
        (PLAIN + "a,ann\r1,1\n", "line 2: has a line end in a cell without quotes"),
        (PLAIN + f'"{"x" * 140_000}",ann,1\n', "line 2: item has more than 2,000 characters"),
        (PLAIN.encode() + b"a,ann,1\n\xff,ann,1\n", "line 3: this is not UTF-8"),
        (PLAIN + "".join(f"{n},ann,{n}\n" for n in range(21)), "21 different labels; a scale has at most 20"),
        ("item,rater,label,label\na,ann,1,0\n", "line 1: the header names the column 'label' twice"),
    ],
)
def test_what_cannot_be_taken_is_told_with_its_line(text: str | bytes, expected: str) -> None:
    assert expected in "\n".join(problems(text))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ("Go,q,u,4,", "line 2: Relevance is 0, 1, 2 or 3, found '4'"),
        ("Go,q,u,1.0,", "line 2: Relevance is 0, 1, 2 or 3, found '1.0'"),
        ("Go,q,u,,", "line 2: Relevance is 0, 1, 2 or 3, found ''"),
        ("Go,,u,1,", "line 2: Query is empty"),
        ("Go,q,,1,", "line 2: GitHubUrl is empty"),
    ],
)
def test_codesearchnet_lines_that_cannot_be_taken(cells: str, expected: str) -> None:
    assert problems(CSN + cells + "\n", Format.CODESEARCHNET) == [expected]


def test_every_problem_is_told_but_no_more_than_twenty() -> None:
    assert len(problems(PLAIN + "a,ann,x\nb,ann,y\n")) == 2
    many = problems(PLAIN + "a,ann,x\n" * 30)
    assert len(many) == 21 and many[-1] == "… and more"


def test_huge_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_labels, "MOST_ROWS", 2)
    assert "more than 2 labels" in problems(PLAIN + "a,ann,1\nb,ann,1\nc,ann,1\nd,ann,1\n")[0]
    monkeypatch.setattr(foreign_labels, "MOST_BYTES", 20)
    assert "split the file" in problems(PLAIN + "a,ann,1\nb,ann,1\n")[0]


@given(st.binary(max_size=200), st.sampled_from(Format))
def test_any_bytes_are_either_read_or_refused(content: bytes, form: Format) -> None:
    header = PLAIN if form is Format.CSV else CSN
    with suppress(NotImported):
        assert labels(header.encode() + content, form)
