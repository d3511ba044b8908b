"""Launching a build: what is refused, and what its annotator is."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from annotation.builds.launch import launcher
from annotation.builds.launch.estimates.estimate import passing_queries
from annotation.builds.launch.from_build import order_of
from annotation.builds.launch.launcher import launch_build
from annotation.builds.launch.order import Judge, LaunchRefused, Order
from annotation.models import Build, BuildEvent, Price, Tally
from retrieval.filters.queries import QueryRule
from sandbox.backends.containers import image_tag
from tests import factories

pytestmark = pytest.mark.django_db


def order() -> Order:
    return Order(
        name="new", queries=factories.queries(), snippets=factories.snippets(), encoders=("bm25", "bow"), k=3
    )


def test_a_launch_records_who_and_gives_the_mining_its_options() -> None:
    build = launch_build(replace(order(), budget=Decimal("1.5"), limit=4), factories.ada())
    assert (build.own_mining.k, build.own_mining.limit, build.own_mining.encoders) == (3, 2, ["bm25", "bow"])
    assert Tally.objects.get(build=build).cap == 1_500_000_000
    event = BuildEvent.objects.get(build=build)
    assert (event.event, event.user) == ("launched", factories.ada())


def test_a_recording_answers_the_rounds_that_were_recorded_and_nothing_anew(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": "1", "reply": "1"}\n')
    plain = replace(order(), provider=Build.Provider.RECORDED, recorded=str(path))
    with pytest.raises(LaunchRefused, match=r"replies for 1 round, not for 3: .* Choose 1, or file exchange"):
        launch_build(replace(plain, rounds=3))
    with pytest.raises(LaunchRefused, match="can't be asked again"):
        launch_build(replace(plain, fresh=True))
    path.write_text('{"id": "1", "reply": "1", "round": 3}\n')
    assert launch_build(replace(plain, rounds=3)).rounds == 3
    assert not Build.objects.exclude(rounds=3).exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": " "}, "name"),
        ({"encoders": ()}, "at least one encoder"),
        ({"encoders": ("bm25", "bm25")}, "each once"),
        ({"encoders": ("wordnet",)}, "wordnet"),
        ({"k": 0}, "1 to 1,000"),
        ({"limit": 0}, "limit"),
        ({"limit": 2**63}, "limit"),
        ({"budget": Decimal(-1)}, "budget"),
        ({"budget": Decimal("NaN")}, "budget"),
        ({"budget": Decimal("Infinity")}, "budget"),
        ({"budget": Decimal(10) ** 12}, "budget"),
        ({"name": "n" * 121}, "120"),
        ({"model": "m" * 121}, "120"),
        ({"model": ""}, "model"),
        ({"provider": "live"}, "ANTHROPIC_API_KEY"),
        ({"provider": "recorded", "recorded": "nowhere.jsonl"}, "nowhere.jsonl"),
        ({"batches": True}, "Batches are for live builds"),
    ],
)
def test_a_bad_order_is_refused_with_what_to_change(change: dict[str, object], said: str) -> None:
    with pytest.raises(LaunchRefused, match=said):
        launch_build(replace(order(), **change))  # type: ignore[arg-type]  # the values are wrong on purpose
    assert not Build.objects.exists()


def test_a_budget_needs_the_models_price(settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    live = replace(order(), provider="live", model="a-model", budget=Decimal(1))
    with pytest.raises(LaunchRefused, match="price"):
        launch_build(live)
    Price.objects.create(model="a-model", effective_from=timezone.now(), input=1, output=1)
    assert Tally.objects.get(build=launch_build(live)).cap == 10**9


def test_a_live_model_without_a_price_is_asked_by_an_explicit_choice_alone(settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    live = replace(order(), provider="live", model="a-model", budget=None)
    with pytest.raises(LaunchRefused, match="What a-model costs is not known"):
        launch_build(live)
    build = launch_build(replace(live, unpriced=True))
    assert Tally.objects.get(build=build).cap is None
    assert build.events.get().note.endswith("model a-model; without a price")


def test_a_price_is_asked_for_only_where_a_model_is_paid() -> None:
    assert launch_build(order()).provider == Build.Provider.EXCHANGE
    assert "price" not in Build.objects.get().events.get().note


def test_a_provider_that_needs_no_key_is_asked_without_one(settings: Any) -> None:
    settings.LLM_PROFILE = "vllm"
    assert launch_build(replace(order(), provider="live", model="local", unpriced=True, budget=None)).pk


def test_a_limit_is_reached_also_where_fewer_than_k_snippets_pass() -> None:
    build = launch_build(replace(order(), k=20, limit=8))  # three pass, so a query has three pairs
    assert build.own_mining.limit == 3


def test_queries_that_do_not_pass_are_neither_estimated_nor_mined() -> None:
    asked = factories.collection("queries", ["sort a list", "python sort lists", "tf.sort"], name="asked")
    rule = QueryRule.DISTINCT | QueryRule.NO_IDENTIFIER
    wanted = replace(order(), queries=asked, query_rule=rule)
    assert (passing_queries(order()), passing_queries(wanted)) == (3, 1)
    build = launch_build(wanted)
    assert build.own_mining.query_rule == int(rule)
    assert order_of(build).query_rule == rule


def test_a_name_can_be_used_once() -> None:
    launch_build(order())
    with pytest.raises(LaunchRefused, match="already"):
        launch_build(order())


def test_of_two_launches_at_the_same_moment_the_second_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = order()

    def launched_meanwhile(_: Order) -> None:
        monkeypatch.undo()
        launch_build(wanted)

    monkeypatch.setattr(launcher, "refuse_bad_order", launched_meanwhile)
    with pytest.raises(LaunchRefused, match="called 'new' already"):
        launch_build(wanted)
    assert Build.objects.count() == 1


def test_queries_and_snippets_can_not_be_swapped() -> None:
    swapped = replace(order(), queries=factories.snippets(), snippets=factories.queries())
    with pytest.raises(LaunchRefused, match="one collection of queries"):
        launch_build(swapped)


def test_the_same_configuration_is_the_same_annotator() -> None:
    first = launch_build(order())
    second = launch_build(replace(order(), name="other"))
    third = launch_build(replace(order(), name="third", model="another model"))
    assert first.annotator == second.annotator != third.annotator


def test_one_model_alone_is_another_annotator_for_each_criterion() -> None:
    exact = launch_build(replace(order(), annotator=Judge.SINGLE_EXACT)).annotator
    half = launch_build(replace(order(), name="half", annotator=Judge.SINGLE_HALF)).annotator
    assert (exact.kind, exact.config["criterion"], half.config["criterion"]) == (
        "single_llm",
        "exact",
        "half",
    )
    assert set(exact.config["agents"]) == {"single_llm", "repair"}
    assert "fix_rounds" not in exact.config
    assert exact != half


def test_the_sandbox_is_part_of_the_annotator_that_runs_tests(settings: Any) -> None:
    shipped = launch_build(order()).annotator
    found = shipped.config["sandbox"]
    assert found == {"backend": settings.SANDBOX_BACKEND, "image": image_tag()}
    settings.SANDBOX_IMAGE = "registry/ours@sha256:1234"
    other = launch_build(replace(order(), name="other")).annotator
    assert other != shipped and other.config["sandbox"]["image"] == "registry/ours@sha256:1234"
    assert (
        "sandbox"
        not in launch_build(replace(order(), name="one", annotator=Judge.SINGLE_EXACT)).annotator.config
    )


def test_rounds_are_no_part_of_the_annotator() -> None:
    one, three = launch_build(order()), launch_build(replace(order(), name="three", rounds=3))
    assert one.annotator == three.annotator
    assert (one.rounds, three.rounds) == (1, 3)
    assert "rounds" not in one.events.get().note and "; 3 rounds" in three.events.get().note


@pytest.mark.parametrize("rounds", [0, 10])
def test_rounds_have_their_bounds(rounds: int) -> None:
    with pytest.raises(LaunchRefused, match="1 to 9 rounds"):
        launch_build(replace(order(), rounds=rounds))


@pytest.mark.parametrize("change", [{"rewrites": 0}, {"second_test": True}, {"fresh": True}])
def test_every_switch_makes_another_annotator(change: dict[str, Any]) -> None:
    usual = launch_build(order()).annotator
    assert launch_build(replace(order(), name="other", **change)).annotator != usual


def test_batches_are_taken_where_the_profile_has_them(settings: Any) -> None:
    settings.ANTHROPIC_API_KEY, settings.LLM_PROFILE = "a-key", "generic"
    wanted = replace(order(), provider="live", model="a-model", unpriced=True, batches=True)
    with pytest.raises(LaunchRefused, match="'generic' offers no batches"):
        launch_build(wanted)
    settings.LLM_PROFILE = "anthropic"
    build = launch_build(wanted)
    assert build.batches
    assert order_of(build).batches
    assert build.annotator == launcher.annotator_of_order(
        replace(wanted, batches=False)
    )  # the same questions
