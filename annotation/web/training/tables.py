"""The tables of trained systems: figures by what was learned, differences, and what papers report."""

from __future__ import annotations

from typing import Final

from annotation.stats.agreement.figures import RESAMPLED, Figure
from annotation.studies.report.table import Cell, Table
from retrieval.encoders import UnknownEncoder
from retrieval.evaluation.systems.paper_results import REPORTED_TRAINING, ReportedTraining
from retrieval.evaluation.trained_systems import (
    FEW_SEEDS,
    UNTRAINED,
    SeedMean,
    TrainedComparison,
    TrainedRow,
)
from retrieval.mining import known_encoders
from retrieval.texts.plurals import count_noun

TRAINED_KEY: Final = "trained"
DIFFERENCES_KEY: Final = "trained-differences"
REPORTED_KEY: Final = "reported"
CANT_HERE: Final = "can't here: weights are missing"


def build_trained_tables(compared: TrainedComparison) -> tuple[Table, ...]:
    """Figures, differences where there are any, and what papers report."""
    reported = build_reported_table(compared)
    if not compared.rows:
        return (reported,)
    differences = (build_differences_table(compared),) if compared.differences else ()
    return (build_figures_table(compared), *differences, reported)


def build_figures_table(compared: TrainedComparison) -> Table:
    """A row for each system and what it learned; beside each mean the spread of its seeds."""
    columns = [column for metric in compared.metrics for column in (metric, f"spread of {metric}")]
    rows = tuple(
        (
            row.system,
            row.title,
            ", ".join(map(str, row.seeds)) or "–",
            *(
                cell
                for metric in compared.metrics
                for cell in cells_of(row.figures.get(metric), compared.queries)
            ),
        )
        for row in compared.rows
    )
    note = (
        f"{count_noun(compared.queries, 'query', 'queries')} with a match that no training asked. A value is "
        "the mean over seeds for each query, then over queries; intervals are 95 %, queries are resampled. "
        "The spread is the standard deviation of the seeds' means."
    )
    return Table(
        TRAINED_KEY,
        f"Trained systems on {compared.benchmark}",
        ("system", "trained on", "seeds", *columns),
        rows,
        note,
        charted=compared.metric,
        warning=" ".join(list_table_warnings(compared)),
    )


def cells_of(found: SeedMean | None, queries: int) -> tuple[Cell, Cell]:
    """A mean with its interval, and the spread of the seeds."""
    if found is None:
        return Figure(None, words="not scored by this metric"), None
    if found.interval is None:
        return Figure(found.value, queries=queries, words="one query has no interval"), found.spread
    between = found.interval
    return (
        Figure(found.value, between.low, between.high, queries=queries, method=RESAMPLED),
        found.spread,
    )


def build_differences_table(compared: TrainedComparison) -> Table:
    """Each two rows of a system: the second minus the first."""
    rows = tuple(
        (
            one.first.system,
            f"{one.second.title} − {one.first.title}",
            Figure(
                one.value, one.interval.low, one.interval.high, queries=compared.queries, method=RESAMPLED
            ),
            one.p,
        )
        for one in compared.differences
    )
    return Table(
        DIFFERENCES_KEY,
        f"Differences by {compared.metric}",
        ("system", "second − first", "Difference", "p, after Holm"),
        rows,
        "Paired by query: a randomisation test of each difference, corrected for their number.",
        charted="Difference",
    )


def build_reported_table(compared: TrainedComparison) -> Table:
    """The papers' rows, with the mean before training that was measured here, or why there is none."""
    metrics = ("mrr", "ndcg@10", "mmrr")
    rows = tuple(
        (
            row.where,
            row.name,
            row.learned,
            *(row.figures.get(metric) for metric in metrics),
            describe_here(row, compared),
        )
        for row in REPORTED_TRAINING
    )
    return Table(
        REPORTED_KEY,
        "As reported",
        ("paper", "system", "trained on", *(f"{metric}, reported" for metric in metrics), "here"),
        rows,
        "The papers test on CodeSearchNet's Python queries. They do not say what is searched, nor how many "
        "seeds were run.",
        drawn=tuple(f"{metric}, reported" for metric in metrics),
    )


def describe_here(reported: ReportedTraining, compared: TrainedComparison) -> str:
    """Whether the system can be trained on this machine, and how often it was."""
    own = [row for row in compared.rows if row.system == reported.system]
    if reported.learned == "None" and (found := [row for row in own if row.learned == UNTRAINED]):
        figure = found[0].figures.get(compared.metric)
        return "scored" if figure is None else f"{compared.metric} {figure.value:.3f}"
    trained = [row for row in own if row.learned != UNTRAINED]
    if trained:
        return f"{count_noun(len(trained), 'training')} above"
    try:
        missing = known_encoders.why_missing(reported.system)
    except UnknownEncoder:
        missing = CANT_HERE
    return CANT_HERE if missing else "not trained yet"


def list_table_warnings(compared: TrainedComparison) -> list[str]:
    """What makes these figures too good, or too sure."""
    told = []
    if compared.left_out:
        left_out = count_noun(compared.left_out, "query was", "queries were")
        told.append(f"{left_out} asked in a training, and left out here for all systems.")
    for row in compared.rows:
        told += list_row_warnings(row)
    sizes = {(row.system, row.learned, row.pairs) for row in compared.rows if not row.shuffled}
    told += [
        f"{row.system}, {row.title}: no training on as many pairs with their own labels is here to compare."
        for row in compared.rows
        if row.shuffled and (row.system, row.learned, row.pairs) not in sizes
    ]
    return told


def list_row_warnings(row: TrainedRow) -> list[str]:
    """The warnings of one row."""
    name, told = f"{row.system}, {row.title}", []
    if row.functions:
        told.append(
            f"{name}: {count_noun(row.functions, 'function')} of this benchmark "
            f"{'was' if row.functions == 1 else 'were'} in the training set, so its figures may be too high."
        )
    if row.stopped_by_time:
        told.append(f"{name}: {count_noun(row.stopped_by_time, 'training')} stopped by time.")
    if row.learned != UNTRAINED and len(row.runs) < FEW_SEEDS:
        told.append(f"{name}: {count_noun(len(row.runs), 'seed')}; train at least {FEW_SEEDS}.")
    return told
