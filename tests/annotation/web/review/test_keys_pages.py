"""The page on which keys are changed."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Case, Preference
from annotation.review.shortcuts import DEFAULTS, Action, keys_of
from tests import factories

pytestmark = pytest.mark.django_db
URL = "review-keys"


def wanted(**changes: str) -> dict[str, str]:
    """The form as the browser sends it, with some keys changed."""
    return {action.value: key for action, key in DEFAULTS.items()} | {"on": "on", "action": "save"} | changes


def test_only_a_changed_key_says_its_default(erin: Client) -> None:
    Preference.objects.create(user=factories.erin(), shortcuts={"next": "j"})
    page = erin.get(reverse(URL)).content.decode()

    assert 'name="match" value="1"' in page
    assert page.count("default: ") == 1
    assert "default: n" in page


def test_a_changed_key_is_on_the_review_page(erin: Client) -> None:
    case: Case = factories.settled(factories.cases(factories.opened())[0], 1)
    assert erin.post(reverse(URL), wanted(next="j")).status_code == 302
    page = erin.get(reverse("review-case", args=[case.pk])).content.decode()

    assert 'data-key="j"' in page
    assert 'data-key="n"' not in page


def test_a_conflict_is_shown_where_it_is_and_stores_nothing(erin: Client) -> None:
    answer = erin.post(reverse(URL), wanted(next="1"))
    page = answer.content.decode()

    assert answer.status_code == 422
    assert page.count('aria-invalid="true"') == 5, "next, and the labels of all scales that have this key"
    assert keys_of(factories.erin()).of[Action.NEXT] == "n"


def test_a_label_whose_digit_is_used_otherwise_says_so(erin: Client) -> None:
    Preference.objects.create(user=factories.erin(), shortcuts={"next": "3"})
    page = erin.get(reverse(URL)).content.decode()

    assert "default: 3, which you use for “Next pair”: so this has no key" in page
    assert page.count("so this has no key") == 2, "the label as before, and the best of four grades"


def test_a_letter_for_a_label_is_refused_where_it_is(erin: Client) -> None:
    answer = erin.post(reverse(URL), wanted(unsure="u"))
    page = answer.content.decode()

    assert answer.status_code == 422
    assert page.count('aria-invalid="true"') == 1
    assert "Unsure: no label: a letter can&#x27;t store a label. Choose a digit or a sign." in page
    assert keys_of(factories.erin()).of[Action.UNSURE] == "2"


def test_tools_and_tags_say_which_key_comes_first(erin: Client) -> None:
    assert erin.get(reverse(URL)).content.decode().count("Press ; first, then the key.") == 2
    erin.post(reverse(URL), wanted(lead="x", tag_unsafe=""))
    assert erin.get(reverse(URL)).content.decode().count("Press x first, then the key.") == 2
    erin.post(reverse(URL), wanted(lead=""))
    assert erin.get(reverse(URL)).content.decode().count("Without a first key these have no keys.") == 2


def test_keys_are_switched_off_and_restored(erin: Client) -> None:
    erin.post(reverse(URL), {key: value for key, value in wanted().items() if key != "on"})
    assert not keys_of(factories.erin()).on
    erin.post(reverse(URL), {"action": "restore"})
    assert keys_of(factories.erin()).on


def test_readers_have_no_keys(ray: Client) -> None:
    assert ray.get(reverse(URL)).status_code == 403
