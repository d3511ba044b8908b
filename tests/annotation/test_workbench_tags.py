from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.accounts.roles import Role
from annotation.templatetags import workbench as tags
from annotation.web.shared import words


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [(1, "case", "1 case"), (0, "case", "0 cases"), (1200, "query,queries", "1,200 queries")],
)
def test_counts_agree_with_their_noun(number: int, noun: str, said: str) -> None:
    assert tags.counted(number, noun) == said


def test_a_share_of_nothing_is_a_dash_not_a_zero() -> None:
    assert words.format_percent(0, 0) == "–"
    assert words.format_percent(1, 8) == "12.5 %"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, "–"),
        (0, "0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (61, "1 min 1 s"),
        (1200, "20 min"),
        (7200, "2 h"),
        (7260, "2 h 1 min"),
    ],
)
def test_durations_are_short(seconds: float | None, said: str) -> None:
    assert tags.duration(seconds) == said


def test_a_moment_is_relative_with_the_exact_time_behind_it() -> None:
    said = tags.ago(timezone.now() - timedelta(hours=3))
    assert "3\xa0hours ago" in said
    assert "UTC" in said
    assert tags.ago(None) == "never"


def test_a_state_is_told_by_sign_and_word_and_is_escaped() -> None:
    assert "✓" in tags.sign("match")
    assert "match" in tags.sign("match")
    assert "<b>" not in tags.sign("running", "<b>")
    assert "new state" in tags.sign("new_state")


def test_no_cap_is_a_word_not_a_zero() -> None:
    assert tags.dollars(None) == "no cap"
    assert tags.dollars(0) == "$0"


@pytest.mark.parametrize(
    ("path", "section"),
    [
        ("/browse/1/", "Browse"),
        ("/browse/compare/", "Reports"),
        ("/quality/", "Reports"),
        ("/pins/1/", "Reports"),
    ],
)
def test_each_page_belongs_to_one_section(path: str, section: str) -> None:
    assert [entry.name for entry in tags.navigation(Role.ADMIN, path) if entry.current] == [section]
