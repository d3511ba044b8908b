"""What builds, annotators and files said of the pairs, read into answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from django.db.models import Count

from annotation.builds.results.annotator_comparison import labels_of, side_of
from annotation.models import Build, Case, Step
from annotation.quality.answers import Answer, Answering, Spent
from annotation.quality.calls import CallSpent
from annotation.quality.inputs.files import GivenLabel
from annotation.quality.inputs.pair_lookup import PlacedPair
from annotation.stages import Stage
from retrieval.models import Annotator, Label
from retrieval.models.labels import is_match

AT_ONCE: Final = 500
COLUMNS: Final = (
    "pk",
    "pair_id",
    "stage",
    "label",
    "cause",
    "program_id",
    "execution__outcome",
    "execution__ran",
    "execution__touched",
)


@dataclass
class Trail:
    """What the steps of a case tell: its calls, whether it was tested, what ended it."""

    calls: set[int] = field(default_factory=set)
    tested: bool = False
    decided: str = ""


@dataclass(frozen=True)
class Judged:
    """A round of a build: its answers by the bench's pairs (ids), and the calls that each rests on."""

    build: Build
    round: int
    answers: Mapping[str, Answer]
    calls: Mapping[str, frozenset[int]]

    def answering(self, name: str, spent: Mapping[int, CallSpent]) -> Answering:
        """The answers with what they took. Of a call that served several cases each has an equal part."""
        served = cases_served(
            self.build, self.round, {call for calls in self.calls.values() for call in calls}
        )
        return Answering(
            name,
            {
                pair: replace(answer, spent=by_agent(self.calls[pair], spent, served))
                for pair, answer in self.answers.items()
            },
        )


def by_agent(
    calls: frozenset[int], spent: Mapping[int, CallSpent], served: Mapping[int, int]
) -> dict[str, Spent]:
    """One case's part of its calls."""
    found: dict[str, Spent] = {}
    for call in sorted(calls):
        one = spent[call]
        found[one.agent] = found.get(one.agent, Spent()).plus(one.spent.over(served[call]))
    return found


def cases_served(build: Build, number: int, calls: set[int]) -> dict[int, int]:
    """How many cases of the build's round rest on each call, whether or not the bench has their pairs."""
    found, wanted = dict[int, int](), sorted(calls)
    for start in range(0, len(wanted), AT_ONCE):
        steps = Step.objects.filter(
            case__build=build, case__round=number, call__in=wanted[start : start + AT_ONCE]
        )
        counted = steps.order_by().values("call").annotate(cases=Count("case", distinct=True))
        found |= dict(counted.values_list("call", "cases"))
    return found


def read_build_answers(build: Build, number: int, places: Sequence[PlacedPair]) -> Judged:
    """What a round of a build said of the pairs."""
    by_row = {place.row: place.pair.id for place in places if place.row is not None}
    answers: dict[str, Answer] = {}
    calls: dict[str, frozenset[int]] = {}
    for some in in_runs(sorted(by_row)):
        cases = list(
            Case.objects.filter(build=build, round=number, pair__in=some).order_by("pk").values_list(*COLUMNS)
        )
        trails = trails_of([row[0] for row in cases])
        for row in cases:
            pair = by_row[row[1]]
            answers[pair] = answer_of(row, trails[row[0]])
            calls[pair] = frozenset(trails[row[0]].calls)
    return Judged(build, number, answers, calls)


def in_runs(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(rows), AT_ONCE):
        yield rows[start : start + AT_ONCE]


def answer_of(row: tuple[object, ...], trail: Trail) -> Answer:
    """A case as an answer. An abandoned case could not be judged; it is never a 0."""
    case, _, stage, label, cause, program, outcome, ran, touched = row
    is_open = Stage(str(stage)).is_working
    return Answer(
        label=label if isinstance(label, int) else None,
        tested=trail.tested or program is not None or outcome is not None,
        is_open=is_open,
        decided="" if is_open else trail.decided,
        outcome=str(outcome or ""),
        ran=bool(ran),
        touched=bool(touched),
        cause=str(cause),
        case=int(str(case)),
    )


def trails_of(cases: Sequence[int]) -> dict[int, Trail]:
    """What the steps of these cases tell. One query."""
    found = defaultdict[int, Trail](Trail)
    steps = Step.objects.filter(case__in=cases).order_by("case", "number")
    for case, before, event, call, program, run in steps.values_list(
        "case_id", "before", "event", "call_id", "program_id", "execution_id"
    ):
        trail = found[case]
        trail.calls |= {call} - {None}
        trail.tested |= program is not None or run is not None
        trail.decided = f"{before}: {event}".replace("_", " ")
    return found


def read_annotator_labels(
    annotator: Annotator, number: int, places: Sequence[PlacedPair], name: str
) -> Answering:
    """An annotator's labels of a round, or each pair's last; without assisted ones and those taken back.

    An empty label of code similarity was not taken back: the pair could not be judged.
    """
    by_row = {place.row: place.pair.id for place in places if place.row is not None}
    side = side_of(annotator, number)
    answers: dict[str, Answer] = {}
    for some in in_runs(sorted(by_row)):
        rows = labels_of(side).filter(pair__in=some).values_list("pair_id", "value", "scale")
        for row, value, scale in rows:
            answers[by_row[row]] = Answer(int(is_match(value or 0, scale)))
        if annotator.kind == Annotator.Kind.SIMILARITY:
            empty = Label.objects.filter(annotator=annotator, value__isnull=True, pair__in=some)
            told = empty.values_list("pair_id", "source")
            answers |= {by_row[row]: Answer(None, cause=source) for row, source in told}
    return Answering(name, answers)


def read_file_labels(labels: Mapping[str, GivenLabel], name: str) -> Answering:
    """The labels of a file."""
    return Answering(
        name, {pair: Answer(label.label, label.tested, why=label.why) for pair, label in labels.items()}
    )
