"""The cases of a build behind its numbers, and those that it could not judge."""

from __future__ import annotations

from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import BuildEvent, Case, Seen
from annotation.stages import Stage
from tests import factories

pytestmark = pytest.mark.django_db


def test_abandoned_cases_are_listed_with_reasons_and_can_be_retried(ada: Client) -> None:
    build = factories.opened()
    factories.abandoned(factories.cases(build)[0], "no sandbox here")
    page = ada.get(reverse("build-abandoned", args=[build.pk])).content.decode()
    # as a cause (its text, twice in its form), as the example, and beside its case
    assert page.count("no sandbox here") == 4
    ada.post(reverse("build-control", args=[build.pk]), {"action": "retry"})
    assert not Case.objects.filter(stage=Stage.ABANDONED).exists()
    assert "No case is abandoned" in ada.get(reverse("build-abandoned", args=[build.pk])).content.decode()


def test_one_group_of_abandoned_cases_can_be_retried_alone_with_a_note(ada: Client) -> None:
    build = factories.opened()
    for number, case in enumerate(factories.cases(build)[:5]):
        reason = f"the sandbox could not run the test program: try {number}"
        factories.abandoned(case, reason if number < 3 else f"strange word {number}")
    page = unescape(ada.get(reverse("build-abandoned", args=[build.pk])).content.decode())
    assert "Run cosqa admin sandbox check" in page
    assert 'name="cause" value="other: strange word #"' in page
    order = {"action": "retry", "cause": "sandbox", "note": "bubblewrap is there now"}
    answer = ada.post(reverse("build-control", args=[build.pk]), order, follow=True)
    assert "3 abandoned cases go back" in answer.content.decode()
    left = Case.objects.filter(stage=Stage.ABANDONED).values_list("cause", flat=True)
    assert list(left) == ["other: strange word #"] * 2
    event = BuildEvent.objects.get(event="retry")
    told = "3 abandoned because: the sandbox could not run the test program. bubblewrap is there now"
    assert (event.user, event.note) == (factories.ada(), told)


def test_a_cause_that_no_case_has_retries_nothing(ada: Client) -> None:
    build = factories.opened()
    factories.abandoned(factories.cases(build)[0], "no sandbox here")
    order = {"action": "retry", "cause": "\x00' OR 1=1"}
    answer = ada.post(reverse("build-control", args=[build.pk]), order, follow=True)
    assert "0 abandoned cases go back" in answer.content.decode()
    assert Case.objects.filter(stage=Stage.ABANDONED).count() == 1


def test_numbers_lead_to_their_cases_and_those_to_their_evidence(ada: Client) -> None:
    build = factories.opened()
    case = factories.examined(factories.cases(build)[0], 1)
    page = ada.get(reverse("build", args=[build.pk])).content.decode()
    address = f"{reverse('build-cases', args=[build.pk])}?reached=unclear"
    assert f'href="{address}"' in page
    listed = ada.get(address).content.decode()
    assert reverse("case", args=[case.pk]) in listed
    assert Seen.objects.filter(user=factories.ada(), pair=case.pair).exists()
    assert "No case passes these filters" in ada.get(f"{address}&label=0").content.decode()


def test_abandoned_cases_come_in_pages(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.web.cases.abandonment.PAGE", 4)
    build = factories.opened()
    for case in factories.cases(build):
        factories.abandoned(case)
    address, seen = reverse("build-abandoned", args=[build.pk]), []
    while True:
        page = ada.get(address).context["page"]
        seen.append([case.pk for case in page["cases"]])
        if page["after"] is None:
            break
        address = f"{reverse('build-abandoned', args=[build.pk])}?after={page['after']}"
    assert [len(rows) for rows in seen] == [4, 4, 1]
    assert len({pk for rows in seen for pk in rows}) == 9


def test_in_the_order_by_duration_each_case_says_how_long_it_took(ada: Client) -> None:
    build = factories.opened()
    factories.settled(case := factories.cases(build)[4], 1)
    Case.objects.filter(pk=case.pk).update(seconds=12.3)
    url = reverse("build-cases", args=[build.pk])
    page = ada.get(url, {"sort": "duration"}).content.decode()
    assert '<th scope="col" class="num">Took</th>' in page
    assert '<td data-label="Took" class="num">12.3 s</td>' in page
    assert page.index("12.3 s") < page.index('<td data-label="Took" class="num">–</td>')
    assert "Took" not in ada.get(url).content.decode()
