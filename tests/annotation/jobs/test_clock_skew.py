"""A worker whose clock is minutes off takes no work: it would take others' cases and pay twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.builds.pipeline import claims
from annotation.builds.pipeline.advance import Tools
from annotation.jobs import clock_skew, worker
from annotation.models import Case, LLMCall
from cosqa_site import health
from tests import factories
from tests.fakes import FakeLLM

pytestmark = pytest.mark.django_db
Make = Callable[..., tuple[Tools, FakeLLM]]
YES = {"verdict": 1, "explanation": "plain to see"}
RIGHT = timezone.now


@pytest.fixture
def skew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[timedelta], None]]:
    """Sets this process's clock off by so much; the database's stays right."""

    def put(off: timedelta) -> None:
        monkeypatch.setattr(timezone, "now", lambda: RIGHT() + off)
        clock_skew._looked.clear()

    clock_skew._looked.clear()
    yield put
    clock_skew._looked.clear()


@pytest.mark.parametrize("minutes", [-11, -1, 1, 11])
def test_a_worker_that_is_minutes_off_touches_nothing(
    minutes: int, skew: Callable[[timedelta], None], tools_with: Make, caplog: pytest.LogCaptureFixture
) -> None:
    factories.opened()
    held = claims.claim_cases("llm", 1)[0]
    tools, llm = tools_with(YES)
    skew(timedelta(minutes=minutes))
    for queue in worker.QUEUES:
        assert worker.drain_queue(queue, tools) == 0
    assert (llm.calls, LLMCall.objects.count()) == ([], 0)
    assert Case.objects.get(pk=held.pk).lease == held.lease
    way = "ahead of" if minutes > 0 else "behind"
    assert f"{abs(minutes) * 60} seconds {way} the database server's" in caplog.text


def test_it_goes_on_when_its_clock_was_set(
    skew: Callable[[timedelta], None], tools_with: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.opened()
    tools, _ = tools_with(YES)
    skew(timedelta(minutes=5))
    assert worker.drain_queue("llm", tools) == 0
    monkeypatch.setattr(timezone, "now", RIGHT)
    assert worker.drain_queue("llm", tools) == 0, "it looks once a minute"
    monkeypatch.setattr(clock_skew, "EVERY", 0.0)
    assert worker.drain_queue("llm", tools) > 0


def test_seconds_are_no_matter(skew: Callable[[timedelta], None], tools_with: Make) -> None:
    factories.opened()
    tools, _ = tools_with(YES)
    skew(timedelta(seconds=20))
    assert worker.drain_queue("llm", tools) > 0
    assert list(health.check_clock()) == []


def test_looking_costs_one_query_a_minute(
    skew: Callable[[timedelta], None], django_assert_num_queries: Callable[[int], object]
) -> None:
    factories.opened()
    with django_assert_num_queries(1):  # type: ignore[attr-defined]  # a context manager
        assert all(clock_skew.is_right() for _ in range(100))


def test_the_health_check_says_how_far_it_is_off(skew: Callable[[timedelta], None]) -> None:
    factories.opened()
    skew(timedelta(minutes=-3))
    [found] = health.check_clock()
    assert "180 seconds behind" in found.msg
    assert found.id == "cosqa.E108"
