"""Holes of a run: found, priced, judged by a small build, and published as the next version."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.builds.control.pause_resume import Action, control_build
from annotation.builds.launch.order import LaunchRefused
from annotation.builds.pipeline import claims
from annotation.builds.pipeline.labels import annotator_of_person
from annotation.derived import unjudged_results as holes
from annotation.derived.extension import extension_plan
from annotation.derived.unjudged_results import Fill
from annotation.jobs import worker
from annotation.models import Build, BuildEvent
from annotation.studies.sampling import frame
from annotation.web.benchmarks import leaderboard_notes
from annotation.web.review import worklists
from retrieval.evaluation.content import content_of
from retrieval.evaluation.holes import NoHoles, find_unjudged_results, holes_of
from retrieval.evaluation.leaderboard import build_leaderboard
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.robustness.version_comparison import compare_benchmarks
from retrieval.evaluation.runs.system_run import evaluate_file
from retrieval.metrics.names import parse_measures
from retrieval.models import Annotator, Benchmark, BenchmarkLabel, Holes, Label, Mining, Pair, Pool, Run
from tests import factories
from tests.annotation.jobs.test_worker import in_process  # noqa: F401  (a fixture)

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Two matches are known. Of the run's four results one is judged, one is nowhere, two are holes."""
    queries, snippets = factories.queries(), factories.snippets()
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    for query, snippet in ((0, 0), (1, 1)):
        ids = (queries.members.get(position=query).text_id, snippets.members.get(position=snippet).text_id)
        Label.objects.create(pair=Pair.objects.keep_all([ids])[0], annotator=by, value=1)
    made = publish_benchmark(Order("small", queries, snippets, "by hand"), Label.objects.all())
    path = tmp_path / "mine"
    ranked = {0: ("snippets-1", "snippets-0"), 1: ("elsewhere", "snippets-0")}
    path.write_text(
        "".join(
            f"queries-{query} Q0 {name} {rank} {-rank} x\n"
            for query, names in ranked.items()
            for rank, name in enumerate(names, 1)
        )
    )
    return evaluate_file(path, "mine", content_of(made), Pool.COLLECTION, parse_measures(["mrr"])).run


def judged(run: Run, *labels: int, name: str = "filled") -> Build:
    """A build over the run's holes, opened and done."""
    build = holes.plan_hole_filling(Fill(run, name)).launch()
    worker.look_after(build)
    for case, label in zip(factories.cases(build), labels, strict=False):
        factories.settled(case, label)
    Build.objects.filter(pk=build.pk).update(state=Build.State.DONE)
    return Build.objects.get(pk=build.pk)


def test_holes_are_the_first_results_without_a_label(run: Run) -> None:
    content = content_of(run.benchmark)
    found = [
        (content.queries.index(q), content.snippets.index(s), rank)
        for q, s, rank in find_unjudged_results(run, content)
    ]
    assert found == [(0, 1, 1), (1, 0, 2)]
    assert holes_of(run, 1) == 1


def test_a_build_judges_them_and_nothing_else(run: Run) -> None:
    build = holes.plan_hole_filling(Fill(run, "filled")).launch()
    worker.look_after(build)
    held = Holes.objects.get()
    assert (held.run, held.pairs, build.own_mining.state) == (run, 2, Mining.State.DONE)
    assert [case.rank for case in factories.cases(build)] == [1, 2]
    assert (
        "2 unjudged results of mine (text not known) on small@1" in build.events.get(event="fills holes").note
    )


def test_what_it_said_is_the_next_version_and_runs_are_scored_by_it(run: Run) -> None:
    made = holes.publish_filled_benchmark(judged(run, 1, 0))
    assert (str(made), made.size, made.positives) == ("small@2", 4, 3)
    assert "unjudged results of mine" in made.merge_rule
    found = compare_benchmarks(run.benchmark, made)
    assert {one.said: one.pairs for one in found.changes if one.pairs} == {
        "unjudged → 1": 1,
        "unjudged → 0": 1,
    }
    (moved,) = found.systems
    assert (moved.first, moved.second) == (0.25, 0.5)
    assert made.runs.get().scores.get().metric == "mrr"
    assert holes.publish_filled_benchmark(Build.objects.get()) == made
    assert made.runs.count() == 1
    assert BuildEvent.objects.get(event="published").note == "as benchmark small@2"


