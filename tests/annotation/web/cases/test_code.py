from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.web.cases.code import (
    LIST_BOUNDS,
    PAGE_BOUNDS,
    Bounds,
    Code,
    Notes,
    code_of,
    render_untrusted_text,
    spell_unseen_characters,
    truncate_code_text,
)
from annotation.web.shared.words import Sign

TAG = re.compile(r"<[^>]*>")
ALLOWED = re.compile(r'</?span(?: class="[a-z0-9 ]+")?>')


def plain(code: Code) -> list[str]:
    """The lines as a browser shows them."""
    return [unescape(TAG.sub("", line.html)) for line in code.lines]


def test_each_line_has_its_number_and_anchor() -> None:
    code = code_of("def f(x):\n    return x\n", "Candidate", "c")

    assert [(line.number, line.anchor) for line in code.lines] == [(1, "c-1"), (2, "c-2")]
    assert plain(code) == ["def f(x):", "    return x"]
    assert '<span class="k">def</span>' in code.lines[0].html


def test_notes_are_told_beside_their_lines() -> None:
    failed, passed = Sign("✗", "failed", "bad"), Sign("✓", "passed", "good")
    notes = Notes({1: (passed,), 2: (passed, failed)}, {2: 3}, frozenset({3}))

    code = code_of("a\nb\nc\nd", "Test program", "t", notes)

    assert [line.state for line in code.lines] == ["is-passed", "is-failed", "", ""]
    assert [line.times for line in code.lines] == [0, 3, 0, 0]
    assert [line.missed for line in code.lines] == [False, False, True, False]
    assert code.has_marks
    assert code.has_times


@pytest.mark.parametrize(
    "hostile",
    [
        "</script><script>alert(1)</script>",
        "'\"><img src=x onerror=alert(1)>",
        "x = '''\n</pre></code><h1>\n'''",
        "&lt;b&gt; &amp;",
    ],
)
def test_hostile_text_stays_text(hostile: str) -> None:
    code = code_of(hostile, "Candidate", "c")

    assert "\n".join(plain(code)) == hostile
    assert all(ALLOWED.fullmatch(tag) for line in code.lines for tag in TAG.findall(line.html))


@given(st.text(max_size=300))
def test_any_text_is_escaped_and_keeps_its_lines(text: str) -> None:
    code = code_of(text, "Candidate", "c")

    normal = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    assert len(code.lines) == normal.count("\n") + 1
    assert all(ALLOWED.fullmatch(tag) for line in code.lines for tag in TAG.findall(line.html))


def test_characters_that_hide_or_reorder_text_become_visible() -> None:
    code = code_of("ok = 1 # \u202e}; evil \u2066\n\ufeffx\x00\x1b[31m", "Candidate", "c")

    shown_text = "\n".join(plain(code))
    for name in ("U+202E", "U+2066", "U+FEFF", "U+0000", "U+001B"):
        assert f"⟨{name}⟩" in shown_text
    assert "\u202e" not in shown_text


def test_a_byte_order_mark_at_the_start_is_not_swallowed() -> None:
    assert plain(code_of("\ufeffdef f(): pass", "Candidate", "c")) == ["⟨U+FEFF⟩def f(): pass"]


def test_right_to_left_text_itself_is_left_alone() -> None:
    assert plain(code_of("s = 'שלום'", "Candidate", "c")) == ["s = 'שלום'"]


def test_a_line_of_ten_megabytes_is_cut_and_says_so() -> None:
    code = code_of("x = '" + "a" * 10_000_000 + "'\ny = 2", "Candidate", "c")

    assert len(plain(code)[0]) == PAGE_BOUNDS.line
    assert code.lines[0].cut == 10_000_006 - PAGE_BOUNDS.line
    assert plain(code)[1] == "y = 2"


def test_lines_beyond_the_bound_are_counted() -> None:
    code = code_of("pass\n" * 5_000, "Candidate", "c", bounds=LIST_BOUNDS)

    assert len(code.lines) == LIST_BOUNDS.lines
    assert code.hidden == 5_000 - LIST_BOUNDS.lines
    assert code.length == 5_000


def test_the_bound_on_characters_holds_over_all_lines() -> None:
    code = code_of("abcdef\n" * 10, "Candidate", "c", bounds=Bounds(lines=10, line=6, characters=16))

    assert plain(code) == ["abcdef", "abcdef", "ab"]
    assert (code.lines[2].cut, code.hidden) == (4, 7)


def test_plain_text_is_shown_escaped() -> None:
    assert render_untrusted_text("<b>\u202e") == '&lt;b&gt;<span class="unseen">⟨U+202E⟩</span>'


def test_an_end_of_line_from_windows_is_no_unseen_character() -> None:
    assert render_untrusted_text("one\r\ntwo") == "one\r\ntwo" == spell_unseen_characters("one\r\ntwo")
    assert spell_unseen_characters("one\rtwo\r") == "one⟨U+000D⟩two⟨U+000D⟩"


def test_where_no_markup_can_be_unseen_characters_are_spelled_out() -> None:
    assert spell_unseen_characters("<b>\u202e") == "<b>⟨U+202E⟩"


def test_a_beginning_says_how_much_is_left_out() -> None:
    assert truncate_code_text("abcdef", 4) == ("abcd", 2)
    assert truncate_code_text("abc", 4) == ("abc", 0)


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ("x", 0),
        ("    x", 4),
        ("   x", 2),
        ("\tx", 4),
        ("  \tx", 4),
        (" " * 60 + "x", 24),
        ("    ", 4),
        ("", 0),
    ],
)
def test_the_indent_of_a_line_is_even_and_leaves_room(line: str, columns: int) -> None:
    assert code_of(f"{line}\ny", "Code", "c").lines[0].indent == columns
