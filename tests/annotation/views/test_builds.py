from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags
from pytest_django import Settings

from annotation.models import Build, BuildEvent, Price
from annotation.ordered import order_of
from annotation.tools import provider
from retrieval.filters import Rule
from retrieval.fusion import WORDS
from retrieval.models import Mining
from tests import factories

pytestmark = pytest.mark.django_db
NEW = "/builds/new/"


def order(**changes: Any) -> dict[str, Any]:
    """What a browser sends for an ordinary build."""
    return {
        "name": "autumn",
        "queries": factories.queries().pk,
        "snippets": factories.snippets().pk,
        "encoders": ["bm25", "bow"],
        "k": "5",
        "rule": str(int(Rule.TESTABLE)),
        "text_option": "without docstring",
        "provider": "exchange",
        "model": "",
        "budget": "2.50",
        "limit": "10",
        "fix_rounds": "1",
        **changes,
    }


def test_launching_makes_the_build_that_was_ordered(ada: Client) -> None:
    answer = ada.post(NEW, order())
    build = Build.objects.select_related("mining", "tally", "annotator").get()
    assert answer["Location"] == reverse("build", args=[build.pk])
    assert (build.name, build.provider, build.model, build.limit) == ("autumn", "exchange", "any", 10)
    assert (build.mining.encoders, build.mining.k, build.mining.text_option) == (
        ["bm25", "bow"],
        5,
        "without docstring",
    )
    assert build.tally.cap == 2_500_000_000
    assert build.annotator.config["fix_rounds"] == 1
    assert build.created_by == factories.ada()


@pytest.mark.parametrize(("sent", "kept"), [({}, "mean"), ({"fusion": "maxabs"}, "maxabs")])
def test_the_fusion_is_part_of_the_order_and_on_the_page(
    ada: Client, sent: dict[str, str], kept: str
) -> None:
    page = ada.post(NEW, order(**sent), follow=True).content.decode()
    build = Build.objects.select_related("mining").get()
    assert build.mining.fusion == order_of(build).fusion == kept
    assert WORDS[kept] in unescape(page)


def test_approximate_search_is_ordered_under_more_options(ada: Client, settings: Settings) -> None:
    settings.CELERY_BROKER_URL = "redis://elsewhere"  # the machine that mines has the weights
    form = unescape(ada.get(NEW).content.decode())
    folded = form.partition("<summary>More options</summary>")[2].partition("</details>")[0]
    assert "is shown on the build's page" in folded and 'value="hnsw"' in folded
    refused = ada.post(NEW, order(approximate="hnsw"))
    assert "An approximate index holds vectors" in unescape(refused.content.decode())
    assert not Build.objects.exists()
    page = ada.post(NEW, order(approximate="ivf", encoders=["minilm"]), follow=True).content.decode()
    build = Build.objects.select_related("mining").get()
    assert build.mining.approximate == order_of(build).approximate == "ivf"
    assert "not measured yet" in page
    assert ada.post(NEW, order(name="other", approximate="best")).status_code == 422


def test_what_a_server_of_embeddings_was_asked_is_priced_or_said_to_be_unknown(ada: Client) -> None:
    build = factories.opened()
    asked = {"model": "text-large", "requests": 4, "tokens": 2_000_000, "untold": 0}
    minings = Mining.objects.filter(pk=build.mining_id)
    minings.update(asked={"endpoint:text-large": asked})
    assert "endpoint:text-large: 2,000,000 tokens, price not known" in text_of(ada, build)
    long_ago = timezone.now() - timedelta(days=400)
    Price.objects.create(model="text-large", effective_from=long_ago, input="0.13", output=0)
    assert "2,000,000 tokens, $0.26" in text_of(ada, build)
    minings.update(asked={"endpoint:text-large": {**asked, "untold": 1}})
    assert "at least 2,000,000 tokens, at least $0.26; 1 of 4 answers named none" in text_of(ada, build)
    minings.update(asked={"endpoint:text-large": {**asked, "tokens": 0, "untold": 4}})
    page = text_of(ada, build)
    assert "4 requests, tokens not told by the server, cost not known" in page
    minings.update(asked={"endpoint:text-large": {**asked, "tokens": 0, "requests": 0}})
    assert "nothing was asked, all vectors were stored" in text_of(ada, build)


