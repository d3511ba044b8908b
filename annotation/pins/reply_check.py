"""Verdicts read once more from stored replies, and compared with what stands as steps, cases and labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from django.db.models import Q, QuerySet

from annotation.agents import InvalidReply, arbiter, query_screener, screener, single_llm, tie_breaker
from annotation.agents.request_parts import fence_material
from annotation.models import Build, BuildEvent, Case, LLMCall, Step
from annotation.pins.pin_record import Change
from annotation.stages import UNCLEAR_EVENTS, Event, Stage
from retrieval.models import Benchmark, BenchmarkLabel, Label

STEPS_A_READ: Final = 200
"""Replies that are in memory at once, and the requests of those that judge several candidates."""
MOST_SHOWN: Final = 20
JUDGED: Final = (Event.MATCH, Event.NO_MATCH, *UNCLEAR_EVENTS, Event.ACCEPTED, Event.DENIED)
SCREENED: Final[Mapping[float, Event]] = {0: Event.NO_MATCH, 0.5: Event.UNCLEAR, 1: Event.MATCH}
LABELS: Final[Mapping[Event, int]] = {
    Event.MATCH: 1,
    Event.ACCEPTED: 1,
    Event.NO_MATCH: 0,
    Event.DENIED: 0,
}
Standing = Mapping[tuple[int, int, int], set[int | None]]
"""By pair, annotator and round, the labels that stand."""


class NoReply(Exception):
    """A step has no reply that could be read; the message says why."""


@dataclass(slots=True)
class Reread:
    """`replies` were read and `labels` compared; `unread` counts reasons.

    `differ` counts the replies that say otherwise, of which `changes` are the first.
    """

    replies: int = 0
    labels: int = 0
    differ: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    changes: list[Change] = field(default_factory=list)

    def add(self, changes: Sequence[Change]) -> None:
        self.differ += bool(changes)
        self.changes += changes[: MOST_SHOWN - len(self.changes)]

    def words(self) -> str:
        """One line for people."""
        told = f"{self.replies:,} replies read again, {self.labels:,} labels compared: {self.differ:,} differ"
        return "; ".join([told, *(f"{count:,} not read: {why}" for why, count in self.unread.items())])


def builds_of(benchmark: Benchmark) -> QuerySet[Build]:
    """The builds whose history says that they were published as the benchmark."""
    note = f"as benchmark {benchmark}"
    told = BuildEvent.objects.filter(Q(note=note) | Q(note__startswith=f"{note};"), event="published")
    return Build.objects.filter(pk__in=told.order_by().values("build"))


def labels_of_build(steps: Sequence[Step]) -> Standing:
    """What was published of the steps' pairs: any round, as another build may have had the first."""
    rows = Label.objects.filter(
        pair__in={step.case.pair_id for step in steps},
        annotator__in={step.case.annotator_id for step in steps},
        value__isnull=False,
    )
    said: dict[tuple[int, int], set[int | None]] = {}
    for pair, annotator, value in rows.values_list("pair_id", "annotator_id", "value"):
        said.setdefault((pair, annotator), set()).add(value)
    return {
        (pair, annotator, case.round): said.get((pair, annotator), set())
        for case in (step.case for step in steps)
        for pair, annotator in [(case.pair_id, case.annotator_id)]
        if not case.annotator.config.get("writes_snippets")
    }


def labels_in(benchmark: Benchmark) -> Callable[[Sequence[Step]], Standing]:
    """What the benchmark holds of the steps' pairs by these agents; people and merges are others."""

    def standing(steps: Sequence[Step]) -> Standing:
        rows = BenchmarkLabel.objects.filter(
            benchmark=benchmark,
            pair__in={step.case.pair_id for step in steps},
            label__annotator__in={step.case.annotator_id for step in steps},
        ).values_list("pair_id", "label__annotator_id", "label__round", "relevance")
        return {
            (pair, annotator, number): {int(relevance > 0)} for pair, annotator, number, relevance in rows
        }

    return standing


