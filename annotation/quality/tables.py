"""The report as tables of words: what the bench prints and the page shows. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from annotation.quality.confusion import ConfusionRow
from annotation.quality.differences import AccuracyDifference
from annotation.quality.inputs.files import ALL
from annotation.quality.report import EntryReport, Report
from annotation.quality.scores import Score
from annotation.quality.token_use import SpentRow
from annotation.stats.agreement.figures import Figure

NONE: Final = "\u2013"
BY: Final = {
    "outcome": "By how the last run of the test ended",
    "decided": "By what decided",
    "cause": "By why it was given up",
}
PAIRED: Final = (
    "Exact p: McNemar\u2019s test of the pairs that one alone has right, pairs taken as independent. p: by "
    "the draws of queries, as the interval; mid-p McNemar\u2019s where each pair is of its own query."
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: names of columns, of which the first `words` hold no numbers and the very first heads each
    row; and what has to be said below it. `drawn` are the accuracies of its rows, for a drawing.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    words: int = 1
    drawn: tuple[Figure, ...] = ()

    @property
    def head(self) -> list[tuple[str, bool]]:
        """Each column, and whether it holds numbers."""
        return [(name, place >= self.words) for place, name in enumerate(self.columns)]

    @property
    def labelled(self) -> list[list[tuple[str, str, bool]]]:
        """Each row's cells with the name of their column, and whether it holds numbers."""
        columns = self.head
        return [
            [(name, cell, is_number) for (name, is_number), cell in zip(columns, row, strict=True)]
            for row in self.rows
        ]


def build_bench_tables(found: Report) -> tuple[Table, ...]:
    """All tables that have a row."""
    made = [
        *(build_score_table(found, stratum) for stratum in found.strata),
        *(build_difference_table(found, stratum) for stratum in found.strata),
        build_repeat_table(found),
        *(build_confusion_table(found, name) for name in BY),
        build_test_run_table(found),
        *(build_spending_table(found, of) for of in ("strata", "agents")),
    ]
    return tuple(table for table in made if table.rows)


def stratum_title(stratum: str) -> str:
    return "all pairs" if stratum == ALL else f"{stratum} pairs"


def build_score_table(found: Report, stratum: str) -> Table:
    columns = "Annotator", "Pairs", "Unjudged", "Accuracy", "Precision", "Recall", "F1", "Unjudged as wrong"
    scores = [
        (score, name) for entry in found.entries for score, name in score_rows(entry, stratum) if score.pairs
    ]
    return Table(
        f"Against the truth: {stratum_title(stratum)}",
        columns,
        tuple(score_row(score, name) for score, name in scores),
        stratum_note(found, stratum),
        drawn=tuple(score.accuracy for score, _ in scores),
    )


def score_rows(entry: EntryReport, stratum: str) -> Iterator[tuple[Score, str]]:
    """The annotator, and below it each time that it answered."""
    for score in entry.scores:
        if score.stratum == stratum:
            several = score.answerings > 1
            yield score, f"{entry.name}, mean of {score.answerings}" if several else entry.name
    for score in entry.each:
        if score.stratum == stratum:
            yield score, f"{NONE} {score.name}"


def score_row(score: Score, name: str) -> tuple[str, ...]:
    waits = f", {format_mean_count(score.open)} open" if score.open else ""
    counts = format_mean_count(score.pairs), f"{format_mean_count(score.unjudged)}{waits}"
    figures = score.accuracy, score.precision, score.recall, score.f1, score.accuracy_unjudged_wrong
    return name, *counts, *map(format_bench_figure, figures)


def stratum_note(found: Report, stratum: str) -> str:
    """What belongs to the stratum."""
    if stratum == ALL:
        counts = found.counts
        return (
            f"{counts.pairs:,} pairs of {counts.queries:,} queries; {counts.known:,} with a truth, "
            f"{counts.matches:,} matches. Left out: {counts.split:,} with split votes, "
            f"{counts.open:,} without a label."
        )
    if found.fixed:
        return "The file says which pairs these are: the same for all."
    return "Each annotator\u2019s own: whether a program was written or executed."


def build_difference_table(found: Report, stratum: str) -> Table:
    columns = (
        "First",
        "Second",
        "Pairs of both",
        "Difference of accuracy",
        "First alone right",
        "Second alone right",
        "Exact p",
        "p",
        "p (Holm)",
    )
    rows = tuple(difference_row(row) for row in found.differences if row.stratum == stratum)
    note = PAIRED
    if stratum != ALL and not found.fixed:
        note += " Tested: by either of the two."
    return Table(f"Each against each: {stratum_title(stratum)}", columns, rows, note, words=2)


