"""Reviewing against the clock: next, page and submit of one rater and of twenty, and the list of cases.

Two servers run, one on a hundredth of the cases of the other, and answer in turns: a busy moment of the
machine meets both sides of a ratio. All work in copies of the seeded databases.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model

from annotation.accounts.roles import Role
from annotation.models import Build, Rating, Review, Study
from bench.measure.clock import median_and_p95
from bench.measure.scratch_database import Scratch
from bench.review import calls as review_calls
from bench.review import lists as review_lists
from bench.review.desks import DecisionTimes, Desk, ReviewDesk, StudyDesk
from bench.review.raters import KINDS, PACE_SECONDS, RATERS, Shift, p95_of, run_rater_shift
from bench.review.server import Client, Failed, run_scratch_server, session_of
from bench.seed import database, studies

LISTINGS: Final = 5
FIGURES: Final = 20


@dataclass(frozen=True)
class Effort:
    """Decisions of one rater, those before them that are not counted, and the seconds of a shift.

    `plain`: whether plain review is measured beside a study's queue.
    """

    decisions: int
    warm: int
    seconds: float
    plain: bool


EFFORTS: Final[Mapping[str, Effort]] = {
    "small": Effort(30, 4, 6.0, plain=False),
    "full": Effort(60, 8, 30.0, plain=True),
}
WITHIN_A_MINUTE: Final = "is measured with --size full: the small one ends within a minute"


@dataclass(frozen=True)
class Site:
    """A server on one scratch database, with what a rater and an admin open there."""

    scratch: Scratch
    port: int
    admin: Client
    reviewers: Sequence[Client]
    raters: Sequence[Client]
    build: int
    middle: int
    study: int
    rated: int
    lists: Mapping[str, str]

    def plain(self, count: int) -> list[Desk]:
        """Desks of so many people who review the build, each on from another place of it."""
        return [
            ReviewDesk(client, self.build, self.middle + 20 * number)
            for number, client in enumerate(self.reviewers[:count])
        ]

    def rating(self, count: int) -> list[Desk]:
        """Desks of so many raters of the study."""
        return [StudyDesk(client, self.study) for client in self.raters[:count]]


def measure_review(size: str) -> Mapping[str, object]:
    """The figures of a study's queue and page, of plain review beside it, and of the lists of cases."""
    effort = EFFORTS[size]
    with ExitStack() as stack:
        few, many = (stack.enter_context(serve_seeded_copy(*one)) for one in (("few", "few"), ("many", size)))
        rated = one_at_each([one.rating(1)[0] for one in (few, many)], effort)
        listings = all_lists((few, many))
        figures = statistics_page(many, anew=True)
        kept = statistics_page(many, anew=False)
        people = measure_concurrent_raters(many, many.rating(RATERS), Rating, effort.seconds)
        plain = plain_review(few, many, effort) if effort.plain else None
    pages = {name: summarize_review_times(*seconds) for name, seconds in listings.items()}
    calls, why = measure_call_box()
    return {
        "size": {"name": size, "few": database.PLANS["few"].cases, "many": database.PLANS[size].cases},
        "database": connection.vendor,
        "p95_ms": {
            **p95_of(rated[1]),
            "list": p95_of_lists(listings),
            "statistics": figures,
            "statistics_kept": kept,
            **calls,
        },
        "ratios": {**growth_of(rated), "list_growth": max(page["growth"] for page in pages.values())},
        "concurrent": people,
        **({"plain_review": plain} if plain else {}),
        "lists": pages,
        "missing": {**({} if plain else {"plain_review": WITHIN_A_MINUTE}), **why},
        "load_average": os.getloadavg()[0],
    }


def measure_call_box() -> tuple[dict[str, float], dict[str, str]]:
    """The figure of the call box, or why there is none: it needs a sandbox."""
    try:
        return {"call": review_calls.call_box()}, {}
    except Failed as why:
        return {}, {"call": str(why)}


def plain_review(few: Site, many: Site, effort: Effort) -> dict[str, object]:
    """The same figures of people who review a build, outside any study."""
    reviewed = one_at_each([one.plain(1)[0] for one in (few, many)], effort)
    people = measure_concurrent_raters(many, many.plain(RATERS), Review, effort.seconds)
    return {"p95_ms": p95_of(reviewed[1]), "ratios": growth_of(reviewed), "concurrent": people}


