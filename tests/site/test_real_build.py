"""50 real queries, their top 20 by BM25 and MiniLM, 1,000 requests in the exchange file, some answered."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.builds.launch.launcher import launch_build
from annotation.builds.launch.order import Order
from annotation.builds.pipeline import file_exchange
from annotation.jobs import subprocesses, worker
from annotation.jobs.providers import create_configured_tools
from annotation.models import Build, Case, LLMCall, Tally
from annotation.stages import Stage
from retrieval.collections.import_report import Options
from retrieval.collections.importer import import_cosqa
from retrieval.models import Collection
from tests.packages import share
from tests.sizes import cosqa_files
from tests.vectors import kept

pytestmark = [pytest.mark.real_data, pytest.mark.django_db(transaction=True)]
COUNTS = {"llm": 2, "sandbox": 1, "mining": 1, "control": 1}
DISTINCT = """def r1_ordinary_repeats():
    assert list(distinct([3, 1, 3, 2, 1])) == [3, 1, 2]


def r1_ordinary_words():
    assert list(distinct(["b", "a", "b"])) == ["b", "a"]


def r1_edge_empty():
    assert list(distinct([])) == []
"""
DISTINCT_REFERENCE = "def distinct(xs):\n    return list(dict.fromkeys(xs))\n"
ONLY_THE_REPEATED = "def distinct(xs):\n    return [x for x in dict.fromkeys(xs) if xs.count(x) > 1]\n"
ITERABLE = """def r1_ordinary_list():
    assert is_iterable_but_not_string([1]) is True


def r1_ordinary_number():
    assert is_iterable_but_not_string(3) is False


def r1_ordinary_text():
    assert is_iterable_but_not_string("text") is True
"""
ITERABLE_REFERENCE = """def is_iterable_but_not_string(obj):
    return hasattr(obj, "__iter__")
"""
ONLY_TEXT = "def is_iterable_but_not_string(obj):\n    return isinstance(obj, str)\n"
UNCLEAR = {"verdict": 0.5, "explanation": "only a run can tell"}


def written(sense: str, program: str, reference: str) -> dict[str, Any]:
    """A test writer's reply with one reading."""
    readings = [{"sense": sense, "likelihood": 90}]
    return {"readings": readings, "helpers": [], "program": program, "reference": reference}


DECIDED: dict[tuple[str, str], dict[str, Any]] = {
    ("get distinct in list python", "def distinct(xs)"): {
        "screener": UNCLEAR,
        "single_llm": {"demands": ["each value once"], "evidence": "it keeps the first", "share": "all"},
        "neighbour_writer": {"difference": "keeps what repeats", "code": ONLY_THE_REPEATED},
        "test_writer": written("each value once, in order", DISTINCT, DISTINCT_REFERENCE),
        "arbiter": {"verdict": 1, "explanation": "all three cases hold"},
    },
    ("python check if a variable is iterable", "def is_iterable_but_not_string("): {
        "screener": UNCLEAR,
        "single_llm": {"demands": ["strings, too"], "evidence": "strings are refused", "share": "most"},
        "neighbour_writer": {"difference": "asks for text", "code": ONLY_TEXT},
        "test_writer": written("anything that can be iterated", ITERABLE, ITERABLE_REFERENCE),
        "arbiter": {"verdict": 0, "explanation": "strings are iterable and are refused"},
    },
    ("python check if a variable is iterable", "def is_iterable_of_int("): {
        "screener": {"verdict": 0, "explanation": "asks about the type of the elements as well"},
    },
    ("calculate an average in python using the count of an array", "def average(arr)"): {
        "screener": {"verdict": 1, "explanation": "sum divided by the count"},
    },
}


@pytest.fixture
def build(
    real_data: Path,
    settings: Any,
    pytestconfig: pytest.Config,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Build]:
    """The launched build; its vectors are those that the retrieval tests encode, once for both."""
    monkeypatch.setattr(subprocesses, "run_child_command", in_process)
    with kept(pytestconfig) as vectors:
        settings.COSQA_HOME = vectors.parent
        share(settings.COSQA_HOME)
        yield launched(*cosqa_files(real_data, tmp_path))


def launched(pairs: Path, codebase: Path) -> Build:
    import_cosqa(pairs, codebase, "cosqa", Options())
    queries, snippets = (Collection.objects.get(name="cosqa", kind=kind) for kind in ("queries", "snippets"))
    return launch_build(
        Order(name="real", queries=queries, snippets=snippets, encoders=("bm25", "minilm"), limit=1000)
    )


def in_process(command: list[str], still_wanted: Callable[[], bool]) -> int:
    call_command(*command)
    return 0


def answers(build: Build) -> list[str]:
    """A reply line for each request that waits and that somebody has decided."""
    lines = []
    waiting = Case.objects.filter(build=build, waiting_for__status=LLMCall.Status.WAITING)
    for case in waiting.select_related("pair__query", "pair__snippet", "waiting_for"):
        assert case.waiting_for is not None
        for (query, start), said in DECIDED.items():
            if case.pair.query.head == query and case.pair.snippet.head.startswith(start):
                lines.append(
                    json.dumps({"id": case.waiting_for.digest, "reply": said[case.waiting_for.agent]})
                )
    return lines


def test_a_real_build_waits_for_its_thousand_answers_and_settles_those_that_come(build: Build) -> None:
    shared = create_configured_tools()
    worker.until_idle(COUNTS, shared)
    out = io.BytesIO()
    assert file_exchange.export_waiting_requests(build, out) == Tally.objects.get(build=build).total == 1000
    requests = [line for line in map(json.loads, out.getvalue().splitlines()) if "id" in line]
    assert {request["agent"] for request in requests} == {"screener"}
    assert len({request["id"] for request in requests}) == 1000
    while lines := answers(build):
        assert not file_exchange.import_replies(build, io.BytesIO("\n".join(lines).encode())).problems
        worker.until_idle(COUNTS, shared)
    shared.sandbox.close()
    settled = Case.objects.filter(build=build, stage=Stage.SETTLED)
    labels = {
        case.pair.snippet.head.split("(")[0]: case.label for case in settled.select_related("pair__snippet")
    }
    assert labels["def distinct"] == 1
    assert labels["def is_iterable_but_not_string"] == 0
    assert 3 <= len(labels) <= len(DECIDED)
    tested = settled.get(pair__snippet__head__startswith="def distinct(xs)")
    assert tested.execution is not None
    assert tested.execution.whole_report().touched
