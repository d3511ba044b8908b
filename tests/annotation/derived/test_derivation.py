"""Whatever a build is derived from: its price is seen first, and holds for that choice of pairs alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from annotation.builds.control.pause_resume import ControlRefused
from annotation.builds.launch.order import LaunchRefused
from annotation.derived.derivation import Decision, Derivation
from annotation.derived.extension.extension_plan import plan_extension
from annotation.derived.missing_functions.launch import plan_filling
from annotation.derived.rerun.launch import Again, plan_rerun
from annotation.derived.unjudged_results import Fill, plan_hole_filling
from annotation.models import Build, BuildEvent, Canary, Extension
from annotation.schemas.derived.derived_builds import ExtensionWish
from annotation.stages import Stage
from retrieval.models import Run
from tests import factories, filling
from tests.annotation.api.derived.test_derived_builds import settled_build
from tests.annotation.derived.extension.test_execution import add
from tests.annotation.derived.test_unjudged_results import run  # noqa: F401  (a fixture)

pytestmark = pytest.mark.django_db

Plan = Derivation[Any]
Two = Callable[[], tuple[Plan, Plan]]
KINDS = ("extension", "rerun", "holes", "functions")


@pytest.fixture(params=KINDS)
def two(request: pytest.FixtureRequest) -> tuple[Plan, Plan]:
    """A plan, and another choice of pairs of the same source."""
    if request.param == "holes":
        found: Run = request.getfixturevalue("run")
        return plan_hole_filling(Fill(found, "new")), plan_hole_filling(Fill(found, "new", depth=1))
    return {"extension": extensions, "rerun": reruns, "functions": functions}[request.param]()


def extensions() -> tuple[Plan, Plan]:
    build = settled_build()
    add(("sort words", "sort files"), build.queries)
    build = Build.objects.get(pk=build.pk)
    return plan_extension(build, ExtensionWish(queries=1)), plan_extension(build, ExtensionWish(queries=2))


def reruns() -> tuple[Plan, Plan]:
    build, wish = settled_build(), Again("new", Stage.SCREENING)
    return plan_rerun(build, build.cases.all(), wish), plan_rerun(build, build.cases.filter(rank=1), wish)


def functions() -> tuple[Plan, Plan]:
    build = filling.source()
    return plan_filling(filling.order(build)), plan_filling(filling.order(build, limit=1))


def made() -> tuple[int, int]:
    return Build.objects.count(), Extension.objects.count()


def is_confirmed() -> bool:
    notes = BuildEvent.objects.values_list("event", "note")
    return not any("confirmed by nobody" in words for pair in notes for words in pair)


def test_a_price_is_seen_before_anything_is_made_and_launched_on_its_word(two: tuple[Plan, Plan]) -> None:
    plan, before = two[0], made()
    quote = plan.quote()
    assert quote.figures.calls.expected > 0 and made() == before
    plan.launch(Decision(factories.ada(), "to see", quote.word))
    assert sum(made()) == sum(before) + 1 and is_confirmed()


def test_the_word_of_another_choice_launches_nothing(two: tuple[Plan, Plan]) -> None:
    plan, other = two
    before = made()
    with pytest.raises(LaunchRefused, match="The order has changed"):
        plan.launch(Decision(factories.ada(), "to see", other.quote().word))
    assert made() == before


def test_without_a_word_the_history_says_that_nobody_has_seen_the_price(two: tuple[Plan, Plan]) -> None:
    two[0].launch(Decision(factories.ada(), "to see"))
    assert not is_confirmed()


def test_a_second_click_launches_nothing_more(two: tuple[Plan, Plan]) -> None:
    decision = Decision(factories.ada(), "to see")
    two[0].launch(decision)
    before = made()
    with pytest.raises((LaunchRefused, ControlRefused), match="already"):
        two[0].launch(decision)
    assert made() == before


def test_a_reason_is_kept_without_what_no_database_stores(two: tuple[Plan, Plan]) -> None:
    two[0].launch(Decision(factories.ada(), "to\x00 see"))
    notes = " ".join(BuildEvent.objects.values_list("note", flat=True))
    assert "\x00" not in notes and " see" in notes


@pytest.mark.parametrize(("provider", "above", "first"), [("live", 1, 1), ("live", 9, 0), ("exchange", 1, 0)])
def test_a_large_live_one_begins_with_a_canary(
    two: tuple[Plan, Plan], settings: Any, provider: str, above: int, first: int
) -> None:
    settings.CANARY_ABOVE = settings.CANARY_CASES = above
    plan = replace(two[0], order=replace(two[0].order, provider=provider))
    assert plan.cases in {2, 3, 6, 9}
    has_one = not hasattr(plan, "queries")  # a large job of functions comes after a small one instead
    assert plan.canary == (first if has_one else 0)


def test_a_live_filling_of_holes_skips_its_canary_with_a_reason(
    run: Run,  # noqa: F811
    settings: Any,
) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    for name, why in (("first", ""), ("all", "a few cents")):
        plan = plan_hole_filling(Fill(run, name, provider="live", unpriced=True))
        plan.launch(Decision(factories.ada(), skip_canary=why))
    assert list(Canary.objects.values_list("build__name", flat=True)) == ["first"]
    assert BuildEvent.objects.get(event="skipped the canary").note == "a few cents"
