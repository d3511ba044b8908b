"""The parts of a mining: who searches which snippets. Workers on any machine take them up one by one."""

from __future__ import annotations

import io
import time
from collections.abc import Mapping
from datetime import timedelta

import numpy as np
from django.db.models import Q, QuerySet
from django.utils import timezone

from retrieval.fusion import Fusion
from retrieval.index import StageProgress
from retrieval.mining.lists import Doubles, Lists, merge_hit_lists
from retrieval.models import Mining, MiningPart

SNIPPETS_A_PART = 65_536
"""A multiple of the texts that are encoded together: the work is the same, whoever does which part."""

LEASE = timedelta(minutes=5)
"""A worker that has not told of any progress for so long is dead: another one takes up its part."""

SECONDS_BETWEEN_RENEWALS = 10.0
SECONDS_BETWEEN_LOOKS = 1.0


class Unwanted(Exception):
    """The part was taken from this worker: the mining was ordered anew, or its lease had run out."""


def plan_mining_parts(mining: Mining, snippets: int, *, together: bool) -> None:
    """Divide so many snippets into parts, once, however many workers try; `together`: into one."""
    if mining.parts.exists():
        return
    size = snippets if together else SNIPPETS_A_PART
    rows = [
        MiningPart(mining=mining, number=number, start=start, stop=min(start + size, snippets))
        for number, start in enumerate(range(0, snippets, size), 1)
    ]
    MiningPart.objects.bulk_create(rows, ignore_conflicts=True)


def filter_free_parts() -> Q:
    """Parts that nobody works on."""
    return Q(found=None) & (Q(lease_until=None) | Q(lease_until__lt=timezone.now()))


def is_one(mining: Mining, snippets: int) -> bool:
    """Whether one part has all snippets, or will have."""
    planned = mining.parts.count()
    return planned == 1 if planned else snippets <= SNIPPETS_A_PART


def measures_first(mining: Mining) -> bool:
    """Whether parts are looked at twice: `maxabs` divides by the largest score with any snippet of all."""
    return mining.fusion == Fusion.MAXABS and mining.parts.count() > 1


def has_unmeasured_parts(mining: Mining) -> bool:
    """Whether the largest scores of a part are still to be found, before any can be searched."""
    return measures_first(mining) and mining.parts.filter(largest=None).exists()


def claim_mining_part(mining: Mining, worker: str) -> MiningPart | None:
    """Take up the first part that nobody works on; None where there is none.

    Where others are at the last parts to be measured, wait for them, or for their leases to run out.
    """
    while True:
        measuring = has_unmeasured_parts(mining)
        wanted = mining.parts.filter(filter_free_parts(), **({"largest": None} if measuring else {}))
        number = wanted.order_by("number").values_list("number", flat=True).first()
        if number is not None:
            taken = wanted.filter(number=number)
            if taken.update(worker=worker, lease_until=timezone.now() + LEASE):
                return mining.parts.defer("found", "alone", "largest").get(number=number)
        elif measuring:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        else:
            return None


def mine_of(part: MiningPart) -> QuerySet[MiningPart]:
    """The part's row, as long as it is still this worker's."""
    return MiningPart.objects.filter(pk=part.pk, worker=part.worker, found=None)


def store_part_lists(part: MiningPart, lists: Lists, alone: Lists | None) -> None:
    """Store what was found, by all encoders and by each alone. Raises Unwanted."""
    own = alone.to_bytes() if alone else None
    if not mine_of(part).update(found=lists.to_bytes(), alone=own, lease_until=None):
        raise Unwanted


def keep_largest(part: MiningPart, largest: Mapping[str, Doubles]) -> None:
    """Store each query's largest score by every encoder; others may take the part up. Raises Unwanted."""
    stream = io.BytesIO()
    np.savez_compressed(stream, names=np.array(list(largest)), scores=np.array(list(largest.values())))
    if not mine_of(part).update(largest=stream.getvalue(), worker="", lease_until=None):
        raise Unwanted


def largest_of_all(mining: Mining) -> dict[str, Doubles]:
    """By encoder each query's largest score in all parts; nothing where they are not measured first."""
    found = dict[str, Doubles]()
    if not measures_first(mining):
        return found
    for stored in mining.parts.order_by("number").values_list("largest", flat=True):
        with np.load(io.BytesIO(bytes(stored or b"")), allow_pickle=False) as arrays:
            for name, scores in zip(arrays["names"].tolist(), arrays["scores"], strict=True):
                found[name] = np.maximum(found.get(name, scores), scores)
    return found


def release_mining_parts(worker: str) -> None:
    """Let others take up what a worker that ended had in hand."""
    MiningPart.objects.filter(worker=worker, found=None).update(worker="", lease_until=None)


def renew_lease_on_progress(part: MiningPart, parts: int, progress: StageProgress | None) -> StageProgress:
    """Progress of a part, told as one of so many, which renews its lease. Raises Unwanted."""
    words = f"part {part.number} of {parts}: " if parts > 1 else ""
    renewed = time.monotonic()

    def report(phase: str, done: int, total: int) -> None:
        nonlocal renewed
        if time.monotonic() - renewed > SECONDS_BETWEEN_RENEWALS:
            renewed = time.monotonic()
            renew_part_lease(part)
        if progress is not None:
            progress(words + phase, done, total)

    return report


def renew_part_lease(part: MiningPart) -> None:
    """Say that the part's worker lives. Raises Unwanted."""
    until = timezone.now() + LEASE
    if not mine_of(part).update(lease_until=until):
        raise Unwanted
    Mining.objects.filter(pk=part.mining_id, state=Mining.State.RUNNING).update(lease_until=until)


def merge_finished_parts(mining: Mining) -> Lists | None:
    """The lists of all parts, merged one by one; None while one is not done."""
    if not mining.parts.exists() or mining.parts.filter(found=None).exists():
        return None
    return merge_part_column(mining, "found")


def whole_alone(mining: Mining) -> Lists | None:
    """The same of each encoder's own lists; None where there is but one encoder."""
    return None if mining.parts.filter(alone=None).exists() else merge_part_column(mining, "alone")


def merge_part_column(mining: Mining, column: str) -> Lists | None:
    found: Lists | None = None
    stored = mining.parts.order_by("number").values_list(column, flat=True)
    for some in stored.iterator(chunk_size=1):
        lists = Lists.from_bytes(bytes(some))
        found = lists if found is None else merge_hit_lists(found, lists, mining.k)
    return found
