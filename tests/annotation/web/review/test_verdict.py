"""The verdict's card: how much of a reason is read at once, and whether the test came out against it."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.web.review.verdict import LONGEST_LEAD, split_reason
from sandbox.reports.outcome import Outcome
from tests import factories


def test_a_short_reason_is_whole() -> None:
    assert split_reason(" It reverses the list. It returns it. ") == (
        "It reverses the list. It returns it.",
        "",
    )


def test_a_long_reason_is_parted_after_its_last_sentence_that_fits() -> None:
    first, second = "a" * 100 + ".", "b" * 100 + ".”"
    lead, rest = split_reason(f"{first} {second} {'c' * 100}")

    assert lead == f"{first} {second}"
    assert rest == "c" * 100


def test_a_number_with_a_point_ends_no_sentence() -> None:
    lead, rest = split_reason(f"{'a' * 50}. 1.5 {'word ' * 60}")

    assert lead == "a" * 50 + "."
    assert rest.startswith("1.5 word")


def test_a_single_long_sentence_is_parted_between_words() -> None:
    lead, rest = split_reason("word " * 100)

    assert lead.endswith("word …")
    assert rest.startswith("… word")
    assert len(lead) <= LONGEST_LEAD + 2


@pytest.mark.parametrize("text", ["a" * 1_000, "a b " * 500, "One. " * 300, "line\n" * 200])
def test_nothing_is_lost(text: str) -> None:
    lead, rest = split_reason(text)
    together = (lead + rest).replace(" …", "").replace("… ", "").replace("…", "")

    assert "".join(together.split()) == "".join(text.split())


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("label", "outcome", "said"),
    [
        (1, Outcome.FAILED, "The test failed, but the verdict is match."),
        (0, Outcome.PASSED, "The test passed, but the verdict is no match."),
        (1, Outcome.PASSED, ""),
        (0, Outcome.FAILED, ""),
        (1, Outcome.ERRORED, ""),
    ],
)
def test_a_test_that_came_out_against_the_verdict_is_pointed_out(
    erin: Client, label: int, outcome: Outcome, said: str
) -> None:
    waiting = factories.cases(factories.opened())[0]
    case = factories.examined(waiting, label, factories.a_report(outcome))
    page = erin.get(reverse("review-case", args=[case.pk])).content.decode()
    assert ("verdict-clash" in page) == bool(said)
    assert said in page
