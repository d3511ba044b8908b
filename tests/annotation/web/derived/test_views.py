"""The pages on which a build is extended, and its cases are run again."""

from __future__ import annotations

import re
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Build, BuildEvent, Canary, Extension, Rerun, Tally
from annotation.models.builds.build import NANO
from tests import factories
from tests.annotation.api.derived.test_derived_builds import settled_build
from tests.annotation.derived.extension.test_execution import add

pytestmark = pytest.mark.django_db

WISH = {
    "name": "once more",
    "start": "arbitrating",
    "provider": "exchange",
    "model": "small-model",
    "fix_rounds": "2",
    "rewrites": "1",
}
LIVE = {**WISH, "provider": "live", "unpriced": "on"}


def words(response: Any) -> str:
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split()))


def hidden(response: Any) -> dict[str, str]:
    """What the form that decides would send."""
    form = response.content.decode().rpartition('<form method="post"')[2].partition("</form>")[0]
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form)
    return {name: unescape(value) for name, value in found}


def test_the_page_shows_chances_and_costs_before_anything_is_decided(ada: Client) -> None:
    build = settled_build()
    Tally.objects.filter(build=build).update(spent=9 * NANO)
    page = ada.get(reverse("build-extend", args=[build.pk]))
    told = words(page)
    assert "Chance of a match by rank" in told
    assert "Rank 4 for all $3.0" in told
    assert "43.9 % to 100.0 %" in told  # Wilson of 3 of 3
    assert page.context["page"].offer is None


def test_a_wish_is_priced_then_done_with_its_cap(ada: Client) -> None:
    build = settled_build()
    add(("sort words", "sort files"), build.queries)
    url = reverse("build-extend", args=[build.pk])
    page = ada.get(url, {"queries": "2", "seed": "9"})
    assert page.context["page"].offer.shown.size.value == "6"
    assert not Extension.objects.exists()
    sent = hidden(page) | {"do": "extend", "reason": "more of them", "budget": "2.5"}
    answer = ada.post(url, sent)
    assert answer.status_code == 302
    extension = Extension.objects.get()
    assert (extension.user, extension.reason, extension.mining.seed) == (factories.ada(), "more of them", 9)
    assert Tally.objects.get(build=build).cap == int(Decimal("2.5") * NANO)
    assert BuildEvent.objects.filter(build=build, event="cap changed", user=factories.ada()).exists()
    assert "its pairs are mined" in words(ada.get(reverse("build", args=[build.pk])))


@pytest.mark.parametrize(
    ("provider", "above", "first"), [("live", 5, True), ("live", 6, False), ("file", 5, False)]
)
def test_the_offer_says_whether_a_canary_goes_first(
    ada: Client, settings: Any, provider: str, above: int, first: bool
) -> None:
    settings.CANARY_ABOVE = settings.CANARY_CASES = above
    build = settled_build()
    add(("sort words", "sort files"), build.queries)
    Build.objects.filter(pk=build.pk).update(provider=provider)
    page = ada.get(reverse("build-extend", args=[build.pk]), {"queries": "2", "seed": "9"})
    assert ("5 random pairs go first" in words(page)) == first
    assert ('name="skip_canary"' in page.content.decode()) == first


def test_skipping_the_canary_is_ticked_with_a_reason(ada: Client, settings: Any) -> None:
    settings.CANARY_ABOVE = settings.CANARY_CASES = 5
    build = settled_build()
    add(("sort words", "sort files"), build.queries)
    Build.objects.filter(pk=build.pk).update(provider="live")
    url = reverse("build-extend", args=[build.pk])
    sent = hidden(ada.get(url, {"queries": "2"})) | {"do": "extend", "reason": "more", "skip_canary": "on"}
    refused = ada.post(url, sent)
    assert refused.status_code == 422
    assert "Give a reason, or let the canary go first." in words(refused)
    assert ada.post(url, sent | {"skip_canary_because": "it is the same model"}).status_code == 302
    event = BuildEvent.objects.get(build=build, event="skipped the canary")
    assert (event.user, event.note) == (factories.ada(), "extension 1: it is the same model")
    assert not Canary.objects.exclude(extension=None).exists()


