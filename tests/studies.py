"""Tiny factories of studies. The cast is that of tests/factories.py; raters are made by name."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.accounts.roles import Role
from annotation.models import (
    Acknowledgement,
    Assignment,
    Build,
    Condition,
    Enrolment,
    Guideline,
    Quota,
    Rating,
    Study,
    StudyPair,
)
from retrieval.models import Pair, Text
from tests.factories import QUERIES, SNIPPETS, ada, person

Kind = Condition.Kind


def guideline(**columns: Any) -> Guideline:
    defaults: dict[str, Any] = {"name": "rules", "version": 1, "text": "A match does all that is asked."}
    return Guideline.objects.get_or_create(**{**defaults, **columns})[0]


def study(
    name: str = "first study",
    conditions: Sequence[str] = (Kind.OWN_TESTS,),
    pairs: Sequence[Pair] | None = None,
    raters: int = 3,
    **columns: Any,
) -> Study:
    """A running study over `pairs` (default: three) with quotas for `raters` ratings a pair and condition."""
    defaults: dict[str, Any] = {"state": Study.State.RUNNING, "seed": 1, "reference": conditions[0]}
    made = Study.objects.create(
        name=name, **{**defaults, "created_by": ada(), "guideline": guideline(), **columns}
    )
    found = [Condition.objects.create(study=made, kind=kind, raters=raters) for kind in conditions]
    for number, pair in enumerate(three_pairs() if pairs is None else pairs, 1):
        sampled = StudyPair.objects.create(study=made, number=number, pair=pair)
        for condition in found:
            Quota.objects.create(study_pair=sampled, condition=condition, wanted=raters)
    made.planned_pairs = made.pairs.count()
    made.save()
    return made


def three_pairs() -> list[Pair]:
    """Three pairs of three queries."""
    queries, snippets = Text.objects.keep_all(QUERIES), Text.objects.keep_all(SNIPPETS[:3])
    return [
        Pair.objects.get_or_create(query=query, snippet=snippet)[0]
        for query, snippet in zip(queries, snippets, strict=True)
    ]


def condition(of: Study, kind: str = "") -> Condition:
    """The study's condition of that kind, or its first one."""
    found = of.conditions.filter(kind=kind).first() if kind else of.conditions.first()
    assert found is not None
    return found


def rater(name: str, of: Study, kind: str = "", **columns: Any) -> Enrolment:
    """An expert called `name`, enrolled in the study, who has read its information text and guidelines."""
    number = of.enrolments.count() + 1
    defaults: dict[str, Any] = {
        "capacity": 1000,
        "pseudonym": f"R{number:02}",
        "seed": number,
        "accepted_at": timezone.now(),
    }
    expert = person(name, Role.EXPERT)
    if of.guideline is not None:
        Acknowledgement.objects.get_or_create(guideline=of.guideline, user=expert)
    return Enrolment.objects.create(
        study=of,
        user=expert,
        condition=condition(of, kind),
        **{**defaults, **columns},
    )


def assignment(enrolment: Enrolment, of: StudyPair | None = None, **columns: Any) -> Assignment:
    """An open reservation, counted in its quota."""
    sampled = of or enrolment.study.pairs.exclude(assignments__rater=enrolment.user).order_by("number")[0]
    quota = Quota.objects.get(study_pair=sampled, condition=enrolment.condition)
    defaults: dict[str, Any] = {
        "position": enrolment.assignments.count() + 1,
        "token": "t" * 32,
        "reserved_until": timezone.now() + timedelta(minutes=30),
        "round": quota.round,
    }
    quota.reserved += 1
    quota.save()
    return Assignment.objects.create(
        enrolment=enrolment,
        study_pair=sampled,
        condition=enrolment.condition,
        rater=enrolment.user,
        **{**defaults, **columns},
    )


def rated(enrolment: Enrolment, value: int | None, of: StudyPair | None = None, **columns: Any) -> Rating:
    """A finished assignment with its blind rating."""
    done = assignment(enrolment, of, state=Assignment.State.DONE, done_at=timezone.now())
    Quota.objects.filter(study_pair=done.study_pair, condition=done.condition).update(
        done=Quota.objects.get(study_pair=done.study_pair, condition=done.condition).done + 1
    )
    defaults: dict[str, Any] = {"revision": 1, "evidence": "0" * 64, "seconds": 20.0}
    return Rating.objects.create(assignment=done, value=value, **{**defaults, **columns})


def user(name: str) -> User:
    return person(name, Role.EXPERT)


def posted(build: Build, **changes: Any) -> dict[str, Any]:
    """What the form of a study sends that draws three pairs of the build."""
    people = [person(name, Role.EXPERT) for name in ("ruth", "sam", "tess")]
    data: dict[str, Any] = {
        "name": "first <b>study</b>",
        "question": "As good as people?",
        "kind": "rating",
        "purpose": "development",
        "scale": "binary",
        "builds": [build.pk],
        "size": 3,
        "per_query": 1,
        "seed": 4,
        "allocation": "proportional",
        "with_own_tests": "on",
        "raters_own_tests": 3,
        "seconds_own_tests": 600,
        "reference": "own_tests",
        "comparisons": "agents vs own_tests",
        "order": "spaced",
        "docstring": "shown",
        "hourly_rate": 30,
        "step": "save",
    }
    for one in people:
        data |= {f"condition_{one.pk}": "own_tests", f"capacity_{one.pk}": 9}
    return data | changes
