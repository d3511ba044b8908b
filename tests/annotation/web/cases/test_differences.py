from __future__ import annotations

from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from annotation.web.cases.code import PAGE_BOUNDS
from annotation.web.cases.differences import ADDED, REMOVED, SAME, SnippetSide, compare_snippets, side_of


def side(text: str, prefix: str = "m1") -> SnippetSide:
    return side_of(text, "Match", prefix, PAGE_BOUNDS)


def test_lines_are_the_same_only_here_or_only_in_the_base() -> None:
    found = compare_snippets(side("a = 1\nb = 2\nc = 3"), side("a = 1\nc = 3\nd = 4", "m2"))

    assert [(row.sign, row.number, row.anchor) for row in found.rows] == [
        (SAME, 1, "m2-1"),
        (REMOVED, 2, ""),
        (SAME, 2, "m2-2"),
        (ADDED, 3, "m2-3"),
    ]
    assert (found.added, found.removed, found.same) == (1, 1, False)


def test_the_snippets_own_name_is_no_difference() -> None:
    found = compare_snippets(
        side("def turn(x):\n    return turn(x)"), side("def flip(x):\n    return flip(x)")
    )

    assert found.same
    assert "flip" in found.rows[0].html


def test_the_words_that_changed_are_marked_on_both_sides() -> None:
    found = compare_snippets(side("y = first - second"), side("y = first + second"))

    removed, added = found.rows
    assert "<mark>-</mark>" in removed.html
    assert "<mark>+</mark>" in added.html
    assert "<mark>first" not in added.html


def test_lines_with_nothing_in_common_are_not_marked_word_by_word() -> None:
    found = compare_snippets(side("import json"), side("x = [1, 2, 3, 4]"))

    assert all("<mark>" not in row.html for row in found.rows)


def test_hostile_text_stays_escaped_where_it_is_marked() -> None:
    found = compare_snippets(side("s = '<b>' + a + b"), side("s = '</script>' + a + b"))

    assert all("<b>" not in row.html and "</script>" not in row.html for row in found.rows)
    assert any("<mark>" in row.html for row in found.rows)


def test_a_line_with_unseen_characters_is_shown_without_marks() -> None:
    found = compare_snippets(side("s = a + b + c"), side("s = a + b + \u202ed"))

    assert "<mark>" not in found.rows[1].html
    assert "U+202E" in found.rows[1].html


@given(
    st.lists(st.sampled_from(["x = 1", "y = '<&>'", "def f(a):", "    return a + 1", ""]), max_size=8),
    st.data(),
)
def test_a_difference_rebuilds_both_texts(lines: list[str], data: st.DataObject) -> None:
    other = data.draw(st.lists(st.sampled_from([*lines, "z = 3", "y = '<b>'"]), max_size=8))
    base_side, other_side = side("\n".join(lines)), side("\n".join(other))

    rows = compare_snippets(base_side, other_side).rows

    ours = [row.number for row in rows if row.sign is not REMOVED]
    assert ours == [line.number for line in other_side.code.lines]
    shared = sum(row.sign is SAME for row in rows)
    assert shared + sum(row.sign is REMOVED for row in rows) == len(base_side.code.lines)


@given(st.text(alphabet="ab<&> ='", max_size=40), st.text(alphabet="ab<&> ='", max_size=40))
def test_marks_only_add_to_the_text(before: str, after: str) -> None:
    base, other = side(before), side(after)

    for row in compare_snippets(base, other).rows:
        source = base if row.sign is REMOVED else other
        unmarked = row.html.replace("<mark>", "").replace("</mark>", "")
        assert unescape(unmarked) == unescape(source.code.lines[row.number - 1].html)
        assert row.html.count("<mark>") == row.html.count("</mark>")
