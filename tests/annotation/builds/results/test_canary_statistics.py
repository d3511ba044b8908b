"""What a canary and a whole build came to, against sums done by hand."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.builds.results import canary_statistics
from annotation.builds.results.canary_statistics import Projection
from annotation.models import Build, Canary, Case, LLMCall, Tally
from annotation.stages import Event
from annotation.stats.agreement.query_clusters import clustered_share
from annotation.stats.intervals import Mean
from sandbox.reports.report import Outcome
from tests import factories

pytestmark = pytest.mark.django_db
REFUSED = "the model declined to answer (stop reason 'refusal')"


def with_canary(name: str = "large") -> Build:
    """Nine pairs as a canary: 3 plain (2 matches), 2 tested (1 ran), 2 refused, 1 without a test, 1 open."""
    build = factories.opened(name)
    rows = factories.cases(build)
    for case, label in zip(rows[:3], (1, 1, 0), strict=True):
        factories.settled(case, label)
    factories.examined(rows[3], 1)
    factories.examined(
        rows[4], 0, factories.a_report(Outcome.ERRORED, assertions=(), lines_reached=(), missing_module="wx")
    )
    for case in rows[5:7]:
        factories.abandoned(case, REFUSED)
    rows[7].move(Event.UNCLEAR)
    factories.abandoned(Case.objects.select_related("build__tally").get(pk=rows[7].pk), "no test came")
    Canary.objects.create(build=build, seed=7, drawn=[case.candidate_id for case in rows], pairs=900)
    return Build.objects.select_related("tally").get(pk=build.pk)


def shares(found: canary_statistics.Measures) -> dict[str, tuple[int, int]]:
    names = ("unclear", "executable", "matches", "abandoned", "refused")
    return {name: (getattr(found, name).part, getattr(found, name).whole) for name in names}


EXPECTED = {
    "unclear": (3, 6),  # of 8 finished 2 were never screened; 2 tested and 1 left when its test was written
    "executable": (1, 2),
    "matches": (3, 5),
    "abandoned": (3, 8),
    "refused": (2, 8),
}


def test_shares_are_of_what_they_say() -> None:
    build = with_canary()
    found = canary_statistics.of_canary(build.canaries.get(), 0)
    assert (found.finished, shares(found)) == (8, EXPECTED)


def test_where_queries_were_drawn_whole_intervals_resample_them() -> None:
    build = with_canary()
    alone = canary_statistics.of_canary(build.canaries.get(), 800)
    build.annotator.config["screener"] = "query"
    found = canary_statistics.of_canary(build.canaries.get(), 800)
    assert (found.finished, found.units, shares(found)) == (8, 3, EXPECTED)
    assert alone.cost is not None and found.cost is not None
    assert found.cost.value == pytest.approx(alone.cost.value) == pytest.approx(100)
    by_query = [
        (case.query_id, canary_statistics.REFUSAL in case.reason)
        for case in Case.objects.exclude(stage="screening")
    ]
    counts = {query: [said for q, said in by_query if q == query] for query, _ in by_query}
    expected = clustered_share([(sum(one), len(one)) for one in counts.values()], build.canaries.get().seed)
    assert found.refused == expected
    assert (found.refused.low, found.refused.high) != (alone.refused.low, alone.refused.high)


def test_a_pair_costs_what_all_of_its_rounds_cost() -> None:
    build = factories.opened(rounds=2)
    cases = factories.cases(build)
    for case in cases:
        factories.settled(case, 1)
    LLMCall.objects.update(cost=1000)
    Canary.objects.create(
        build=build, seed=7, drawn=[case.candidate_id for case in cases if case.round == 1], pairs=90
    )
    found = canary_statistics.of_canary(build.canaries.get(), 18_000)
    assert found.cost is not None
    assert (found.finished, found.cost.value) == (9, 2000.0)


def test_a_whole_build_is_counted_the_same_way() -> None:
    build = with_canary()
    found = canary_statistics.of_build(build)
    assert (found.finished, shares(found)) == (8, EXPECTED)


def test_costs_add_up_to_what_was_spent_and_a_shared_call_is_paid_once() -> None:
    build = with_canary()
    rows = factories.cases(build)
    LLMCall.objects.update(cost=100)  # 3 settled: 1 call each; 2 examined: 3 calls each: 900 in steps
    costs = canary_statistics.compute_case_costs(build, rows, 1800)
    assert sorted(costs) == [0, 0, 0, 0, 200, 200, 200, 600, 600]
    found = canary_statistics.of_canary(build.canaries.get(), 1800)
    assert found.cost is not None
    assert found.cost.value == pytest.approx(1800 / 8)
    assert found.cost.low is not None and found.cost.high is not None
    assert 0 < found.cost.low < 225 < found.cost.high < 600


def test_what_another_build_paid_for_costs_nothing() -> None:
    build = with_canary()
    other = factories.opened("other")
    LLMCall.objects.filter(agent="screener").update(cost=100)
    LLMCall.objects.exclude(agent="screener").update(cost=100, build=other)
    assert sorted(canary_statistics.compute_case_costs(build, factories.cases(build), 500))[-5:] == [100] * 5


def test_without_any_priced_call_what_was_spent_is_shared_evenly() -> None:
    build = with_canary()
    assert canary_statistics.compute_case_costs(build, factories.cases(build), 900) == [100.0] * 9


def test_before_anything_is_finished_there_are_no_figures() -> None:
    build = factories.opened()
    row = Canary.objects.create(build=build, seed=1, drawn=[factories.cases(build)[0].candidate_id], pairs=9)
    found = canary_statistics.of_canary(row, 0)
    assert (found.finished, found.cost, found.matches.value) == (0, None, None)


@pytest.mark.parametrize(
    ("cap", "verdict"),
    [(None, ""), (4_999, "over"), (5_000, "near"), (8_999, "near"), (9_000, "under"), (10**9, "under")],
)
def test_the_projected_total_is_held_against_the_cap(cap: int | None, verdict: str) -> None:
    total = canary_statistics.project_from_canary(Canary(pairs=1000), Mean(7, 5, 9), Tally(cap=cap))
    assert total == Projection(Mean(7000, 5000, 9000), 1000, cap)
    assert total.verdict == verdict


def test_it_is_compared_with_the_last_build_that_was_done_rather_of_its_model() -> None:
    build = with_canary()
    for name, model in (("older", build.model), ("newer", build.model), ("newest", "another-model")):
        made = factories.opened(name, model=model, state=Build.State.DONE)
        factories.settled(factories.cases(made)[0], 1)
        Build.objects.filter(pk=made.pk).update(finished_at=timezone.now())
    found = canary_statistics.last_finished(Build.objects.all(), build)
    assert found is not None and found.name == "newer"
    Build.objects.filter(model=build.model).exclude(pk=build.pk).update(state=Build.State.CANCELLED)
    found = canary_statistics.last_finished(Build.objects.all(), build)
    assert found is not None and found.name == "newest"
    assert canary_statistics.last_finished(Build.objects.none(), build) is None
