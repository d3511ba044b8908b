"""Every page and list on two databases, one with a hundredth or a tenth of the cases of the other.

What is asked for often costs the same in both: the figures are milliseconds, database queries, and how they
grow. Pages are opened in this process, as whoever may see them, and what they write is undone.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client, override_settings

from annotation.models import Build, Case
from bench.measure.scratch_database import Scratch
from bench.pages.addresses import PLACES, BenchedPage
from bench.seed import database
from retrieval.models import Collection

ROUNDS: Final = 5
ENOUGH: Final = 1.5
"""What grows by more is told, unless it is known to."""
NO_CACHE: Final = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}


@dataclass(frozen=True)
class Look:
    """One look at a page."""

    seconds: float
    queries: int


Looks = dict[str, list[Look]]


def measure_pages(size: str) -> Mapping[str, object]:
    """The figures of all pages, and which of them grow."""
    few, many = database.prepare_seeded_database("few"), database.prepare_seeded_database(size)
    looks: tuple[Looks, Looks] = ({}, {})
    for number in range(ROUNDS + 1):
        for scratch, found in zip((few, many), looks, strict=True):
            for name, look in round_of(scratch):
                if number:  # the first round fills caches
                    found.setdefault(name, []).append(look)
    pages = {name: summarize_page_times(looks[0][name], looks[1][name]) for name in looks[0]}
    unexpected = {place.name for place in PLACES if not place.grows}
    growing = {name: page["growth"] for name, page in pages.items() if page["growth"] > ENOUGH}
    return {
        "size": {"name": size, "few": database.PLANS["few"].cases, "many": database.PLANS[size].cases},
        "database": connection.vendor,
        "ratios": {"growth": round(max(pages[name]["growth"] for name in unexpected), 3)},
        "pages": pages,
        "grow": {name: growth for name, growth in growing.items() if name in unexpected},
        "known_to_grow": {place.name: place.grows for place in PLACES if place.grows},
        "more_queries": [
            name for name, page in pages.items() if page["many_queries"] > page["few_queries"] + 2
        ],
    }


def summarize_page_times(few: list[Look], many: list[Look]) -> dict[str, float]:
    """Medians in milliseconds, and the median of the rounds' ratios: a busy moment meets both sides."""
    ratios = [one.seconds / other.seconds for other, one in zip(few, many, strict=True)]
    return {
        "few_milliseconds": round(1000 * statistics.median(look.seconds for look in few), 1),
        "many_milliseconds": round(1000 * statistics.median(look.seconds for look in many), 1),
        "growth": round(statistics.median(ratios), 2),
        "few_queries": few[-1].queries,
        "many_queries": many[-1].queries,
    }


def round_of(scratch: Scratch) -> Iterator[tuple[str, Look]]:
    """A look at each page of a scratch database."""
    with scratch.entered():
        yield from looks_of_all()


def looks_of_all() -> Iterator[tuple[str, Look]]:
    """A look at each page, one after another; nothing is kept for the next look, and nothing written."""
    with override_settings(CACHES=NO_CACHE), roll_back_writes():
        clients = {name: create_user_client(name) for name in (database.ADMIN, database.RATER)}
        ids = collect_address_ids()
        for place in PLACES:
            yield place.name, open_timed_page(clients[place.who], place, ids)


@contextmanager
def roll_back_writes() -> Iterator[None]:
    """Whatever is written until the block ends is taken back."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def create_user_client(name: str) -> Client:
    made = Client(headers={"host": "127.0.0.1"})
    made.force_login(User.objects.get(username=name))
    return made


def open_timed_page(browser: Client, place: BenchedPage, ids: Mapping[str, int]) -> Look:
    """Raises RuntimeError unless the page is there."""
    url, seen = place.path.format(**ids), Counting()
    with connection.execute_wrapper(seen):
        began = time.perf_counter()
        answer = browser.get(url)
        seconds = time.perf_counter() - began
    if answer.status_code not in {200, 302}:
        raise RuntimeError(f"{place.name}: {url} answers {answer.status_code}")
    return Look(seconds, seen.count)


class Counting:
    """Counts the statements that go to the database."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.count += 1
        return execute(sql, params, many, context)


def collect_address_ids() -> dict[str, int]:
    """The ids in the addresses: things in the middle of the build, and rows near its end."""
    build = Build.objects.select_related("tally").get(name=database.FINISHED)
    again = Build.objects.get(name=database.AGAIN)
    cases = Case.objects.filter(build=build).order_by("pk")
    middle = build.tally.settled // 2
    tested = cases.filter(pk__gte=middle, execution__isnull=False, label=1)[0]
    screened = cases.filter(pk__gte=middle, execution__isnull=True)[0]
    late = cases.filter(pk__gte=build.tally.settled * 19 // 20)[0]
    pool = Collection.objects.get(pk=build.snippets_id)
    assert tested.execution_id is not None and tested.program_id is not None, "it was chosen for it"
    return {
        "build": build.pk,
        "again": again.pk,
        "annotator": build.annotator_id,
        "other_annotator": again.annotator_id,
        "abandoned": Case.objects.filter(build=again, stage="abandoned").order_by("pk")[0].pk,
        "query": tested.query_id,
        "case": tested.pk,
        "screened": screened.pk,
        "execution": tested.execution_id,
        "program": tested.program_id,
        "late": late.pk,
        "late_query": late.query_id,
        "late_member": last_member(build),
        "queries": build.queries_id,
        "snippets": pool.pk,
        "late_snippet": pool.size * 19 // 20,
    }


def last_member(build: Build) -> int:
    """A member near the end of the build's queries."""
    members = build.queries.members.order_by("-position").values_list("pk", flat=True)
    return int(members[min(20, build.queries.size - 1)])
