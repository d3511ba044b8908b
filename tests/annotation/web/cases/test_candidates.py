from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict

from annotation.models import Build, Case, Review
from annotation.web.cases.candidates import query_page
from annotation.web.cases.code import first_line
from annotation.web.shared.words import MATCH, NO_MATCH, UNSURE
from retrieval.models import Annotator, Label
from tests import factories

pytestmark = pytest.mark.django_db


def page(case: Case, visible: bool = True) -> dict[str, Any]:
    builds = Build.objects.all() if visible else Build.objects.none()
    return query_page(case.build, builds, case.pair.query, QueryDict())


def a_case() -> Case:
    return factories.cases(factories.opened())[0]


def test_candidates_come_by_rank_with_every_score() -> None:
    case = a_case()
    case.candidate.scores = {"bm25": {"entering": 0.5, "raw": 12.25}, "bow": {"entering": 0.25}}
    case.candidate.save()

    rows = page(case)["candidates"]

    assert [row["case"].rank for row in rows] == [1, 2, 3]
    assert rows[0]["scores"] == [
        ("bm25", {"entering": 0.5, "raw": 12.25}),
        ("bow", {"entering": 0.25}),
    ]
    assert rows[0]["code"].lines[0].anchor == "c1-1"


def test_who_labelled_is_said_of_each_label() -> None:
    case = factories.settled(a_case(), 1)
    original = Annotator.objects.version("original", "CoSQA", {})
    Label.objects.create(pair=case.pair, annotator=original, value=1)
    Review.objects.create(
        pair=case.pair, case=case, rater=factories.erin(), revision=1, label=0, reason="why", evidence="0"
    )

    row = page(case)["candidates"][0]

    assert [(said.who, said.sign, said.assisted, said.differs) for said in row["labels"]] == [
        ("test-driven agents", MATCH, False, False),
        ("CoSQA", MATCH, False, False),
        ("erin", NO_MATCH, True, True),
    ]
    assert row["disputed"]


def test_reviews_from_builds_that_are_not_visible_stay_hidden() -> None:
    case = factories.settled(a_case(), 1)
    Review.objects.create(
        pair=case.pair, case=case, rater=factories.erin(), revision=1, label=0, evidence="0"
    )

    assert [said.who for said in page(case, visible=False)["candidates"][0]["labels"]] == [
        "test-driven agents"
    ]


def test_unsure_disputes_nothing_and_other_scales_are_told_as_they_are() -> None:
    case = factories.settled(a_case(), 1)
    original = Annotator.objects.version("original", "CodeSearchNet", {})
    Label.objects.create(pair=case.pair, annotator=original, value=3, scale="graded")
    Review.objects.create(
        pair=case.pair, case=case, rater=factories.erin(), revision=1, label=None, evidence="0"
    )

    row = page(case)["candidates"][0]

    assert [said.sign for said in row["labels"][2:]] == [UNSURE]
    assert row["labels"][1].sign.word.startswith("3 (")
    assert not row["disputed"]


def test_an_abandoned_case_has_its_reason_and_no_label() -> None:
    case = factories.abandoned(a_case(), "the sandbox was not there")

    row = page(case)["candidates"][0]

    assert (row["case"].reason, row["labels"]) == ("the sandbox was not there", [])


def test_a_test_that_was_run_is_told() -> None:
    row = page(factories.examined(a_case(), 1))["candidates"][0]

    assert row["case"].execution.outcome == "passed"


@pytest.mark.parametrize(
    ("code", "title"),
    [
        ("@cached\n# note\ndef f():", "def f():"),
        ("\n\n  x = 1", "x = 1"),
        ("# only", "(no code)"),
        ("", "(no code)"),
    ],
)
def test_the_title_is_the_first_line_that_says_something(code: str, title: str) -> None:
    assert first_line(code) == title


def test_tags_stand_beside_the_label_that_they_were_given_with() -> None:
    case = factories.settled(factories.cases(factories.opened())[0], 1)
    columns = {
        "pair": case.pair,
        "case": case,
        "rater": factories.erin(),
        "revision": 1,
        "evidence": "0" * 64,
    }
    Review.objects.create(label=1, tags=["partial", "test_environment", "of another version"], **columns)
    agents, erin = page(case)["candidates"][0]["labels"]
    assert (agents.tags, erin.tags) == ((), ("partial", "test: environment"))
