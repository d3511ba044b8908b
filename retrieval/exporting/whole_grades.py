"""Relevances that are no whole numbers, as means are, for formats whose readers take whole numbers alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from retrieval.exporting.content import Subject
from retrieval.exporting.provenance import LABELS
from retrieval.texts.plurals import count_noun


class Fractions(ValueError):
    """Relevances are no whole numbers, which the format's readers refuse; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """How many relevances were rounded, how, and for how many of them a match became none."""

    labels: int
    matches_lost: int
    rule: str = "to the nearest whole number, halves up"

    def __str__(self) -> str:
        lost = count_noun(self.matches_lost, "match", "matches")
        told = f"{count_noun(self.labels, 'label')} rounded {self.rule}; {lost} became none"
        return f"{told}: {LABELS} has the relevance of each"


def round_relevances(subject: Subject, allowed: bool) -> Subject:
    """The same with whole numbers as relevances. Raises `Fractions` for others, unless `allowed`."""
    odd = subject.open_pairs.fractions
    if not odd.any():
        return subject
    if allowed:
        return replace(subject, pairs=subject.pairs.rounded())
    first = subject.open_pairs.relevances[odd][0]
    raise Fractions(
        f"{subject.benchmark} has labels that are no whole numbers ({odd.sum():,}, such as {first:g}), and "
        "readers of this format take no others. --round writes the nearest whole numbers, and notes it; the "
        "formats release, parquet and huggingface have them as they are."
    )


def rounding_of(subject: Subject, rounded: Subject) -> Rounding | None:
    """What rounding changed; None where it was nothing."""
    if rounded is subject:
        return None
    before, after = subject.open_pairs, rounded.open_pairs
    lost = (before.relevances > 0) & (after.relevances <= 0)
    return Rounding(int(before.fractions.sum()), int(lost.sum()))
