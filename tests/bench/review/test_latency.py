"""The bench of reviewing in its smallest form: real servers, real clients, scratch databases of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from pytest_django import DjangoDbBlocker

from annotation.models import Rating, Study
from bench.review import calls, latency, lists
from bench.review.desks import DecisionTimes, case_of, first_choice, form_of
from bench.review.raters import Shift, run_rater_shift
from bench.review.server import Answer, Client, Failed, path_of
from bench.seed import database, studies
from bench.seed.plan import SeedingPlan

TINY = SeedingPlan(cases=110, snippets=60, reviewed=2)
CONSTANTS: dict[Any, dict[str, Any]] = {
    latency: {
        "RATERS": 2,
        "EFFORTS": {"small": latency.Effort(decisions=2, warm=1, seconds=2.0, plain=True)},
        "LISTINGS": 1,
        "PACE_SECONDS": 0.5,
    },
    calls: {"CALLS": 2},
    lists: {"FILTERS": {"word": "q=flatten"}},
    database: {"PLANS": {"few": TINY, "small": TINY}},
}


@pytest.fixture
def alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """A folder of its own, and the database open to code that makes others beside it."""
    monkeypatch.setattr(settings, "COSQA_HOME", tmp_path)
    for module, values in CONSTANTS.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)
    with django_db_blocker.unblock():
        try:
            yield
        finally:
            database.scratch_of(TINY).drop()
            connection.close()


@pytest.mark.usefixtures("alone")
def test_the_figures_that_it_promises_are_there() -> None:
    found: dict[str, Any] = json.loads(json.dumps(latency.measure_review("small")))
    kinds = {"next", "review", "submit"}
    assert set(found["p95_ms"]) == {*kinds, "list", "statistics", "statistics_kept", *called(found)}
    assert set(found["ratios"]) == {f"{kind}_growth" for kind in (*kinds, "list")}
    for queue in (found["concurrent"], found["plain_review"]["concurrent"]):
        for shifted in (queue, queue["closed_loop"]):
            assert set(shifted["p95_ms"]) == kinds
            assert shifted["decisions"] > 0
            assert (shifted["errors"], shifted["lost"]) == (0, 0), shifted["first_errors"]
    assert {"score, deep", "time, back", "label, word"} <= set(found["lists"])


def called(found: dict[str, Any]) -> set[str]:
    """The call box's figure, which is there where code can be executed."""
    if shutil.which("bwrap"):
        assert "call" not in found["missing"], found["missing"]
        assert found["p95_ms"]["call"] > 0
        return {"call"}
    return set()


def test_a_seeded_study_has_a_rating_of_each_pair_by_each_rater(transactional_db: None) -> None:
    database.fill_seeded_database(TINY)
    study = Study.objects.get(name=studies.RATED)
    assert (study.state, study.planned_pairs, study.pairs.count()) == ("closed", 110, 110)
    assert Rating.objects.current().count() == 110 * database.RATERS
    counts = study.conditions.get().quotas.values_list("wanted", "reserved", "done").distinct()
    assert list(counts) == [(database.RATERS,) * 3]


class Desk:
    """A rater to whom every second decision goes wrong."""

    def __init__(self) -> None:
        self.client, self.asked = Client(1, ""), 0

    def decide(self) -> DecisionTimes:
        self.asked += 1
        if self.asked % 2 == 0:
            raise Failed("no answer")
        return DecisionTimes(0.01, 0.02, 0.03)


def test_a_rater_to_whom_something_goes_wrong_goes_on() -> None:
    done = run_rater_shift([Desk(), Desk()], 0.05, 0.3)
    told = done.told()
    assert len(done.decisions) > 1 and len(done.errors) > 1
    assert told["p95_ms"] == {"next": 10.0, "review": 20.0, "submit": 30.0}
    assert told["first_errors"] == (["no answer"] * 3)[: len(done.errors)]
    assert Shift().errors == []


def test_what_a_page_has_is_sent_back() -> None:
    page = Answer(
        200,
        "",
        '<form><input name="seen_revision" value="7"></form><form id="label-form">'
        '<input name="evidence" value="abc"><input name="seen_revision" value="2">'
        '<button name="label" value="match"><input name="seen_revision" value="9">',
        0.1,
    )
    assert form_of(page) | {"reason": ""} == {
        "evidence": "abc",
        "seen_revision": "2",
        "label": "1",
        "reason": "",
        "show": "waiting",
    }
    assert first_choice(page) == "match"
    assert case_of(path_of("http://127.0.0.1/review/cases/12/?show=all")) == 12


@pytest.mark.parametrize("path", ["/login/?next=/review/cases/1/", "/review/builds/1/"])
def test_a_redirect_to_anything_but_a_case_is_no_success(path: str) -> None:
    with pytest.raises(Failed, match="is no case"):
        case_of(path)
    with pytest.raises(Failed, match="no label"):
        first_choice(Answer(200, "", "", 0.1))
