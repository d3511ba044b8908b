"""Two fills of one version: the second one goes on from the first, and what is taken back counts no more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.builds.pipeline.labels import annotator_of_person
from annotation.derived import publish_job, unjudged_results
from annotation.derived.unjudged_results import Fill
from annotation.models import Build
from annotation.web.benchmarks import leaderboard_notes
from retrieval.evaluation.content import content_of
from retrieval.evaluation.holes import NoHoles
from retrieval.evaluation.leaderboard import build_leaderboard, find_newest_runs
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.robustness.version_comparison import compare_benchmarks
from retrieval.evaluation.runs.system_run import evaluate_file
from retrieval.metrics.names import parse_measures
from retrieval.models import Benchmark, Job, Label, Mining, Pool, Run
from tests import factories
from tests.annotation.derived.test_unjudged_publishing import sent
from tests.annotation.derived.test_unjudged_results import judged, run, said_by_people

__all__ = ["run"]  # a fixture
pytestmark = pytest.mark.django_db


@pytest.fixture
def other(run: Run, tmp_path: Path) -> Run:
    """A run of the same version with two holes, of which none is the first one's."""
    return scored(run.benchmark, tmp_path, "other", "queries-0 Q0 snippets-3", "queries-2 Q0 snippets-2")


def scored(benchmark: Benchmark, folder: Path, name: str, *lines: str, metrics: str = "mrr") -> Run:
    path = folder / f"{name} {metrics}"
    path.write_text("".join(f"{line} 1 1 x\n" for line in lines))
    return evaluate_file(path, name, content_of(benchmark), Pool.COLLECTION, parse_measures([metrics])).run


def relevances(benchmark: Benchmark) -> dict[tuple[int, int], float]:
    content = content_of(benchmark)
    return {
        (number, place): relevance
        for number, query in enumerate(content.queries)
        for place, relevance in content.judged(query).items()
    }


def test_the_second_fill_of_a_version_has_the_labels_of_the_first(run: Run, other: Run) -> None:
    first, second = judged(run, 1, 0), judged(other, 0, 1, name="filled beside")
    unjudged_results.publish_filled_benchmark(first)
    made = unjudged_results.publish_filled_benchmark(second)
    assert relevances(made) == {(0, 0): 1, (1, 1): 1, (0, 1): 1, (1, 0): 0, (0, 3): 0, (2, 2): 1}
    assert (str(made), str(made.previous_version), made.size, made.positives) == ("small@3", "small@2", 6, 4)
    assert "of mine" in made.merge_rule and "of other" in made.merge_rule
    assert all(one.was_filled for one in build_leaderboard(made, Pool.COLLECTION).standings)
    assert {first.annotator, second.annotator} <= set(leaderboard_notes.annotators_of(made))
    assert (
        unjudged_results.publish_filled_benchmark(first) == made
        and unjudged_results.publish_filled_benchmark(second) == made
    )


def test_both_are_beside_the_version_whose_holes_they_were(run: Run, other: Run) -> None:
    unjudged_results.publish_filled_benchmark(judged(run, 1, 0))
    made = unjudged_results.publish_filled_benchmark(judged(other, 0, 1, name="filled beside"))
    found = compare_benchmarks(run.benchmark, made)
    assert {one.said: one.pairs for one in found.changes if one.pairs} == {
        "unjudged → 1": 2,
        "unjudged → 0": 2,
    }
    assert {one.system: one.first for one in found.systems} == {
        "mine (text not known)": 0.25,
        "other (text not known)": 0.0,
    }


def test_runs_of_both_versions_are_scored_by_each_metric_that_they_had(
    run: Run, other: Run, tmp_path: Path
) -> None:
    build = judged(other, 0, 1, name="filled beside")
    second = unjudged_results.publish_filled_benchmark(judged(run, 1, 0))
    scored(second, tmp_path, "late", "queries-0 Q0 snippets-1")
    same = "queries-0 Q0 snippets-3", "queries-2 Q0 snippets-2"
    scored(second, tmp_path, "other", *same, metrics="recall@10")
    assert publish_job.scored_again(run.benchmark) == 3 * 3
    made = unjudged_results.publish_filled_benchmark(build)
    found = {one.system: set(one.scores.values_list("metric", flat=True)) for one in made.runs.all()}
    assert found == {"mine": {"mrr"}, "late": {"mrr"}, "other": {"mrr", "recall@10"}}
    assert made.runs.count() == 3


