"""How long texts are: in characters all of them, in tokens an even sample."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Avg, Count, F, Max, QuerySet

from retrieval.corpus import SAMPLED, sample_places_evenly
from retrieval.models import Member, Text

TOKEN = re.compile(r"\w+|[^\w\s]")
READ_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Lengths:
    """A histogram: `counts[i]` texts have from i · width to (i + 1) · width - 1 units.

    `mean` and `longest` are of the lengths themselves, None without a text; `texts` were measured.
    """

    width: int
    counts: Mapping[int, int]
    texts: int
    mean: float | None
    longest: int | None


def tokens_of(code: str) -> int:
    """Words and single signs: `x = f(10)` has six. A string counts by what stands in it."""
    return len(TOKEN.findall(code))


def measure_character_lengths(texts: QuerySet[Text], width: int) -> Lengths:
    """Of all `texts`; two statements."""
    plain = texts.order_by()
    whole = plain.aggregate(texts=Count("pk"), mean=Avg("size"), longest=Max("size"))
    classes = plain.values(place=F("size") / width).annotate(count=Count("pk")).values_list("place", "count")
    return Lengths(width, dict(classes), whole["texts"], whole["mean"], whole["longest"])


def measure_token_lengths(texts: QuerySet[Text], width: int, most: int | None = SAMPLED) -> Lengths:
    """Of at most `most` of `texts`, evenly by their id; None: of all."""
    return summarize_lengths((tokens_of(text) for text in sample_texts(texts, most)), width)


def summarize_lengths(lengths: Iterable[int], width: int) -> Lengths:
    counts, texts, total, longest = Counter[int](), 0, 0, None
    for length in lengths:
        counts[length // width] += 1
        texts, total, longest = texts + 1, total + length, max(longest or 0, length)
    return Lengths(width, counts, texts, total / texts if texts else None, longest)


def sample_texts(texts: QuerySet[Text], most: int | None = SAMPLED) -> Iterator[str]:
    """An even sample by id: always the same one."""
    if most is None:
        yield from (row.text for row in texts.order_by("pk").select_related("body").iterator(READ_AT_ONCE))
        return
    keys = list(texts.order_by("pk").values_list("pk", flat=True))
    chosen = [keys[place] for place in sample_places_evenly(len(keys), most)]
    for start in range(0, len(chosen), READ_AT_ONCE):
        rows = Text.objects.filter(pk__in=chosen[start : start + READ_AT_ONCE])
        yield from (row.text for row in rows.order_by("pk").select_related("body"))


def texts_in(members: QuerySet[Member]) -> QuerySet[Text]:
    """The texts of members."""
    return Text.objects.filter(pk__in=members.order_by().values("text"))
