"""The tables of corpus statistics, each with its plot, of what `retrieval.corpus` counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from annotation.studies.report.table import Cell, Table
from annotation.web.builds import paper_figures
from annotation.web.corpus.plots import Plot, Series, bin_counts, draw_histogram, nest_plot_columns
from annotation.web.shared.words import format_percent
from retrieval.corpus.languages import Functions
from retrieval.corpus.lengths import Lengths
from retrieval.metrics.overlap import Overlap
from retrieval.texts.plurals import count_noun

MOST_CLASSES: Final = 20
MOST_STEPS: Final = 12
EXAMPLE: Final = 80
MOST_MATCHES: Final = 20
CHARACTERS_A_CLASS: Final = 100
TOKENS_A_CLASS: Final = 25


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its plot, if it has one, and what stands there while it has no rows.

    A `folded` table says no more than its plot, and is opened by who wants it. `worded` are the columns
    that hold words.
    """

    table: Table
    plot: Plot | None = None
    empty: str = ""
    folded: bool = False
    worded: tuple[str, ...] = ()


def build_size_section(row: tuple[Cell, ...], of: str = "Functions: those in the pairs.") -> Section:
    """Table 1: this corpus as the paper tells its own, the paper, its first version.

    `of` says which snippets are counted.
    """
    columns = ("Corpus", "Pairs", "Functions", "Mean length", "Test cases a program", "Executable programs")
    note = (
        f"{of} Lengths are in characters; the paper names no unit. Here a test case is an assertion, and a "
        "program is executable when it reached one: the paper defines neither."
    )
    return Section(
        Table("size", "Size, compared with the papers", columns, (row, *paper_figures.SIZES), note)
    )


def by_matches(counts: Mapping[int, int], unjudged: int) -> Section:
    """Table 6: queries by number of matches, from 0 on, beside the paper's.

    `unjudged` of those without a match have no judged pair: that is not known to be none.
    """
    last = max(MOST_MATCHES, min(max(counts, default=0), 2 * MOST_MATCHES))
    ours, theirs = sum(counts.values()), paper_figures.QUERIES
    bins = bin_counts(counts, 0, last)
    paper = {0: paper_figures.WITHOUT_MATCH, **paper_figures.QUERIES_BY_MATCHES}
    reported = [paper.get(number, 0) for number in range(last + 1)]
    rows = tuple(
        (number, here, format_percent(here, ours), there, format_percent(there, theirs))
        for (number, here), there in zip(bins, reported, strict=True)
    )
    table = Table(
        "matches",
        "Queries by number of matches",
        ("Matches", "Queries", "Share", "Paper’s queries", "Paper’s share"),
        rows if ours else (),
        "The paper’s Table 6 as reported; it begins at 1; the rest of the 20,604 queries have no match. "
        "Other queries, functions and labels match more or less "
        f"often.{describe_unjudged_queries(unjudged)}",
    )
    return Section(table, draw_match_plot(bins, reported) if ours else None, "No query has been judged yet.")


def draw_match_plot(bins: Sequence[tuple[str, int]], reported: Sequence[int]) -> Plot | None:
    """The shares of the queries as columns, the paper's as a curve over them."""
    ours = sum(count for _, count in bins)
    heights = [100 * count / ours for _, count in bins]
    curve = [100 * count / paper_figures.QUERIES for count in reported]
    return draw_histogram(
        heights,
        [Series("paper", "the paper’s", curve)],
        top=f"{max([*heights, *curve]):.0f} % of the queries",
        start="no match",
        end=f"{len(bins) - 1}",
        name="these",
    )


def describe_unjudged_queries(unjudged: int) -> str:
    """Which queries stand at 0 because nobody has judged a pair of theirs."""
    if not unjudged:
        return ""
    has = "has" if unjudged == 1 else "have"
    return f" {count_noun(unjudged, 'query', 'queries')} at 0 {has} no judged pair and may have matches."


