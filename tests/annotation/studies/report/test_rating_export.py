"""Ratings and plans as files."""

from __future__ import annotations

import csv
import hashlib
import json
from io import StringIO

import pytest

from annotation.models import CallRequest, ExecutionRequest, ProgramText, Rating, TestProgram
from annotation.studies.plan import plan
from annotation.studies.report import rating_export
from retrieval.models import Pair, Text
from tests import factories, studies

pytestmark = pytest.mark.django_db


def test_every_revision_is_there_under_its_pseudonym() -> None:
    study = studies.study()
    first = studies.rated(studies.rater("zanzibar", study), 1, notes="=cmd()", tags=["partial"])
    studies.rated(studies.rater("quokka", study), None)
    first.__class__.objects.create(
        assignment=first.assignment, revision=2, supersedes=first, value=0, evidence="1" * 64
    )
    rows = list(rating_export.export_rating_revisions(study))

    assert [(row["pair"], row["rater"], row["revision"], row["value"]) for row in rows] == [
        (1, "R01", 1, 1),
        (1, "R01", 2, 0),
        (1, "R02", 1, None),
    ]
    assert list(rows[0]) == list(rating_export.COLUMNS)
    assert "zanzibar" not in json.dumps(rows)
    assert json.loads("".join(rating_export.stream_json_array(rows))) == rows


def test_a_rating_is_exported_with_its_weight_and_with_what_it_rests_on() -> None:
    query = "sort a list " + "of numbers " * 60
    pair = Pair.objects.create(query=Text.objects.keep(query), snippet=Text.objects.keep("def f(): pass"))
    study = studies.study(pairs=[pair])
    study.pairs.update(stratum="match", probability=0.25)
    made = studies.rated(studies.rater("ruth", study), 1, reading="ascending")
    call = CallRequest.objects.create(
        user=made.assignment.rater, assignment=made.assignment, pair=pair, expression="f(1)"
    )
    program = TestProgram.objects.create(pair=pair, source=ProgramText.keep("assert True"))
    run = ExecutionRequest.objects.create(
        user=made.assignment.rater, assignment=made.assignment, program=program
    )
    Rating.objects.update(calls=[call.pk], runs=[run.pk, run.pk + 1])
    (row,) = rating_export.export_rating_revisions(study)
    assert (row["stratum"], row["probability"], row["reading"]) == ("match", 0.25, "ascending")
    assert (row["calls"], row["runs"]) == (1, 2)
    assert row["calls_sha256"] == [hashlib.sha256(b"f(1)").hexdigest()]
    assert row["runs_sha256"] == [hashlib.sha256(b"assert True").hexdigest()]
    assert row["query_whole"] == query.strip() and len(row["query_text"]) < len(query)
    assert rating_export.list_revisions_after(study, 0, 5) == [(made.pk, row)]


def test_cells_are_no_formulas_and_numbers_stay_numbers() -> None:
    rows = [{"a": "=1+1", "b": -1, "c": ["x"], "d": None, "e": "@x\r\ny"}]
    found = list(csv.reader(StringIO("".join(rating_export.as_csv("abcde", rows)), newline="")))
    assert found == [list("abcde"), ["'=1+1", "-1", '["x"]', "", "'@x\r\ny"]]


def test_nothing_is_an_empty_list() -> None:
    assert json.loads("".join(rating_export.stream_json_array([]))) == []


def test_the_plan_as_it_is_hashed() -> None:
    study = studies.study(question="Are agents as good?")
    plan.freeze_plan(study)
    assert hashlib.sha256(rating_export.plan_json(study).encode()).hexdigest() == study.plan_hash
    told = rating_export.plan_markdown(study)
    assert study.plan_hash in told and "## Question\n\nAre agents as good?" in told


def test_amendments_are_in_the_markdown_and_as_differences() -> None:
    study = studies.study()
    plan.freeze_plan(study)
    with plan.change_with_amendment(study, "a slip", factories.ada()) as row:
        row.margin = 0.1
        row.save()
    made = study.amendments.get()
    assert "## Amendment 1" in rating_export.plan_markdown(study, [made])
    assert list(rating_export.diff_study_plans(made.before, made.after)) == [("margin", "–", "0.1")]


def test_a_difference_names_the_rater_alone() -> None:
    rater = {"pseudonym": "R07", "capacity": 5}
    before = {"conditions": [{"kind": "reading", "raters": [rater]}]}
    after = {"conditions": [{"kind": "reading", "raters": [rater | {"capacity": 9}]}]}
    assert list(rating_export.diff_study_plans(before, after)) == [
        ("conditions › reading › raters › R07 › capacity", "5", "9")
    ]
