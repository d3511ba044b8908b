"""What plain review asks of the database: every day's work, so nothing is asked twice or for nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.http import HttpResponseBase
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Case
from tests import factories

pytestmark = pytest.mark.django_db
SIGNED_IN = 3
"""Session, person with groups, and studies in which the person rates blind: of every request."""


@pytest.fixture
def cases() -> list[Case]:
    """Cases of one build that went the long way; the first one's reviewer has opened it before."""
    made = factories.cases(factories.opened())
    return [factories.examined(case, 1) for case in made[:3]]


def asked(answer: Callable[[], HttpResponseBase], status: int) -> list[str]:
    """The statements behind an answer, without savepoints."""
    with CaptureQueriesContext(connection) as seen:
        assert answer().status_code == status
    statements = [query["sql"] for query in seen.captured_queries]
    return [sql for sql in statements if not re.match("(RELEASE )?SAVEPOINT", sql)]


def look(client: Client, case: Case) -> str:
    return str(client.get(reverse("review-case", args=[case.pk])).content.decode())


def form(page: str) -> dict[str, str]:
    hidden = re.findall(
        r'name="(evidence|seen_revision)" value="([^"]*)"', page.partition('id="label-form"')[2]
    )
    return {**dict(hidden), "label": "1", "reason": "it does", "show": "waiting"}


def submit(client: Client, case: Case) -> list[str]:
    sent = form(look(client, case))
    return asked(lambda: client.post(reverse("review-label", args=[case.pk]), sent), 302)


def test_a_page_asks_for_each_thing_once(erin: Client, cases: list[Case]) -> None:
    look(erin, cases[0])
    statements = asked(lambda: erin.get(reverse("review-case", args=[cases[0].pk])), 200)
    assert len(statements) <= SIGNED_IN + 18  # one of them asks for comments
    assert len(set(statements)) == len(statements)


def test_with_decisions_before_it_asks_for_what_they_were_of_and_no_more(
    erin: Client, cases: list[Case]
) -> None:
    for case in cases[:2]:
        submit(erin, case)
    look(erin, cases[2])
    statements = asked(lambda: erin.get(reverse("review-case", args=[cases[2].pk])), 200)
    assert len(statements) <= SIGNED_IN + 20
    assert len(set(statements)) == len(statements)


def test_a_label_is_stored_by_few_statements_and_reads_no_wide_text_for_its_hash(
    erin: Client, cases: list[Case]
) -> None:
    submit(erin, cases[0])
    statements = submit(erin, cases[1])
    # Two of them keep the label in force; where rows can be held, cases and builds are.
    assert len(statements) <= SIGNED_IN + 14 + 2 * connection.features.has_select_for_update
    assert len(set(statements)) == len(statements)
    assert not any("annotation_reporttext" in sql or "annotation_programtext" in sql for sql in statements)


def test_the_next_case_is_found_by_three_looks(erin: Client, cases: list[Case]) -> None:
    address = reverse("review-next", args=[cases[0].build_id])
    erin.get(address)  # the first page of a session notes when it was used
    statements = asked(lambda: erin.get(address, {"after": cases[0].pk}), 302)
    assert len(statements) == SIGNED_IN + 3


def test_a_test_that_was_sent_back_is_still_looked_up(erin: Client, cases: list[Case]) -> None:
    sent = form(look(erin, cases[0])) | {"tags": "test_tests_nothing"}
    assert "Sent back" not in look(erin, cases[0])
    erin.post(reverse("review-label", args=[cases[0].pk]), sent)
    before = asked(lambda: erin.get(reverse("review-case", args=[cases[1].pk])), 200)
    after = asked(lambda: erin.get(reverse("review-case", args=[cases[0].pk])), 200)
    assert not [sql for sql in before if "test\\_" in sql]
    assert [sql for sql in after if "test" in sql and "LIKE" in sql]