def test_what_was_scored_last_is_so_in_the_next_version(run: Run, tmp_path: Path) -> None:
    second = scored(run.benchmark, tmp_path, "mine", "queries-0 Q0 snippets-2")
    asked = content_of(run.benchmark), Pool.COLLECTION, parse_measures(["mrr"])
    evaluate_file(tmp_path / "mine", "mine", *asked)
    made = unjudged_results.publish_filled_benchmark(judged(run, 1, 0))
    assert [one.digest for one in find_newest_runs(made, Pool.COLLECTION)] == [run.digest]
    scored(made, tmp_path, "mine", "queries-0 Q0 snippets-2")
    assert unjudged_results.publish_filled_benchmark(Build.objects.get()) == made
    assert [one.digest for one in find_newest_runs(made, Pool.COLLECTION)] == [second.digest]


def test_what_people_say_no_more_is_unjudged_again_and_nothing_else(run: Run, other: Run) -> None:
    queue = unjudged_results.queue_holes_for_experts(Fill(run, "for experts"))
    said_by_people(queue, 0, 1, "erin", "emil")
    said_by_people(queue, 1, 0, "erin", "emil")
    unjudged_results.publish_filled_benchmark(queue)
    unjudged_results.publish_filled_benchmark(judged(other, 0, 1, name="filled beside"))
    by, pair = annotator_of_person(factories.person("emil")), factories.cases(queue)[0].pair
    Label.objects.create(pair=pair, annotator=by, round=2, value=None, assisted=True)
    made = unjudged_results.publish_filled_benchmark(queue)
    assert relevances(made) == {(0, 0): 1, (1, 1): 1, (1, 0): 0, (0, 3): 0, (2, 2): 1}
    assert str(made) == "small@4" and made.merge_rule.count("for experts") == 1


def test_of_a_pair_that_both_judged_the_merge_rule_says_whose_label_counts(run: Run) -> None:
    agents, queue = judged(run, 1, 0), unjudged_results.queue_holes_for_experts(Fill(run, "for experts"))
    second = unjudged_results.publish_filled_benchmark(agents)
    said_by_people(queue, 0, 0, "erin", "emil")
    third = unjudged_results.publish_filled_benchmark(queue)
    assert relevances(second)[0, 1] == 1 and relevances(third)[0, 1] == 0
    assert relevances(third)[1, 0] == 0
    assert unjudged_results.publish_filled_benchmark(agents) == third


def searched(old: Benchmark, **columns: Any) -> Benchmark:
    """Another version, which is made of a mining."""
    mining = Mining.objects.create(queries=old.queries, snippets=old.snippets, encoders=["bm25"], rule=0)
    order = Order("small", old.queries, old.snippets, "by the agents", mining=mining)
    return publish_benchmark(replace(order, **columns), Label.objects.all())


@pytest.mark.parametrize("what", ["pool", "collections", "members"])
def test_a_newest_version_that_searches_something_else_is_refused(run: Run, ada: Client, what: str) -> None:
    build, old = judged(run, 1, 0), run.benchmark
    if what == "pool":
        searched(old)
    elif what == "members":
        searched(old, searched=Pool.COLLECTION, snippets_until=old.snippets_until - 1)
    else:
        searched(old, searched=Pool.COLLECTION, snippets=factories.snippets(name="more"))
    told = {"pool": "systems search the query", "collections": "other collections", "members": "has fewer"}
    with pytest.raises(NoHoles, match=f"small@2, can't take.*{told[what]}.*Have unjudged results"):
        unjudged_results.publish_filled_benchmark(build)
    sent(ada, build, run)
    assert told[what] in Job.objects.get().message
    assert Benchmark.objects.count() == 2 and not Build.objects.get().events.filter(event="published")
