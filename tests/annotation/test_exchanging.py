"""A whole case by file exchange: export, answer, import, until nothing waits."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest

from annotation import exchanging
from annotation.executing import SandboxProvider
from annotation.llm.exchange import ExchangeLLM
from annotation.models import Build, Case, LLMCall
from annotation.pipeline import Tools, advance
from annotation.stages import Stage
from tests import factories
from tests.annotation.test_pipeline import UNCLEAR, WRITTEN, YES
from tests.fakes import FakeSandbox

pytestmark = pytest.mark.django_db
ANSWERS = {"screener": UNCLEAR, "test_writer": WRITTEN, "arbiter": YES}


@pytest.fixture
def tools() -> Tools:
    llm = ExchangeLLM()
    return Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(FakeSandbox))


def exported(build: Build) -> list[dict[str, object]]:
    stream = io.BytesIO()
    exchanging.export(build, stream)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def taken(build: Build, *replies: object) -> exchanging.Imported:
    return exchanging.take(build, io.BytesIO("\n".join(json.dumps(r) for r in replies).encode()))


def test_a_case_goes_from_file_to_file_to_its_label(tools: Tools, fresh: Callable[[Case], Case]) -> None:
    build = factories.opened()
    case = factories.cases(build)[0]
    while fresh(case).stage != Stage.SETTLED:
        advance(fresh(case), tools)
        requests = exported(build)
        done = taken(build, *({"id": r["id"], "reply": ANSWERS[str(r["agent"])]} for r in requests))
        assert not done.problems
    assert fresh(case).label == 1


def test_exporting_again_gives_the_same_ids(tools: Tools, fresh: Callable[[Case], Case]) -> None:
    build = factories.opened()
    for case in factories.cases(build)[:3]:
        advance(fresh(case), tools)
    assert exported(build) == exported(build)
    assert {"id", "agent", "model", "system", "messages", "schema"} == set(exported(build)[0])


def test_bad_replies_are_refused_by_line_and_good_ones_move_on(
    tools: Tools, fresh: Callable[[Case], Case]
) -> None:
    build = factories.opened()
    for case in factories.cases(build)[:2]:
        advance(fresh(case), tools)
    first, second = exported(build)
    done = taken(
        build,
        {"id": first["id"], "reply": {"verdict": 0.7, "explanation": "nearly"}},
        {"id": "0" * 64, "reply": YES},
        {"id": second["id"], "reply": {"verdict": 1, "explanation": "yes"}},
    )
    assert [problem.line for problem in done.problems] == [1, 2]
    assert (done.taken, done.moved) == (1, 1)
    assert [r["id"] for r in exported(build)] == [first["id"]]


def test_importing_twice_changes_nothing(tools: Tools, fresh: Callable[[Case], Case]) -> None:
    build = factories.opened()
    advance(fresh(factories.cases(build)[0]), tools)
    reply = {"id": exported(build)[0]["id"], "reply": {"verdict": 1, "explanation": "yes"}}
    taken(build, reply)
    again = taken(build, reply)
    assert (again.taken, again.known, again.problems) == (0, 1, ())
    assert LLMCall.objects.count() == 1


def test_a_request_that_waits_is_not_claimed_again(tools: Tools, fresh: Callable[[Case], Case]) -> None:
    from django.utils import timezone

    from annotation.claims import claimable

    build = factories.opened()
    case = factories.cases(build)[0]
    advance(fresh(case), tools)
    assert case.pk not in claimable("llm", timezone.now()).values_list("pk", flat=True)
