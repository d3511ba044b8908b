"""Whether a seeded database is as the workbench itself would have left it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum

from annotation.models import (
    Abandonment,
    AgentBill,
    Build,
    Case,
    Duration,
    Execution,
    LLMCall,
    Moment,
    ProjectTally,
    Review,
    Step,
)
from annotation.models.builds.cases import COUNTED, OPEN
from annotation.models.builds.figures import bucket_of
from annotation.models.builds.label_in_force import find_label_in_force, load_people_statements
from annotation.models.reviews.labels_in_force import chunk_rows
from annotation.stages import Event, Stage
from bench.seed.tables import list_orphan_references
from retrieval.models import Label


def find_seeding_faults() -> list[str]:
    """What is wrong, in words; empty where nothing is."""
    found = [f"{what}: {count}" for what, rows in WRONG.items() if (count := rows().count())]
    builds = Build.objects.select_related("tally")
    for build in builds:
        found += find_differing_figures(build)
    if (said := ProjectTally.objects.now().spent) != (spent := sum(build.tally.spent for build in builds)):
        found.append(f"the project spent {said}, its builds {spent}")
    return [*found, *list_orphan_references()]


def find_differing_figures(build: Build) -> list[str]:
    """Figures that differ from a recount."""
    found = {**recount_build_totals(build), **counted_events(build), **counted_times(build)}
    said = {name: getattr(build.tally, name) for name in found}
    told = [
        f"{build} counts {said[name]} {name}, there are {value}"
        for name, value in found.items()
        if said[name] != value
    ]
    tables = {
        "bills": recount_build_bills,
        "times of pairs": times_of_pairs,
        "causes": recount_build_causes,
        "progress": recount_build_ends,
    }
    return told + [
        f"{build}: its {name} are {stored}, counted {counted}"
        for name, both in tables.items()
        for stored, counted in [both(build)]
        if stored != counted
    ]


def recount_build_totals(build: Build) -> dict[str, int]:
    """A build's totals, counted row by row."""
    cases = Case.objects.filter(build=build)
    stages = {stage.value: Count("pk", filter=Q(stage=stage)) for stage in Stage}
    calls = LLMCall.objects.filter(build=build, status=LLMCall.Status.SUCCEEDED)
    every = calls.aggregate(
        calls=Count("pk"),
        input_tokens=Sum("input_tokens", default=0),
        output_tokens=Sum("output_tokens", default=0),
        spent=Sum("cost", default=0),
    )
    runs = Execution.objects.filter(cases__build=build)
    ended = runs.aggregate(
        programs=Count("pk"),
        ran=Count("pk", filter=Q(ran=True)),
        asserted=Count("pk", filter=Q(asserted=True)),
        touched=Count("pk", filter=Q(touched=True)),
    )
    labels = {
        "matches": Count("pk", filter=Q(label=1)),
        "matches_in_force": Count("pk", filter=Q(label_in_force=1)),
        "no_matches_in_force": Count("pk", filter=Q(label_in_force=0)),
    }
    return {**cases.aggregate(**stages, **labels), **every, **ended}


def counted_events(build: Build) -> dict[str, int]:
    """The totals that count events, from the steps."""
    steps = Step.objects.filter(case__build=build).order_by().values_list("event")
    counts: Counter[str] = Counter(dict.fromkeys(COUNTED.values(), 0))
    for event, number in steps.annotate(Count("pk")):
        counts[COUNTED.get(Event(event), "")] += number
    del counts[""]
    return dict(counts)


def counted_times(build: Build) -> dict[str, int]:
    """Milliseconds of each stage, from the steps."""
    steps = Step.objects.filter(case__build=build).order_by().values_list("before")
    sums = dict(steps.annotate(Sum("seconds", default=0.0)))
    return {f"{stage}_ms": round(1000 * sums.get(stage, 0.0)) for stage in OPEN}


Both = tuple[dict[Any, Any], dict[Any, Any]]
"""What is stored, and what a recount gives."""


