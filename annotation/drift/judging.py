"""Compare a check that is answered with the baseline; a shift beyond chance stops the build."""

from __future__ import annotations

from dataclasses import asdict

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from annotation import outages
from annotation.drift import chance, watching
from annotation.drift.asking import AGENT
from annotation.drift.chance import Answer, OddOnes
from annotation.models import AgentBill, Build, DriftAnswer, DriftCheck, DriftWatch, Tally

Answers = dict[int, Answer]
"""By case."""


def look_after_all() -> None:
    """What is due of all running builds' checks: finish, draw, begin. Safe in any number of workers."""
    watches = DriftWatch.objects.filter(build__state=Build.State.RUNNING, build__opened=True)
    for watch in watches.select_related("build__tally", "build__canary").defer("build__canary__drawn"):
        check = watching.last_of(watch)
        if check is not None and check.finished_at is None:
            if not check.answers.filter(answered_at=None).exists():
                finish(check)
        else:
            watching.look_after(watch)


def finish(check: DriftCheck) -> None:
    """Judge an answered check, once; a shift stops the build in the same transaction."""
    build = check.watch.build
    with transaction.atomic():
        build.tally.change()
        check.refresh_from_db()
        if check.finished_at is not None:
            return
        judge(check)
        if check.shifted:
            outages.stop(build, words(check))


def judge(check: DriftCheck) -> None:
    """Fill in what the check has found."""
    if check.is_baseline:
        first, now = answers(check, 1), answers(check, 2)
    else:
        first, now = compare(check)
    for name, count in asdict(chance.counted((first[case], now[case]) for case in now)).items():
        setattr(check, name, count)
    check.cost = cost_of(check)
    check.finished_at = timezone.now()
    check.save()


def compare(check: DriftCheck) -> tuple[Answers, Answers]:
    """Test `check` against its baseline; gives the baseline's first answers, and the new ones."""
    baseline = baseline_of(check)
    first, again, now = answers(baseline, 1), answers(baseline, 2), answers(check, 1)
    found: OddOnes = chance.odd_ones((first[case], again[case], now[case]) for case in now)
    check.apart, check.odd, check.p_value = found.apart, found.odd, found.p_value
    most = Tally.objects.get(pk=check.watch_id).total // check.watch.every  # more, where it was extended
    check.level = chance.level_of(max(check.watch.most, most))
    check.shifted = check.p_value < check.level
    return first, now


def baseline_of(check: DriftCheck) -> DriftCheck:
    """The last baseline before it."""
    return DriftCheck.objects.filter(
        watch=check.watch_id, is_baseline=True, number__lt=check.number
    ).order_by("-number")[0]


def answers(check: DriftCheck, number: int) -> Answers:
    """The answers of one round."""
    rows = DriftAnswer.objects.filter(check_of=check, round=number)
    return dict(rows.values_list("case_id", "verdict"))


def cost_of(check: DriftCheck) -> int:
    """Nanodollars of all calls since the check before it: only one is open at a time."""
    bill = AgentBill.objects.filter(build=check.watch_id, agent=AGENT).first()
    before = DriftCheck.objects.filter(watch=check.watch_id, number__lt=check.number)
    gone: int = before.aggregate(sum=Sum("cost"))["sum"] or 0
    return max(0, (bill.spent if bill else 0) - gone)


def words(check: DriftCheck) -> str:
    """Why the build stands still, for whoever opens its page."""
    asked = check.agreed + check.up + check.down + check.unlike
    tally = Tally.objects.get(pk=check.watch_id)
    return (
        f"The model judges otherwise than at the start: of {asked} pairs asked again after {check.settled:,} "
        f"settled cases, {asked - check.agreed} have another answer ({check.up} higher, {check.down} lower), "
        f"more than chance explains (p = {check.p_value:.2g}, below {check.level:.2g}). Ask the provider "
        f"what has changed, then resume with a reason or cancel; {tally.open:,} cases are open."
    )