def test_whose_holes_were_filled_is_marked_from_then_on(run: Run, tmp_path: Path) -> None:
    made = holes.publish_filled_benchmark(judged(run, 1, 0))
    path = tmp_path / "other"
    path.write_text("queries-0 Q0 snippets-2 1 1 x\n")
    other = evaluate_file(path, "other", content_of(made), Pool.COLLECTION, parse_measures(["mrr"])).run
    assert {one.run.system: one.was_filled for one in build_leaderboard(made, Pool.COLLECTION).standings} == {
        "mine": True,
        "other": False,
    }
    assert not any(one.was_filled for one in build_leaderboard(run.benchmark, Pool.COLLECTION).standings)
    build = holes.plan_hole_filling(Fill(other, "filled again")).launch()
    worker.look_after(build)
    factories.settled(factories.cases(build)[0], 0)
    Build.objects.filter(pk=build.pk).update(state=Build.State.DONE)
    third = holes.publish_filled_benchmark(Build.objects.get(pk=build.pk))
    assert all(one.was_filled for one in build_leaderboard(third, Pool.COLLECTION).standings)


def test_who_judged_the_holes_is_among_those_who_labelled(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaderboard_notes, "LABELS_LOOKED_AT", 1)
    build = judged(run, 1, 0)
    before = leaderboard_notes.annotators_of(run.benchmark)
    assert [one.kind for one in before] == [Annotator.Kind.ORIGINAL]
    assert set(leaderboard_notes.annotators_of(holes.publish_filled_benchmark(build))) == {
        *before,
        build.annotator,
    }


def test_what_could_not_be_judged_stays_unjudged(run: Run) -> None:
    made = holes.publish_filled_benchmark(judged(run, 1))
    assert made.size == 3


def test_what_can_not_be_done_says_why(run: Run) -> None:
    with pytest.raises(LaunchRefused, match="first 1 to"):
        holes.plan_hole_filling(Fill(run, "x", depth=0))
    build = judged(run)
    with pytest.raises(NoHoles, match="judged none"):
        holes.publish_filled_benchmark(build)
    with pytest.raises(LaunchRefused, match="already"):
        holes.plan_hole_filling(Fill(run, "filled")).launch()
    Build.objects.update(state=Build.State.RUNNING)
    with pytest.raises(NoHoles, match="is running"):
        holes.publish_filled_benchmark(Build.objects.get())
    with pytest.raises(NoHoles, match="not launched to fill"):
        holes.publish_filled_benchmark(factories.opened("other"))


def test_such_a_build_is_not_extended(run: Run) -> None:
    assert "what a run left unjudged" in extension_plan.why_not(judged(run, 1))


def test_a_run_without_holes_has_nothing_to_fill(run: Run) -> None:
    made = holes.publish_filled_benchmark(judged(run, 1, 0))
    with pytest.raises(NoHoles, match="Every one"):
        holes.plan_hole_filling(Fill(made.runs.get(), "again"))
    assert Mining.objects.count() == 1


def test_the_command_tells_launches_and_publishes(run: Run) -> None:
    def said(*words: str) -> str:
        out = StringIO()
        call_command("fill-holes", "small@1", *words, stdout=out)
        return out.getvalue()

    assert "2 pairs" in said("--system", "mine")
    assert not Build.objects.exists()
    assert json.loads(said("--system", "mine", "--name", "filled", "--launch", "--json"))["build"] == "filled"
    with pytest.raises(CommandError, match="choose one of mine"):
        said("--system", "other")
    with pytest.raises(CommandError, match="is running"):
        said("--publish", "filled")


