"""The dataset card of a benchmark: what is in it, how it was made, by which rule, under which licences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from retrieval.evaluation.citation import cite_benchmark
from retrieval.exporting.content import Subject
from retrieval.exporting.parts import Parts
from retrieval.exporting.provenance import NOT_KNOWN
from retrieval.exporting.withholding_policy import Withhold, reasons_told
from retrieval.models import Basis, Source

Licences: TypeAlias = Counter[str]
MOST_LICENCES = 40
LONGEST = 300
LONGEST_RULE = 4_000
"""A merge rule names each annotator with its version: it is cut only where somebody means harm."""
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (10**6, "100K<n<1M"))


def format_dataset_card(
    subject: Subject, parts: Parts | None, configs: Sequence[str], licences: Licences
) -> str:
    """Markdown with the hub's header. Texts of others are told in code marks, on one line.

    `configs` are the header's lines that say which files are which configuration.
    """
    return "\n".join(
        [
            "---",
            *_header(subject),
            "configs:",
            *configs,
            "---",
            "",
            *_about(subject),
            *_statistics(subject, parts),
            *_bases(subject),
            *_licences(licences, subject),
            *_citation(subject),
        ]
    )


def quote_code(text: str, longest: int = LONGEST) -> str:
    """A text of others inside Markdown: one line between code marks, of so many characters at most."""
    told = " ".join(text.split()).replace("`", "'")
    cut = told if len(told) <= longest else f"{told[:longest]}…"
    return f"`{cut}`" if cut else "not stated"


def format_config(name: str, files: Mapping[str, str], *, default: bool = False) -> list[str]:
    """The header's lines of one configuration: a file, by its path, for each split."""
    paths = [f"  - split: {split}\n    path: {path}" for split, path in files.items()]
    return [f"- config_name: {name}", *(["  default: true"] if default else []), "  data_files:", *paths]


def _header(subject: Subject) -> list[str]:
    pairs = len(subject.open_pairs)
    size = next((name for most, name in SIZES if pairs < most), "1M<n<10M")
    return [
        f"pretty_name: {json.dumps(str(subject.benchmark))}",
        "license: other",
        "license_name: see-below",
        "task_categories: [text-retrieval]",
        "tags: [code-search, code]",
        f"size_categories: [{size}]",
    ]


def _about(subject: Subject) -> list[str]:
    benchmark, mining = subject.benchmark, subject.benchmark.mining
    made = (
        f"The {mining.k} best functions for each query were proposed by "
        f"{quote_code(' + '.join(mining.encoders))}."
        if mining
        else "Its pairs came with the data; how they were found is not known."
    )
    return [
        f"# {quote_code(benchmark.name)}, version {benchmark.version}",
        "",
        (
            "A benchmark of code search: queries, functions, and for pairs whether the code answers "
            "the query (1) or not (0). **A pair without a label is unjudged, which is not 0.**"
        ),
        "",
        "## How it was made",
        "",
        f"{made} Systems search {quote_code(benchmark.get_pool_display())}.",
        "",
        "Merge rule, by which one label of each pair is published: "
        + quote_code(benchmark.merge_rule, LONGEST_RULE),
        "",
        *([f"**{quote_code(benchmark.notes)}**", ""] if benchmark.notes else []),
        f"Published {benchmark.published_at:%Y-%m-%d} with CoSQA Workbench; sha256 `{benchmark.digest}`.",
        "",
    ]


def _statistics(subject: Subject, parts: Parts | None) -> list[str]:
    pairs = subject.open_pairs
    matching = pairs.relevances > 0
    found = np.bincount(pairs.queries[matching], minlength=len(subject.query_ids))
    found = found[~subject.held_queries.mask]
    rows = [
        ("queries", len(found)),
        ("functions", len(subject.snippet_ids) - subject.held_snippets.count),
        ("labelled pairs", len(pairs)),
        ("matches", int(matching.sum())),
        ("queries without a match", int((found == 0).sum())),
        ("queries with several matches", int((found > 1).sum())),
    ]
    if written := count_written_snippets(subject):
        rows.insert(2, ("of these written for a query without a match", written))
    given = Counter[tuple[str, bool]]()
    for giver, count in enumerate(np.bincount(pairs.givers, minlength=len(pairs.known)).tolist()):
        known = pairs.known[giver]
        given[known.source.label, known.assisted] += count
    lines = ["## Statistics", "", "| what | number |", "| --- | ---: |"]
    lines += [f"| {what} | {number:,} |" for what, number in rows]
    if subject.benchmark.mining_id is None:
        lines += [f"| candidate pairs without a label | {NOT_KNOWN} |"]
    lines += [
        f"| labels of {source}{', assisted' if assisted else ''} | {count:,} |"
        for (source, assisted), count in sorted(given.items())
        if count
    ]
    kinds = Counter(subject.benchmark.distractors.values_list("kind", flat=True))
    lines += [f"| distractors: {kind} | {count:,} |" for kind, count in sorted(kinds.items())]
    if parts:
        lines += [f"| queries in {part} | {count:,} |" for part, count in parts.report.queries.items()]
        lines += [f"| functions in pairs of several parts | {parts.report.shared:,} |"]
    return [*lines, ""]


def count_written_snippets(subject: Subject) -> int:
    """Snippets that an expert accepted as written functions; each is a match of its query."""
    pairs = subject.open_pairs
    is_written = np.array([giver.source is Source.ACCEPTED for giver in pairs.known], dtype=bool)
    if not is_written.any():
        return 0
    return len(np.unique(pairs.snippets[is_written[pairs.givers] & (pairs.relevances > 0)]))


def _bases(subject: Subject) -> list[str]:
    """What each basis means, and how many labels came about in that way."""
    counts = subject.open_pairs.by_basis()
    told = {**dict(Basis.choices), "": "not known: imported, or from before it was noted"}
    return [
        "## How the labels were made",
        "",
        "Each pair says it as `basis`, which is in the sha256, too: cut by it where some are too unsure.",
        "",
        "| basis | what it means | labels |",
        "| --- | --- | ---: |",
        *(
            f"| {f'`{basis}`' if basis else ''} | {told[basis]} | {count:,} |"
            for basis, count in counts.items()
        ),
        "",
    ]


def _licences(licences: Licences, subject: Subject) -> list[str]:
    lines = ["## Licences of the functions", "", "| licence | functions |", "| --- | ---: |"]
    lines += [
        f"| {quote_code(name).replace('|', '/')} | {count:,} |"
        for name, count in licences.most_common(MOST_LICENCES)
    ]
    if len(licences) > MOST_LICENCES:
        lines += [f"| {len(licences) - MOST_LICENCES:,} others | |"]
    return [*lines, "", *_withheld(subject), ""]


def _citation(subject: Subject) -> list[str]:
    return ["## Citation", "", "```bibtex", *cite_benchmark(subject.benchmark).splitlines(), "```", ""]


def _withheld(subject: Subject) -> list[str]:
    """By which policy, and how many for which reason."""
    if subject.policy is Withhold.NONE:
        return ["Policy `none`: no function is withheld by its licence, and no query."]
    also = ", or states none," if subject.policy is Withhold.UNKNOWN else ""
    of = f"of a function or query whose licence is not known to allow passing on{also}"
    told = reasons_told(subject.held_snippets.reasons) or "none had to be"
    asked = reasons_told(subject.held_queries.reasons)
    queries = f" Of the queries: {asked}." if asked else ""
    return [
        f"Policy `{subject.policy}`: {of} only origin and hash are here. Withheld: {told}.{queries}",
    ]