def test_a_reason_without_the_tick_skips_nothing(ada: Client) -> None:
    build = settled_build()
    add(("sort words", "sort files"), build.queries)
    Build.objects.filter(pk=build.pk).update(provider="live")
    url = reverse("build-extend", args=[build.pk])
    sent = {"do": "extend", "reason": "more", "skip_canary_because": "maybe"}
    assert ada.post(url, hidden(ada.get(url, {"queries": "2"})) | sent).status_code == 302
    assert Canary.objects.exclude(extension=None).count() == 1


def test_nothing_live_is_added_whose_price_was_not_shown(ada: Client) -> None:
    build = settled_build()
    add(("sort words", "sort files"), build.queries)
    Build.objects.filter(pk=build.pk).update(provider="live")
    sent = {"queries": "2", "do": "extend", "reason": "more"}
    answer = ada.post(reverse("build-extend", args=[build.pk]), sent)
    assert answer.status_code == 422 and "was not shown yet" in words(answer)
    assert not Extension.objects.exists()


def test_nothing_live_runs_again_whose_price_was_not_shown(ada: Client, small_canary: None) -> None:
    sent = {**LIVE, "stage": "settled", "reason": "to see"}
    answer = ada.post(reverse("build-again", args=[with_tests().pk]), sent)
    assert answer.status_code == 422 and "was not shown yet" in words(answer)
    assert not Rerun.objects.exists()


def test_without_a_reason_nothing_is_done(ada: Client) -> None:
    build = settled_build()
    url = reverse("build-extend", args=[build.pk])
    answer = ada.post(url, hidden(ada.get(url, {"k": "4"})) | {"do": "extend", "reason": ""})
    assert answer.status_code == 422
    assert not Extension.objects.exists()


@pytest.mark.parametrize("wish", [{"k": "1"}, {"queries": "5000"}, {"k": "many"}, {"seed": "-1"}, {"k": "3"}])
def test_a_wish_that_can_not_be_is_refused_in_words(ada: Client, wish: dict[str, str]) -> None:
    page = ada.get(reverse("build-extend", args=[settled_build().pk]), wish)
    assert page.status_code == 422
    assert page.context["page"].form.errors


def test_what_can_not_be_extended_says_why(ada: Client) -> None:
    build = factories.opened(state=Build.State.CANCELLED)
    url = reverse("build-extend", args=[build.pk])
    assert "The build is cancelled" in words(ada.get(url))
    assert ada.post(url, {"k": "5", "reason": "so"}).status_code == 422
    assert not Extension.objects.exists()


def test_an_extension_is_taken_back_from_the_builds_page(ada: Client) -> None:
    build = settled_build()
    url = reverse("build-extend", args=[build.pk])
    add(("sort words",), build.queries)
    ada.post(url, {"queries": "1", "reason": "one more"})
    assert ada.post(url, {"do": "cancel"}, follow=True).status_code == 200
    assert Extension.objects.get().state == "cancelled"
    assert "may have been opened meanwhile" in words(ada.post(url, {"do": "cancel"}, follow=True))


def with_tests() -> Build:
    build = factories.opened()
    first, second, third = factories.cases(build)[:3]
    factories.examined(first, 1)
    factories.examined(second, 0)
    factories.settled(third, 0)
    return build


def test_chosen_cases_are_priced_and_run_again(ada: Client) -> None:
    build = with_tests()
    url = reverse("build-again", args=[build.pk])
    page = ada.get(url, {"stage": "settled", **WISH})
    told = words(page)
    assert "Cases 2 of 3 chosen" in told
    assert "everything up to the execution of the test program" in told
    answer = ada.post(url, hidden(page) | {"reason": "to see"})
    assert answer.status_code == 302
    rerun = Rerun.objects.get()
    assert (rerun.build.name, rerun.description, rerun.cases.count()) == ("once more", "stage “settled”", 2)
    new = words(ada.get(reverse("build", args=[rerun.build_id])))
    assert "Runs cases of first again from arbitrating on" in new
    assert rerun.build.provider == "exchange"


