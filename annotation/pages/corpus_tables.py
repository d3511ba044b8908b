"""The tables of corpus statistics, each with its plot, of what `retrieval.corpus` counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from annotation.pages import paper
from annotation.pages.plots import Plot, Series, histogram, within
from annotation.studies.table import Cell, Table
from retrieval.corpus.languages import Functions
from retrieval.corpus.lengths import Lengths
from retrieval.counting import counted
from retrieval.metrics.overlap import Overlap

MOST_CLASSES: Final = 20
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


@dataclass(frozen=True, slots=True)
class Size:
    """A corpus as the paper's Table 1 tells it; None or an empty text where a figure can't be said."""

    pairs: int
    snippets: int
    mean_length: float | None
    test_cases: str
    executable: str


def sizes(name: str, found: Size, of: str = "Snippets are those of the pairs.") -> Section:
    """Table 1: this corpus, the paper, its first version. `of` says which snippets are counted."""
    return Section(
        Table(
            "size",
            "Size, beside the papers",
            ("Corpus", "Pairs", "Snippets", "Mean length", "Test cases a program", "Executable programs"),
            (
                (
                    name,
                    found.pairs,
                    found.snippets,
                    found.mean_length,
                    found.test_cases or None,
                    found.executable or None,
                ),
                (
                    "CoSQA⁺, as reported",
                    paper.PAIRS,
                    paper.SNIPPETS,
                    paper.MEAN_LENGTH,
                    f"{paper.MEAN_TEST_CASES}",
                    f"{paper.EXECUTABLE_SHARE} %",
                ),
                (
                    "CoSQA⁺, first version, as reported",
                    paper.FIRST_PAIRS,
                    paper.FIRST_SNIPPETS,
                    paper.FIRST_MEAN_LENGTH,
                    None,
                    None,
                ),
            ),
            f"{of} Lengths are in characters; the paper names no unit. Here a test case is an assertion, and "
            "a program is executable when it reached one: the paper defines neither.",
        )
    )


def by_matches(counts: Mapping[int, int], unjudged: int) -> Section:
    """Table 6: queries by number of matches, from 0 on, beside the paper's.

    `unjudged` of those without a match have no judged pair: that is not known to be none.
    """
    last = max(MOST_MATCHES, min(max(counts, default=0), 2 * MOST_MATCHES))
    ours, theirs = sum(counts.values()), paper.QUERIES
    rows: list[tuple[Cell, ...]] = []
    for number in range(last + 1):
        here = counts.get(number, 0) + (sum_above(counts, last) if number == last else 0)
        there = paper.QUERIES_BY_MATCHES.get(number, 0) if number else paper.WITHOUT_MATCH
        more = "+" if number == last and sum_above(counts, last) else ""
        rows.append((f"{number}{more}", here, percent(here, ours), there, percent(there, theirs)))
    table = Table(
        "matches",
        "Queries by number of matches",
        ("Matches", "Queries", "Share", "Paper’s queries", "Paper’s share"),
        tuple(rows) if ours else (),
        "The paper’s Table 6 as reported; it begins at 1, so its queries without a match are what is missing "
        f"to 20,604. Other queries, candidates and labels match more or less often.{unknown(unjudged)}",
    )
    heights = [100 * int(str(row[1])) / ours if ours else 0.0 for row in rows]
    reported = Series("paper", "the paper’s", [100 * int(str(row[3])) / theirs for row in rows])
    plot = histogram(
        heights,
        [reported],
        top=f"{max([*heights, *(one or 0 for one in reported.heights)]):.0f} % of the queries",
        start="no match",
        end=f"{last}",
        name="these",
    )
    return Section(table, plot if ours else None, "No query has been judged yet.")


def unknown(unjudged: int) -> str:
    """Which queries stand at 0 because nobody has judged a pair of theirs."""
    if not unjudged:
        return ""
    has = "has" if unjudged == 1 else "have"
    return f" {counted(unjudged, 'query', 'queries')} at 0 {has} no judged pair and may have matches."


def sum_above(counts: Mapping[int, int], last: int) -> int:
    return sum(count for number, count in counts.items() if number > last)


def by_answered(counts: Mapping[int, int]) -> Section:
    """Snippets by the number of queries that they answer; those that answer none do not appear."""
    total = sum(counts.values())
    last = min(max(counts, default=1), MOST_MATCHES)
    rows: list[tuple[Cell, ...]] = []
    for number in range(1, last + 1):
        here = counts.get(number, 0) + (sum_above(counts, last) if number == last else 0)
        more = "+" if number == last and sum_above(counts, last) else ""
        rows.append((f"{number}{more}", here, percent(here, total)))
    several = total - counts.get(1, 0)
    table = Table(
        "answered",
        "Snippets by number of queries answered",
        ("Queries", "Snippets", "Share"),
        tuple(rows) if total else (),
        f"{percent(several, total)} of these snippets answer two or more queries; the paper reports 36.7 %."
        if total
        else "",
    )
    heights = [float(int(str(row[1]))) for row in rows] if total else []
    top = f"{int(max(heights, default=0)):,} snippets"
    plot = histogram(heights, [], top=top, start="1", end=str(rows[-1][0]), name="snippets")
    return Section(table, plot, "No snippet has matched a query yet.", folded=True)


def lengths(key: str, title: str, found: Lengths, unit: str, of: int) -> Section:
    """A histogram of lengths; `of` is how many texts there are, of which `found` may be a sample."""
    last = min(max(found.counts, default=0), MOST_CLASSES)
    rows: list[tuple[Cell, ...]] = []
    for place in range(last + 1):
        count = found.counts.get(place, 0) + (sum_above(found.counts, last) if place == last else 0)
        open_ended = place == last and sum_above(found.counts, last) > 0
        low, high = place * found.width, (place + 1) * found.width - 1
        name = f"{low:,} and more" if open_ended else f"{low:,} to {high:,}"
        rows.append((name, count, percent(count, found.texts)))
    heights = [float(int(str(row[1]))) for row in rows] if found.texts else []
    plot = histogram(
        heights,
        [],
        top=f"{int(max(heights, default=0)):,}",
        start=f"0 {unit}",
        end=str(rows[-1][0]),
        name="texts",
    )
    table = Table(
        key,
        title,
        (unit.capitalize(), "Texts", "Share"),
        tuple(rows) if found.texts else (),
        length_note(found, unit, of),
    )
    return Section(table, plot, "There are no texts.", folded=True)


def length_note(found: Lengths, unit: str, of: int) -> str:
    if found.mean is None or found.longest is None:
        return ""
    said = f"Mean {found.mean:,.1f}, longest {found.longest:,} {unit}."
    if found.texts < of:
        said += f" Counted in {found.texts:,} of {of:,} texts, evenly by their id."
    if unit == "tokens":
        said += " A token is a word or a single sign; what stands in strings and comments counts, too."
    return said


def functions(rows: Sequence[Functions]) -> Section:
    """CodeSearchNet's Table 1."""
    filled: list[tuple[Cell, ...]] = [
        (row.language, row.documented, row.all, *(paper.CODESEARCHNET.get(row.language) or (None, None)))
        for row in rows
    ]
    known = any(row.language in paper.CODESEARCHNET for row in rows)
    if len(rows) > 1:
        filled.append(("all", sum(row.documented for row in rows), sum(row.all for row in rows), None, None))
    return Section(
        Table(
            "languages",
            "Functions by language",
            (
                "Language",
                "With documentation",
                "Functions",
                "CodeSearchNet’s with documentation",
                "CodeSearchNet’s",
            ),
            tuple(filled) if known else (),
            "Told by the ending of the file that a source id names. “With documentation” are functions whose "
            "paragraph came in as a query; beside them CodeSearchNet’s Table 1, as reported.",
        ),
        by_language(rows) if known else None,
        "No source id names a file, so the language is not known.",
    )


