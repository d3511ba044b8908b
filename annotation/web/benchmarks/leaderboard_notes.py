"""What stands beside the figures of a leaderboard: label noise and training data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import QuerySet

from annotation.accounts.roles import Visitor
from annotation.builds.results.answering_models import list_answering_models
from annotation.models import Build, Study
from annotation.stats.agreement.error_share import Wrong, WrongLabels
from annotation.stats.agreement.scores import Scores
from annotation.studies.plan.row_names import format_annotator_name
from annotation.studies.report.figures import NoFigures, figures_of, refuse_to_raters
from retrieval.evaluation.leaderboard import Leaderboard
from retrieval.evaluation.robustness.label_noise import ASSUMED, ErrorRates
from retrieval.evaluation.systems import published_systems
from retrieval.models import Annotator, Benchmark, BenchmarkLabel, Candidate, filled_holes_of
from retrieval.training.run import SCRATCH

SEEN: Final = "trained on data of this field’s benchmarks"
SHARES: Final = (0.02, 0.04, 0.061, 0.1)
MOST_STUDIES: Final = 5
LONGEST_SHARES: Final = 24
LABELS_LOOKED_AT: Final = 2000


@dataclass(frozen=True, slots=True)
class Origin:
    """What a system was trained on, and what it has in common with the annotator; in words.

    `sees_tasks`: benchmarks of this field are in its training data. `shared`: empty where that is not known.
    """

    system: str
    trained_on: str
    shared: str
    sees_tasks: bool

    @property
    def is_related(self) -> bool:
        return bool(self.shared) and self.shared not in published_systems.UNRELATED


@dataclass(frozen=True, slots=True)
class ErrorRateChoice:
    """An error rate that can be chosen: as it is written in an address, and in words."""

    written: str
    said: str
    rates: ErrorRates

    @property
    def study(self) -> int | None:
        """The id of the study that found it."""
        of, _, number = self.written.partition("-")
        return int(number) if of == "study" else None


def error_choices(benchmark: Benchmark, user: Visitor, typed: str = "") -> list[ErrorRateChoice]:
    """What may be assumed of the labels' errors: shares, and what studies found of their annotators.

    Also what somebody typed, unless it is one of these or says no share.
    """
    assumed = [
        ErrorRateChoice(
            f"{share:g}",
            f"{share:.1%} of all, assumed",
            ASSUMED if share == ASSUMED.matches else ErrorRates(share, share, "an assumption"),
        )
        for share in SHARES
    ]
    known = [*_studied(benchmark, user), *assumed]
    own = own_choice(typed) if typed and typed not in {choice.written for choice in known} else None
    return [*known, own] if own else known


def given_errors(written: str) -> ErrorRates:
    """A share of wrong labels, or two with a comma: of matches and of the others. Raises ValueError."""
    shares = [float(share) for share in written.split(",")]
    if len(shares) > 2:
        raise ValueError("one share, or two with a comma")
    return ErrorRates(shares[0], shares[-1], "as given")


def own_choice(written: str) -> ErrorRateChoice | None:
    """Shares that somebody typed, as a choice; None where they are none."""
    try:
        rates = given_errors(written[:LONGEST_SHARES])
    except ValueError:
        return None
    said = f"{rates.matches:.2%} of matches, {rates.others:.2%} of others, as given"
    return ErrorRateChoice(f"{rates.matches:g},{rates.others:g}", said, rates)


def chosen_errors(choices: Sequence[ErrorRateChoice], written: str) -> ErrorRateChoice:
    """The choice written in an address; else what the newest study found, else the usual assumption."""
    usual = next((choice for choice in choices if choice.rates is ASSUMED), choices[0])
    measured = next((choice for choice in choices if choice.written.startswith("study")), usual)
    own = own_choice(written) if written else None
    return next((choice for choice in choices if choice.written in (written, own and own.written)), measured)


def _studied(benchmark: Benchmark, user: Visitor) -> list[ErrorRateChoice]:
    """The newest studies that rated an annotator of the benchmark's labels."""
    by = annotators_of(benchmark)
    found: list[ErrorRateChoice] = []
    studies = Study.objects.filter(pairs__pair__labels__annotator__in=by).distinct().order_by("-pk")
    for study in studies[:MOST_STUDIES]:
        try:
            refuse_to_raters(user, study)
            figures = figures_of(study)
        except NoFigures:
            continue
        names = {format_annotator_name(annotator) for annotator in by}
        rows = [row for row in figures.score_rows if row.name in names]
        found += [choice for row in rows if (choice := _of_study(study, row, figures.wrong[row.name]))]
    return found