def by_answered(counts: Mapping[int, int]) -> Section:
    """Snippets by the number of queries that they answer; those that answer none do not appear."""
    total = sum(counts.values())
    bins = bin_counts(counts, 1, min(max(counts, default=1), MOST_MATCHES)) if total else []
    several = format_percent(total - counts.get(1, 0), total)
    table = Table(
        "answered",
        "Functions by number of queries answered",
        ("Queries", "Functions", "Share"),
        tuple((number, here, format_percent(here, total)) for number, here in bins),
        f"{several} of these answer two or more queries; the paper reports 36.7 %." if total else "",
    )
    top = f"{max((here for _, here in bins), default=0):,} functions"
    plot = draw_bins(bins, top, "1", "snippets")
    return Section(table, plot, "No function has matched a query yet.", folded=True)


def draw_bins(bins: Sequence[tuple[str, int]], top: str, start: str, name: str) -> Plot | None:
    heights = [float(count) for _, count in bins]
    return draw_histogram(heights, [], top=top, start=start, end=bins[-1][0] if bins else "", name=name)


def build_length_section(key: str, title: str, found: Lengths, unit: str, of: int) -> Section:
    """A histogram of lengths; `of` is how many texts there are, of which `found` may be a sample."""
    counted = bin_counts(found.counts, 0, min(max(found.counts, default=0), MOST_CLASSES))
    bins = []
    for place, (name, count) in enumerate(counted if found.texts else ()):
        low, high = place * found.width, (place + 1) * found.width - 1
        bins.append((f"{low:,} and more" if name.endswith("+") else f"{low:,} to {high:,}", count))
    table = Table(
        key,
        title,
        (unit.capitalize(), "Texts", "Share"),
        tuple((name, count, format_percent(count, found.texts)) for name, count in bins),
        length_note(found, unit, of),
    )
    top = f"{max((count for _, count in bins), default=0):,}"
    return Section(table, draw_bins(bins, top, f"0 {unit}", "texts"), "There are no texts.", folded=True)


def length_note(found: Lengths, unit: str, of: int) -> str:
    if found.mean is None or found.longest is None:
        return ""
    said = f"Mean {found.mean:,.1f}, longest {found.longest:,} {unit}."
    if found.texts < of:
        said += f" Counted in {found.texts:,} of {of:,} texts, evenly by their id."
    if unit == "tokens":
        said += " A token is a word or a sign; strings and comments count too."
    return said


def build_function_section(rows: Sequence[Functions]) -> Section:
    """CodeSearchNet's Table 1."""
    reported = paper_figures.CODESEARCHNET
    known = any(row.language in reported for row in rows)
    filled: list[tuple[Cell, ...]] = [
        (row.language, row.documented, row.all, *(reported.get(row.language) or (None, None))) for row in rows
    ]
    if len(rows) > 1:
        filled.append(("all", sum(row.documented for row in rows), sum(row.all for row in rows), None, None))
    columns = ("Language", "With documentation", "Functions")
    table = Table(
        "languages",
        "Functions by language",
        (*columns, "CodeSearchNet’s with documentation", "CodeSearchNet’s"),
        tuple(filled) if known else (),
        "Found by the ending of the file that a source id names. “With documentation” are functions whose "
        "paragraph came in as a query; next to them CodeSearchNet’s Table 1, as reported.",
    )
    plot = by_language(rows) if known else None
    return Section(table, plot, "No source id names a file, so the language is not known.")


def by_language(rows: Sequence[Functions]) -> Plot | None:
    """A column of all functions for each language, and within it one of those with documentation."""
    plot = draw_table_bars([row.all for row in rows], [row.language for row in rows], "functions", named=True)
    documented = [float(row.documented) for row in rows]
    return plot and nest_plot_columns(plot, documented, max(row.all for row in rows), "with documentation")


def list_relevance_steps(found: Iterable[Counter[int]]) -> Sequence[int]:
    """The relevances that get a column: all from the lowest to the highest, or the most frequent."""
    seen = sum(found, Counter[int]())
    lowest, highest = min([0, *seen]), max([1, *seen])
    if highest - lowest < MOST_STEPS:
        return range(lowest, highest + 1)
    return sorted(step for step, _ in seen.most_common(MOST_STEPS))


