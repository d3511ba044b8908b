"""The parts of a study's record that are no ratings: skips, decisions, and who is left out by which rule."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest

from annotation.models import Adjudication, Assignment, Condition, Study
from annotation.studies.adjudication import decisions as adjudicating
from annotation.studies.enrolment import queue, raters
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter, ask_again
from annotation.studies.plan import plan
from annotation.studies.report import rating_export
from annotation.studies.report.rating_export import exclusions_of_study
from annotation.studies.report.records import (
    PARTS,
    export_skipped_pairs,
    export_split_decisions,
    lines_of_part,
)
from tests import factories, studies
from tests.annotation.studies.rated import rated_study

pytestmark = pytest.mark.django_db
OWN_TESTS = Condition.Kind.OWN_TESTS


def decided(study: Study, value: int, note: str, by: str = "erin") -> Adjudication:
    said = adjudicating.AdjudicationDecision(value, "slip", note)
    stands = Adjudication.objects.order_by("-pk").first()
    of, condition = study.pairs.get(number=1), studies.condition(study)
    return adjudicating.store_decision(
        getattr(factories, by)(), of, condition, said, stands.pk if stands else 0
    )


def test_a_rater_who_is_left_out_is_told_with_the_rule() -> None:
    study = rated_study([[1, 0]] * 3)
    plan.freeze_plan(study)
    first, second = study.enrolments.order_by("pseudonym")[:2]
    raters.remove_rater(first, "left", factories.ada())
    raters.remove_rater(second, "below 60 % on planted pairs", factories.ada(), exclude=True)

    rows = list(rating_export.export_rating_revisions(study))
    told = {row["rater"]: (row["excluded"], row["excluded_by"], row["excluded_why"]) for row in rows}
    assert told == {
        "R01": (False, None, ""),
        "R02": (True, 2, "below 60 % on planted pairs"),
        "R03": (False, None, ""),
    }
    assert set(exclusions_of_study(study)) == {"R02"} and len(rows) == 6


def test_planted_pairs_have_their_answer() -> None:
    study = rated_study([[1]])
    planted = study.pairs.create(number=9, pair=studies.three_pairs()[1], planted="attention", answer=0)
    planted.quotas.create(condition=studies.condition(study), wanted=1)
    studies.rated(study.enrolments.get(), 1, planted)
    assert [
        (row["planted"], row["answer"], row["value"]) for row in rating_export.export_rating_revisions(study)
    ] == [
        ("", None, 1),
        ("attention", 0, 1),
    ]


def test_new_columns_come_last() -> None:
    assert rating_export.COLUMNS[-9:-4] == ("answer", "excluded", "excluded_by", "excluded_why", "state")
    assert rating_export.COLUMNS[-4:] == ("marked_first", "marked_last", "marked_code", "no_test")
    assert PARTS["decisions"].columns[-4:] == ("stands", "marked_first", "marked_last", "marked_code")


def test_every_decision_is_there_and_the_last_one_stands() -> None:
    study = rated_study([[1], [0]])
    decided(study, 1, "=seen()")
    decided(study, 0, "seen again")
    rows = list(export_split_decisions(study))
    assert [(row["value"], row["note"], row["by"], row["stands"]) for row in rows] == [
        (1, "=seen()", "D01", False),
        (0, "seen again", "D01", True),
    ]
    assert rows[1]["supersedes"] == rows[0]["decision"] and rows[0]["cause"] == "slip"
    assert list(rows[0]) == list(PARTS["decisions"].columns)
    assert "erin" not in json.dumps(rows)
    (_, line, _) = csv.reader(StringIO("".join(lines_of_part(study, PARTS["decisions"], False)), newline=""))
    assert "'=seen()" in line
    ask_again(study, RepeatPairFilter(every=True), "stricter now", factories.ada())
    assert not any(row["stands"] for row in export_split_decisions(study))


def test_a_rater_who_decides_keeps_the_pseudonym() -> None:
    study = rated_study([[1, 1], [0, 0]])
    third = studies.rater("erin", study)
    Adjudication.objects.create(
        study_pair=study.pairs.get(number=1), condition=studies.condition(study), value=1,
        cause="slip", note="seen", by=third.user,
    )  # fmt: skip
    assert [row["by"] for row in export_split_decisions(study)] == [third.pseudonym]


def test_skips_have_their_reason() -> None:
    study = studies.study(raters=3)
    rita = studies.rater("rita", study)
    for why in ("another language", "too long"):
        held = queue.next_assignment(rita)
        assert held is not None
        queue.skip_assignment(held, held.token, why)
    numbers = list(Assignment.objects.order_by("position").values_list("study_pair__number", flat=True))
    rows = list(export_skipped_pairs(study))
    assert {row["pair"]: row["reason"] for row in rows} == dict(
        zip(numbers, ["another language", "too long"], strict=True)
    )
    assert list(rows[0]) == list(PARTS["skips"].columns)
    assert (rows[0]["rater"], rows[0]["condition"], rows[0]["excluded"]) == ("R01", OWN_TESTS, False)
    assert json.loads("".join(lines_of_part(study, PARTS["skips"], True))) == rows
