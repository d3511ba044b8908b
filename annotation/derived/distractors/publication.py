"""A benchmark with distractors: the one that it was made of, and functions with a bug as non-matches.

It has a name, a collection and versions of its own, so that its figures never mix with those of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from django.db import transaction

from annotation.derived.distractors.proof import LeftOut, Proofs, ProvenBug
from retrieval.collections.superset import end_name, keep_superset
from retrieval.evaluation.content import snippet_members
from retrieval.evaluation.label_join import load_kept_labels
from retrieval.evaluation.publication import Chosen, Order, publish_chosen
from retrieval.filters import NO_RULE, find_passed_rules
from retrieval.models import (
    Annotator,
    Benchmark,
    Collection,
    Distractor,
    Label,
    Member,
    Pair,
    Pool,
    Text,
)
from retrieval.texts.plurals import count_noun

ENDING: Final = "-distractors"
LONGEST_RULE: Final = 400
LONGEST_EDIT: Final = 2_000
ROWS_AT_ONCE: Final = 500
ROWS_A_READ: Final = 2_000
LONGEST_ID: Final = 280
LONGEST_SOURCE: Final = 200
ANNOTATOR: Final = "planted bugs"
SOURCE: Final = "matches with a planted bug, each proven by a test that passes without it"

HashedRow: TypeAlias = tuple[str, int, str, str, str, int, str]
"""Hash and id of a text, source id, origin, licence, rules, partition."""


class NoDistractors(ValueError):
    """There is no benchmark to be made; the message says why. Nothing was stored."""


def distractors_name(benchmark: Benchmark) -> str:
    """What the benchmark with distractors is called."""
    return end_name(benchmark.name, ENDING)


def refuse_benchmark(benchmark: Benchmark) -> None:
    """Raises NoDistractors for one that can't have any."""
    if benchmark.distractors.exists():
        raise NoDistractors(f"{benchmark} has distractors already: name the benchmark that it was made of.")
    if benchmark.goes_by_ids:
        raise NoDistractors(f"{benchmark} counts each id of a text by itself, which distractors have not.")


@transaction.atomic
def publish_with_distractors(benchmark: Benchmark, proofs: Proofs) -> Benchmark:
    """The next version of the benchmark with distractors, or the last one where nothing is new.

    Raises NoDistractors where no bug is proven.
    """
    refuse_benchmark(benchmark)
    texts = Text.objects.keep_all([bug.mutant.text for bug in proofs.bugs])
    found = without_known_functions(benchmark, proofs, texts)
    bugs, texts = [bug for bug, _ in found], [text for _, text in found]
    if not bugs:
        raise NoDistractors(f"No bug is proven: {describe_left_out(proofs) or 'nothing was tested'}.")
    snippets = keep_collection(benchmark, bugs, texts)
    pairs = Pair.objects.keep_all([(bug.pair.query_id, text.pk) for bug, text in found])
    made = publish_chosen(
        Order(
            distractors_name(benchmark),
            benchmark.queries,
            snippets,
            describe_rule(benchmark),
            searched=Pool.COLLECTION,
            queries_until=benchmark.queries_until,
            notes=describe_distractors(benchmark, bugs, proofs),
        ),
        [*load_kept_labels(benchmark), *keep_labels(bugs, pairs)],
    )
    rows = [build_distractor(made, bug, pair) for bug, pair in zip(bugs, pairs, strict=True)]
    Distractor.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)
    return made


def without_known_functions(
    benchmark: Benchmark, proofs: Proofs, texts: Sequence[Text]
) -> list[tuple[ProvenBug, Text]]:
    """The bugs whose text is no function of the benchmark, as that may answer the query. Each pair once."""
    members = snippet_members(benchmark).values_list("text_id", flat=True)
    there = {text.pk for text in texts}.intersection(members.iterator(ROWS_A_READ))
    found: dict[tuple[int, int], tuple[ProvenBug, Text]] = {}
    for bug, text in zip(proofs.bugs, texts, strict=True):
        if text.pk in there:
            proofs.left_out[LeftOut.KNOWN] += 1
        else:
            found.setdefault((bug.pair.query_id, text.pk), (bug, text))
    return list(found.values())


def keep_collection(benchmark: Benchmark, bugs: Sequence[ProvenBug], texts: Sequence[Text]) -> Collection:
    """The benchmark's functions and those with a bug, by the hashes of their texts; once.

    Where a match and its bug have equal scores the one that comes first is listed first. By hashes either
    may be that one; with the bugs at the end a system that sees no difference would look perfect.
    """
    columns = ("text__body", "text_id", "source_id", "origin", "licence", "rules", "partition")
    rows = list(snippet_members(benchmark).values_list(*columns).iterator(ROWS_A_READ))
    rows = sorted([*rows, *list_bug_members(benchmark, bugs, texts)])
    return keep_superset(
        benchmark.snippets,
        distractors_name(benchmark),
        f"{benchmark} with functions that have a planted bug",
        [row[1] for row in rows],
        (row[1:] for row in rows),
    )