def build_relevance_section(found: Mapping[str, Counter[int]]) -> Section:
    """CodeSearchNet's Table 2."""
    steps = list_relevance_steps(found.values())
    rows: list[tuple[Cell, ...]] = []
    for language in sorted(found, key=lambda name: (-found[name].total(), name)):
        counts = found[language]
        reported = paper_figures.ANNOTATIONS.get(language)
        beside = None if reported is None else " / ".join(f"{labels:,}" for labels in reported)
        rows.append((language, *(counts[step] for step in steps), counts.total(), beside))
    return Section(
        Table(
            "relevance",
            "Labels by language and relevance",
            ("Language", *(f"Relevance {step}" for step in steps), "Labels", "CodeSearchNet’s 0 / 1 / 2 / 3"),
            tuple(rows),
            f"A mean is rounded; of many relevances the {MOST_STEPS} most frequent are shown. Next "
            "to it the annotations of CodeSearchNet’s Table 2, as reported.",
        ),
        draw_table_bars(
            [sum(counts[step] for counts in found.values()) for step in steps],
            [f"relevance {step}" for step in steps],
            "labels",
        ),
        "There are no labels.",
    )


def build_variant_section(found: Mapping[str, int], of: int) -> Section:
    """The testable-function rule and what each variant forgives."""
    return Section(
        Table(
            "testable",
            "Testable functions",
            ("Rule", "Functions", "Share"),
            tuple((name, count, format_percent(count, of)) for name, count in found.items()),
            "The paper’s rule is an input and a return with a value. Its variants count self as input, a "
            "bare return or a yield as a value, all of these, or ask for an input alone. "
            "Mining takes what passes the chosen one.",
        )
    )


def build_filter_section(found: Mapping[str, Any], sampled: int, of: int) -> Section:
    """What each step of the other filters refuses of a sample, with an example."""
    steps = {
        "Not testable": found["not testable"],
        "Python or not": found["python"]["steps"],
        "CodeSearchNet’s rules": found["codesearchnet"]["steps"],
        "Redistributable": found["redistributable"]["steps"],
    }
    note = "A function counts under the first filter that rejects it; nothing is removed from the collection."
    if sampled < of:
        note += (
            f" Counted in {sampled:,} of {of:,} functions; “cosqa admin filters” counts all, duplicates too."
        )
    return step_section(steps, sampled, note)


def query_filters(found: Mapping[str, Any]) -> Section:
    note = f"{found['kept']:,} of {found['queries']:,} queries pass all three. A build can require each test."
    return step_section({"Queries": found["steps"]}, found["queries"], note)


def step_section(filters_: Mapping[str, Mapping[str, Any]], of: int, note: str) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for name, steps in filters_.items():
        for step, found in steps.items():
            example = found["examples"][0][:EXAMPLE] if found["examples"] else None
            rows.append((name, step, found["refused"], format_percent(found["refused"], of), example))
    columns = ("Filter", "Step", "Refused", "Share", "Such as")
    table = Table("filters", "Filters", columns, tuple(rows), note)
    return Section(table, None, "No filter rejects anything.", worded=("Step", "Such as"))


def build_overlap_section(rows: Sequence[Overlap], note: str, empty: str) -> Section:
    return Section(
        Table(
            "overlap",
            "Overlap of the encoders",
            ("First", "Second", "Queries", "Functions a list, at most", "In common", "Jaccard"),
            tuple((row.first, row.second, row.queries, row.depth, row.shared, row.jaccard) for row in rows),
            note,
        ),
        draw_table_bars(
            [row.jaccard or 0.0 for row in rows],
            [f"row {number}" for number in range(1, len(rows) + 1)],
            "Jaccard of two lists, in the order of the table",
        ),
        empty,
        worded=("Second",),
    )


def draw_table_bars(
    heights: Sequence[float], names: Sequence[str], counted: str, *, named: bool = False
) -> Plot | None:
    """A column for each name, in the order of the table.

    The first and the last name stand below, of few that are `named` every one.
    """
    if not heights:
        return None
    top = f"{max(heights):.2f}" if isinstance(heights[0], float) else f"{max(heights):,}"
    plot = draw_histogram(
        [float(height) for height in heights],
        [],
        top=top,
        start=names[0],
        end=names[-1] if len(names) > 1 else "",
        name=counted,
    )
    return replace(plot, names=tuple(names)) if plot and named else plot
