"""A whole small build that is extended: what is settled stays, and only new pairs are asked and paid for."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from annotation.builds.control.pause_resume import Action, ControlRefused, control_build
from annotation.builds.launch.launcher import launch_build
from annotation.builds.launch.order import LaunchRefused, Order
from annotation.builds.pipeline.advance import Tools
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.derived.extension import execution, extension_plan
from annotation.jobs import worker
from annotation.llm import Request
from annotation.models import Build, BuildEvent, Case, Extension, LLMCall, Price, Step, Tally
from annotation.schemas.derived.derived_builds import ExtensionWish
from annotation.stages import Stage
from retrieval.collections.import_report import ImportCounts, Options
from retrieval.collections.importer import store_members
from retrieval.models import Collection, Label, Mining
from retrieval.sources import Record
from tests import factories
from tests.annotation.builds.pipeline.test_advance import Make
from tests.annotation.jobs.test_worker import ALL, MATCH, in_process  # noqa: F401  (a fixture)
from tests.fakes import FakeLLM, FakeSandbox

TEXTS = tuple(f"sort {word} in python" for word in ("a list", "a dict", "rows", "words", "dates", "files"))
CODES = tuple(
    f"def sort_{n}({n}):\n    return sorted({n})\n" for n in ("rows", "words", "dates", "files", "keys")
)


def order(**changes: Any) -> Order:
    return replace(
        Order(
            name="b",
            queries=factories.queries(TEXTS),
            snippets=factories.snippets(CODES),
            encoders=("bow",),
            k=2,
            limit=6,
        ),
        **changes,
    )


def price() -> None:
    Price.objects.create(model="any", effective_from=timezone.now(), input=1, output=1)


def done(tools: Tools) -> Build:
    """The small build, with its six pairs settled."""
    build = launch_build(order())
    worker.until_idle(ALL, tools)
    build.refresh_from_db()
    return build


def recounted(build: Build) -> None:
    """The totals are what the rows say."""
    tally, cases = Tally.objects.get(build=build), list(Case.objects.filter(build=build))
    assert {stage: getattr(tally, stage) for stage in Stage} == dict.fromkeys(Stage, 0) | Counter(
        case.stage for case in cases
    )
    assert tally.matches == sum(case.label == 1 for case in cases)
    assert tally.spent == sum(LLMCall.objects.filter(build=build).values_list("cost", flat=True))
    assert tally.cleared == Step.objects.filter(case__build=build, after=Stage.SETTLED).count()
    assert len({case.pair_id for case in cases}) == len(cases)


def add(texts: tuple[str, ...], to: Collection) -> None:
    records = [Record(text, f"more-{number}") for number, text in enumerate(texts)]
    store_members(to, records, to.kind, ImportCounts(), Options())


@pytest.mark.django_db(transaction=True)
def test_only_new_pairs_are_asked_and_paid(tools_with: Make, in_process: None) -> None:  # noqa: F811
    price()
    tools, llm = tools_with(MATCH)
    build = done(tools)
    before = {case.pk: (case.pair_id, case.rank, case.label, case.step_count) for case in Case.objects.all()}
    spent = Tally.objects.get(build=build).spent
    assert len(before) == len(llm.calls) == 6
    assert spent > 0

    made = factories.extended(
        build, ExtensionWish(k=3, queries=2, seed=5), "more of the rare ones", factories.ada()
    )
    build.refresh_from_db()
    assert (build.state, build.finished_at) == (Build.State.RUNNING, None)
    worker.until_idle(ALL, tools)

    build.refresh_from_db()
    made.refresh_from_db()
    assert build.state == Build.State.DONE
    # Three queries get their third candidate, two others all three.
    assert (made.state, made.pairs, made.number) == (Extension.State.OPENED, 9, 1)
    assert len(llm.calls) == 15
    assert len({call.digest() for call in llm.calls}) == 15
    assert Label.objects.count() == 15
    assert Tally.objects.get(build=build).spent == spent * 15 // 6
    now = {c.pk: (c.pair_id, c.rank, c.label, c.step_count) for c in Case.objects.filter(pk__in=before)}
    assert now == before
    new = Case.objects.exclude(pk__in=before)
    assert Counter(new.values_list("rank", flat=True)) == {1: 2, 2: 2, 3: 5}
    recounted(build)
    told = BuildEvent.objects.get(build=build, event="extended")
    assert told.user == factories.ada()
    assert "k 2 → 3; 2 more queries (seed 5)" in told.note
    assert told.note.endswith(": more of the rare ones")
    assert BuildEvent.objects.get(build=build, event="extension opened").note.startswith("9 new pairs")


@pytest.mark.django_db(transaction=True)
def test_added_snippets_are_found_and_what_was_there_is_not_asked_again(
    tools_with: Make,
    in_process: None,  # noqa: F811
) -> None:
    tools, llm = tools_with(MATCH)
    build = done(tools)
    add(("def sort_a_list(a_list):\n    return sorted(a_list)  # sort a list in python\n",), build.snippets)
    with pytest.raises(LaunchRefused, match="Nothing would be new"):
        extension_plan.plan_extension(build, ExtensionWish())
    plan = extension_plan.plan_extension(build, ExtensionWish(newer=True))
    assert (plan.pairs.low, plan.pairs.high) == (0, 3)
    factories.extended(build, ExtensionWish(newer=True), "a better snippet came")
    worker.until_idle(ALL, tools)
    extension = Extension.objects.get()
    assert extension.pairs == len(llm.calls) - 6
    assert 1 <= extension.pairs <= 3
    newest = Case.objects.filter(candidate__mining=extension.mining)
    assert {case.pair.snippet.head.split("(")[0] for case in newest} == {"def sort_a_list"}
    recounted(build)


@pytest.mark.django_db(transaction=True)
def test_snippets_that_nobody_asked_for_stay_out(tools_with: Make, in_process: None) -> None:  # noqa: F811
    tools, _ = tools_with(MATCH)
    build = done(tools)
    add(("def sort_a_list(a_list):\n    return sorted(a_list)  # sort a list in python\n",), build.snippets)
    factories.extended(build, ExtensionWish(queries=3), "more queries")
    worker.until_idle(ALL, tools)
    assert Extension.objects.get().pairs == 6
    assert not Case.objects.filter(pair__snippet__head__startswith="def sort_a_list").exists()


@pytest.mark.django_db(transaction=True)
def test_an_extension_can_be_taken_back_while_it_is_mined(tools_with: Make, in_process: None) -> None:  # noqa: F811
    tools, llm = tools_with(MATCH)
    build = done(tools)
    factories.extended(build, ExtensionWish(k=3), "too much")
    with pytest.raises(ControlRefused, match="already being mined"):
        factories.extended(build, ExtensionWish(k=4), "even more")
    execution.cancel_extension(build, factories.ada(), "a slip")
    worker.until_idle(ALL, tools)
    build.refresh_from_db()
    assert build.state == Build.State.DONE
    assert len(llm.calls) == 6
    assert Mining.objects.get(extension__build=build).state == Mining.State.FAILED
    with pytest.raises(ControlRefused, match="No extension is being mined"):
        execution.cancel_extension(build)
    factories.extended(build, ExtensionWish(k=3), "after all")
    worker.until_idle(ALL, tools)
    assert [row.state for row in build.extensions.all()] == ["cancelled", "opened"]
    recounted(build)


@pytest.mark.django_db(transaction=True)
def test_an_extension_whose_mining_fails_leaves_the_build_as_it_was(
    tools_with: Make,
    in_process: None,  # noqa: F811
) -> None:
    tools, _ = tools_with(MATCH)
    build = done(tools)
    made = factories.extended(build, ExtensionWish(k=3), "deeper")
    Mining.objects.filter(pk=made.mining_id).update(state=Mining.State.FAILED, message="no weights")
    worker.until_idle(ALL, tools)
    build.refresh_from_db()
    made.refresh_from_db()
    assert (build.state, made.state, made.pairs) == (Build.State.DONE, "failed", None)
    assert "no weights" in BuildEvent.objects.get(event="extension failed").note
    recounted(build)


@pytest.mark.django_db(transaction=True)
def test_a_paused_build_takes_its_extension_up_when_it_is_resumed(tools_with: Make, in_process: None) -> None:  # noqa: F811
    tools, llm = tools_with(MATCH)
    build = launch_build(order())
    for queue in ("mining", "control"):
        worker.drain_queue(queue, tools)
    control_build(build, Action.PAUSE)
    factories.extended(Build.objects.get(pk=build.pk), ExtensionWish(queries=1), "one more")
    worker.until_idle(ALL, tools)
    assert not llm.calls
    control_build(build, Action.RESUME)
    worker.until_idle(ALL, tools)
    assert len(llm.calls) == 8
    recounted(build)


@pytest.mark.django_db
def test_two_workers_open_an_extension_once(tools_with: Make, in_process: None) -> None:  # noqa: F811
    tools, _ = tools_with(MATCH)
    build = launch_build(order())
    for queue in ("mining", "control"):
        worker.drain_queue(queue, tools)
    build.refresh_from_db()
    made = factories.extended(build, ExtensionWish(k=3), "deeper")
    worker.drain_queue("mining", tools)
    opened = [execution.open_cases(build, made, worker.add_cases) for _ in range(2)]
    assert opened == [3, 0]
    assert Case.objects.count() == 9


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (ExtensionWish(), "Nothing would be new"),
        (ExtensionWish(k=1), "can only grow"),
        (ExtensionWish(queries=4), "has 3 queries that are not in the build"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused(
    wish: ExtensionWish,
    said: str,
    tools_with: Make,
    in_process: None,  # noqa: F811
) -> None:
    tools, _ = tools_with(MATCH)
    build = launch_build(order())
    for queue in ("mining", "control"):
        worker.drain_queue(queue, tools)
    build.refresh_from_db()
    with pytest.raises(LaunchRefused, match=said):
        extension_plan.plan_extension(build, wish)


@pytest.mark.django_db
def test_a_build_that_can_not_be_extended_says_why() -> None:
    build = factories.launched()
    with pytest.raises(ControlRefused, match="still being mined"):
        extension_plan.plan_extension(build, ExtensionWish(k=4))
    build = factories.opened("other", state=Build.State.CANCELLED)
    with pytest.raises(ControlRefused, match="is cancelled"):
        extension_plan.plan_extension(build, ExtensionWish(k=4))


@pytest.mark.django_db
def test_the_seed_decides_which_queries_come() -> None:
    build = factories.opened()
    add(tuple(f"query {number}" for number in range(50)), build.queries)
    drawn = [
        extension_plan.plan_extension(build, ExtensionWish(queries=10, seed=seed)).drawn for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert min(drawn[0]) >= 3


@pytest.mark.django_db
def test_a_reason_is_asked_for() -> None:
    from annotation.builds.control.spending_caps import CapRefused

    build = factories.opened()
    add(("sort words",), build.queries)
    with pytest.raises(CapRefused, match="Say why"):
        factories.extended(build, ExtensionWish(queries=1), " ")


@pytest.mark.django_db(transaction=True)
def test_screening_by_query_asks_for_new_candidates_alone(in_process: None) -> None:  # noqa: F811
    asked: list[int] = []

    def verdicts(request: Request) -> dict[str, Any]:
        count = request.messages[-1].text.count("def sort_")
        asked.append(count)
        return {"verdicts": [{"candidate": n + 1, "verdict": 0, "explanation": "no"} for n in range(count)]}

    llm = FakeLLM(verdicts)
    tools = Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(FakeSandbox))
    build = launch_build(order(screen_by_query=True))
    worker.until_idle(ALL, tools)
    assert asked == [2, 2, 2]
    build.refresh_from_db()
    factories.extended(build, ExtensionWish(k=3), "deeper")
    worker.until_idle(ALL, tools)
    assert asked == [2, 2, 2, 1, 1, 1]
    recounted(build)
