"""A whole live build in three rounds: each asks anew, and the same rounds of another build are paid once."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from annotation.builds.launch import launcher
from annotation.builds.launch.order import Order
from annotation.builds.results import rounds
from annotation.derived import round_merge
from annotation.derived.round_merge import Rule
from annotation.jobs import subprocesses, worker
from annotation.jobs.providers import create_configured_tools, get_provider_client
from annotation.llm.live import LiveLLM
from annotation.models import Build, Case, LLMCall, Price, Tally
from retrieval.models import Label
from tests import factories
from tests.fake_messages import FakeMessages

pytestmark = pytest.mark.django_db(transaction=True)
COUNTS = {"llm": 2, "mining": 1, "control": 1}
VERDICTS = (1, 1, 0)


def launched(name: str, **columns: Any) -> Build:
    order: dict[str, Any] = {
        "name": name,
        "queries": factories.queries(["reverse a list in place", "flatten nested lists"]),
        "snippets": factories.snippets(),
        "encoders": ("bow",),
        "k": 2,
        "provider": Build.Provider.LIVE,
        "model": "some-model",
        "rounds": 3,
    }
    return launcher.launch_build(Order(**order | columns))


def worked_off(build: Build) -> Build:
    shared = create_configured_tools()
    worker.until_idle(COUNTS, shared)
    return Build.objects.select_related("tally", "annotator").get(pk=build.pk)


@pytest.fixture
def fake(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A model that changes its mind at its third answer to the same words."""
    from django.core.management import call_command

    asked: dict[str, int] = {}

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        words = str(body["messages"])
        asked[words] = asked.get(words, 0) + 1
        return {"explanation": "plain to see", "verdict": VERDICTS[asked[words] - 1]}

    monkeypatch.setattr(
        subprocesses, "run_child_command", lambda command, still_wanted: call_command(*command) or 0
    )
    Price.objects.create(
        model="some-model", effective_from=timezone.now(), input=Decimal(1), output=Decimal(5)
    )
    with FakeMessages(answer=answer) as server:
        settings.ANTHROPIC_API_KEY, settings.LLM_BASE_URL = server.key, server.url
        get_provider_client.cache_clear()
        yield server
        if get_provider_client.cache_info().currsize:
            client = get_provider_client(Build.Provider.LIVE, "")
            assert isinstance(client, LiveLLM)
            client.close()
    get_provider_client.cache_clear()


def test_three_rounds_ask_three_times_and_another_build_of_them_pays_nothing(fake: FakeMessages) -> None:
    first = worked_off(launched("first"))

    assert first.state == Build.State.DONE
    assert (first.tally.total, first.tally.settled, first.tally.calls, first.tally.reused) == (12, 12, 12, 0)
    digests = LLMCall.objects.values_list("digest", flat=True)
    assert len(set(digests)) == 12
    assert first.tally.matches == 8 and rounds.rounds_of(first).parted == 4

    second = worked_off(launched("second"))
    assert second.annotator == first.annotator
    assert (second.tally.settled, second.tally.calls, second.tally.reused, second.tally.spent) == (
        12,
        0,
        12,
        0,
    )
    assert LLMCall.objects.count() == 12
    assert [one.matches for one in rounds.rounds_of(second).rounds] == [
        one.matches for one in rounds.rounds_of(first).rounds
    ]
    assert Label.objects.filter(annotator=first.annotator).count() == 12

    single = worked_off(launched("single", rounds=1))
    assert (single.tally.settled, single.tally.calls) == (4, 0)

    row = round_merge.request_round_merge(first, Rule.MAJORITY)
    worked_off(first)
    row.refresh_from_db()
    assert row.finished_at and row.new_or_changed == 4
    assert set(Label.objects.filter(annotator=row.annotator).values_list("value", flat=True)) == {1}


def test_what_is_asked_in_the_first_round_is_what_was_always_asked(fake: FakeMessages) -> None:
    worked_off(launched("one", rounds=1))
    alone = set(LLMCall.objects.values_list("digest", flat=True))
    worked_off(launched("three"))
    first = LLMCall.objects.filter(steps__case__build__name="three", steps__case__round=1)
    assert set(first.values_list("digest", flat=True)) == alone
    assert Tally.objects.get(build__name="three").calls == 8
    assert Case.objects.filter(build__name="three").count() == 12
