"""What tests of a rater's pages share: a pair that was handed out, its page, and what its rater sends."""

from __future__ import annotations

import re
from typing import Any

from django.db.models import F
from django.test import Client

from annotation.models import Assignment, Case, Condition, LLMCall, Rating, Step
from retrieval.models import Pair, Text
from tests import studies

PROGRAM = (
    "def test_should_fail():\n"
    "    # the candidate is wrong\n"
    "    assert reverse([1, 2]) == [2, 1]\n\n\n"
    "test_should_fail()\n"
)
"""A test that tells what its writer thought of the code."""
DOCUMENTED = 'def reverse(items):\n    """Tells the secret."""\n    items.reverse()\n    return items\n'


def given(client: Client, kind: str, case: Case | None = None, **columns: Any) -> Assignment:
    """A pair handed to Rita, who is logged in; drawn from `case` if there is one."""
    study = studies.study(conditions=[kind], pairs=[case.pair] if case else None, **columns)
    if case:
        study.pairs.update(case=case)
    return handed(client, study)


def of_code(client: Client, code: str, kind: str = Condition.Kind.OWN_TESTS, **columns: Any) -> Assignment:
    """The same for a pair of this code, which no agent has seen."""
    query, snippet = Text.objects.keep_all(["reverse a list", code])
    pair = Pair.objects.create(query=query, snippet=snippet)
    return handed(client, studies.study(conditions=[kind], pairs=[pair], **columns))


def of_two(client: Client, ties: bool = False, swapped: bool = False) -> Assignment:
    """Two snippets beside each other, in *own tests*."""
    query, one, other = Text.objects.keep_all(["reverse a list", DOCUMENTED, "def other():\n    pass\n"])
    pairs = [Pair.objects.create(query=query, snippet=snippet) for snippet in (one, other)]
    kinds = [Condition.Kind.OWN_TESTS]
    study = studies.study(conditions=kinds, pairs=pairs[:1], kind="pairwise", scale="preference", ties=ties)
    study.pairs.update(other=pairs[1])
    return handed(client, study, swapped=swapped)


def handed(client: Client, study: Any, **columns: Any) -> Assignment:
    rita = studies.rater("rita", study)
    client.force_login(rita.user)
    return studies.assignment(rita, **columns)


def path(of: Assignment, more: str = "") -> str:
    return f"/rate/{of.condition.study_id}/pairs/{of.study_pair.number}/{more}"


def page(client: Client, of: Assignment) -> str:
    response = client.get(path(of))
    assert response.status_code == 200
    return str(response.content.decode())


def send(client: Client, of: Assignment, label: str, **more: Any) -> Any:
    of.refresh_from_db()
    seen = Rating.objects.filter(assignment=of).order_by("-pk").first()
    second = of.state == Assignment.State.LOCKED
    revision = 0 if second or seen is None else seen.revision
    body = {"label": label, "token": of.token, "evidence": "a" * 64, "seen_revision": revision, **more}
    return client.post(path(of, "submit/"), body)


def steady(html: str) -> str:
    """The page without what differs each time, and without how long ago something was."""
    html = re.sub(r"(<time[^>]*>)[^<]*", r"\1", html)
    return re.sub(r'(csrfmiddlewaretoken" value|X-CSRFToken": |nonce)[="]+[\w=/+-]+', "", html)


def change_what_agents_said(case: Case) -> None:
    Case.objects.update(label=1 - F("label"), label_in_force=1 - F("label"), rank=F("rank") + 5)
    Step.objects.update(note="the very opposite")
    LLMCall.objects.update(model="another-model", cost=99)
