"""Files of pairs, truth and labels: what they mean, and what is said of bad lines."""

from __future__ import annotations

import io
import json

import pytest

from annotation.quality.inputs.files import (
    BadFile,
    GivenLabel,
    GivenPair,
    TooManyLines,
    read_labels,
    read_pairs,
    read_truth,
)


def lines(*rows: object) -> io.BytesIO:
    return io.BytesIO("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode())


def test_pairs_have_texts_or_ids_and_perhaps_a_stratum() -> None:
    found = read_pairs(
        lines(
            {"id": "a", "query": "q", "code": "c", "stratum": "tested", "more": 1},
            "",
            {"id": 2, "query_id": "q1", "code_id": 7, "stratum": "screened"},
        ),
        "pairs",
    )
    assert found == (
        GivenPair("a", "q", "c", stratum="tested"),
        GivenPair("2", query_id="q1", code_id="7", stratum="screened"),
    )


def test_bad_lines_are_told_by_their_numbers() -> None:
    with pytest.raises(BadFile) as told:
        read_pairs(
            lines(
                {"id": "a", "query": "q", "code": "c"},
                "",
                "{",
                {"id": "a", "query": "q", "code": "d"},
                {"id": "b"},
                {"id": "c", "query": "q", "code": " "},
                {"id": "d", "query": "q", "code": "c", "stratum": "all"},
                [1],
            ),
            "pairs.jsonl",
        )
    assert str(told.value).splitlines() == [
        "pairs.jsonl, line 3: is not JSON: Expecting property name enclosed in double quotes",
        "pairs.jsonl, line 4: a second line for 'a'; the first is line 1",
        'pairs.jsonl, line 5: it needs "query" and "code", or "query_id" and "code_id"',
        'pairs.jsonl, line 6: "code" has to be a text',
        "pairs.jsonl, line 7: \"stratum\" can't be 'all', which means every pair",
        "pairs.jsonl, line 8: has to be a JSON object",
    ]


def test_of_many_bad_lines_the_first_are_told() -> None:
    with pytest.raises(BadFile) as told:
        read_pairs(lines(*("x" for _ in range(25))), "pairs")
    assert len(str(told.value).splitlines()) == 21 and "and 5 more bad lines" in str(told.value)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "the file is empty"),
        (["\ufeff"], "is not JSON"),
        (
            [{"id": "a", "query": "q", "code": "c", "stratum": "x"}, {"id": "b", "query": "q", "code": "d"}],
            "all or",
        ),
        ([{"id": str(n), "query": "q", "code": "c", "stratum": f"s{n}"} for n in range(13)], "13 strata"),
    ],
)
def test_a_file_that_is_no_list_of_pairs_is_refused(rows: list[object], words: str) -> None:
    with pytest.raises(BadFile, match=words):
        read_pairs(lines(*rows), "pairs")


def test_bytes_that_are_no_text_and_endless_lines_are_refused() -> None:
    with pytest.raises(BadFile, match=r"line 2: is not UTF-8 \(byte 8"):
        read_pairs(io.BytesIO(b'{"id": "a", "query": "q", "code": "c"}\n{"id":"\xff"}'), "pairs")
    with pytest.raises(BadFile, match="line 1: longer than"):
        read_pairs(io.BytesIO(b"x" * (9 * 1024 * 1024) + b"\n"), "pairs")


def test_votes_that_agree_are_a_label_and_split_ones_are_left_out() -> None:
    found = read_truth(
        lines(
            {"id": "a", "votes": [1, 1], "label": 1},
            {"id": "b", "votes": [0, 0, 0]},
            {"id": "c", "votes": [0, 1], "label": None},
            {"id": "d", "votes": [1, None]},
            {"id": "e", "votes": []},
            {"id": "f", "label": None},
            {"id": "g", "label": 0},
        ),
        "truth",
        "abcdefgh",
    )
    assert found.labels == {"a": 1, "b": 0, "g": 0}
    assert found.split == {"c", "d"}, "who could not judge does not agree"
    assert found.open == {"e", "f", "h"}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"id": "z", "label": 1}, "no pair has the id 'z'"),
        ({"id": "a"}, 'it needs "label" or "votes"'),
        ({"id": "a", "label": True}, '"label" has to be 0 or 1'),
        ({"id": "a", "label": 0.5}, '"label" has to be 0 or 1'),
        ({"id": "a", "votes": 1}, '"votes" has to be a list'),
        ({"id": "a", "votes": [2]}, '"votes" has to be 0 or 1'),
        ({"id": "a", "votes": [1, 1], "label": 0}, '"label" is 0, and all votes are 1'),
    ],
)
def test_a_truth_that_says_nothing_clear_is_refused(row: object, words: str) -> None:
    with pytest.raises(BadFile, match=f"truth, line 1: {words}"):
        read_truth(lines(row), "truth", ["a"])


def test_labels_of_a_system_may_say_what_was_tested_and_why() -> None:
    found = read_labels(
        lines({"id": "a", "label": 1, "tested": True, "why": "it\x00runs"}, {"id": "b", "label": None}),
        "labels",
        "ab",
    )
    assert found == {"a": GivenLabel(1, True, "it\u2400runs"), "b": GivenLabel(None)}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"id": "a"}, 'it needs "label"'),
        ({"id": "a", "label": 1, "tested": 1}, '"tested" has to be true or false'),
        ({"id": "a", "label": 1, "why": 3}, '"why" has to be a text'),
        ({"id": "b", "label": 1}, "no pair has the id 'b'"),
    ],
)
def test_a_systems_bad_line_is_refused(row: object, words: str) -> None:
    with pytest.raises(BadFile, match=f"labels, line 1: {words}"):
        read_labels(lines(row), "labels", ["a"])


def test_of_many_bad_lines_the_first_are_kept_and_all_are_counted() -> None:
    with pytest.raises(BadFile) as told:
        read_pairs(lines(*["{"] * 50), "pairs.jsonl")
    said = str(told.value).splitlines()
    assert (len(said), said[-1]) == (21, "pairs.jsonl: and 30 more bad lines")


def test_no_more_lines_are_read_than_are_wanted() -> None:
    rows = [{"id": str(number), "query": "q", "code": "c"} for number in range(9)]
    assert len(read_pairs(lines(*rows), "pairs", 9)) == 9
    with pytest.raises(TooManyLines, match="line 9: more than 8 are too many"):
        read_pairs(lines(*rows), "pairs", 8)