def read_again(
    builds: Iterable[Build],
    standing: Callable[[Sequence[Step]], Standing],
    last: int | None = None,
    tick: Callable[[], None] = lambda: None,
) -> Reread:
    """Read every reply that judged a case of the builds, up to the step `last`, some at a time."""
    found = Reread()
    for steps in iterate_step_batches(builds, last):
        requests = requests_of(steps)
        labels = standing([step for step in steps if step.after == Stage.SETTLED])
        for step in steps:
            compare_reread_step(step, requests, labels, found)
        tick()
    return found


def iterate_step_batches(builds: Iterable[Build], last: int | None) -> Iterator[list[Step]]:
    """The steps that a reply decided, as they were made; ties that cases broke have none."""
    steps = Step.objects.filter(case__build__in=list(builds), event__in=JUDGED).order_by("pk")
    steps = steps.exclude(before=Stage.TIE_BREAKING, call__isnull=True)
    steps = steps.select_related("case__annotator", "case__pair__snippet__body", "call__reply")
    upto = steps if last is None else steps.filter(pk__lte=last)
    handful = list(upto[:STEPS_A_READ])
    while handful:
        yield handful
        handful = list(upto.filter(pk__gt=handful[-1].pk)[:STEPS_A_READ])


def requests_of(steps: Sequence[Step]) -> Mapping[int, str]:
    """What was asked, of the calls that judged several candidates at once."""
    wanted = {step.call.pk for step in steps if step.call and step.call.agent == query_screener.NAME}
    calls = LLMCall.objects.filter(pk__in=wanted).select_related("system", "request")
    return {call.pk: "\n".join(turn.text for turn in call.whole_request().messages) for call in calls}


def compare_reread_step(step: Step, requests: Mapping[int, str], labels: Standing, found: Reread) -> None:
    """Whether the reply still says what the step says, and what stands as the case's label."""
    try:
        event = event_of(step, requests)
    except NoReply as why:
        found.unread[str(why)] += 1
        return
    except InvalidReply as why:
        found.replies += 1
        found.add([Change(f"steps/{step.pk}", step.event, f"no verdict: {why}")])
        return
    found.replies += 1
    if event is Event.UNCLEAR and step.event in UNCLEAR_EVENTS:
        event = Event(step.event)
    made = [] if event == step.event else [Change(f"steps/{step.pk}", step.event, event.value)]
    if step.after == Stage.SETTLED:
        case = step.case
        stands = labels.get((case.pair_id, case.annotator_id, case.round))
        found.labels += stands is not None
        made += label_changes(case, LABELS.get(event), stands)
    found.add(made)


def label_changes(case: Case, label: int | None, stands: set[int | None] | None) -> Iterator[Change]:
    """Where the case, or what was published of it, has another label than its reply."""
    if case.label != label:
        yield Change(f"cases/{case.pk}/label", case.label, label)
    if stands is not None and label not in stands:
        yield Change(f"labels/{case.pair_id}", sorted(stands, key=str), label)


def event_of(step: Step, requests: Mapping[int, str]) -> Event:
    """What the step's reply says. Raises NoReply and InvalidReply."""
    call = step.call
    if call is None or call.reply is None:
        raise NoReply("a step without a stored reply")
    text = call.reply.text
    match call.agent:
        case screener.NAME:
            return SCREENED[screener.ScreenerVerdict.of_reply(text).verdict]
        case arbiter.NAME | tie_breaker.NAME:
            return Event.ACCEPTED if arbiter.FinalVerdict.of_reply(text).verdict == 1 else Event.DENIED
        case single_llm.NAME:
            criterion = single_llm.Criterion(step.case.annotator.config["criterion"])
            return Event.MATCH if single_llm.SingleVerdict.of_reply(text).label(criterion) else Event.NO_MATCH
        case query_screener.NAME:
            return in_company(step, text, requests.get(call.pk, ""))
    raise NoReply(f"a reply of {call.agent}, which is no verdict")


def in_company(step: Step, reply: str, request: str) -> Event:
    """What a reply about several candidates says of the one at whose place the request shows the snippet."""
    code = step.case.pair.snippet.text
    for verdict in query_screener.parse_listwise_verdict(reply).verdicts:
        if fence_material(f"candidate-{verdict.candidate}", code) in request:
            return SCREENED[verdict.verdict]
    raise NoReply("a request that does not show the function")