def list_bug_members(
    benchmark: Benchmark, bugs: Sequence[ProvenBug], texts: Sequence[Text]
) -> Iterator[HashedRow]:
    """The functions with a bug, each once, with the licence of the function that it was made of."""
    parents = find_members(benchmark, sorted({bug.pair.snippet_id for bug in bugs}))
    first: dict[int, tuple[ProvenBug, Text]] = {}
    for bug, text in zip(bugs, texts, strict=True):
        first.setdefault(text.pk, (bug, text))
    for number, (bug, text) in enumerate(first.values(), 1):
        parent = parents[bug.pair.snippet_id]
        name = name_bug(parent, text, number)
        rules = int(find_passed_rules(text.text) or NO_RULE)
        yield text.digest, text.pk, name, parent.origin, parent.licence, rules, parent.partition


def name_bug(parent: Member, bug: Text, number: int) -> str:
    """The source id of a function with a bug: after its parent's in the alphabet, or before, by their hashes.

    trec_eval, and so a reranker, orders equal scores by document id.
    """
    sign = "" if bug.digest > parent.text.digest else "!"
    return f"{sign}{parent.source_id[:LONGEST_ID]}#bug-{number}"


def find_members(benchmark: Benchmark, texts: Sequence[int]) -> dict[int, Member]:
    """The benchmark's functions with these texts, by text."""
    found: dict[int, Member] = {}
    for start in range(0, len(texts), ROWS_AT_ONCE):
        members = snippet_members(benchmark).select_related("text")
        rows = members.filter(text__in=texts[start : start + ROWS_AT_ONCE])
        found |= {row.text_id: row for row in rows}
    return found


def keep_labels(bugs: Sequence[ProvenBug], pairs: Sequence[Pair]) -> Iterator[Chosen]:
    """A label 0 for each function with a bug, which says what proved it; stored once."""
    annotator = Annotator.objects.version(Annotator.Kind.ORIGINAL, ANNOTATOR, {"source": SOURCE})
    rows = [
        Label(pair=pair, annotator=annotator, value=0, source=describe_source(bug)[:LONGEST_SOURCE])
        for bug, pair in zip(bugs, pairs, strict=True)
    ]
    Label.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE, ignore_conflicts=True)
    for start in range(0, len(pairs), ROWS_AT_ONCE):
        labels = Label.objects.filter(annotator=annotator, pair__in=pairs[start : start + ROWS_AT_ONCE])
        columns = labels.order_by("pk").values_list("pk", "pair__query", "pair__snippet", "pair")
        for label, query, snippet, pair in columns:
            yield Chosen(query, snippet, pair, 0.0, label, "")


def describe_source(bug: ProvenBug) -> str:
    """Describe where a label comes from."""
    mutant = bug.mutant
    return (
        f"{mutant.operator} in line {mutant.line}; test program {bug.program.pk} failed in run {bug.run.pk}"
    )


def build_distractor(made: Benchmark, bug: ProvenBug, pair: Pair) -> Distractor:
    mutant = bug.mutant
    return Distractor(
        benchmark=made,
        pair=pair,
        parent=bug.pair.snippet,
        kind=mutant.operator.value,
        line=mutant.line,
        before=mutant.before[:LONGEST_EDIT],
        after=mutant.after[:LONGEST_EDIT],
        program=bug.program.pk,
        source=bug.program.source.text,
        run=bug.run.pk,
    )


def describe_rule(benchmark: Benchmark) -> str:
    """Describe whose labels count."""
    rule = f"a function with a bug that its test proves is no match; else as in {benchmark}: "
    return (rule + benchmark.merge_rule)[:LONGEST_RULE]


def describe_distractors(benchmark: Benchmark, bugs: Sequence[ProvenBug], proofs: Proofs) -> str:
    """What people must know of the labels, with all counts."""
    queries = len({bug.pair.query_id for bug in bugs})
    left_out = describe_left_out(proofs)
    return (
        f"{benchmark} with {count_noun(len(bugs), 'distractor')} for "
        f"{count_noun(queries, 'query', 'queries')}: matches with a planted bug, each proven by a test that "
        f"passes without it. Figures do not compare with those of {benchmark}."
        + (f" Left out: {left_out}." if left_out else "")
    )


def describe_left_out(proofs: Proofs) -> str:
    """Describe how many bugs were left out, by reason."""
    return "; ".join(f"{reason}: {count:,}" for reason in LeftOut if (count := proofs.left_out[reason]))
