"""A language model as second stage: its lists, what waits, what is of no use, what it costs."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.agents.reranker import parse_ranked_reply
from annotation.builds.pipeline import file_exchange
from annotation.derived.reranking import reranked_run
from annotation.derived.reranking.ranking_job import (
    RerankOrder,
    RerankRefused,
    find_first_stage,
    open_ranking_build,
)
from annotation.derived.reranking.reranked_run import keep_reranked_run, put_in_order, rerank_run
from annotation.llm import LLMError, Request
from annotation.llm.exchange import ExchangeLLM
from annotation.models import Build, LLMCall, Price
from retrieval.encoders.rerankers import UnknownReranker, find_reranker
from retrieval.evaluation.content import content_of
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.runs.system_run import evaluate_system
from retrieval.evaluation.systems.search import Search, find_system
from retrieval.metrics.names import parse_measures
from retrieval.models import Label, Pair, Pool, RankedList, Run
from retrieval.models.benchmarks import NOWHERE
from tests import factories
from tests.fakes import FakeLLM

TEXTS = (
    "def sort_list(x):\n    return sorted(x)",
    "def sort_list_down(x):\n    return x",
    "def other(): pass",
)


@pytest.fixture
def first(db: None, tmp_path: Path) -> Run:
    """Lists of `bm25` for two queries of which the first has a match: the snippet at place 1."""
    queries, snippets = factories.queries(("sort list", "sort list down")), factories.snippets(TEXTS)
    agents = factories.annotator()
    query, code = queries.members.get(position=0).text_id, snippets.members.get(position=1).text_id
    Label.objects.create(pair=Pair.objects.keep_all([(query, code)])[0], annotator=agents, value=1)
    made = publish_benchmark(Order("small", queries, snippets, "by hand"), Label.objects.all())
    content, how = content_of(made), Search("whole", None, tmp_path)
    return evaluate_system(find_system("bm25"), content, Pool(made.pool), how, parse_measures(["mrr"])).run


def order_of(run: Run, **columns: object) -> RerankOrder:
    return RerankOrder(run, 2, "some-model", **columns)  # type: ignore[arg-type]


def reverse_order(request: Request) -> dict[str, object]:
    return {"order": [2, 1]}


def test_the_first_results_come_in_the_order_of_the_reply_and_the_system_says_by_whom(first: Run) -> None:
    order = order_of(first)
    build = open_ranking_build(order)
    ranked = rerank_run(order, build, FakeLLM(reverse_order))
    before = {row.key: row.places.tolist() for row in RankedList.objects.filter(run=first)}
    assert {key: places.tolist() for key, places in ranked.lists.items()} == {
        key: [places[1], places[0], *places[2:]] for key, places in before.items()
    }
    done = keep_reranked_run(order, build, ranked)
    assert done.run.system == "bm25 >2> llm:some-model" and done.run.pool == first.pool
    stage = done.run.options["second_stage"]
    assert (stage["pairs"], stage["requests"], stage["unusable"], stage["seconds"]) == (4, 2, 0, 0.02)
    # The match was second, so it is first now: 1 / 1 instead of 1 / 2.
    assert done.figures["mrr"].value == 1.0
    build.refresh_from_db()
    assert build.state == Build.State.DONE and not build.cases.exists()


def test_nothing_is_asked_twice(first: Run) -> None:
    order, llm = order_of(first), FakeLLM(reverse_order)
    build = open_ranking_build(order)
    rerank_run(order, build, llm)
    again = open_ranking_build(order)
    assert again == build and rerank_run(order, again, llm).pairs == 4 and len(llm.calls) == 2


def test_replies_of_no_use_leave_their_list_and_are_counted_and_paid_once(first: Run) -> None:
    order = order_of(first)
    build, llm = open_ranking_build(order), FakeLLM({"order": [1, 1]}, {"order": [2, 1]})
    ranked = rerank_run(order, build, llm)
    kept = RankedList.objects.filter(run=first).order_by("pk").first()
    assert kept is not None and ranked.lists[kept.key].tolist() == kept.places.tolist()
    assert (ranked.counts["unusable"], ranked.pairs) == (1, 2)
    assert rerank_run(order, build, llm).counts["unusable"] == 1 and len(llm.calls) == 2
    done = keep_reranked_run(order, build, ranked)
    assert done.run.options["second_stage"]["unusable"] == 1


def test_results_that_the_benchmark_lacks_keep_behind_and_the_rest_its_order() -> None:
    places = np.array([7, NOWHERE, 8, 9], dtype=np.uint32)
    reply = parse_ranked_reply('{"order": [2, 1]}')
    assert put_in_order(places, [7, 8], reply).tolist() == [8, 7, NOWHERE, 9]
    assert put_in_order(places, [7, 8], None).tolist() == places.tolist()


def test_by_file_requests_wait_and_replies_are_taken_up(first: Run) -> None:
    order = order_of(first)
    build = open_ranking_build(order)
    assert rerank_run(order, build, ExchangeLLM()).waiting == 2
    out = io.BytesIO()
    assert file_exchange.export_waiting_requests(build, out) == 2
    assert [len(part) for part in file_exchange.split_waiting_calls(build, 2)] == [1, 1]
    asked = [json.loads(line) for line in out.getvalue().splitlines()]
    ids = [line["id"] for line in asked if "id" in line]
    bad = {"id": ids[0], "reply": {"order": [4]}}
    good = [{"id": pk, "reply": {"order": [2, 1]}, "model": "someone"} for pk in ids]
    found = file_exchange.import_replies(build, io.BytesIO(json.dumps(bad).encode()))
    assert found.taken == 0 and "each number" in found.problems[0].message
    lines = "\n".join(map(json.dumps, good)).encode()
    assert file_exchange.import_replies(build, io.BytesIO(lines)).taken == 2
    assert file_exchange.import_replies(build, io.BytesIO(lines)).known == 2
    ranked = rerank_run(order, build, ExchangeLLM())
    assert (ranked.waiting, ranked.pairs) == (0, 4)
    stage = keep_reranked_run(order, build, ranked).run.options["second_stage"]
    assert (stage["answered_by"], stage["usd"]) == (["someone"], 0)


def test_what_it_costs_is_told_and_a_cap_holds(first: Run, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "key"
    Price.objects.create(
        model="some-model", effective_from=timezone.now(), input=Decimal(1), output=Decimal(10)
    )
    order = order_of(first, provider="live", budget=Decimal("0.00001"))
    build = open_ranking_build(order)
    with pytest.raises(RerankRefused, match=r"the budget is used up.*higher cap"):
        rerank_run(order, build, FakeLLM(reverse_order))
    more = order_of(first, provider="live", budget=Decimal(1))
    ranked = rerank_run(more, open_ranking_build(more), FakeLLM(reverse_order))
    stage = keep_reranked_run(more, build, ranked).run.options["second_stage"]
    # Two replies of 500 tokens in at $1 and 60 out at $10 a million: 2 x (0.0005 + 0.0006).
    assert stage["usd"] == 0.0022


def test_a_provider_that_is_away_stops_it_and_what_was_answered_is_kept(
    first: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reranked_run, "PAUSE_SECONDS", 0)
    order = order_of(first)
    build, away = open_ranking_build(order), LLMError("is away", retryable=True, provider=True)
    with pytest.raises(RerankRefused, match=r"is away.*kept"):
        rerank_run(order, build, FakeLLM({"order": [2, 1]}, away))
    assert LLMCall.objects.filter(build=build, status=LLMCall.Status.SUCCEEDED).count() == 1
    assert rerank_run(order, build, FakeLLM(reverse_order)).pairs == 4


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"depth": 1}, "2 to 50 results"),
        ({"depth": 51}, "2 to 50 results"),
        ({"provider": "live"}, "key|price"),
    ],
)
def test_bad_orders_are_refused(first: Run, columns: dict[str, object], why: str) -> None:
    order = RerankOrder(**{"run": first, "depth": 2, "model": "m", **columns})  # type: ignore[arg-type]
    with pytest.raises(RerankRefused, match=why):
        open_ranking_build(order)
    assert not Build.objects.exists()


def test_a_first_stage_that_was_not_scored_is_named(first: Run) -> None:
    assert find_first_stage(first.benchmark, "bm25") == first
    with pytest.raises(RerankRefused, match=r"no run of 'minilm'.*'bm25"):
        find_first_stage(first.benchmark, "minilm")
    with pytest.raises(UnknownReranker, match="cosqa admin rerank"):
        find_reranker("llm:some-model")


def test_the_command_asks_waits_and_keeps_the_run(
    first: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ("rerank", "small", "--system", "bm25", "--depth", "2", "--model", "m", "--json")
    call_command(*ask)
    told = json.loads(capsys.readouterr().out)
    assert (told["waiting"], told["run"]) == (2, None)
    build = Build.objects.get(name=told["build"])
    calls = LLMCall.objects.filter(build=build).values_list("digest", flat=True)
    replies = tmp_path / "replies.jsonl"
    replies.write_text("\n".join(json.dumps({"id": pk, "reply": {"order": [2, 1]}}) for pk in calls))
    call_command("exchange", "import", str(build.pk), str(replies))
    capsys.readouterr()
    call_command(*ask)
    told = json.loads(capsys.readouterr().out)
    assert (told["system"], told["pairs"], told["usd"]) == ("bm25 >2> llm:m", 4, 0)
    with pytest.raises(CommandError, match="2 to 50"):
        call_command(*ask[:5], "1")


def test_pages_show_the_run_and_its_build(ada: Client, first: Run) -> None:
    order = order_of(first)
    build = open_ranking_build(order)
    keep_reranked_run(order, build, rerank_run(order, build, FakeLLM({"order": [3]}, {"order": [2, 1]})))
    board = ada.get(reverse("benchmark", args=[first.benchmark_id])).content.decode()
    assert "bm25 &gt;2&gt; llm:some-model" in board and "1 reply could not be used" in board
    api = ada.get(f"/api/benchmarks/{first.benchmark_id}/leaderboard").json()
    (stage,) = [row["second_stage"] for row in api["systems"] if row["second_stage"]]
    assert (stage["reranker"], stage["unusable"]) == ("llm:some-model", 1)
    assert ada.get(reverse("build", args=[build.pk])).status_code == 200
    assert ada.get(reverse("benchmarks")).status_code == 200