def by_language(rows: Sequence[Functions]) -> Plot | None:
    """A column of all functions for each language, and within it one of those with documentation."""
    plot = bars([row.all for row in rows], [row.language for row in rows], "functions", named=True)
    documented = [float(row.documented) for row in rows]
    return plot and within(plot, documented, max(row.all for row in rows), "with documentation")


def relevance(found: Mapping[str, Counter[int]]) -> Section:
    """CodeSearchNet's Table 2."""
    steps = range(max([1, *(step for counts in found.values() for step in counts)]) + 1)
    rows: list[tuple[Cell, ...]] = []
    for language in sorted(found, key=lambda one: (-found[one].total(), one)):
        counts = found[language]
        reported = paper.ANNOTATIONS.get(language)
        beside = None if reported is None else " / ".join(f"{one:,}" for one in reported)
        rows.append((language, *(counts[step] for step in steps), counts.total(), beside))
    return Section(
        Table(
            "relevance",
            "Labels by language and relevance",
            ("Language", *(f"Relevance {step}" for step in steps), "Labels", "CodeSearchNet’s 0 / 1 / 2 / 3"),
            tuple(rows),
            "A relevance that is a mean is rounded. Beside it the annotations of CodeSearchNet’s Table 2, as "
            "reported.",
        ),
        bars(
            [sum(counts[step] for counts in found.values()) for step in steps],
            [f"relevance {step}" for step in steps],
            "labels",
        ),
        "There are no labels.",
    )