def difference_row(row: AccuracyDifference) -> tuple[str, ...]:
    alone = f"{row.first_alone:,}", f"{row.second_alone:,}"
    chances = format_p_value(row.exact_p), format_p_value(row.p), format_p_value(row.p_holm)
    return (
        row.first,
        row.second,
        f"{row.pairs:,}",
        format_bench_figure(row.difference, signed=True),
        *alone,
        *chances,
    )


def build_repeat_table(found: Report) -> Table:
    columns = "Annotator", "First answering", "Second answering", "Pairs", "Judged by both", "Equal labels"
    rows = tuple(
        (
            entry.name,
            row.first,
            row.second,
            stratum_title(row.stratum),
            f"{row.pairs:,}",
            format_bench_figure(row.equal),
        )
        for entry in found.entries
        for row in entry.repeats
    )
    return Table("Asked again", columns, rows, "All pairs count, with a truth or without.", words=4)


def build_confusion_table(found: Report, by: str) -> Table:
    columns = (
        "Annotator",
        by.capitalize(),
        "Match, right",
        "Match, wrong",
        "No match, right",
        "No match, wrong",
    )
    rows = tuple(
        confusion_row(entry.name, row) for entry in found.entries for row in entry.confusions.get(by, ())
    )
    note = "Pairs with a truth; of an annotator that answered several times all of it together."
    return Table(BY[by], (*columns, "Unjudged", "Wrong of judged"), rows, note, words=2)


def confusion_row(name: str, row: ConfusionRow) -> tuple[str, ...]:
    counts = row.true_match, row.false_match, row.true_other, row.missed, row.unjudged
    judged = row.pairs - row.unjudged
    wrong = f"{100 * row.wrong / judged:.1f} %" if judged else NONE
    return name, row.key.replace("_", " "), *(f"{count:,}" for count in counts), wrong


def build_test_run_table(found: Report) -> Table:
    columns = "Annotator", "Pairs", "Tested", "Executed", "Executable", "Test touches the candidate"
    rows = tuple(
        (
            entry.name,
            *(f"{count:,}" for count in (entry.runs.asked, entry.runs.tested, entry.runs.executed)),
            format_bench_figure(entry.runs.executable),
            format_bench_figure(entry.runs.touching),
        )
        for entry in found.entries
        if entry.runs and entry.runs.tested
    )
    return Table("Tests", columns, rows, "The last run of each pair, with a truth or without.")


def build_spending_table(found: Report, of: str) -> Table:
    columns = "Annotator", "Pairs" if of == "strata" else "Agent", "Number of pairs"
    rows = tuple(
        spending_row(entry.name, stratum_title(row.name) if of == "strata" else row.name, row)
        for entry in found.entries
        for row in (entry.spending.strata if of == "strata" else entry.spending.agents)
    )
    title = "Requests and tokens a pair" if of == "strata" else "Requests and tokens a pair, by agent"
    note = (
        "Counted here, with one tokenizer for all; a request that served several pairs is shared among them."
    )
    return Table(
        title, (*columns, "Requests", "Input tokens", "Output tokens", "Tokens"), rows, note, words=2
    )


def spending_row(name: str, of: str, row: SpentRow) -> tuple[str, ...]:
    tokens = row.mean.input, row.mean.output, row.mean.input + row.mean.output
    counts = f"{row.pairs:,}", f"{row.mean.requests:.2f}"
    return name, of.replace("_", " "), *counts, *(f"{count:,.0f}" for count in tokens)


def format_bench_figure(found: Figure, signed: bool = False) -> str:
    """A figure with its interval, as `0.912 (0.870 to 0.950)`."""
    if found.value is None:
        return NONE
    form = "{:+.3f}" if signed else "{:.3f}"
    value = form.format(found.value)
    if found.low is None or found.high is None:
        return value
    return f"{value} ({form.format(found.low)} to {form.format(found.high)})"


def format_p_value(p: float | None) -> str:
    """A p value."""
    return NONE if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def format_mean_count(count: float) -> str:
    """A count, or the mean of several."""
    return f"{count:,.0f}" if count == int(count) else f"{count:,.1f}"