def test_cases_run_again_with_longer_replies(ada: Client) -> None:
    url = reverse("build-again", args=[with_tests().pk])
    assert "1 to 200,000" in words(ada.get(url, WISH | {"sampling": '{"max_tokens": 0}'}))
    page = ada.get(url, {"stage": "settled", **WISH, "sampling": '{"max_tokens": 16384}'})
    assert ada.post(url, hidden(page) | {"reason": "they were cut off"}).status_code == 302
    assert Rerun.objects.get().build.annotator.config["sampling"] == {"max_tokens": 16384}


@pytest.fixture
def small_canary(settings: Any) -> None:
    """One case goes first where there are two."""
    settings.CANARY_ABOVE = settings.CANARY_CASES = 1
    settings.ANTHROPIC_API_KEY = "a-key"


@pytest.mark.parametrize(("change", "first"), [({}, True), ({"provider": "exchange"}, False)])
def test_running_again_says_whether_a_canary_goes_first(
    ada: Client, small_canary: None, change: dict[str, str], first: bool
) -> None:
    page = ada.get(reverse("build-again", args=[with_tests().pk]), LIVE | change)
    assert ("1 random pair go first" in words(page)) == first
    assert ('name="skip_canary"' in page.content.decode()) == first


def test_running_again_skips_the_canary_by_a_tick_with_a_reason(ada: Client, small_canary: None) -> None:
    url = reverse("build-again", args=[with_tests().pk])
    sent = hidden(ada.get(url, LIVE)) | {"reason": "to see", "skip_canary": "on"}
    refused = ada.post(url, sent)
    assert refused.status_code == 422 and "Give a reason, or let the canary go first." in words(refused)
    assert not Rerun.objects.exists()
    assert ada.post(url, sent | {"skip_canary_because": "a few cents"}).status_code == 302
    build = Rerun.objects.get().build
    event = build.events.get(event="skipped the canary")
    assert (event.user, event.note) == (factories.ada(), "a few cents")
    assert not Canary.objects.filter(build=build).exists()


def test_running_again_has_its_canary_where_a_reason_is_typed_without_the_tick(
    ada: Client, small_canary: None
) -> None:
    url = reverse("build-again", args=[with_tests().pk])
    sent = hidden(ada.get(url, LIVE)) | {"reason": "to see", "skip_canary_because": "maybe"}
    assert ada.post(url, sent).status_code == 302
    assert Canary.objects.filter(build=Rerun.objects.get().build).exists()


def test_the_form_begins_with_what_the_build_had(ada: Client) -> None:
    form = ada.get(reverse("build-again", args=[with_tests().pk])).context["page"].form
    assert not form.is_bound
    assert (form["name"].value(), form["model"].value()) == ("first again", "small-model")


@pytest.mark.parametrize(
    "change",
    [{"name": "first"}, {"name": ""}, {"start": "fixing"}, {"start": "screening", "label": "1", "case": "0"}],
)
def test_what_can_not_be_run_again_is_refused(ada: Client, change: dict[str, str]) -> None:
    page = ada.get(reverse("build-again", args=[with_tests().pk]), WISH | change)
    assert page.status_code == 422
    assert page.context["page"].offer is None


def test_the_lists_of_cases_lead_there(ada: Client) -> None:
    build = with_tests()
    html = ada.get(reverse("build-cases", args=[build.pk]), {"label": "1"}).content.decode()
    url = reverse("build-again", args=[build.pk])
    assert f'{url}?label=1"' in html
    assert 'form="again" name="case"' in html


def test_a_case_that_was_taken_over_leads_to_the_one_before(ada: Client) -> None:
    from annotation.jobs import worker

    build = with_tests()
    url = reverse("build-again", args=[build.pk])
    ada.post(url, WISH | {"reason": "to see"})
    new = Rerun.objects.get().build
    worker.open_cases(Build.objects.get(pk=new.pk))
    case = new.cases.first()
    assert case is not None
    page = words(ada.get(reverse("case", args=[case.pk])))
    assert "What comes before arbitrating is taken over from the pair in first" in page
    assert "reused" in page
