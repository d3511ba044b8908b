"""The parts of a mining: who searches which snippets. Workers on any machine take them up one by one."""

from __future__ import annotations

import time
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from retrieval.fusion import Fusion
from retrieval.index import StageProgress
from retrieval.mining.lists import Lists, merged
from retrieval.models import Mining, MiningPart

SNIPPETS_A_PART = 65_536
"""A multiple of the texts that are encoded together: the work is the same, whoever does which part."""

LEASE = timedelta(minutes=5)
"""A worker that has not told of any progress for so long is dead: another one takes up its part."""

SECONDS_BETWEEN_RENEWALS = 10.0


class Unwanted(Exception):
    """The part was taken from this worker: the mining was ordered anew, or its lease had run out."""


def plan(mining: Mining, snippets: int, *, together: bool) -> None:
    """Divide so many snippets into parts, once, however many workers try; `together`: into one."""
    if mining.parts.exists():
        return
    size = snippets if together else SNIPPETS_A_PART
    rows = [
        MiningPart(mining=mining, number=number, start=start, stop=min(start + size, snippets))
        for number, start in enumerate(range(0, snippets, size), 1)
    ]
    MiningPart.objects.bulk_create(rows, ignore_conflicts=True)


def needs_all(mining: Mining, lexical: bool) -> bool:
    """Whether a part can't be searched without the others.

    Lexical encoders weigh terms by how many of all snippets have them, and `maxabs` divides by the largest
    score with any snippet; an approximate index is built once.
    """
    return lexical or bool(mining.approximate) or mining.fusion == Fusion.MAXABS


def free() -> Q:
    """Parts that nobody works on."""
    return Q(found=None) & (Q(lease_until=None) | Q(lease_until__lt=timezone.now()))


def claim(mining: Mining, worker: str) -> MiningPart | None:
    """Take up the first part that nobody works on; None where there is none."""
    while True:
        number = mining.parts.filter(free()).order_by("number").values_list("number", flat=True).first()
        if number is None:
            return None
        taken = mining.parts.filter(free(), number=number)
        if taken.update(worker=worker, lease_until=timezone.now() + LEASE):
            return mining.parts.defer("found", "alone").get(number=number)


def mine_of(part: MiningPart) -> QuerySet[MiningPart]:
    """The part's row, as long as it is still this worker's."""
    return MiningPart.objects.filter(pk=part.pk, worker=part.worker, found=None)


def keep(part: MiningPart, lists: Lists, alone: Lists | None) -> None:
    """Store what was found, by all encoders and by each alone. Raises Unwanted."""
    own = alone.to_bytes() if alone else None
    if not mine_of(part).update(found=lists.to_bytes(), alone=own, lease_until=None):
        raise Unwanted


def release(worker: str) -> None:
    """Let others take up what a worker that ended had in hand."""
    MiningPart.objects.filter(worker=worker, found=None).update(worker="", lease_until=None)


def renewing(part: MiningPart, parts: int, progress: StageProgress | None) -> StageProgress:
    """Progress of a part, told as one of so many, which renews its lease. Raises Unwanted."""
    words = f"part {part.number} of {parts}: " if parts > 1 else ""
    renewed = time.monotonic()

    def report(phase: str, done: int, total: int) -> None:
        nonlocal renewed
        if time.monotonic() - renewed > SECONDS_BETWEEN_RENEWALS:
            renewed = time.monotonic()
            renew(part)
        if progress is not None:
            progress(words + phase, done, total)

    return report


def renew(part: MiningPart) -> None:
    """Say that the part's worker lives. Raises Unwanted."""
    until = timezone.now() + LEASE
    if not mine_of(part).update(lease_until=until):
        raise Unwanted
    Mining.objects.filter(pk=part.mining_id, state=Mining.State.RUNNING).update(lease_until=until)


def whole(mining: Mining) -> Lists | None:
    """The lists of all parts, merged one by one; None while one is not done."""
    if not mining.parts.exists() or mining.parts.filter(found=None).exists():
        return None
    return joined(mining, "found")


def whole_alone(mining: Mining) -> Lists | None:
    """The same of each encoder's own lists; None where there is but one encoder."""
    return None if mining.parts.filter(alone=None).exists() else joined(mining, "alone")


def joined(mining: Mining, column: str) -> Lists | None:
    found: Lists | None = None
    stored = mining.parts.order_by("number").values_list(column, flat=True)
    for some in stored.iterator(chunk_size=1):
        lists = Lists.from_bytes(bytes(some))
        found = lists if found is None else merged(found, lists, mining.k)
    return found
