"""Seeding in its smallest form: what it leaves is what the workbench itself would have left."""

from __future__ import annotations

import ast
import contextlib
import statistics

import pytest
from django.db import IntegrityError, transaction

from annotation.builds.limits.budget import compute_request_cost_bound
from annotation.models import (
    Abandonment,
    AgentBill,
    Build,
    Case,
    Duration,
    LLMCall,
    Moment,
    ProjectTally,
    Review,
    Tally,
)
from annotation.stages import Stage
from bench.seed import database, rows, texts
from bench.seed.check import find_seeding_faults
from bench.seed.plan import Keys, SeedingPlan
from bench.seed.tables import bulk_load_transaction, skip_key_checks
from retrieval.filters import rules_of
from retrieval.models import Label
from sandbox.program import count_assertions

TINY = SeedingPlan(cases=110, snippets=60, reviewed=2)
KEYS = Keys(1, 1, 1, 1, 1, 2)


@pytest.fixture
def seeded(transactional_db: None) -> Build:
    database.fill_seeded_database(TINY)
    return Build.objects.select_related("tally").get(name=database.FINISHED)


def test_nothing_is_wrong_with_what_is_seeded(seeded: Build) -> None:
    assert find_seeding_faults() == []
    assert seeded.tally.settled == Case.objects.filter(build=seeded).count() == TINY.cases
    assert 0.25 < LLMCall.objects.filter(agent="arbiter").count() / TINY.cases < 0.4
    assert Review.objects.count() == Label.objects.filter(assisted=True).count() == 2 * database.RATERS


def test_wrong_totals_and_missing_labels_are_told(seeded: Build) -> None:
    Tally.objects.filter(pk=seeded.pk).update(settled=TINY.cases + 1)
    Label.objects.filter(pair=1, assisted=False, source__startswith=f"build {seeded.pk},").delete()
    told = "\n".join(find_seeding_faults())
    assert "111 settled, there are 110" in told and "without their label: 1" in told


def test_wrong_figures_are_told(seeded: Build) -> None:
    AgentBill.objects.filter(build=seeded, agent="screener").update(calls=1)
    Duration.objects.filter(build=seeded, path="clear").delete()
    Abandonment.objects.all().delete()
    Moment.objects.filter(build=seeded).update(settled=3)
    Tally.objects.filter(pk=seeded.pk).update(screening_ms=5, written=7)
    ProjectTally.objects.update(spent=1)
    told = "\n".join(find_seeding_faults())
    for word in (
        "bills",
        "times of pairs",
        "causes",
        "progress",
        "5 screening_ms",
        "7 written",
        "project spent 1",
    ):
        assert word in told, word


def test_a_program_has_as_many_assertions_as_the_totals_say() -> None:
    assert count_assertions(texts.make_test_program(3, "f")) == texts.TEST_CASES


def test_the_second_build_shares_pairs_and_has_abandoned_ones(seeded: Build) -> None:
    again = Build.objects.select_related("tally").get(name=database.AGAIN)
    shared = Case.objects.filter(build=again, pair__cases__build=seeded).count()
    assert shared == again.tally.total == TINY.cases
    assert again.tally.abandoned == Case.objects.filter(build=again, stage=Stage.ABANDONED).count() > 0


def test_what_is_stored_can_be_read(seeded: Build) -> None:
    call = LLMCall.objects.select_related("system", "request", "price").filter(agent="test_writer")[0]
    assert call.whole_request().digest() == call.digest
    assert compute_request_cost_bound(call.whole_request(), call.price) == call.bound
    case = Case.objects.filter(execution__isnull=False).select_related("execution__report")[0]
    assert case.execution is not None
    assert case.execution.whole_report().outcome == case.execution.outcome


def test_the_database_counts_on_after_the_seeded_keys(seeded: Build) -> None:
    first = Case.objects.filter(stage=Stage.SETTLED).first()
    assert first is not None
    first.pk, first.round = None, 2
    first.save()
    assert first.pk > TINY.cases


def test_rows_are_the_same_at_each_making() -> None:
    once = rows.of_queries(TINY, KEYS, 2, 3)
    assert once == rows.of_queries(TINY, KEYS, 2, 3)
    assert database.scratch_of(TINY) == database.scratch_of(TINY) != database.scratch_of(SeedingPlan(120, 60))


def test_snippets_are_functions_of_real_length() -> None:
    codes = [texts.make_snippet(number) for number in range(1, 1500)]
    lengths = [len(code) for code in codes]
    assert 235 <= statistics.median(lengths) <= 285
    assert 430 <= statistics.quantiles(lengths, n=10)[-1] <= 530
    assert len(set(codes)) == len(codes)
    for code in codes[:200]:
        assert isinstance(ast.parse(code).body[0], ast.FunctionDef)
        assert int(rules_of(code)) == rows.RULES


def refer_to_nothing() -> None:
    Case.objects.filter(pk=Case.objects.earliest("pk").pk).update(pair_id=10**6)


@pytest.mark.parametrize("fails", [False, True])
def test_keys_are_checked_again_after_seeding(seeded: Build, fails: bool) -> None:
    with contextlib.suppress(ZeroDivisionError), bulk_load_transaction():
        if fails:
            raise ZeroDivisionError
    with pytest.raises(IntegrityError):
        refer_to_nothing()


def test_keys_are_skipped_within_a_transaction_alone(seeded: Build) -> None:
    with transaction.atomic():
        skip_key_checks()
    with pytest.raises(IntegrityError):
        refer_to_nothing()
