"""The pipeline's bench in its smallest form, in scratch databases of its own; the figures are there."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from pytest_django import DjangoDbBlocker

from annotation.agents import (
    PARSERS,
    arbiter,
    fixer,
    neighbour_writer,
    screener,
    single_llm,
    test_writer,
    tie_breaker,
)
from annotation.llm.payload import build_request_payload
from annotation.llm.profiles import ANTHROPIC
from annotation.llm.request import Request
from annotation.prompts import AGENTS
from bench.measure import scratch_database as scratch_module
from bench.measure.scratch_database import Scratch
from bench.pipeline import admin_pages, claims, throughput, tokens
from bench.pipeline import provider as slow_provider
from bench.pipeline.processes import (
    NICE,
    Process,
    plain_loop,
    start_child_process,
    suspend_processes,
    used_seconds,
)
from bench.seed import database
from bench.seed.plan import SeedingPlan

TINY = SeedingPlan(cases=40, snippets=60, reviewed=2)
CONSTANTS: dict[Any, dict[str, Any]] = {
    throughput: {
        "MEAN_SECONDS": 0.05,
        "LENGTHS": dict.fromkeys(("small", "full"), throughput.Length(0.5, 2.0, 1)),
        "OPEN": 700,
        "ONE": 4,
        "TWO": 4,
    },
    claims: {"HANDFULS": 2, "ROUNDS": 2},
    admin_pages: {"TIMES": 2, "SETTLING_SECONDS": 0.1, "EVENT_SECONDS": 2.5},
    database: {"PLANS": {"few": TINY, "small": TINY, "full": TINY}},
}


@pytest.fixture
def alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """A folder of its own, and the database open to code that makes others beside it."""
    monkeypatch.setattr(settings, "COSQA_HOME", tmp_path)
    for module, values in CONSTANTS.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)
    with django_db_blocker.unblock():
        try:
            yield
        finally:
            database.scratch_of(TINY).drop()
            connection.close()


@pytest.mark.usefixtures("alone")
def test_the_figures_that_it_promises_are_there() -> None:
    found: dict[str, Any] = json.loads(json.dumps(throughput.measure_pipeline("full")))
    expected = {"calls_of_ideal", "cpu_seconds_per_case", "cpu_growth", "claim_growth", "tokens_of_paper"}
    if connection.vendor == "postgresql":
        expected |= {"calls_of_ideal_two_at_100"}
        assert 0 < found["two_at_100"]["connections"] <= 20
    assert found["ratios"].pop("tokens_of_paper_quality") == tokens.NOT_KNOWN
    assert set(found["ratios"]) == expected
    assert all(ratio > 0 for ratio in found["ratios"].values())
    assert found["tokens"]["quality"].keys() >= {"one_request_a_pair", "one_request_a_query", "where_null"}
    assert found["size"] == {"name": "full", "few": 40, "many": 40}
    assert 0 < found["pages"]["events_a_second"] <= 1
    for state in (admin_pages.IDLE, admin_pages.LOOP, admin_pages.BUSY):
        assert all(shown["looks"] == 2 for shown in found["pages"][state].values())


@pytest.mark.django_db(transaction=True)
def test_events_that_nobody_gets_are_no_figure() -> None:
    with pytest.raises(RuntimeError, match=r"page was closed: .*4403"):
        asyncio.run(admin_pages.counted_events("/ws/builds/1/", "of-nobody"))


@pytest.mark.usefixtures("alone")
def test_half_a_database_is_never_used() -> None:
    scratch = Scratch("half")

    def broken() -> None:
        raise RuntimeError("no room")

    with pytest.raises(RuntimeError, match="no room"):
        scratch.make(broken)
    assert not scratch.exists()
    assert not any((Path(settings.COSQA_HOME) / "bench").iterdir())


@pytest.mark.usefixtures("alone")
def test_what_a_killed_bench_left_behind_goes_at_the_next_start() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    left, mine, whole = (Scratch(name) for name in (f"half_{gone.pid}", f"half_{os.getpid()}", "whole"))
    try:
        for scratch in (left, mine, whole):
            scratch.begin()
        scratch_module.drop_left_behind()
        assert [one.home.exists() for one in (left, mine, whole)] == [False, True, True]
        assert left.name not in scratch_module.list_scratch_databases()
    finally:
        for scratch in (left, mine, whole):
            scratch.drop()


def requests() -> dict[str, Request]:
    return {
        "screener": screener.build_screener_request(
            screener.ScreenerInputs("sort", "def f(a):\n    return a"), "m"
        ),
        "test_writer": test_writer.build_test_writer_request(
            test_writer.WriterInputs("sort", "def f(a):\n    return a"), "m"
        ),
        "fixer": fixer.build_fixer_request(
            fixer.FixerInputs("bench_colours", "import bench_colours", "none"), "m"
        ),
        "arbiter": arbiter.build_arbiter_request(
            arbiter.ArbiterInputs("sort", "f", "main()", "sorts", "passed"), "m"
        ),
        "single_llm": single_llm.build_single_llm_request(
            single_llm.SingleInputs("sort", "def f(a):\n    return a"), "m"
        ),
        "neighbour_writer": neighbour_writer.build_neighbour_request(
            neighbour_writer.NeighbourInputs("sort", "def f(a):\n    return a"), "m"
        ),
        "tie_breaker": tie_breaker.build_tie_breaker_request(
            tie_breaker.TieInputs("sort", "f", "a", "b", "sorts", "r"), "m"
        ),
    }


@pytest.mark.parametrize("agent", AGENTS)
def test_each_agent_can_use_what_the_provider_says(agent: str) -> None:
    body = build_request_payload(requests()[agent], ANTHROPIC, "json_schema")
    assert PARSERS[agent](slow_provider.compose_reply_text(body))


def test_latencies_have_the_mean_and_the_seed_decides_them() -> None:
    async def total(seed: int) -> float:
        provider = slow_provider.Provider(seed, 0.01)
        body = build_request_payload(requests()["screener"], ANTHROPIC, "json_schema")
        await asyncio.gather(*(provider.answer(body) for _ in range(400)))
        return provider.seconds

    first = asyncio.run(total(7))
    assert first == pytest.approx(4.0, rel=0.1)
    assert asyncio.run(total(7)) == pytest.approx(first)


def test_what_is_held_does_nothing_and_goes_on_after_the_block() -> None:
    asked = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
    with start_child_process([sys.executable, "-c", asked], dict(os.environ)) as process:
        assert process.stdin and process.stdout
        with suspend_processes([process]):
            assert state(process) == "T"
        process.stdin.write("there\n")
        process.stdin.flush()
        assert process.stdout.readline() == "there\n"


def test_the_loop_works_as_nice_as_a_worker_until_the_block_ends() -> None:
    with plain_loop(0.5) as process:
        ends = time.monotonic() + 120  # it is as nice as can be: a busy machine has little left for it
        while not used_seconds([process]) > 0.2:
            assert time.monotonic() < ends, "it does nothing"
            time.sleep(0.05)
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(NICE + os.nice(0), 19)
    assert process.poll() == 0


def state(process: Process) -> str:
    """As in `ps`, once the kernel has stopped it."""
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        found = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        if found == "T":
            return found
        time.sleep(0.01)
    return found