def _of_study(study: Study, row: Scores, wrong: WrongLabels) -> ErrorRateChoice | None:
    """The shares of wrong labels that a study found; None where it has rated none of one kind."""
    matches, others = wrong.matches, wrong.others
    if matches is None or others is None:
        return None
    told = (
        as_sure(matches, others)
        + describe_unseen_errors(matches, "matches")
        + describe_unseen_errors(others, "others")
    )
    rates = ErrorRates(
        matches.share,
        others.share,
        f"the study “{study}” of {row.name}: {row.n:,} pairs{told}",
        matches_of=matches.worth,
        others_of=others.worth,
    )
    said = f"{rates.matches:.1%} of matches, {rates.others:.1%} of others: study “{study}”"
    return ErrorRateChoice(f"study-{study.pk}", said, rates)


def as_sure(matches: Wrong, others: Wrong) -> str:
    """What the study's weights and the labels that share a query take of its labels; else nothing."""
    if (matches.worth, others.worth) == (matches.of, others.of):
        return ""
    return (
        f"; weighted, and as sure as of {format_kinds(matches.worth, others.worth)} drawn one by one, of the "
        f"{format_kinds(matches.of, others.of)} that it has"
    )


def describe_unseen_errors(wrong: Wrong, kind: str) -> str:
    """What it leaves open that none of these labels was wrong: up to 3 in n (Hanley and Lippman-Hand 1983).

    A share of 0 out of a few pairs would say that no label error can change the order.
    """
    if wrong.share or not wrong.worth:
        return ""
    most = min(3 / wrong.worth, 1.0)
    return f"; none of {format_label_count(wrong.of)} {kind} was wrong, so up to {most:.0%} may be wrong"


def as_counted(matches: float, others: float) -> str:
    """What varies from draw to draw where the shares were counted on so many labels; else nothing."""
    if not (matches or others):
        return ""
    return (
        f"; each draw takes other shares, as the {format_kinds(matches, others)} of the study leave them open"
    )


def format_kinds(matches: float, others: float) -> str:
    """So many labels of both kinds."""
    first = f"{format_label_count(matches)} match{'es' * (matches != 1)}"
    return f"{first} and {format_label_count(others)} other label{'s' * (others != 1)}"


def format_label_count(of: float) -> str:
    """How many labels; what they are worth is rarely a whole number."""
    return f"{of:,.0f}" if of == round(of) else f"{of:,.1f}"


def annotators_of(benchmark: Benchmark) -> list[Annotator]:
    """Who gave its labels: those of the builds over its mining or given pairs, else of the first labels.

    Also whoever judged what was unjudged, of the versions before it too.
    """
    labels = BenchmarkLabel.objects.filter(benchmark=benchmark)
    if benchmark.mining_id is None and benchmark.pair_list_id is not None:
        builds = Build.objects.filter(pair_list=benchmark.pair_list_id)
        found = set(builds.values_list("annotator", flat=True)) | annotators_in(labels)
    elif benchmark.mining_id is not None:
        found = set(Build.objects.filter(mining=benchmark.mining_id).values_list("annotator", flat=True))
    else:
        found = annotators_in(labels)
    for holes in filled_holes_of(benchmark):
        pairs = Candidate.objects.filter(mining=holes.mining_id).order_by("pk").values_list("pair", flat=True)
        found |= annotators_in(labels.filter(pair__in=list(pairs[:LABELS_LOOKED_AT])))
    return list(Annotator.objects.filter(pk__in=found))


def annotators_in(labels: QuerySet[BenchmarkLabel]) -> set[int]:
    """Whose are the first of these labels; a label that several were merged to is nobody's."""
    first = labels.order_by("pk")[:LABELS_LOOKED_AT].values_list("label__annotator", flat=True)
    return {annotator for annotator in first if annotator is not None}


def list_system_origins(benchmark: Benchmark, board: Leaderboard) -> list[Origin]:
    """Each system of the board, once."""
    models = models_of(annotators_of(benchmark))
    found = {standing.run.system: standing.run.options.get("trained") for standing in board.standings}
    return [
        Origin(
            name,
            describe_training(name, trained),
            published_systems.shared_with(name, models),
            published_systems.sees_tasks(name),
        )
        for name, trained in found.items()
    ]


def describe_training(system: str, trained: Mapping[str, Any] | None) -> str:
    """What a system learned: what is known of its name, and the benchmark on which it was trained here."""
    if trained is None:
        return published_systems.trained_on(system)
    own = f"{trained['learned']}, here"
    return own if trained["start"] == SCRATCH else f"{published_systems.trained_on(system)}; {own}"


def models_of(annotators: Sequence[Annotator]) -> list[str]:
    """The models that they ask, empty where that is not known; people ask none."""
    asked = (Annotator.Kind.AGENTS, Annotator.Kind.SINGLE_LLM)
    people = [
        annotator
        for annotator in annotators
        if annotator.kind == Annotator.Kind.PERSON or "study" in annotator.config
    ]
    others = [annotator for annotator in annotators if annotator not in people]
    found = [(list_answering_models(other) or [""]) if other.kind in asked else [""] for other in others]
    return [model for models in found for model in models] if annotators else [""]
