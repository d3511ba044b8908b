"""Two versions of a benchmark: labels that changed, and scores on the queries that both have."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from retrieval.evaluation.content import content_of
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.robustness.version_comparison import NotOneVersion, compare_benchmarks
from retrieval.evaluation.runs.system_run import evaluate_file
from retrieval.metrics.names import parse_measures
from retrieval.models import Annotator, Benchmark, Label, Pool, Run
from tests.retrieval.evaluation.conftest import pair, say


@pytest.fixture
def versions(benchmark_: Benchmark, labelled: Order, annotator: Annotator) -> tuple[Benchmark, Benchmark]:
    """Query 0: snippet 0 is no match any more, 1 is one; query 1 loses its match; query 2 gets one."""
    for (query, snippet), value in {(0, 0): 0, (0, 1): 1, (1, 1): None, (2, 0): 1, (2, 1): 0}.items():
        say(annotator, pair(labelled.queries, labelled.snippets, query, snippet), value)
    return benchmark_, publish_benchmark(labelled, Label.objects.all())


def run(benchmark: Benchmark, folder: Path, name: str, *snippets: int) -> None:
    path = folder / name
    rows = enumerate(snippets, 1)
    path.write_text("".join(f"queries-0 Q0 snippets-{one} {rank} {-rank} me\n" for rank, one in rows))
    evaluate_file(path, name, content_of(benchmark), Pool.COLLECTION, parse_measures(["mrr", "ndcg_within"]))


def test_every_kind_of_change_is_counted_with_examples(versions: tuple[Benchmark, Benchmark]) -> None:
    found = compare_benchmarks(*versions)
    assert {one.said: one.pairs for one in found.changes if one.pairs} == {
        "1 → 0": 1,
        "0 → 1": 1,
        "1 → unjudged": 1,
        "unjudged → 1": 1,
        "unjudged → 0": 1,
    }
    assert found.unchanged == 2
    (example,) = next(one for one in found.changes if one.said == "0 → 1").examples
    assert example.snippet == versions[0].snippets.members.get(position=1).text
    assert found.queries == (2, 2, 1)


def test_the_same_lists_are_measured_by_both_versions_labels(
    versions: tuple[Benchmark, Benchmark], tmp_path: Path
) -> None:
    run(versions[0], tmp_path, "early", 0, 3, 1)
    run(versions[1], tmp_path, "late", 3, 1, 0)
    found = compare_benchmarks(*versions)
    rows = {one.system: (one.first, one.second, one.same_lists) for one in found.systems}
    # Query 0 alone has a match in both. Its matches are snippets 0 and 2, then 1 and 2.
    assert rows == {"early (text not known)": (1.0, 1 / 3, True), "late (text not known)": (1 / 3, 0.5, True)}
    assert found.metrics == ["mrr"]
    assert found.tau == -1.0
    assert [one.system for one in found.systems] == [
        "late (text not known)",
        "early (text not known)",
    ]


def test_a_version_with_more_snippets_is_measured_by_its_own_lists(
    versions: tuple[Benchmark, Benchmark], labelled: Order, tmp_path: Path
) -> None:
    run(versions[0], tmp_path, "both", 0, 1)
    run(versions[0], tmp_path, "early", 0, 1)
    run(versions[1], tmp_path, "both", 1, 0)
    Benchmark.objects.filter(pk=versions[1].pk).update(snippets_until=5)
    found = compare_benchmarks(versions[0], Benchmark.objects.get(pk=versions[1].pk))
    assert [(one.system, one.first, one.second, one.same_lists) for one in found.systems] == [
        ("both (text not known)", 1.0, 1.0, False)
    ]
    assert found.tau is None


def test_without_runs_labels_are_compared_all_the_same(versions: tuple[Benchmark, Benchmark]) -> None:
    found = compare_benchmarks(*versions)
    assert (found.systems, found.metric, found.tau) == ([], "", None)


def test_a_benchmark_is_not_compared_with_itself(benchmark_: Benchmark) -> None:
    with pytest.raises(NotOneVersion, match="name two"):
        compare_benchmarks(benchmark_, benchmark_)


def test_the_command_tells_people_and_machines(versions: tuple[Benchmark, Benchmark], tmp_path: Path) -> None:
    run(versions[0], tmp_path, "mine", 0, 1)
    out = StringIO()
    call_command("compare-benchmarks", "small@1", "small", "--json", stdout=out)
    found = json.loads(out.getvalue())
    assert found["labels"]["1 → 0"] == 1
    assert found["systems"]["mine (text not known)"]["difference"] == pytest.approx(-0.5)
    call_command("compare-benchmarks", "small@1", "small@2", stdout=out)
    assert "mine (text not known): mrr 1.0000 → 0.5000, -0.5000" in out.getvalue()
    assert found["pool"] == "collection" and "searched: the whole collection" in out.getvalue()
    with pytest.raises(CommandError, match="has ndcg@10 by ranks; there are mrr"):
        call_command("compare-benchmarks", "small@1", "small@2", "--metric", "ndcg@10")
    with pytest.raises(CommandError, match="no benchmark 'other'"):
        call_command("compare-benchmarks", "small@1", "other")


def test_it_is_computed_once_and_a_page_does_not_wait_for_much(
    versions: tuple[Benchmark, Benchmark], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(versions[0], tmp_path, "mine", 0, 1)
    monkeypatch.setattr("retrieval.evaluation.robustness.label_noise.MOST_AT_ONCE", 1)
    quick = compare_benchmarks(*versions, wait=False)
    assert (quick.unmeasured, quick.systems, quick.unchanged) == (True, [], 2)
    waited = compare_benchmarks(*versions)
    for named in ("_compare_labels", "_moved"):
        monkeypatch.setattr(f"retrieval.evaluation.robustness.version_comparison.{named}", None)
    again = compare_benchmarks(*versions, wait=False)
    assert not again.unmeasured
    assert (again.systems, again.changes, again.queries) == (waited.systems, waited.changes, waited.queries)


def test_a_text_that_is_not_known_is_another_system_than_whole_snippets(
    versions: tuple[Benchmark, Benchmark], tmp_path: Path
) -> None:
    run(versions[0], tmp_path, "mine", 0, 1)
    run(versions[0], tmp_path, "mine", 1, 0)
    Run.objects.filter(pk=Run.objects.latest("pk").pk).update(text_option="whole")
    assert {one.system for one in compare_benchmarks(*versions).systems} == {"mine", "mine (text not known)"}