def test_rules_of_queries_are_part_of_the_order_and_on_the_page(ada: Client) -> None:
    page = ada.post(NEW, order(query_rules=["english", "distinct"]), follow=True).content.decode()
    assert Build.objects.select_related("mining").get().mining.query_rule == 5
    assert "in English, by their small words; the first of near-same ones" in page
    assert ada.post(NEW, order(name="other", query_rules=["best"])).status_code == 422


def test_what_a_mining_found_again_and_missed_is_on_the_page(ada: Client) -> None:
    build = factories.opened()
    page = text_of(ada, build)
    assert "human matches" not in page and "exact search" not in page
    Mining.objects.filter(pk=build.mining_id).update(
        recovered={"matches": 8, "outside": 2, "queries": 5, "found": {str(build.mining.k): 6}},
        approximate="hnsw",
        recall={"index": "hnsw", "k": build.mining.k, "queries": 200, "seed": 7, "recall": 0.987},
    )
    page = text_of(ada, build)
    assert "75.0 % of 8 human matches" in page and "2 more have a snippet that it did not search" in page
    assert "98.7 % of the top" in page and "of exact search, measured on 200 queries" in page


def test_encoders_by_folder_are_added_to_those_that_are_ticked(ada: Client) -> None:
    answer = ada.post(NEW, order(more_encoders="codebert:/nowhere"))
    assert answer.status_code == 422
    assert "/nowhere" in answer.content.decode()  # refused by name: it was among the encoders


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": ""}, "This field is required"),
        ({"encoders": []}, "Choose at least one encoder"),
        ({"k": "0"}, "greater than or equal to 1"),
        ({"provider": "live"}, "ANTHROPIC_API_KEY"),
        ({"provider": "recorded"}, "Choose the file of recorded replies"),
        ({"budget": "-1"}, "greater than or equal to 0"),
        ({"limit": str(2**63)}, "less than or equal to"),
        ({"encoders": ["word2vec"]}, "word2vec"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_typed_is_lost(
    ada: Client, change: dict[str, Any], said: str
) -> None:
    answer = ada.post(NEW, order(more_encoders="", **change))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said in page
    assert 'value="2.50"' in page or change.get("budget")
    assert not Build.objects.exists()


def test_a_live_build_needs_a_price_or_the_word_that_it_needs_none(ada: Client, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    live = order(more_encoders="", provider="live", model="a-model", budget="")
    assert "What a-model costs is not known" in ada.post(NEW, live).content.decode()
    confirm(ada, live | {"unpriced": "on"})
    assert "without a price" in Build.objects.get().events.get(event="launched").note


def test_a_provider_that_needs_no_key_can_be_chosen(ada: Client, settings: Any) -> None:
    settings.LLM_PROFILE = "ollama"
    confirm(ada, order(more_encoders="", provider="live", model="local", budget="", unpriced="on"))
    assert Build.objects.get().model == "local"


def confirm(client: Client, live: dict[str, Any]) -> None:
    """Launch what is paid: look at the estimate, then confirm it."""
    page = client.post(NEW, live).context["page"]
    assert client.post(NEW, live | {"step": "launch", "estimate": page.word}).status_code == 302


@pytest.fixture
def priced(settings: Any) -> dict[str, Any]:
    """A live order of a model that has a price."""
    settings.ANTHROPIC_API_KEY, settings.LLM_PROFILE = "a-key", "generic"
    Price.objects.create(model="a-model", effective_from=datetime(2026, 1, 1, tzinfo=UTC), input=1, output=5)
    return order(more_encoders="", provider="live", model="a-model")


def test_what_is_paid_is_estimated_first_and_nothing_is_made_before(
    ada: Client, priced: dict[str, Any]
) -> None:
    answer = ada.post(NEW, priced | {"encoders": ["bow"], "budget": "0.0001"})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert not (Build.objects.exists() or Mining.objects.exists())
    assert "from 2026-01-01 on: $1 in and $5 out" in page
    assert "above your cap" in page
    assert "33 % (20 % to 50 %)" in page and "as reported in the paper" in page
    assert '<input type="hidden" name="encoders" value="bow"' in page


def test_going_back_leaves_everything_filled_in(ada: Client, priced: dict[str, Any]) -> None:
    answer = ada.post(NEW, priced | {"step": "change", "estimate": "x"})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert 'value="autumn"' in page and 'value="2.50"' in page and 'value="a-model"' in page
    assert not Build.objects.exists()


def test_a_confirmed_estimate_is_kept_with_its_build_and_shown_beside_what_came_of_it(
    ada: Client, priced: dict[str, Any]
) -> None:
    confirm(ada, priced)
    build = Build.objects.get()
    assert build.estimate and build.estimate["pairs"] == 9
    told = build.events.get(event="estimate confirmed")
    assert told.user == factories.ada() and told.note.startswith("9 pairs, 15 calls (13 to 21), $0.0")
    build.tally.change(calls=11, spent=10**9)
    page = text_of(ada, build)
    assert "Estimate and actual" in page and "9 pairs expected" in page
    assert "Calls 15 13 to 21 11" in page
    assert "above the range" in page  # a dollar for eleven calls


def test_an_estimate_is_launched_on_only_as_it_was_shown(ada: Client, priced: dict[str, Any]) -> None:
    word = ada.post(NEW, priced).context["page"].word
    for changed, told in [
        ({"k": "1"}, "The order has changed"),
        ({"estimate": word[:-3] + "abc"}, "holds no more"),
    ]:
        answer = ada.post(NEW, priced | {"step": "launch", "estimate": word} | changed)
        assert (answer.status_code, told in answer.content.decode()) == (200, True)
    Price.objects.create(model="a-model", effective_from=timezone.now(), input=2, output=9)
    answer = ada.post(NEW, priced | {"step": "launch", "estimate": word})
    assert "The price has changed" in answer.content.decode()
    assert "$2 in and $9 out" in answer.content.decode()
    assert not Build.objects.exists()


def test_a_name_can_be_used_once(ada: Client) -> None:
    factories.launched("autumn")
    answer = ada.post(NEW, order())
    assert "choose another name" in answer.content.decode()
    assert Build.objects.count() == 1


def test_recorded_replies_are_chosen_from_files_and_bring_their_model(
    ada: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.COSQA_HOME = tmp_path
    (tmp_path / "recorded").mkdir()
    recording = tmp_path / "recorded" / "autumn.jsonl"
    recording.write_text('{"id": "0", "reply": {}, "model": "small-model"}\n')
    ada.post(NEW, order(provider="recorded", recorded=str(recording)))
    build = Build.objects.get()
    assert (build.recorded, build.model) == (str(recording), "small-model")


def test_a_path_of_ones_own_is_no_recording(ada: Client) -> None:
    answer = ada.post(NEW, order(provider="recorded", recorded="/etc/passwd"))
    assert answer.status_code == 422
    assert not Build.objects.exists()


def test_the_form_offers_collections_and_says_which_encoders_are_missing(ada: Client) -> None:
    factories.queries()
    page = ada.get(NEW).content.decode()
    assert "small (queries, version 1)" in page
    assert "codebert" in page
    assert "A build needs a collection of queries and one of snippets" in page


@pytest.mark.parametrize(
    "address",
    [NEW, "/builds/{pk}/", "/builds/{pk}/progress/", "/builds/{pk}/abandoned/", "/builds/{pk}/cases/"],
)
def test_only_admins_may(erin: Client, address: str) -> None:
    build = factories.opened()
    assert erin.get(address.format(pk=build.pk)).status_code == 403


def test_only_admins_may_launch_and_control(erin: Client) -> None:
    build = factories.opened()
    assert erin.post(NEW, order(name="mine")).status_code == 403
    assert erin.post(reverse("build-control", args=[build.pk]), {"action": "cancel"}).status_code == 403
    assert Build.objects.get().state == Build.State.RUNNING


def test_page_shows_the_funnel_in_words_and_numbers(ada: Client) -> None:
    build = factories.opened(cap=1_000_000_000)
    factories.examined(factories.cases(build)[0], 1)
    page = ada.get(reverse("build", args=[build.pk])).content.decode()
    assert "1 of 9 cases finished" in page
    assert 'data-funnel="8 0 0 0 0 1 0 "' in page
    assert "1 of 1 test program ran" in page
    assert "of $1.00" in page


def test_page_of_a_build_that_is_mined_shows_the_mining(ada: Client) -> None:
    build = factories.launched()
    page = reverse("build", args=[build.pk])
    assert "The mining waits for a worker" in ada.get(page).content.decode()
    Mining.objects.update(state=Mining.State.RUNNING, phase="encoding snippets", done=3, total=12)
    content = ada.get(page).content.decode()
    assert "Mining: encoding snippets" in content
    assert "3 of 12" in content


def test_recorded_replies_are_told_plainly(ada: Client) -> None:
    build = factories.opened(provider=Build.Provider.RECORDED)
    assert "Recorded replies." in ada.get(reverse("build", args=[build.pk])).content.decode()


def test_waiting_requests_name_the_command_that_exports_them(ada: Client) -> None:
    build = factories.opened("autumn")
    case = factories.cases(build)[0]
    case.put_back(waiting=factories.llm_call(case, "screener", {}, status="waiting"))
    page = ada.get(reverse("build", args=[build.pk])).content.decode()
    assert "1 request wait" in page
    assert 'manage.py exchange export "autumn"' in page


def test_a_build_that_waits_for_its_provider_says_since_when_why_and_what_happens_next(ada: Client) -> None:
    since, soon = timezone.now() - timedelta(minutes=12), timezone.now() + timedelta(minutes=4, seconds=30)
    columns: dict[str, Any] = {
        "state": Build.State.WAITING,
        "reason": "the provider is overloaded",
        "waiting_since": since,
    }
    build = factories.opened(**columns, probe_at=soon, probes=7)
    page = text_of(ada, build)
    assert "the provider is overloaded" in page
    assert "The wait began 12 minutes ago; the provider was tried 7 times since, and the next try" in page
    assert "is due 4 minutes from now. The build goes on by itself" in page
    Build.objects.filter(pk=build.pk).update(waits_for=Build.WaitsFor.SANDBOX)
    page = text_of(ada, build)
    assert "waiting for the sandbox" in page and "the sandbox was tried 7 times since" in page
    Build.objects.filter(pk=build.pk).update(probe_at=None)
    assert "put this right, then resume the build" in text_of(ada, build)


def text_of(client: Client, build: Build) -> str:
    """The build's page without its tags, spaces made one."""
    html = client.get(reverse("build", args=[build.pk])).content.decode()
    return unescape(" ".join(strip_tags(html).replace("\xa0", " ").split()))


def test_polling_gets_the_fragment_once_and_then_304_until_something_changes(ada: Client) -> None:
    build = factories.opened()
    Build.objects.update(state=Build.State.PAUSED)  # a running build ages with the clock
    address = reverse("build-progress", args=[build.pk])
    first = ada.get(address)
    assert first.status_code == 200
    assert "<html" not in first.content.decode()
    seen = {"If-None-Match": first["ETag"]}
    assert ada.get(address, headers=seen).status_code == 304
    factories.settled(factories.cases(build)[0], 1)
    again = ada.get(address, headers=seen)
    assert (again.status_code, "1 of 9 cases finished" in again.content.decode()) == (200, True)


def test_fragment_carries_the_version_of_its_entity_tag(ada: Client) -> None:
    build = factories.opened()
    Build.objects.update(state=Build.State.PAUSED)
    answer = ada.get(reverse("build-progress", args=[build.pk]))
    assert f"data-version={answer['ETag']}" in answer.content.decode()


def test_a_build_that_is_not_there_is_404(ada: Client) -> None:
    assert ada.get("/builds/9/").status_code == 404
    assert ada.get("/builds/9/progress/").status_code == 404


def test_pausing_and_resuming_is_recorded_with_who_did_it(ada: Client) -> None:
    build = factories.opened()
    control = reverse("build-control", args=[build.pk])
    ada.post(control, {"action": "pause"})
    build.refresh_from_db()
    assert build.state == Build.State.PAUSED
    ada.post(control, {"action": "resume"})
    build.refresh_from_db()
    assert build.state == Build.State.RUNNING
    events = BuildEvent.objects.order_by("id").values_list("event", "user__username")
    assert list(events) == [("launched", "ada"), ("pause", "ada"), ("resume", "ada")]


def test_cancelling_is_asked_once_more_and_keeps_the_reason(ada: Client) -> None:
    build = factories.opened()
    control = reverse("build-control", args=[build.pk])
    assert "resumed" in ada.get(control, {"action": "cancel"}).content.decode()
    build.refresh_from_db()
    assert build.state == Build.State.RUNNING
    ada.post(control, {"action": "cancel", "note": "wrong model"})
    build.refresh_from_db()
    assert build.state == Build.State.CANCELLED
    assert BuildEvent.objects.filter(event="cancel", note="wrong model").exists()


def test_what_the_state_forbids_is_said_on_the_page(ada: Client) -> None:
    build = factories.opened()
    Build.objects.update(state=Build.State.DONE)
    page = ada.post(reverse("build-control", args=[build.pk]), {"action": "pause"}, follow=True)
    assert "be paused now" in page.content.decode()


def test_an_unknown_action_is_a_bad_request(ada: Client) -> None:
    build = factories.opened()
    assert ada.post(reverse("build-control", args=[build.pk]), {"action": "explode"}).status_code == 400


@pytest.mark.parametrize(
    ("state", "shown"),
    [("running", ["pause", "cancel"]), ("paused", ["resume", "cancel"]), ("done", []), ("cancelled", [])],
)
def test_buttons_are_those_that_the_state_allows(ada: Client, state: str, shown: list[str]) -> None:
    build = factories.opened()
    Build.objects.update(state=state)
    page = ada.get(reverse("build", args=[build.pk])).content.decode()
    assert [name for name in ("pause", "resume", "cancel") if f'id="do-{name}"' in page] == shown


def test_hostile_words_of_a_model_are_shown_as_text(ada: Client) -> None:
    build = factories.opened("<script>alert(1)</script>")
    factories.abandoned(factories.cases(build)[0], "<img src=x onerror=alert(1)>")
    for name in ("build", "build-abandoned"):
        page = ada.get(reverse(name, args=[build.pk])).content.decode()
        assert "<img src=x" not in page
        assert "<script>alert" not in page


@pytest.mark.parametrize(
    "name", ["dashboard", "browse", "build", "browse-build", "distribution", "build-abandoned", "build-cases"]
)
def test_a_name_that_turns_the_reading_direction_is_seen_through(ada: Client, name: str) -> None:
    build = factories.opened("\u202elive")
    where = [build.pk] if name not in {"dashboard", "browse"} else []
    page = ada.get(reverse(name, args=where)).content.decode()
    assert "\u202e" not in page
    assert "U+202E" in page


def test_a_provider_whose_counter_can_not_be_reached_is_estimated_all_the_same(
    ada: Client, priced: dict[str, Any], settings: Any
) -> None:
    settings.LLM_PROFILE, settings.LLM_BASE_URL = "anthropic", "http://127.0.0.1:9/v1"  # /v1 is refused
    provider.cache_clear()
    page = ada.post(NEW, priced).content.decode()
    assert "counter did not answer: leave &#x27;/v1&#x27; out" in page
