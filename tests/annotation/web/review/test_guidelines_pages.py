"""The guidelines over the review page, on a page of their own, and the admin's choice of them."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Build, Case
from tests import factories, studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def case() -> Case:
    return factories.examined(factories.cases(factories.opened())[0], 1)


def read(client: Client, name: str, *args: int, **headers: str) -> str:
    answer = client.get(reverse(name, args=args), headers=headers)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_review_page_has_the_published_rule_over_it(erin: Client, case: Case) -> None:
    page = read(erin, "review-case", case.pk)
    assert '<dialog id="guidelines-dialog"' in page and "The published rule" in page
    assert 'data-opens="guidelines-dialog" data-key="/"' in page
    assert "Label 1 is a match, label 0 is none." in page


def test_the_next_pair_comes_without_the_guidelines_once_more(erin: Client, case: Case) -> None:
    page = read(erin, "review-case", case.pk, **{"HX-Request": "true"})
    assert "guidelines-dialog" in page and "<dialog id=" not in page.replace('<dialog id="keys-dialog"', "")


def test_a_build_of_its_own_rules_shows_them_escaped(erin: Client, case: Case) -> None:
    own = studies.guideline(name="ours", text="Only exact answers. <script>alert(1)</script>")
    Build.objects.update(guideline=own)
    page = read(erin, "review-guidelines", case.build_id)
    assert "Only exact answers." in page and "<script>alert" not in page and "ours 1" in page
    assert "Only exact answers." in read(erin, "review-case", case.pk)


def test_an_admin_chooses_the_guidelines_with_a_reason(ada: Client, case: Case) -> None:
    own, address = studies.guideline(name="ours"), reverse("build-guidelines", args=[case.build_id])
    refused = ada.post(address, {"guideline": own.pk, "reason": ""})
    assert refused.status_code == 422 and Build.objects.get().guideline is None
    assert ada.post(address, {"guideline": own.pk, "reason": "agreed"}).status_code == 302
    assert Build.objects.get().guideline == own
    assert "guidelines changed" in read(ada, "build", case.build_id)


def test_an_expert_does_not_choose_them(erin: Client, case: Case) -> None:
    assert erin.get(reverse("build-guidelines", args=[case.build_id])).status_code == 403