def variants(found: Mapping[str, int], of: int) -> Section:
    """The testable-function rule and what each variant forgives."""
    return Section(
        Table(
            "testable",
            "Testable functions",
            ("Rule", "Snippets", "Share"),
            tuple((name, count, percent(count, of)) for name, count in found.items()),
            "The paper’s rule is an input and a return with a value. Its variants count self as input, a "
            "bare return or a yield as a value, all of these, or ask for an input alone. "
            "Mining takes what passes the chosen one.",
        )
    )


def filters(found: Mapping[str, Any], sampled: int, of: int) -> Section:
    """What each step of the other filters refuses of a sample, with an example."""
    steps = {
        "Not testable": found["not testable"],
        "Python or not": found["python"]["steps"],
        "CodeSearchNet’s rules": found["codesearchnet"]["steps"],
        "Redistributable": found["redistributable"]["steps"],
    }
    note = "A filter refuses by the first step that a snippet fails; nothing is removed from the collection."
    if sampled < of:
        note += f" Counted in {sampled:,} of {of:,} snippets; “manage.py filters” counts all, duplicates too."
    return step_section("Filters", steps, sampled, note)


def query_filters(found: Mapping[str, Any]) -> Section:
    note = (
        f"{found['kept']:,} of {found['queries']:,} queries pass all three. A build can ask for each of them."
    )
    return step_section("Filters", {"Queries": found["steps"]}, found["queries"], note)


def step_section(title: str, filters_: Mapping[str, Mapping[str, Any]], of: int, note: str) -> Section:
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            step,
            one["refused"],
            percent(one["refused"], of),
            one["examples"][0][:EXAMPLE] if one["examples"] else None,
        )
        for name, steps in filters_.items()
        for step, one in steps.items()
    ]
    columns = ("Filter", "Step", "Refused", "Share", "Such as")
    table = Table("filters", title, columns, tuple(rows), note)
    return Section(table, None, "No step refuses anything.", worded=("Step", "Such as"))


def overlaps(rows: Sequence[Overlap], note: str, empty: str) -> Section:
    return Section(
        Table(
            "overlap",
            "What encoders have in common",
            ("First", "Second", "Queries", "Snippets a list, at most", "In common", "Jaccard"),
            tuple((one.first, one.second, one.queries, one.depth, one.shared, one.jaccard) for one in rows),
            note,
        ),
        bars(
            [one.jaccard or 0.0 for one in rows],
            [f"row {number}" for number in range(1, len(rows) + 1)],
            "Jaccard of two lists, in the order of the table",
        ),
        empty,
        worded=("Second",),
    )


def bars(heights: Sequence[float], names: Sequence[str], counted: str, *, named: bool = False) -> Plot | None:
    """A column for each name, in the order of the table.

    The first and the last name stand below, of few that are `named` every one.
    """
    if not heights:
        return None
    top = f"{max(heights):.2f}" if isinstance(heights[0], float) else f"{max(heights):,}"
    plot = histogram(
        [float(one) for one in heights],
        [],
        top=top,
        start=names[0],
        end=names[-1] if len(names) > 1 else "",
        name=counted,
    )
    return replace(plot, names=tuple(names)) if plot and named else plot


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"
