"""A rater's pages: what is on them, in what state, and what never is."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Assignment, Condition
from tests import studies

pytestmark = pytest.mark.django_db
Kind = Condition.Kind


@pytest.mark.parametrize("kind", Kind.values)
def test_every_condition_has_its_page(client: Client, kind: str) -> None:
    study = studies.study(conditions=[kind])
    rita = studies.rater("rita", study)
    client.force_login(rita.user)
    response = client.get(f"/rate/{study.pk}/next/", follow=True)
    assert response.status_code == 200
    print(response.redirect_chain, response.content.decode()[:300])
    assert Assignment.objects.get().study_pair.pair.query.text in response.content.decode()
