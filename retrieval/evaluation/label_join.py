"""The labels of a benchmark's newest version and what was said of holes, as one label a pair.

A pair may have a label there already, where it was a hole of another run too and both were filled: then the
merge rule says which one counts. What the same holes brought before is said anew, or no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from retrieval.evaluation.merge_rule import FEWEST_REVIEWS, AnnotatorStatement, merge_statements
from retrieval.evaluation.publication import ROWS_A_READ, Chosen
from retrieval.models import (
    Annotator,
    Benchmark,
    BenchmarkLabel,
    Candidate,
    Holes,
    Label,
    Source,
    label_source_of,
)


def join_hole_labels(base: Benchmark, holes: Holes, filled: Iterable[Chosen]) -> Iterator[Chosen]:
    """What `base` holds, and what was said of the holes; each pair once."""
    said = {chosen.pair: chosen for chosen in filled}
    there = {label.pair: label for label in load_kept_labels(base, holes)}
    before = _brought(holes, base.name)
    others = {pair: one for pair, one in there.items() if one not in before}
    disputed = {pair: (other, said[pair]) for pair, other in others.items() if pair in said}
    stay = (others.keys() - said.keys()) | _standing(disputed)
    yield from (label for label in load_kept_labels(base) if label.pair not in there or label.pair in stay)
    yield from (one for pair, one in said.items() if pair not in stay)


def load_kept_labels(benchmark: Benchmark, holes: Holes | None = None) -> Iterator[Chosen]:
    """What a benchmark holds, or of `holes` alone, also labels that were merged of several.

    Those have no source of their own.
    """
    columns = ("pair__query_id", "pair__snippet_id", "pair_id", "relevance", "label_id", "label__basis")
    rows = BenchmarkLabel.objects.filter(benchmark=benchmark)
    if holes is not None:
        pairs = Candidate.objects.filter(mining=holes.mining_id).order_by().values("pair")
        rows = rows.filter(pair__in=pairs)
    read = rows.values_list(*columns).iterator(ROWS_A_READ)
    return (Chosen._make((*row, basis or "")) for *row, basis in read)


def _brought(holes: Holes, name: str) -> set[Chosen]:
    """What versions that were published of these holes had, and those before each of them had not."""
    found = set[Chosen]()
    for made in Benchmark.objects.filter(name=name, holes=holes).select_related("previous_version"):
        base = made.previous_version
        found |= set(load_kept_labels(made, holes)) - (set(load_kept_labels(base, holes)) if base else set())
    return found


def _standing(disputed: Mapping[int, tuple[Chosen, Chosen]]) -> set[int]:
    """The pairs of which the first of two labels goes on to count, by the merge rule.

    What people, studies and files say of a pair is known wherever it is judged, so the second one is what
    they say now; what other agents said of it only the first one tells.
    """
    labels = {one.label for both in disputed.values() for one in both if one.label is not None}
    rows = Label.objects.select_related("annotator").in_bulk(labels)
    told = {pk: _annotator_statement(row) for pk, row in rows.items()}
    both_said = {pair: [told.get(one.label or 0) for one in both] for pair, both in disputed.items()}
    return {pair for pair, both in both_said.items() if _is_agents(*both)}


def _is_agents(first: AnnotatorStatement | None, second: AnnotatorStatement | None) -> bool:
    """Whether the first one was said by agents, and counts before the second."""
    if first is None or first.source is not Source.AGENT:
        return False
    return merge_statements([first] if second is None else [first, second]) is first


def _annotator_statement(row: Label) -> AnnotatorStatement:
    """As the merge rule takes it: a label that was published of reviews had enough of them behind it."""
    by = row.annotator
    is_imported = by.kind == Annotator.Kind.ORIGINAL
    source = Source.ORIGINAL if is_imported else label_source_of(by.kind, by.config, row.assisted, row.source)
    return AnnotatorStatement(row.pk, source, int((row.value or 0) > 0), FEWEST_REVIEWS)
