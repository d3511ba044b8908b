"""The drift check in the browser: ordered, watched, and resumed with a reason."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from annotation.models import AgentBill, Build, DriftAnswer, DriftCheck, DriftWatch, Seen
from annotation.models.builds.build import NANO
from tests import factories
from tests.annotation.web.builds.test_launch import NEW, order

pytestmark = pytest.mark.django_db


def shifted(state: str = Build.State.PAUSED) -> Build:
    """A build whose first check after its baseline found a shift."""
    build = factories.opened(state=state)
    watch = DriftWatch.objects.create(build=build, seed=7, every=3, drawn=[1, 2, 3], max_checks=2)
    done: dict[str, Any] = {"watch": watch, "finished_at": timezone.now()}
    DriftCheck.objects.create(number=0, is_baseline=True, settled=0, agreed=3, **done)
    found: dict[str, Any] = {"agreed": 1, "lower": 2, "p_value": 0.0009, "level": 0.005, "shifted": True}
    DriftCheck.objects.create(number=1, is_baseline=False, settled=4, cost=NANO, **found, **done)
    AgentBill.objects.create(build=build, agent="drift_check", calls=9, spent=2 * NANO)
    return build


def text_of(client: Client, build: Build) -> str:
    html = client.get(reverse("build", args=[build.pk])).content.decode()
    return unescape(" ".join(strip_tags(html).replace("\xa0", " ").split()))


def pairs_of(client: Client, build: Build, number: int, query: str = "") -> str:
    html = client.get(reverse("build-drift", args=[build.pk, number]) + query).content.decode()
    return unescape(" ".join(strip_tags(html).replace("\xa0", " ").split()))


def test_the_page_shows_each_check_and_the_bill_apart(ada: Client) -> None:
    page = text_of(ada, shifted())
    assert "Drift check 9 calls, $2.00" in page
    assert "4 settled cases ! a shift 1 of 3 0 2 0 0.0009 $1.00" in page
    assert "0 settled cases · baseline 3 of 3 0 0 0 –" in page
    assert "3 pairs, drawn by seed 7, are asked again every 3 settled cases" in page
    assert "Below p = 0.005 it is a shift" in page


def test_a_build_without_one_says_nothing_of_it(ada: Client) -> None:
    assert "Drift check" not in text_of(ada, factories.opened())


def links_of(client: Client, build: Build) -> dict[str, str]:
    """Where the numbers of the checks lead, by the beginning of what the link is called."""
    html = client.get(reverse("build", args=[build.pk])).content.decode()
    found = re.findall(r'<a id="drift-\d-\w+" href="([^"]+)" aria-label="([^"]+): see the pairs">', html)
    return {unescape(name): unescape(url) for url, name in found}


def test_each_number_of_a_check_leads_to_exactly_its_pairs(ada: Client) -> None:
    build = factories.opened()
    answers = ((1, 1, 0), (1, 0.5, 0.5), (0, 0, 1), (0.5, 0.5, None), (0, 0, 0), (None, None, None))
    check = factories.drift_checked(build, *answers)
    assert (check.higher, check.lower, check.judged_once, check.agreed) == (1, 2, 1, 2)
    ids = check.watch.drawn
    places = {"Higher, 1": [2], "Lower, 2": [0, 1], "No verdict once, 1": [3], "As at first, 2": [4, 5]}
    links = links_of(ada, build)
    for name, wanted in places.items():
        page = ada.get(links[f"{name}, after 3 settled cases"]).context["page"]
        assert [row.case.pk for row in page["rows"]] == [ids[place] for place in wanted], name
    every = ada.get(links["All 6, after 3 settled cases"]).context["page"]
    assert [row.case.pk for row in every["rows"]] == [ids[place] for place in (2, 0, 1, 3, 4, 5)]
    assert "Lower, 1, after 0 settled cases" in links and "Higher, 0, after 0 settled cases" not in links


def test_a_pair_shows_the_old_and_the_new_verdict_with_the_models_words(ada: Client) -> None:
    build = factories.opened()
    factories.settled(factories.cases(build)[0], 1)
    check = factories.drift_checked(build, (1, 0.5, 0), (0.5, 0.5, None))
    page = pairs_of(ada, build, check.number)
    assert "▼ lower ✓ match said at first ? unclear said again ✗ no match said now ✓ match" in page
    assert "≠ no verdict once ? unclear said at first ? unclear said again – no verdict said now" in page
    assert Seen.objects.filter(user=factories.ada()).count() == 2
    baseline = pairs_of(ada, build, 0)
    assert "The baseline: 2 pairs, each asked twice" in baseline
    assert "▼ lower ✓ match said at first ? unclear said again ✓ match" in baseline


def test_there_is_no_list_of_a_check_that_is_asked_or_that_there_is_not(ada: Client, erin: Client) -> None:
    check = factories.drift_checked(build := factories.opened(), (1, 1, 1))
    url = reverse("build-drift", args=[build.pk, check.number])
    assert erin.get(url).status_code == 403
    assert "none is in this list" in pairs_of(ada, build, check.number, "?moved=higher")
    assert ada.get(reverse("build-drift", args=[build.pk, 7])).status_code == 404
    DriftCheck.objects.filter(pk=check.pk).update(finished_at=None)
    assert ada.get(url).status_code == 404


def test_the_models_words_are_shown_as_text(ada: Client) -> None:
    check = factories.drift_checked(build := factories.opened(), (1, 1, 0))
    DriftAnswer.objects.update(explanation="<img src=x onerror=alert(1)>\u202e")
    html = ada.get(reverse("build-drift", args=[build.pk, check.number])).content.decode()
    assert "<img src=x" not in html and "\u202e" not in html


def test_resuming_it_asks_why_first(ada: Client) -> None:
    build = shifted()
    url = reverse("build-control", args=[build.pk])
    assert f'href="{url}?action=resume"' in ada.get(reverse("build", args=[build.pk])).content.decode()
    assert "required" in ada.get(url, {"action": "resume"}).content.decode()
    ada.post(url, {"action": "resume", "note": " "})
    assert Build.objects.get(pk=build.pk).state == Build.State.PAUSED
    ada.post(url, {"action": "resume", "note": "the new one is better"})
    assert Build.objects.get(pk=build.pk).state == Build.State.RUNNING
    assert build.events.get(event="resume").note == "the new one is better"


def test_it_is_ordered_in_the_form_and_only_for_a_live_model(ada: Client) -> None:
    ada.post(NEW, order(drift_check="on"))
    build = Build.objects.get()
    assert build.provider != Build.Provider.LIVE
    assert not DriftWatch.objects.exists()


def test_the_checks_are_files(ada: Client) -> None:
    build = shifted()
    page = reverse("build-drift", args=[build.pk, 1])
    assert "?table=checks&amp;format=csv" in ada.get(page).content.decode()
    told = ada.get(page, {"table": "checks", "format": "csv"})
    lines = told.content.decode().splitlines()
    assert told["Content-Disposition"] == f'attachment; filename="drift-{build.pk}-checks.csv"'
    assert lines[0].startswith("After settled cases,Found,Pairs,As at first")
    assert [line.split(",")[:6] for line in lines[1:3]] == [
        ["0", "baseline", "3", "3", "0", "0"],
        ["4", "a shift", "3", "1", "0", "2"],
    ]
    assert "a shift" in ada.get(page, {"table": "checks", "format": "tex"}).content.decode()
    assert ada.get(page, {"table": "prices", "format": "csv"}).status_code == 404
