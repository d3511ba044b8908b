"""What raters must not be told at each moment of the conditions that show something, or look again.

By the walk of test_leaks.py through every route and operation. Raters are admins besides, who reach the most.
A list that is closed to them is asked for once here: test_leaks.py asks for it in each of its ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from annotation.accounts.roles import Role, give_role
from annotation.models import (
    Assignment,
    Case,
    Condition,
    Enrolment,
    Execution,
    Rating,
    Step,
    Study,
    Tally,
    TestProgram,
)
from annotation.review import labels
from annotation.stages import Stage
from retrieval.models import Candidate, Pair
from tests import factories, studies
from tests.site.samples import AGO, Samples, aged, samples
from tests.site.test_access import Route, browser
from tests.site.test_leaks import (
    addresses,
    all_told,
    by_name,
    change_what_agents_said,
    differing,
    told,
    told_twice,
)
from tests.site.test_leaks import case as case  # noqa: PLC0414 (the fixture)

pytestmark = [pytest.mark.django_db, pytest.mark.alike]

Kind = Condition.Kind


def rater_of(case: Case, kind: str) -> Enrolment:
    """Rita, an admin besides, with every pair of a study over the build's pairs handed to her."""
    cases = case.build.cases.order_by("id")[:3]
    return handed(case, kind, list(Pair.objects.filter(cases__in=cases).order_by("id")))


def handed(case: Case, condition: str, pairs: Sequence[Pair], **columns: Any) -> Enrolment:
    study = studies.study(conditions=(condition,), pairs=pairs, **columns)
    study.builds.add(case.build)
    aged(studies.guideline())
    Step.objects.update(at=timezone.now() - AGO)  # where they are shown, it is said how long ago they were
    for row in (*Execution.objects.all(), *TestProgram.objects.all()):
        aged(row)
    factories.erin()  # who reviews among the changes; lists of people know her before
    rita = studies.rater("rita", study, condition)
    give_role(rita.user, Role.ADMIN)
    for sampled in study.pairs.all():
        sampled.case = Case.objects.get(pair=sampled.pair)
        sampled.save()
        studies.assignment(rita, sampled)
    return rita


def locked(rita: Enrolment, case: Case) -> Samples:
    """Samples around a pair whose blind label is locked: what follows it is open."""
    given = samples(case, rita)
    held = rita.assignments.get(study_pair__pair=case.pair)
    last = Rating.objects.filter(assignment=held).latest("pk")
    said = {"revision": last.revision + 1, "supersedes": last, "value": 1, "evidence": "0" * 64}
    aged(Rating.objects.create(assignment=held, **said))
    Assignment.objects.filter(pk=held.pk).update(state=Assignment.State.LOCKED)
    return given


def page_of(rita: Enrolment, case: Case) -> str:
    number = rita.study.pairs.get(pair=case.pair).number
    return f"/rate/{rita.study_id}/pairs/{number}/"


def open_addresses(user: User, given: Samples) -> Iterator[tuple[Route, str]]:
    """Every route, and a list in each of its ways where its plain address is not refused."""
    is_closed = False
    for route, path in addresses(given):
        if "?" not in path:
            yield route, path
            is_closed = bool(given.queries(route.name)) and told(user, route, path)["get"][0] == 403
        elif not is_closed:
            yield route, path


def leaks(
    rater: Enrolment, case: Case, given: Samples, change: Callable[[Case], None] = change_what_agents_said
) -> dict[str, tuple[str, str]]:
    """By method and address: where its answer to the rater is another one after the change."""
    asked = by_name(open_addresses(rater.user, given))
    return differing(told_twice(rater.user, case, asked, change))


def test_before_the_blind_label_is_locked_reveal_shows_nothing(case: Case) -> None:
    rita = rater_of(case, Kind.REVEAL)
    assert leaks(rita, case, samples(case, rita)) == {}


def test_a_second_look_shows_nothing_of_the_agents(case: Case) -> None:
    rita = rater_of(case, Kind.SECOND_LOOK)
    given = locked(rita, case)
    assert b"You said:" in browser(rita.user).get(page_of(rita, case)).content
    assert leaks(rita, case, given) == {}


def test_two_snippets_are_compared_without_the_agents(case: Case) -> None:
    beside = Case.objects.filter(build=case.build, label=1).exclude(pk=case.pk)[0]
    scale = {"kind": Study.Kind.PAIRWISE, "scale": Study.Scale.PREFERENCE}
    rita = handed(case, Kind.OWN_TESTS, [case.pair], **scale)
    rita.study.pairs.update(other=beside.pair)
    given = samples(case, rita)
    assert b"Right function" in browser(rita.user).get(page_of(rita, case)).content
    assert leaks(rita, case, given) == {}


def change_all_but_the_test(of: Case) -> None:
    """Verdict, explanation, reading, model, cost, steps, rank, other cases; neither test nor run of `of`."""
    program, run = of.program, of.execution
    assert program is not None and run is not None
    change_what_agents_said(of)
    Case.objects.filter(pk=of.pk).update(program=program, execution=run)
    TestProgram.objects.filter(pk=program.pk).update(helpers=program.helpers)
    run.save()


def test_agents_tests_show_the_test_and_its_run_alone(case: Case) -> None:
    rita = rater_of(case, Kind.AGENTS_TESTS)
    given, where = samples(case, rita), page_of(rita, case)
    before = browser(rita.user).get(where).content
    assert leaks(rita, case, given, change_all_but_the_test) == {}
    Case.objects.filter(pk=case.pk).update(program=None, execution=None)
    assert b"wrote no test" not in before and b"wrote no test" in browser(rita.user).get(where).content


def change_the_others(of: Case) -> None:
    """All that was said of the build's other cases, and the build's totals."""
    others = Case.objects.filter(build=of.build).exclude(pk=of.pk)
    others.update(label=1 - F("label"), rank=20 - F("rank"))
    others.filter(stage=Stage.ABANDONED).update(stage=Stage.SETTLED, label=1, reason="")
    Candidate.objects.filter(cases__in=others).update(rank=20 - F("rank"), score=F("score") / 3)
    Step.objects.filter(case__in=others).update(note="or the wallaby")
    Tally.objects.filter(build=of.build).update(settled=F("settled") + 1, spent=F("spent") + 1000)
    settled = others.filter(label__isnull=False).first()
    assert settled is not None
    labels.store_label(factories.erin(), settled, settled.label, "as the agents", "a" * 64, 0)


def test_what_was_revealed_is_on_the_pairs_own_pages_alone_and_tells_nothing_of_others(case: Case) -> None:
    rita = rater_of(case, Kind.REVEAL)
    asked = by_name(open_addresses(rita.user, locked(rita, case)))
    first = all_told(rita.user, asked)
    change_the_others(case)
    second = all_told(rita.user, asked)
    assert differing((name, first[name], second[name]) for name in asked) == {}
    change_what_agents_said(case)
    third = all_told(rita.user, asked)
    found = differing((name, second[name], third[name]) for name in asked)
    own = (page_of(rita, case), f"/api{page_of(rita, case)}".rstrip("/"))
    assert f"get rate-pair {own[0]}" in found
    assert [name for name in found if not name.split()[-1].startswith(own)] == []
