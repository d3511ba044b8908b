from __future__ import annotations

import pytest

from annotation.stages import Event, Stage
from annotation.web.shared import words
from sandbox.reports.report import Outcome


def test_everything_that_can_happen_has_a_sign_and_a_word() -> None:
    said = [*words.STAGES.values(), *words.EVENTS.values(), *words.OUTCOMES.values()]

    assert set(words.STAGES) == set(Stage)
    assert set(words.EVENTS) == set(Event)
    assert set(words.OUTCOMES) == set(Outcome)
    assert all(sign.mark and sign.word for sign in said)


def test_abandoned_and_open_cases_are_never_shown_as_no_match() -> None:
    assert words.case_sign(Stage.ABANDONED, None) is words.ABANDONED
    assert words.case_sign(Stage.SCREENING, None) is words.UNJUDGED
    assert words.case_sign(Stage.SETTLED, 0) is words.NO_MATCH
    assert words.case_sign(Stage.SETTLED, 1) is words.MATCH


@pytest.mark.parametrize(
    ("nanodollars", "shown"),
    [(0, "$0"), (1, "< $0.0001"), (4_200_000, "$0.0042"), (1_250_000_000, "$1.25"), (10**12, "$1,000.00")],
)
def test_money_keeps_the_digits_that_matter(nanodollars: int, shown: str) -> None:
    assert words.format_dollars(nanodollars) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0 ms"), (0.0351, "35 ms"), (1.24, "1.2 s"), (185, "3 min 5 s")]
)
def test_durations_are_short(seconds: float, shown: str) -> None:
    assert words.format_duration(seconds) == shown
