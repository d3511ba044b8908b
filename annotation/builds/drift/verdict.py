"""Compare a check that is answered with the baseline; a shift beyond chance stops the build."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from annotation.builds.drift import chance, watched_pairs
from annotation.builds.drift.chance import Answer, OddOnes
from annotation.builds.drift.questions import AGENT
from annotation.builds.limits import circuit_breaker
from annotation.builds.limits.canary import prefetch_canary
from annotation.models import AgentBill, Build, DriftAnswer, DriftCheck, DriftWatch, Tally

Answers = dict[int, Answer]
"""By case."""


def look_after_all() -> None:
    """What is due of all running builds' checks: finish, draw, begin. Safe in any number of workers."""
    watches = DriftWatch.objects.filter(build__state=Build.State.RUNNING, build__opened=True)
    watches = watches.select_related("build__tally")
    for watch in watches.prefetch_related(prefetch_canary("build__canaries")):
        check = watched_pairs.last_of(watch)
        if check is not None and check.finished_at is None:
            if not check.answers.filter(answered_at=None).exists():
                finish_drift_check(check)
        else:
            watched_pairs.look_after(watch)


def finish_drift_check(check: DriftCheck) -> None:
    """Judge an answered check, once; a shift stops the build in the same transaction."""
    build = check.watch.build
    with transaction.atomic():
        build.tally.change()
        check.refresh_from_db()
        if check.finished_at is not None:
            return
        judge_drift_check(check)
        if check.shifted:
            circuit_breaker.stop_build_for_person(build, describe_drift_shift(check))


def judge_drift_check(check: DriftCheck) -> None:
    """Fill in what the check has found."""
    if check.is_baseline:
        first, now = drift_answers_of_round(check, 1), drift_answers_of_round(check, 2)
    else:
        first, now = compare_with_baseline(check)
    moves = chance.count_answer_moves((first[case], now[case]) for case in now)
    for move in chance.Move:
        setattr(check, move, moves[move])
    check.cost = cost_of(check)
    check.finished_at = timezone.now()
    check.save()


def compare_with_baseline(check: DriftCheck) -> tuple[Answers, Answers]:
    """Test `check` against its baseline; gives the baseline's first answers, and the new ones."""
    baseline = baseline_of(check)
    first, again, now = (
        drift_answers_of_round(baseline, 1),
        drift_answers_of_round(baseline, 2),
        drift_answers_of_round(check, 1),
    )
    found: OddOnes = chance.odd_ones((first[case], again[case], now[case]) for case in now)
    check.odd_ones, check.new_odd_ones, check.p_value = found.apart, found.odd, found.p_value
    most = Tally.objects.get(pk=check.watch_id).total // check.watch.every  # more, where it was extended
    check.level = chance.level_of(max(check.watch.max_checks, most))
    check.shifted = check.p_value < check.level
    return first, now


def baseline_of(check: DriftCheck) -> DriftCheck:
    """The last baseline before it."""
    return DriftCheck.objects.filter(
        watch=check.watch_id, is_baseline=True, number__lt=check.number
    ).order_by("-number")[0]


def drift_answers_of_round(check: DriftCheck, number: int) -> Answers:
    """The answers of one round."""
    rows = DriftAnswer.objects.filter(check_of=check, round=number)
    return dict(rows.values_list("case_id", "verdict"))


def cost_of(check: DriftCheck) -> int:
    """Nanodollars of all calls since the check before it: only one is open at a time."""
    bill = AgentBill.objects.filter(build=check.watch_id, agent=AGENT).first()
    before = DriftCheck.objects.filter(watch=check.watch_id, number__lt=check.number)
    gone: int = before.aggregate(sum=Sum("cost"))["sum"] or 0
    return max(0, (bill.spent if bill else 0) - gone)


def describe_drift_shift(check: DriftCheck) -> str:
    """Why the build stands still, for whoever opens its page."""
    asked = check.agreed + check.higher + check.lower + check.judged_once
    tally = Tally.objects.get(pk=check.watch_id)
    return (
        f"The model judges differently than at the start: of {asked} pairs asked again after "
        f"{check.settled:,} settled cases, {asked - check.agreed} have another answer "
        f"({check.higher} higher, {check.lower} lower), "
        f"more than chance explains (p = {check.p_value:.2g}, below {check.level:.2g}). Ask the provider "
        f"what has changed, then resume with a reason or cancel; {tally.open:,} cases are open."
    )
