"""Stored replies read again: verdicts against steps, cases and labels, of builds and of their benchmarks."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.builds.results import publication
from annotation.llm import Request
from annotation.models import Build, Case, LLMCall, Step
from annotation.models.builds.calls import ReplyText
from annotation.pins import pin_build, pin_leaderboard, read_too, reply_check, reproduce_pin
from annotation.stages import Event, Stage
from retrieval.evaluation.content import content_of
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.runs.system_run import evaluate_file
from retrieval.metrics.names import parse_measures
from retrieval.models import Annotator, Benchmark, BenchmarkLabel, Label, Pin, Pool
from tests import factories
from tests.annotation.builds.pipeline.test_listwise import by_code
from tests.annotation.models.test_tally import PROGRAM
from tests.fakes import FakeLLM

pytestmark = pytest.mark.django_db

Make = Callable[..., tuple[Tools, FakeLLM]]
Fresh = Callable[[Case], Case]
Built = Callable[[Annotator], Build]


def answer(request: Request) -> dict[str, Any]:
    """A match for the snippet that reverses; the parser is unclear, and then none."""
    code = request.messages[0].text.split("<code-")[-1]
    verdict = 1 if "reverse" in code else 0.5 if "parse" in code else 0
    answers: dict[str, dict[str, Any]] = {
        "screener": {"verdict": verdict, "explanation": "so it seems"},
        "single_llm": {"demands": ["lists"], "evidence": "it says so", "share": "most"},
        "test_writer": {"program": PROGRAM, "reading": "in place", "helpers": []},
        "arbiter": {"verdict": 0, "explanation": "as it ran"},
    }
    return by_code(request) if request.agent == "query_screener" else answers[request.agent]


@pytest.fixture
def built(tools_with: Make, fresh: Fresh) -> Built:
    """A build of nine pairs that is over, by replies as agents give them."""

    def make(annotator: Annotator) -> Build:
        made = factories.opened(annotator=annotator)
        tools, _ = tools_with(answer)
        for case in factories.cases(made):
            while Stage(fresh(case).stage).is_working:
                advance_case(fresh(case), tools)
        Build.objects.update(state=Build.State.DONE)
        return Build.objects.select_related("tally", "annotator").get(pk=made.pk)

    return make


@pytest.fixture
def build(built: Built) -> Build:
    return built(factories.annotator())


def reply(call: LLMCall, said: object) -> None:
    LLMCall.objects.filter(pk=call.pk).update(reply=ReplyText.keep(json.dumps(said)))


def step(event: Event) -> Step:
    found = Step.objects.filter(event=event).order_by("pk").first()
    assert found is not None
    return found


def call_of(event: Event) -> LLMCall:
    call = step(event).call
    assert call is not None
    return call


@pytest.mark.parametrize(
    ("annotator", "replies"),
    [
        (factories.annotator, 12),  # three pairs are screened, and arbitrated
        (lambda: factories.annotator(screener="query", seed=7), 12),
        (lambda: factories.single_llm("half"), 9),
        (lambda: factories.single_llm("exact"), 9),
    ],
)
def test_every_agents_replies_say_what_stands(
    built: Built, annotator: Callable[[], Annotator], replies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_check, "STEPS_A_READ", 5)
    pin = pin_build(built(annotator()))
    assert pin.value["counts"]["settled"] == 9
    found = read_too(reproduce_pin(pin))
    assert found.changes == ()
    assert found.notes == (f"{replies} replies read again, 9 labels compared: 0 differ",)


@pytest.mark.parametrize("event", [Event.MATCH, Event.NO_MATCH, Event.UNCLEAR, Event.DENIED])
def test_a_reply_that_says_otherwise_is_found(build: Build, event: Event) -> None:
    pin, said = pin_build(build), step(event)
    verdict = 0 if event in (Event.MATCH, Event.UNCLEAR) else 1
    reply(call_of(event), {"verdict": verdict, "explanation": "no, otherwise"})
    found = read_too(reproduce_pin(pin))
    now = {0: "no_match", 1: "accepted" if event is Event.DENIED else "match"}[verdict]
    assert (found.changes[0].where, found.changes[0].before, found.changes[0].now) == (
        f"steps/{said.pk}",
        event.value,
        now,
    )
    assert len(found.changes) == (1 if event is Event.UNCLEAR else 3)  # the case and its label, too
    assert "1 differ" in found.notes[0]


def test_a_candidate_among_others_is_told_by_its_place(built: Built) -> None:
    pin = pin_build(built(factories.annotator(screener="query", seed=7)))
    call = call_of(Event.MATCH)
    assert call.reply is not None
    said = json.loads(call.reply.text)
    for one in said["verdicts"]:
        one["verdict"] = {1: 0, 0: 0, 0.5: 0.5}[one["verdict"]]
    reply(call, said)
    found = read_too(reproduce_pin(pin))
    assert [one.where for one in found.changes if one.where.startswith("steps/")] == [
        f"steps/{step(Event.MATCH).pk}"
    ]


def test_labels_and_cases_that_somebody_changed_are_found(build: Build) -> None:
    pin = pin_build(build)
    case = step(Event.MATCH).case
    Label.objects.filter(pair=case.pair_id).update(value=0)
    assert [(one.where, one.before, one.now) for one in read_too(reproduce_pin(pin)).changes] == [
        (f"labels/{case.pair_id}", [0], 1)
    ]
    Label.objects.filter(pair=case.pair_id).update(value=1)
    Case.objects.filter(pk=case.pk).update(label=0)
    assert f"cases/{case.pk}/label" in {one.where for one in read_too(reproduce_pin(pin)).changes}


def test_a_reply_that_is_no_verdict_differs_and_one_that_is_gone_is_counted(build: Build) -> None:
    pin = pin_build(build)
    reply(call_of(Event.MATCH), {"verdict": "perhaps"})
    LLMCall.objects.filter(pk=call_of(Event.NO_MATCH).pk).update(reply=None)
    found = read_too(reproduce_pin(pin))
    assert [str(one.now)[:12] for one in found.changes] == ["no verdict: "]
    assert found.notes == (
        "11 replies read again, 7 labels compared: 1 differ; 1 not read: a step without a stored reply",
    )


def test_only_the_first_that_differ_are_shown_and_all_are_counted(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_check, "MOST_SHOWN", 2)
    pin = pin_build(build)
    LLMCall.objects.update(reply=ReplyText.keep("nothing"))
    found = read_too(reproduce_pin(pin))
    assert len(found.changes) == 2
    assert "12 differ" in found.notes[0]


def scored(benchmark: Benchmark, folder: Path) -> Pin:
    (folder / "run").write_text("queries-0 Q0 snippets-0 1 1 x\n")
    evaluate_file(folder / "run", "mine", content_of(benchmark), Pool.COLLECTION, parse_measures(["mrr"]))
    return pin_leaderboard(benchmark, Pool.COLLECTION)


def test_a_leaderboard_reads_the_replies_of_the_build_that_it_came_from(build: Build, tmp_path: Path) -> None:
    case = step(Event.NO_MATCH).case
    benchmark = publication.publish_benchmark(publication.Wish("mine", build.mining, build))
    pin = scored(benchmark, tmp_path)
    people = Annotator.objects.version(Annotator.Kind.ORIGINAL, "by hand", {})
    by_hand = Label.objects.create(pair=case.pair, annotator=people, value=1)
    BenchmarkLabel.objects.filter(pair=case.pair).update(label=by_hand, relevance=1)
    found = read_too(reproduce_pin(pin))
    assert found.changes == ()
    assert found.notes == (
        "12 replies read again, 8 labels compared: 0 differ",
        "1 label of the benchmark is not from one reply: of a person, or of a merge",
    )
    BenchmarkLabel.objects.filter(pair=step(Event.MATCH).case.pair_id).update(relevance=0)
    assert f"labels/{step(Event.MATCH).case.pair_id}" in {
        one.where for one in read_too(reproduce_pin(pin)).changes
    }


def test_what_rests_on_no_reply_says_so(tmp_path: Path) -> None:
    made = factories.opened()
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "by hand", {})
    for case in factories.cases(made):
        Label.objects.create(pair=case.pair, annotator=by, value=1)
    order = Order("theirs", made.queries, made.snippets, "by hand", made.mining)
    pin = scored(publish_benchmark(order, Label.objects.all()), tmp_path)
    assert "published from one, rest on replies" in read_too(reproduce_pin(pin)).notes[-1]


def test_the_command_reads_them(build: Build) -> None:
    pin, out = pin_build(build), StringIO()
    call_command("reproduce", pin.name, "--from", "replies", stdout=out)
    assert "\nequal\n12 replies read again" in out.getvalue()
    reply(call_of(Event.MATCH), {"verdict": 0, "explanation": "no"})
    with pytest.raises(SystemExit) as ended:
        call_command("reproduce", pin.name, "--from", "replies", stdout=out)
    assert ended.value.code == 3
    assert 'was "match", is "no_match"' in out.getvalue()
