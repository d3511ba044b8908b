"""`python -m tests.raters.audit [SECONDS]`: what has to hold in the tables of the queue; complaints as JSON.

With SECONDS it lets reservations run out for so long instead, as if half an hour had passed.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import django
from django.db.models import F


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cosqa_site.settings")
    django.setup()
    if len(sys.argv) > 1:
        disturb(float(sys.argv[1]))
        return
    from annotation.models import Rating

    columns = "assignment__rater__username", "assignment__study_pair__number", "notes", "value"
    told = {"complaints": [*complaints()], "ratings": list(Rating.objects.values_list(*columns))}
    print(json.dumps(told))


def disturb(seconds: float) -> None:
    """Let some reservation run out every now and then, as the worker's beat would find it."""
    from django.utils import timezone

    from annotation.models import Assignment
    from annotation.studies.enrolment import queue

    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        held = list(Assignment.objects.filter(state="reserved").values_list("pk", flat=True))
        for pk in random.sample(held, min(2, len(held))):
            past = timezone.now() - timedelta(seconds=1)
            Assignment.objects.filter(pk=pk, state="reserved").update(reserved_until=past)
        queue.expire_reservations()
        time.sleep(0.3)


def complaints() -> Iterator[str]:
    yield from quotas()
    yield from splits()
    yield from orders()
    yield from ratings()


def quotas() -> Iterator[str]:
    """Counts are exact and never above what is wanted."""
    from annotation.models import Assignment, Quota

    states: Counter[tuple[Any, ...]] = Counter()
    for pair, condition, state in Assignment.objects.values_list("study_pair", "condition", "state"):
        states[pair, condition, "reserved"] += state in {"reserved", "locked", "done"}
        states[pair, condition, "done"] += state == "done"
    for row in Quota.objects.all():
        key = row.study_pair_id, row.condition_id
        counted = states[*key, "reserved"], states[*key, "done"]
        if (row.reserved, row.done) != counted or row.reserved > row.wanted:
            yield f"quota {key} says {row.reserved}, {row.done} of {row.wanted}; there are {counted}"


def splits() -> Iterator[str]:
    """Where the planned raters split one more is wanted, once, if anybody could be asked."""
    from annotation.models import Quota, Study
    from annotation.studies.enrolment import extra_raters

    rows = Quota.objects.select_related("condition", "study_pair")
    for quota in rows.filter(wanted__gt=F("condition__raters") + 1):
        yield f"{quota} was asked of more than one more rater"
    for study in Study.objects.all():
        for quota in extra_raters.find_split_quotas(rows.filter(condition__study=study), study.scale):
            if extra_raters.find_eligible_raters(quota).exists():
                yield f"{quota} is split, and nobody more was asked"


def orders() -> Iterator[str]:
    """No pair twice to one rater, no gap in an order, no pair stuck."""
    from annotation.models import Assignment, Enrolment
    from annotation.studies.enrolment import next_pair
    from annotation.studies.rating.undo import UNDOABLE

    by_rater: dict[int, list[tuple[int, str, int]]] = defaultdict(list)
    for who, pair, state, place in Assignment.objects.values_list("rater", "study_pair", "state", "position"):
        by_rater[who].append((pair, state, place))
    for who, rows in by_rater.items():
        if len({pair for pair, _, _ in rows}) != len(rows):
            yield f"rater {who} was given a pair twice"
        if sorted(place for _, _, place in rows) != list(range(1, len(rows) + 1)):
            yield f"rater {who} has gaps in the order"
        if sum(state in {"reserved", "locked"} for _, state, _ in rows) > UNDOABLE:
            yield f"rater {who} has more open than can have been taken back"
    for enrolment in Enrolment.objects.filter(finished_at__isnull=False).select_related("study", "condition"):
        if next_pair.choose_next_pair(enrolment) is not None:
            yield f"{enrolment} is finished and could be given a pair"


def ratings() -> Iterator[str]:
    """Revisions have no gap, the last phase of what is done stands, and nothing else has one."""
    from annotation.models import Assignment, Rating

    revisions: dict[tuple[int, str], list[int]] = defaultdict(list)
    for assignment, phase, revision in Rating.objects.values_list("assignment", "phase", "revision"):
        revisions[assignment, phase].append(revision)
    for key, found in revisions.items():
        if sorted(found) != list(range(1, len(found) + 1)):
            yield f"revisions of {key} are {sorted(found)}"
    last = {"reading": "blind", "second_look": "second_look"}
    standing = set(Rating.objects.current().values_list("assignment", "phase"))
    for row in Assignment.objects.select_related("condition"):
        if ((row.pk, last[row.condition.kind]) in standing) != (row.state == "done"):
            yield f"{row} is {row.state}, its ratings say otherwise"


if __name__ == "__main__":
    main()