def recount_build_bills(build: Build) -> Both:
    calls = LLMCall.objects.filter(build=build, status=LLMCall.Status.SUCCEEDED).order_by()
    sums = (Count("pk"), *(Sum(name) for name in ("input_tokens", "output_tokens", "cost")), Sum("latency"))
    stored = AgentBill.objects.filter(build=build).values_list(
        "agent", "calls", "input_tokens", "output_tokens", "spent", "milliseconds"
    )
    counted = calls.values_list("agent").annotate(*sums)
    return (
        {agent: tuple(figures) for agent, *figures in stored},
        {agent: (*figures, round(1000 * latency)) for agent, *figures, latency in counted},
    )


def times_of_pairs(build: Build) -> Both:
    stored = Duration.objects.filter(build=build).values_list("path", "bucket", "cases")
    settled = Case.objects.filter(build=build, stage=Stage.SETTLED).order_by().values_list("seconds")
    counts: Counter[tuple[str, int]] = Counter()
    for path in Duration.Path:
        rows = settled.filter(program__isnull=path is Duration.Path.CLEAR).annotate(Count("pk"))
        for seconds, number in rows:
            counts[path.value, bucket_of(seconds)] += number
    return {(path, bucket): cases for path, bucket, cases in stored}, dict(counts)


def recount_build_causes(build: Build) -> Both:
    stored = Abandonment.objects.filter(build=build).values_list("cause", "left_stage", "cases")
    cases = (
        Case.objects.filter(build=build, stage=Stage.ABANDONED).order_by().values_list("cause", "left_stage")
    )
    return (
        {(cause, left): cases for cause, left, cases in stored},
        {(cause, left): number for cause, left, number in cases.annotate(Count("pk"))},
    )


def recount_build_ends(build: Build) -> Both:
    """The last moment noted against the totals."""
    names = "total", "settled", "abandoned", "spent"
    last = Moment.objects.filter(build=build).order_by("-at").values(*names).first()
    return last or {}, {name: getattr(build.tally, name) for name in names}


def without_label() -> QuerySet[Case]:
    """Settled cases whose annotator's label is not published, or is another one."""
    same = Label.objects.filter(
        pair=OuterRef("pair"), annotator=OuterRef("annotator"), value=OuterRef("label"), assisted=False
    )
    return Case.objects.filter(~Exists(same), stage=Stage.SETTLED)


def steps_differ() -> QuerySet[Case]:
    return Case.objects.annotate(made=Count("steps")).exclude(made=F("step_count"))


def find_unfinished_cases() -> QuerySet[Case]:
    ends = Step.objects.filter(case=OuterRef("pk"), number=OuterRef("step_count"), after=Stage.SETTLED)
    return Case.objects.filter(~Exists(ends), stage=Stage.SETTLED)


def unpublished_reviews() -> QuerySet[Review]:
    told = Label.objects.filter(pair=OuterRef("pair"), assisted=True, value=OuterRef("label"))
    return Review.objects.filter(~Exists(told))


def wrongly_contradicted() -> QuerySet[Case]:
    """Cases that say that experts contradict them, and the others that do not say so though they do."""
    standing = Review.objects.current().filter(pair=OuterRef("pair"), label__isnull=False)
    other = Exists(standing.exclude(label=OuterRef("label")))
    kept = Q(contradicted=True) & (Q(label__isnull=True) | ~other)
    return Case.objects.filter(kept | Q(other, contradicted=False, label__isnull=False))


def wrongly_in_force() -> QuerySet[Case]:
    """Cases whose label in force is not what their rule makes of all that is said of their pair."""
    columns = "pk", "pair_id", "label", "label_in_force", "build__reviews_needed"
    wrong = []
    for some in chunk_rows(Case.objects.order_by("pk").values_list(*columns).iterator()):
        people = load_people_statements({row[1] for row in some})
        wrong += [
            key
            for key, pair, label, kept, needed in some
            if kept != find_label_in_force(label, people.get(pair, ()), needed).label
        ]
    return Case.objects.filter(pk__in=wrong)


WRONG: Final[Mapping[str, Callable[[], QuerySet[Case] | QuerySet[Review]]]] = {
    "settled cases without their label": without_label,
    "cases whose steps are not as many as they say": steps_differ,
    "settled cases without a step that settled them": find_unfinished_cases,
    "reviews without their label": unpublished_reviews,
    "cases that are wrong about what experts say": wrongly_contradicted,
    "cases with the wrong label in force": wrongly_in_force,
}