@contextmanager
def serve_seeded_copy(name: str, size: str) -> Iterator[Site]:
    """A copy of a seeded database with a server on it; both are gone after the block."""
    copy = database.prepare_seeded_database(size).copy(f"{name}_{os.getpid()}")
    try:
        with copy.entered():
            admin, reviewers = (
                User.objects.get(username=database.ADMIN),
                load_bench_experts("bench-reviewer"),
            )
            raters = load_bench_experts("bench-rater")
            build = Build.objects.select_related("tally").get(name=database.FINISHED)
            study = studies.at_work(build.pk, admin, raters).pk
            rated = Study.objects.get(name=studies.RATED).pk
            lists = review_lists.list_case_addresses(build)
            half = build.cases.order_by("pk").values_list("pk", flat=True)[build.tally.total // 2]
            sessions = {user.pk: session_of(user) for user in (admin, *reviewers, *raters)}
        with run_scratch_server(copy) as port, ExitStack() as stack:
            clients = {key: Client(port, session) for key, session in sessions.items()}
            for client in clients.values():
                stack.callback(client.close)
            yield Site(
                copy,
                port,
                clients[admin.pk],
                [clients[user.pk] for user in reviewers],
                [clients[user.pk] for user in raters],
                build.pk,
                half,
                study,
                rated,
                lists,
            )
    finally:
        copy.drop()


def load_bench_experts(name: str) -> list[User]:
    """As many experts as there are raters at once."""
    return [database.create_seeded_user(f"{name}-{number}", Role.EXPERT) for number in range(1, RATERS + 1)]


def one_at_each(desks: Sequence[Desk], effort: Effort) -> tuple[list[DecisionTimes], ...]:
    """So many decisions at each desk, in turns."""
    found: tuple[list[DecisionTimes], ...] = tuple([] for _ in desks)
    for number in range(effort.warm + effort.decisions):
        for desk, decisions in zip(desks, found, strict=True):
            decision = desk.decide()
            if number >= effort.warm:
                decisions.append(decision)
    return found


def growth_of(decisions: Sequence[Sequence[DecisionTimes]]) -> dict[str, float]:
    """By kind: the median of the ratios of the answers that were waited for beside each other."""
    few, many = decisions
    return {
        f"{kind}_growth": round(
            statistics.median(getattr(b, kind) / getattr(a, kind) for a, b in zip(few, many, strict=True)), 2
        )
        for kind in KINDS
    }


def all_lists(sites: Sequence[Site]) -> dict[str, tuple[list[float], list[float]]]:
    """Seconds of each list on both sites, in turns; the first look at each is not counted."""
    few, many = sites
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in many.lists}
    for number in range(LISTINGS + 1):
        for name, (small, large) in found.items():
            seconds = [one.admin.get(one.lists[name]).seconds for one in (few, many)]
            if number:
                small.append(seconds[0])
                large.append(seconds[1])
    return found


def summarize_review_times(few: Sequence[float], many: Sequence[float]) -> dict[str, float]:
    """Medians in milliseconds, and the median of the rounds' ratios."""
    growth = statistics.median(b / a for a, b in zip(few, many, strict=True))
    return {
        "few_milliseconds": round(1000 * statistics.median(few), 1),
        "many_milliseconds": round(1000 * statistics.median(many), 1),
        "growth": round(growth, 2),
    }


def p95_of_lists(listings: Mapping[str, tuple[list[float], list[float]]]) -> float:
    """Of all looks at all lists of the larger database, in milliseconds."""
    return median_and_p95([one for _, many in listings.values() for one in many])["p95"]


def statistics_page(many: Site, *, anew: bool) -> float:
    """p95 in milliseconds of the figures of the finished study; the first look is not counted.

    `anew`: the plan's margin is another one before each look, so that nothing is kept from the one before;
    else nothing has changed, and the figures come from the cache.
    """
    looks = []
    for number in range(FIGURES + 1):
        if anew:
            with many.scratch.entered():
                Study.objects.filter(pk=many.rated).update(margin=(number + 1) / 1000)
        looks.append(many.admin.get(f"/studies/{many.rated}/figures/").seconds)
    return median_and_p95(looks[1:])["p95"]


def measure_concurrent_raters(
    many: Site, desks: Sequence[Desk], kind: type[Model], seconds: float
) -> dict[str, object]:
    """All at their pace, and then in a closed loop; `kind` is what a decision leaves."""
    paced = run_verified_shift(many, kind, lambda: run_rater_shift(desks, PACE_SECONDS, seconds))
    return {
        **paced,
        "closed_loop": run_verified_shift(many, kind, lambda: run_rater_shift(desks, 0.0, seconds)),
    }


def run_verified_shift(many: Site, kind: type[Model], work: Callable[[], Shift]) -> dict[str, object]:
    """What a shift tells, and how many of its decisions are not in the database: there should be none."""
    before = count_stored_decisions(many, kind)
    done = work()
    return {**done.told(), "lost": len(done.decisions) - (count_stored_decisions(many, kind) - before)}


def count_stored_decisions(many: Site, kind: type[Model]) -> int:
    with many.scratch.entered():
        return kind._default_manager.count()
