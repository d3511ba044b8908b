"""The page on which somebody decides whether all pairs are paid for."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape, strip_tags

from annotation.models import Build, BuildEvent, Canary, Case, LLMCall, Seen, Tally
from annotation.models.builds.build import NANO
from annotation.stages import Event
from tests import factories
from tests.annotation.builds.results.test_canary_statistics import with_canary
from tests.annotation.web.builds.test_launch import NEW, confirm, order

pytestmark = pytest.mark.django_db


def waiting(**tally: int) -> Build:
    """A build whose canary is done."""
    build = with_canary()
    Build.objects.filter(pk=build.pk).update(state=Build.State.CANARY)
    Tally.objects.filter(build=build).update(**({"spent": 8 * NANO, "cap": 1_000 * NANO} | tally))
    return build


def text_of(client: Client, name: str, build: Build, query: str = "") -> str:
    html = client.get(reverse(name, args=[build.pk]) + query).content.decode()
    return unescape(" ".join(strip_tags(html).replace("\xa0", " ").split()))


def test_the_page_has_the_cost_the_total_and_every_share_with_its_interval(ada: Client) -> None:
    page = text_of(ada, "build-canary", waiting())
    assert "8 of 9 random pairs finished, drawn by seed 7 from 900" in page
    assert "Cost a pair" in page and "$1.00" in page
    assert "All 900 pairs $900.00" in page
    assert "60.0 % (3 of 5) 23.1 % to 88.2 %" in page  # Wilson of 3 of 5
    assert "37.5 % (3 of 8)" in page and "25.0 % (2 of 8)" in page
    assert "9 cases to read" in page
    assert "there is no earlier build" in page


def test_every_count_leads_to_exactly_its_cases(ada: Client) -> None:
    """Of the canary alone: another pair like each of its own came after it, and one is still open."""
    build = waiting()
    row = Canary.objects.get()
    row.drawn, left_out = row.drawn[1:], row.drawn[0]
    row.save()
    shown = ada.get(reverse("build-canary", args=[build.pk])).context["page"]
    counts = {figure["name"]: figure.get("counts", []) for figure in shown["figures"]}
    told = {name: tuple(cases for cases, _ in pair) for name, pair in counts.items() if pair}
    assert told == {
        "Unclear": (3, 5),
        "Executable": (1, 2),
        "Label 1": (2, 4),
        "Abandoned": (3, 7),
        "Refused": (2, 7),
    }
    html = ada.get(reverse("build-canary", args=[build.pk])).content.decode()
    url = reverse("build-cases", args=[build.pk])
    for cases, link in (count for pair in counts.values() for count in pair):
        assert f'href="{url}?{escape(link)}"' in html
        listed = ada.get(f"{url}?{link}").context["page"]["cases"]
        assert len(listed) == cases, link
        assert not Case.objects.filter(candidate=left_out, pk__in=[case.pk for case in listed])
    assert "those of the canary, finished" in text_of(ada, "build-cases", build, "?canary=finished")


def test_what_is_still_open_is_in_no_list_of_finished_cases(ada: Client) -> None:
    build = waiting()
    open_case = factories.cases(build)[8]
    open_case.move(Event.UNCLEAR)
    listed = ada.get(reverse("build-cases", args=[build.pk]) + "?canary=finished&reached=unclear")
    assert open_case.pk not in [case.pk for case in listed.context["page"]["cases"]]
    drawn = ada.get(reverse("build-cases", args=[build.pk]) + "?canary=drawn&reached=unclear")
    assert open_case.pk in [case.pk for case in drawn.context["page"]["cases"]]


def test_of_a_build_in_rounds_the_first_round_counts_as_in_its_shares(ada: Client) -> None:
    build = factories.said(factories.opened(rounds=2), (1, 0), (1, 1))
    drawn = list(build.cases.filter(round=1).values_list("candidate", flat=True))
    Canary.objects.create(build=build, seed=7, drawn=drawn, pairs=900)
    page = ada.get(reverse("build-cases", args=[build.pk]) + "?canary=drawn&label=1").context["page"]
    assert [case.round for case in page["cases"]] == [1]
    assert page["canary"] == "of the canary, round 1"


def test_a_build_without_a_canary_has_no_case_of_one(ada: Client) -> None:
    build = factories.opened()
    assert not ada.get(reverse("build-cases", args=[build.pk]) + "?canary=drawn").context["page"]["cases"]


@pytest.mark.parametrize(
    ("cap", "said"),
    [
        (None, "no cap"),
        (10**6 * NANO, "Within the cap"),
        (901 * NANO, "may not be enough"),
        (NANO, "is not enough"),
    ],
)
def test_the_cap_is_held_against_the_interval(ada: Client, cap: int | None, said: str) -> None:
    build = waiting()
    Tally.objects.update(cap=cap)
    LLMCall.objects.update(cost=100)
    LLMCall.objects.filter(agent="arbiter").update(cost=200)
    assert said in text_of(ada, "build-canary", build)


def test_the_last_builds_figures_stand_beside_and_what_is_outside_is_marked(ada: Client) -> None:
    build = waiting()
    last = factories.opened("yesterday", state=Build.State.DONE)
    for case in factories.cases(last):
        factories.settled(case, 0)
    page = text_of(ada, "build-canary", build)
    assert "compared with yesterday, the latest finished build with the same model" in page
    assert "23.1 % to 88.2 % 0.0 % ≠ outside" in page


def test_cases_to_read_are_the_first_of_the_draw(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.web.canary.page.TO_READ", 3)
    build = waiting()
    row = Canary.objects.get()
    row.drawn = row.drawn[::-1]
    row.save()
    cases = {case.candidate_id: case.pk for case in factories.cases(build)}
    shown = ada.get(reverse("build-canary", args=[build.pk])).context["page"]["examples"]
    assert [case.pk for case, _ in shown] == [cases[candidate] for candidate in row.drawn[:3]]


def test_whoever_reads_the_labels_has_seen_the_pairs(ada: Client) -> None:
    build = waiting()
    ada.get(reverse("build-canary", args=[build.pk]))
    assert Seen.objects.filter(user=factories.ada()).count() == 9


def test_going_on_is_one_click_and_afterwards_says_who(ada: Client) -> None:
    build = waiting()
    page = ada.get(reverse("build", args=[build.pk])).content.decode()
    assert 'id="do-go_on"' in page and "See what it found" in page
    ada.post(reverse("build-control", args=[build.pk]), {"action": "go_on"})
    build.refresh_from_db()
    assert build.state == Build.State.RUNNING
    assert BuildEvent.objects.get(event="continued after the canary").user == factories.ada()
    assert "ada continued the build" in text_of(ada, "build", build)
    page = ada.get(reverse("build-canary", args=[build.pk])).content.decode()
    assert 'id="do-go_on"' not in page


def test_figures_stay_those_of_the_canary_when_the_build_has_gone_on(ada: Client) -> None:
    build = waiting()
    Canary.objects.update(spent=8 * NANO)
    ada.post(reverse("build-control", args=[build.pk]), {"action": "go_on"})
    Tally.objects.update(spent=500 * NANO)
    assert "All 900 pairs $900.00" in text_of(ada, "build-canary", build)


def test_while_it_runs_the_builds_page_says_how_far_it_is(ada: Client) -> None:
    build = with_canary()
    page = text_of(ada, "build", build)
    assert "8 of 9 random pairs finished" in page
    assert "The other pairs of 900 start when an admin has looked at these" in page
    assert "The canary is not done" in text_of(ada, "build-canary", build)


def test_without_a_canary_there_is_no_page(ada: Client) -> None:
    build = factories.opened()
    assert ada.get(reverse("build-canary", args=[build.pk])).status_code == 404
    Canary.objects.create(build=build, seed=1)
    assert ada.get(reverse("build-canary", args=[build.pk])).status_code == 404
    assert "a few random ones are judged first" in text_of(ada, "build", build)


def test_it_is_for_admins(erin: Client) -> None:
    assert erin.get(reverse("build-canary", args=[waiting().pk])).status_code == 403


def test_hostile_words_are_shown_as_text(ada: Client) -> None:
    build = with_canary()
    factories.abandoned(factories.cases(build)[8], "<img src=x onerror=alert(1)>\u202e")
    page = ada.get(reverse("build-canary", args=[build.pk])).content.decode()
    assert "<img src=x" not in page and "\u202e" not in page


def live(**changes: Any) -> dict[str, Any]:
    return order(
        more_encoders="", provider="live", model="a-model", budget="", unpriced="on", limit="", **changes
    )


def test_skipping_it_is_ticked_with_a_reason(ada: Client, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    answer = ada.post(NEW, live(skip_canary="on"))
    assert answer.status_code == 422
    assert "Give a reason, or let the canary go first." in answer.content.decode()
    confirm(ada, live(skip_canary="on", skip_canary_because="ran it yesterday"))
    event = BuildEvent.objects.get(event="skipped the canary")
    assert (event.user, event.note) == (factories.ada(), "ran it yesterday")
    assert not Canary.objects.exists()


def test_a_reason_without_the_tick_skips_nothing(ada: Client, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    confirm(ada, live(skip_canary_because="maybe"))
    assert Canary.objects.count() == Build.objects.count() == 1
