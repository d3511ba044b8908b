"""In which order a rater is given the pairs of a study: a pure choice among those that have a place free.

*Spaced* keeps pairs of one query apart, so that nobody carries a judgement over from one to the next. Where
queries have so many pairs left that they will not fit otherwise, those come first: jobs with a cooldown and
one deadline, of which the one that has to begin first is done first.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

GAP: Final = 30
"""Places between two pairs of one query, where order is *spaced*."""
FEWEST_BETWEEN: Final = 10
"""Sampled pairs between two planted ones, at least."""


class Offer(NamedTuple):
    """A study pair with a place free; `given` are the ratings of it that are handed out or done."""

    key: int
    number: int
    query: int
    given: int
    round: int = 1


def place_in_shuffle(seed: int, what: int, kind: str = "pair") -> int:
    """Where a pair stands in a rater's own shuffle: the same for the same seed, on every machine."""
    digest = hashlib.blake2b(f"{seed}:{kind}:{what}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def choose_spaced_offer(offers: Sequence[Offer], recent: Sequence[int], seed: int, left: int) -> Offer | None:
    """The next pair: its query was not among the last ones, few have rated it; then the rater's shuffle.

    `recent` are the queries of the rater's last pairs, the last one first; `left` is how many more pairs the
    rater takes. Where every query was there too lately, it is the one that was there longest ago.
    """
    ages = {query: age for age, query in reversed(list(enumerate(recent[: GAP - 1], 1)))}
    free = [offer for offer in offers if offer.query not in ages]
    if not free:
        return min(
            offers,
            key=lambda offer: (-ages[offer.query], offer.given, place_in_shuffle(seed, offer.number)),
            default=None,
        )
    pressed = pressed_queries(offers) if left >= len(offers) else frozenset[int]()
    return fewest_given([offer for offer in free if offer.query in pressed] or free, seed)


def pressed_queries(offers: Sequence[Offer]) -> frozenset[int]:
    """The queries one of which has to come now, if all their pairs are to be GAP apart.

    The k-th of a query's c pairs has to come (c - k) · GAP places before the end at the latest. As soon as as
    many pairs have to come within some places as there are places, nothing else may come between.
    """
    counts = Counter(offer.query for offer in offers)
    if len(counts) == len(offers):
        return frozenset()  # one pair of each: nothing to keep apart
    latest = sorted(
        (len(offers) - before * GAP, query) for query, count in counts.items() for before in range(count)
    )
    full = next((place for number, (place, _) in enumerate(latest, 1) if place <= number), 0)
    return frozenset(query for place, query in latest if place <= full)


def by_query(offers: Sequence[Offer], last: int | None, seed: int) -> Offer | None:
    """The next pair of the query that the rater is at (`last`), else one of the next query.

    That is the one of which a pair has the fewest ratings; then the rater's shuffle of queries decides.
    """
    same = [offer for offer in offers if offer.query == last]
    if same or not offers:
        return fewest_given(same, seed)
    fewest = min(offer.given for offer in offers)
    queries = {offer.query for offer in offers if offer.given == fewest}
    chosen = min(queries, key=lambda query: place_in_shuffle(seed, query, "query"))
    return fewest_given([offer for offer in offers if offer.query == chosen], seed)


def fewest_given(offers: Iterable[Offer], seed: int) -> Offer | None:
    """Of those with the fewest ratings, the first in the rater's shuffle: only those are hashed."""
    rows = list(offers)
    fewest = min((offer.given for offer in rows), default=0)
    equal = (offer for offer in rows if offer.given == fewest)
    return min(equal, key=lambda offer: place_in_shuffle(seed, offer.number), default=None)


def is_planted_due(given: int, total: int, planted_given: int, planted_left: int, seed: int) -> bool:
    """Whether a planted attention pair comes now, after `given` of about `total` sampled pairs.

    The pairs of a rater are cut into as many stretches as there are planted ones; each has one, at a place
    that the seed chooses, so that nobody can wait for it.
    """
    if not planted_left:
        return False
    stretch = max(FEWEST_BETWEEN, total // (planted_given + planted_left))
    jitter = place_in_shuffle(seed, planted_given, "attention") % stretch
    return given >= planted_given * stretch + jitter