def test_a_live_build_over_holes_is_launched_on_what_was_shown(run: Run, ada: Client, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    words = "small@1", "--system", "mine", "--name", "filled", "--launch", "--provider", "live", "--unpriced"
    with pytest.raises(CommandError, match="Nothing was launched; --yes launches it"):
        call_command("fill-holes", *words)
    form = {"run": run.pk, "depth": 10, "name": "unseen", "provider": "live", "unpriced": "on"}
    answer = ada.post(reverse("benchmark-holes", args=[run.benchmark_id]), form)
    assert answer.status_code == 422 and "was not shown yet" in answer.content.decode()
    assert not Build.objects.exists()
    call_command("fill-holes", *words, "--yes", "--reason", "to be fair to it")
    told = dict(Build.objects.get().events.values_list("event", "note"))
    assert "to be fair to it" in told["launched"] and "confirmed by nobody" not in told["fills holes"]


def test_admins_see_what_it_takes_launch_and_publish(ada: Client, run: Run) -> None:
    address = reverse("benchmark-holes", args=[run.benchmark_id])
    form: dict[str, str | int] = {"run": run.pk, "depth": 10, "name": "filled", "provider": "exchange"}
    page = ada.get(address, form).content.decode()
    assert "2 unjudged pairs" in page
    word = page.partition('name="estimate" value="')[2].partition('"')[0]
    assert ada.post(address, form | {"estimate": word}).status_code == 302
    build = Build.objects.get()
    assert "confirmed by nobody" not in build.events.get(event="fills holes").note
    worker.look_after(build)
    for case in factories.cases(build):
        factories.settled(case, 1)
    Build.objects.update(state=Build.State.DONE)
    assert "filled" in ada.get(address).content.decode()
    answer = ada.post(reverse("benchmark-filled", args=[run.benchmark_id]), {"build": build.pk}, follow=True)
    text = answer.content.decode()
    assert "small@2 is published" in text
    assert "unjudged → 1" in text
    assert Benchmark.objects.count() == 2


def test_the_page_says_what_goes_first_and_takes_a_reason_to_skip_it(
    ada: Client, run: Run, settings: Any
) -> None:
    settings.ANTHROPIC_API_KEY, settings.CANARY_ABOVE, settings.CANARY_CASES = "a-key", 1, 1
    address = reverse("benchmark-holes", args=[run.benchmark_id])
    form: dict[str, str | int] = {
        "run": run.pk,
        "depth": 10,
        "name": "filled",
        "provider": "live",
        "unpriced": "on",
    }
    page = ada.get(address, form).content.decode()
    assert "1 random pair go first" in page and "What this is based on" in page
    word = page.partition('name="estimate" value="')[2].partition('"')[0]
    sent = form | {"estimate": word, "skip_canary": "on", "reason": "to be fair to it"}
    assert "Give a reason, or let the canary go first." in ada.post(address, sent).content.decode()
    assert ada.post(address, sent | {"skip_canary_because": "two pairs"}).status_code == 302
    told = dict(Build.objects.get().events.values_list("event", "note"))
    assert told["skipped the canary"] == "two pairs" and "to be fair to it" in told["launched"]


def test_a_queue_for_experts_is_free_whoever_would_have_answered(
    ada: Client, run: Run, settings: Any
) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    form = {"run": run.pk, "depth": 10, "name": "filled", "provider": "live", "unpriced": "on"}
    answer = ada.post(reverse("benchmark-queue", args=[run.benchmark_id]), form | {"reason": "two who agree"})
    build = Build.objects.get()
    assert answer.status_code == 302 and (build.state, build.provider) == ("paused", "exchange")
    assert "two who agree" in build.events.get(event="launched").note


@pytest.mark.parametrize(
    "wrong", [{"depth": "0"}, {"run": "99"}, {"name": ""}, {"like": "x"}, {"provider": "y"}]
)
def test_a_form_that_is_wrong_says_so(ada: Client, run: Run, wrong: dict[str, str]) -> None:
    form: dict[str, str | int] = {"run": run.pk, "depth": 10, "name": "filled", "provider": "exchange"}
    form |= wrong
    answer = ada.get(reverse("benchmark-holes", args=[run.benchmark_id]), form)
    assert answer.status_code == 422
    assert "Estimate the cost" in answer.content.decode()


def said_by_people(build: Build, number: int, value: int, *names: str) -> None:
    """Plain reviews of one of the build's pairs."""
    pair = factories.cases(build)[number].pair
    for name in names:
        by = annotator_of_person(factories.person(name))
        Label.objects.create(pair=pair, annotator=by, value=value, assisted=True)


def test_experts_judge_a_queue_and_no_agent_is_asked(run: Run, erin: Client) -> None:
    build = holes.queue_holes_for_experts(Fill(run, "for experts"))
    assert (build.state, build.opened, Holes.objects.get().people) == (Build.State.PAUSED, True, True)
    assert [case.rank for case in factories.cases(build)] == [1, 2]
    assert claims.claim_cases("llm", 10) == []
    (line,) = worklists.build_lines(factories.person("erin"), Build.objects.all())
    assert (line["open"], line["left"], line["state_word"]) == (2, 2, "for experts")
    address = reverse("review-next", args=[build.pk]) + "?show=unsettled"
    listed = erin.get(reverse("work")).content.decode()
    assert f'href="{address}">Start<' in listed and "Paused" not in listed
    page = erin.get(address, follow=True)
    assert page.redirect_chain
    assert build.name in page.content.decode()


def test_a_queue_that_agents_took_over_is_a_build_like_any_other(run: Run) -> None:
    build = holes.queue_holes_for_experts(Fill(run, "for experts"))
    control_build(build, Action.RESUME)
    (line,) = worklists.build_lines(factories.person("erin"), Build.objects.all())
    assert (line["state"], line["left"]) == (Build.State.RUNNING, 0)


def test_labels_of_people_count_by_the_merge_rule_as_they_come(run: Run) -> None:
    build = holes.queue_holes_for_experts(Fill(run, "for experts"))
    said_by_people(build, 0, 1, "erin")
    with pytest.raises(NoHoles, match="two agree"):
        holes.publish_filled_benchmark(build)
    said_by_people(build, 0, 1, "emil")
    first = holes.publish_filled_benchmark(build)
    assert (str(first), first.size, first.positives) == ("small@2", 3, 3)
    pair = factories.cases(build)[1].pair
    verified = Annotator.objects.version(Annotator.Kind.MERGE, "verified by first", {"study": "first"})
    Label.objects.create(pair=pair, annotator=verified, value=0)
    second = holes.publish_filled_benchmark(build)
    assert (str(second), second.size, second.positives) == ("small@3", 4, 3)
    (moved,) = compare_benchmarks(run.benchmark, second).systems
    assert (moved.first, moved.second) == (0.25, 0.5)
    assert "people, in “for experts”" in second.merge_rule


def test_a_study_can_draw_all_of_a_queue(run: Run, ada: Client) -> None:
    build = holes.queue_holes_for_experts(Fill(run, "for experts"))
    units = frame.build_sampling_frame([build])
    assert {unit.pair for unit in units} == {case.pair_id for case in factories.cases(build)}
    form = ada.get(reverse("study-new"), {"build": build.pk}).context["form"]
    assert (form.initial["builds"], form.initial["size"], form.initial["per_query"]) == ([build.pk], 2, 0)
    assert ada.get(reverse("study-new"), {"build": "x"}).status_code == 200


def test_merged_labels_stay_as_they_are(run: Run) -> None:
    """A relevance that is the mean of several labels has no label of its own."""
    old = run.benchmark
    BenchmarkLabel.objects.filter(benchmark=old).update(label=None, relevance=0.5)
    made = holes.publish_filled_benchmark(judged(run, 1, 0))
    kept = made.labels.filter(label=None).values_list("relevance", flat=True)
    assert sorted(kept) == [0.5, 0.5]
    assert (made.size, made.positives) == (4, 3)


def test_the_next_version_has_the_members_of_the_one_before(run: Run) -> None:
    build = judged(run, 1, 0)
    text = factories.queries("more").members.get(position=0).text_id
    run.benchmark.snippets.members.create(text_id=text, position=99)
    made = holes.publish_filled_benchmark(build)
    assert made.snippets_until == run.benchmark.snippets_until
    assert made.runs.count() == 1


def test_admins_queue_for_experts_and_publish_what_they_said(ada: Client, run: Run) -> None:
    form: dict[str, str | int] = {"run": run.pk, "depth": 10, "name": "for experts", "provider": "exchange"}
    answer = ada.post(reverse("benchmark-queue", args=[run.benchmark_id]), form, follow=True)
    assert "2 unjudged results wait for experts" in answer.content.decode()
    build = Build.objects.get()
    page = ada.get(reverse("benchmark-holes", args=[run.benchmark_id])).content.decode()
    assert f"{reverse('study-new')}?build={build.pk}" in page
    assert f"{reverse('review-next', args=[build.pk])}?show=unsettled" in page
    again = ada.post(reverse("benchmark-queue", args=[run.benchmark_id]), form)
    assert again.status_code == 422
    said_by_people(build, 1, 1, "erin", "emil")
    answer = ada.post(reverse("benchmark-filled", args=[run.benchmark_id]), {"build": build.pk}, follow=True)
    assert "small@2 is published" in answer.content.decode()


def test_one_pair_is_told_as_one(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("fill-holes", "small@1", "--system", "mine", "--depth", "1")
    call_command(*words)
    assert ": 1 pair, " in capsys.readouterr().out
    call_command(*words, "--experts")
    assert capsys.readouterr().out.startswith("1 pair waits for experts as ")
    assert "1 unjudged result of mine" in BuildEvent.objects.get(event="queued for experts").note


def test_the_command_queues_for_experts(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("fill-holes", "small@1", "--system", "mine", "--name", "for experts", "--experts")
    assert "2 pairs wait for experts as 'for experts'" in capsys.readouterr().out
    said_by_people(Build.objects.get(), 0, 0, "erin", "emil")
    call_command("fill-holes", "small@1", "--publish", "for experts")
    assert "compare-benchmarks small@1 small@2" in capsys.readouterr().out


def test_the_command_compares_with_the_version_whose_holes_they_were(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other"
    path.write_text("queries-0 Q0 snippets-3 1 1 x\n")
    asked = content_of(run.benchmark), Pool.COLLECTION, parse_measures(["mrr"])
    other = evaluate_file(path, "other", *asked).run
    for number, one in enumerate((run, other), 2):
        build = judged(one, 1, 1, name=f"holes of {one.system}")
        call_command("fill-holes", "small@1", "--publish", build.name)
        assert f"compare-benchmarks small@1 small@{number}'" in capsys.readouterr().out
