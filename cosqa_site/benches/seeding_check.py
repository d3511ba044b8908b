"""Whether a seeded database is as the workbench itself would have left it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum

from annotation.models import Build, Case, Execution, LLMCall, Review, Step
from annotation.stages import Stage
from cosqa_site.benches.seeding_tables import orphans
from retrieval.models import Label


def check() -> list[str]:
    """What is wrong, in words; empty where nothing is."""
    found = [f"{what}: {count}" for what, rows in WRONG.items() if (count := rows().count())]
    for build in Build.objects.select_related("tally"):
        found += differing(build)
    return [*found, *orphans()]


def differing(build: Build) -> list[str]:
    """Totals that differ from a recount."""
    said = {name: getattr(build.tally, name) for name in recount(build)}
    return [
        f"{build} counts {said[name]} {name}, there are {value}"
        for name, value in recount(build).items()
        if said[name] != value
    ]


def recount(build: Build) -> dict[str, int]:
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
    return {**cases.aggregate(**stages, matches=Count("pk", filter=Q(label=1))), **every, **ended}


def without_label() -> QuerySet[Case]:
    """Settled cases whose annotator's label is not published, or is another one."""
    same = Label.objects.filter(
        pair=OuterRef("pair"), annotator=OuterRef("annotator"), value=OuterRef("label"), assisted=False
    )
    return Case.objects.filter(~Exists(same), stage=Stage.SETTLED)


def steps_differ() -> QuerySet[Case]:
    return Case.objects.annotate(made=Count("steps")).exclude(made=F("steps_made"))


def unfinished() -> QuerySet[Case]:
    ends = Step.objects.filter(case=OuterRef("pk"), number=OuterRef("steps_made"), after=Stage.SETTLED)
    return Case.objects.filter(~Exists(ends), stage=Stage.SETTLED)


def unpublished_reviews() -> QuerySet[Review]:
    told = Label.objects.filter(pair=OuterRef("pair"), assisted=True, value=OuterRef("label"))
    return Review.objects.filter(~Exists(told))


WRONG: Final[Mapping[str, Callable[[], QuerySet[Case] | QuerySet[Review]]]] = {
    "settled cases without their label": without_label,
    "cases whose steps are not as many as they say": steps_differ,
    "settled cases without a step that settled them": unfinished,
    "reviews without their label": unpublished_reviews,
}
