"""Whatever is sent, the API answers: with what was asked for, or with a problem; never with a fault."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.models import Case
from tests import factories

pytestmark = pytest.mark.django_db
SETTINGS = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
NUMBERS = st.integers(-(2**70), 2**70)
WORDS = st.text(max_size=30) | st.sampled_from(["\x00", "\ud800", "%", "'", '"', "\u202e", "NaN", "null"])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
LISTS = (
    "builds",
    "builds/{build}/cases",
    "builds/{build}/queries",
    "builds/{build}/queries/{query}/candidates",
    "builds/{build}/reviews",
    "cases/{case}/reviews",
    "collections",
    "collections/{collection}/members",
)
BODIES = {
    "builds": "name queries functions encoders k provider model budget limit rule sampling",
    "builds/{build}/control": "action note",
    "cases/{case}/reviews": "label reason seen_revision evidence",
    "cases/{case}/reviews/undo": "seen_revision",
}


@pytest.fixture
def case() -> Case:
    return factories.examined(factories.cases(factories.opened())[0], 1)


def filled(path: str, case: Case) -> str:
    ids = {"build": case.build_id, "case": case.pk, "query": case.query_id}
    return "/api/" + path.format(collection=case.build.queries_id, **ids)


def is_answer(response: Any) -> bool:
    """A page of a list, what was made, or a problem in the one shape."""
    kind = response.headers["Content-Type"]
    if response.status_code in {200, 201}:
        return bool(kind.startswith("application/json"))
    return response.status_code in {400, 404, 409, 422} and kind == "application/problem+json"


@SETTINGS
@given(
    path=st.sampled_from(LISTS),
    query=st.dictionaries(
        st.sampled_from(["after", "limit", "kind", "name", "rule", "state", "q", "stage", "label", "query"]),
        NUMBERS | WORDS.filter(lambda word: word.isprintable() or "\x00" in word),
    ),
)
def test_whatever_is_asked_of_a_list(ada: Client, case: Case, path: str, query: dict[str, Any]) -> None:
    assert is_answer(ada.get(filled(path, case), query))


@SETTINGS
@given(data=st.data(), path=st.sampled_from(sorted(BODIES)))
def test_whatever_is_sent_to_what_changes_something(
    ada: Client, case: Case, path: str, data: st.DataObject
) -> None:
    fields = st.dictionaries(st.sampled_from(BODIES[path].split()) | WORDS, VALUES)
    body = data.draw(fields | VALUES)
    with transaction.atomic():
        response = ada.post(filled(path, case), json.dumps(body), content_type="application/json")
        assert is_answer(response)
        transaction.set_rollback(True)


@SETTINGS
@given(body=st.binary(max_size=200), kind=st.sampled_from(["application/json", "text/plain", 'a/b; c="', ""]))
def test_whatever_bytes_are_sent(ada: Client, case: Case, body: bytes, kind: str) -> None:
    assert is_answer(ada.post(filled("builds", case), body, content_type=kind))


@SETTINGS
@given(number=st.integers(0, 2**70), path=st.sampled_from(["builds", "cases", "executions", "collections"]))
def test_whatever_is_looked_for(ada: Client, case: Case, number: int, path: str) -> None:
    assert is_answer(ada.get(f"/api/{path}/{number}"))
