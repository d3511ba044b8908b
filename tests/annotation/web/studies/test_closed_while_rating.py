"""Lists that are empty because a rater is kept blind say so, whether or not there is anything in them."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.accounts.roles import Role, give_role
from annotation.models import Study
from tests import studies

pytestmark = pytest.mark.django_db
EMPTY = {
    "browse": "No build yet",
    "dashboard": "No build yet",
    "benchmarks": "No benchmark yet",
}


@pytest.mark.parametrize("route", EMPTY)
def test_an_empty_list_is_closed_to_a_rater_and_empty_to_others(client: Client, route: str) -> None:
    study = studies.study()
    ruth = studies.rater("ruth", study).user
    give_role(ruth, Role.ADMIN)
    client.force_login(ruth)
    closed = client.get(reverse(route)).content.decode()
    assert "Hidden while you are rating" in closed and EMPTY[route] not in closed

    Study.objects.update(state=Study.State.CLOSED)
    opened = client.get(reverse(route)).content.decode()
    assert "Hidden while you are rating" not in opened


def test_what_is_closed_says_how_much_is_left_of_the_study_not_of_the_capacity(client: Client) -> None:
    """A capacity of 1,000 in a study of 3 pairs."""
    study = studies.study()
    ruth = studies.rater("ruth", study).user
    give_role(ruth, Role.ADMIN)
    client.force_login(ruth)
    answer = client.get(reverse("audit"))
    assert answer.status_code == 403
    assert f"rated 0 pairs of at most {study.pairs.count()};" in answer.content.decode()
