"""A build that is answered by file: its state while all of it waits, and who is named as its model."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest

from annotation.builds.control import pause_resume
from annotation.builds.control.pause_resume import Action
from annotation.builds.limits import awaited_replies
from annotation.builds.pipeline import file_exchange
from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.builds.results import progress
from annotation.jobs import worker
from annotation.llm.exchange import ExchangeLLM
from annotation.models import Build, Case
from tests import factories
from tests.fakes import FakeSandbox

pytestmark = pytest.mark.django_db
YES = {"verdict": 1, "explanation": "yes"}


@pytest.fixture
def tools() -> Tools:
    llm = ExchangeLLM()
    return Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(FakeSandbox))


@pytest.fixture
def waiting(tools: Tools, fresh: Callable[[Case], Case]) -> Build:
    """All nine requests of the screener wait."""
    build = factories.opened(model="any")
    for case in factories.cases(build):
        assert now(build).state == Build.State.RUNNING  # some case can still be asked about
        advance_case(fresh(case), tools)
    return build


def now(build: Build) -> Build:
    return Build.objects.get(pk=build.pk)


def replies_of(build: Build, count: int) -> bytes:
    """Good replies to the first requests that wait."""
    digests = file_exchange.find_unanswered_calls(build).values_list("digest", flat=True)[:count]
    return "".join(json.dumps({"id": digest, "reply": YES}) + "\n" for digest in digests).encode()


def taken(build: Build, count: int, model: str = "") -> file_exchange.Imported:
    return file_exchange.import_replies(build, io.BytesIO(replies_of(build, count)), model)


def test_a_build_whose_open_cases_all_wait_is_waiting_for_replies_and_not_running(waiting: Build) -> None:
    found = now(waiting)
    assert (found.state, found.waits_for) == (Build.State.WAITING, "replies")
    assert found.get_state_display() == "waiting for replies"
    assert found.next_probe_at is None  # nothing is tried meanwhile
    assert not worker.has_queued_work()
    assert progress.take_progress_snapshot(found).pace.seconds_left is None


def test_a_reply_sets_the_build_going_and_without_another_it_waits_again(
    waiting: Build, tools: Tools, fresh: Callable[[Case], Case]
) -> None:
    assert taken(waiting, 1).moved == 1
    assert now(waiting).state == Build.State.RUNNING
    [case] = Case.objects.filter(build=waiting, waiting_for=None)
    advance_case(fresh(case), tools)
    worker.perform_worker_chores(tools)
    assert now(waiting).get_state_display() == "waiting for replies"


def test_the_last_reply_ends_the_build(waiting: Build, tools: Tools, fresh: Callable[[Case], Case]) -> None:
    taken(waiting, 9)
    for case in Case.objects.filter(build=waiting):
        advance_case(fresh(case), tools)
    worker.perform_worker_chores(tools)
    assert now(waiting).state == Build.State.DONE


def test_a_paused_build_stays_paused_when_a_reply_comes(waiting: Build) -> None:
    pause_resume.control_build(waiting, Action.PAUSE)
    assert taken(waiting, 2).moved == 2
    assert now(waiting).state == Build.State.PAUSED


def test_a_build_that_waited_is_set_going_by_a_retried_case(waiting: Build, tools: Tools) -> None:
    taken(waiting, 1)
    awaited_replies.hold_for_replies(waiting)
    factories.abandoned(Case.objects.get(build=waiting, waiting_for=None))
    worker.perform_worker_chores(tools)
    assert now(waiting).state == Build.State.WAITING
    pause_resume.control_build(now(waiting), Action.RETRY)
    worker.perform_worker_chores(tools)
    assert now(waiting).state == Build.State.RUNNING


def test_a_live_build_never_waits_for_replies_by_file() -> None:
    build = factories.opened(provider=Build.Provider.LIVE)
    case = factories.cases(build)[0]
    case.put_back(waiting=factories.llm_call(case, "screener", {}, status="waiting"))
    assert not awaited_replies.hold_for_replies(build)


def test_models_are_named_once_in_the_order_of_their_coming(waiting: Build) -> None:
    assert now(waiting).answering_model == "any"
    taken(waiting, 1, "gpt-x")
    taken(waiting, 1, "  a   person ")
    taken(waiting, 1, "gpt-x")
    assert now(waiting).answered_by == ["gpt-x", "a person"]
    assert now(waiting).answering_model == "gpt-x, a person"
    assert set(waiting.calls.exclude(answered_by="").values_list("answered_by", flat=True)) == {
        "gpt-x",
        "a person",
    }


def test_a_line_may_name_another_model_than_the_rest(waiting: Build) -> None:
    [digest] = file_exchange.find_unanswered_calls(waiting).values_list("digest", flat=True)[:1]
    line = json.dumps({"id": digest, "reply": YES, "model": "own"}).encode()
    file_exchange.import_replies(waiting, io.BytesIO(line), "gpt-x")
    assert now(waiting).answered_by == ["own"]


def test_who_gave_no_reply_that_counts_is_not_named(waiting: Build) -> None:
    known = replies_of(waiting, 2)
    file_exchange.import_replies(waiting, io.BytesIO(known), "gpt-x")
    bad = json.dumps({"id": "0" * 64, "reply": YES}).encode()
    done = file_exchange.import_replies(waiting, io.BytesIO(known + bad), "another")
    assert (done.taken, done.known, len(done.problems)) == (0, 2, 1)
    assert now(waiting).answered_by == ["gpt-x"]


def test_a_known_reply_that_nobody_was_named_for_gets_a_name(waiting: Build) -> None:
    known = replies_of(waiting, 1)
    file_exchange.import_replies(waiting, io.BytesIO(known))
    assert now(waiting).answered_by == []
    file_exchange.import_replies(waiting, io.BytesIO(known), "gpt-x")
    assert now(waiting).answered_by == ["gpt-x"]
