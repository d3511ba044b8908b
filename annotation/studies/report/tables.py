"""A study's figures as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, replace
from typing import Final

from annotation.models import Study
from annotation.stats.agreement.alternative import EPSILON, FEWEST
from annotation.stats.agreement.conditions import Range
from annotation.stats.agreement.differences import Margin
from annotation.stats.agreement.influence import Arms, Influence
from annotation.stats.agreement.korn_graubard import FEW_EXCEPTIONS
from annotation.stats.agreement.page import Page
from annotation.stats.agreement.pairwise import Preference
from annotation.stats.agreement.reliability import Level
from annotation.stats.agreement.scores import Scores
from annotation.studies.enrolment.profiles import Profile
from annotation.studies.plan.row_names import CRITERION_WORDS, format_annotator_name
from annotation.studies.report.criterion_agreement import CriterionAgreement
from annotation.studies.report.figures import Figures
from annotation.studies.report.label_runs import LabelRuns
from annotation.studies.report.pair_flow import SUMS
from annotation.studies.report.pairwise_choices import sides_of
from annotation.studies.report.table import Cell, Table
from retrieval.evaluation.systems.paper_results import REPORTED_ANNOTATORS, REPORTED_CHOICES
from retrieval.texts.plurals import count_noun

CELLS: Final = ("Both match", "False positive", "False negative", "Both no match")
REPORTED_KEY: Final = "reported"
LEFT_OPEN: Final = ("No reference", "No label")


def build_study_tables(found: Figures) -> tuple[Table, ...]:
    """Every table that has rows, in the order of the page."""
    made: list[Table] = []
    if found.page:
        made += [
            main(found),
            build_confusion_table(found.page),
            build_treatment_table(found.page),
            build_stratum_table(found.page, found.study),
            by_tag(found.page),
            build_overall_table(found.page),
            build_comparison_table(found.page, found.unresolved),
            build_alternatives_table(found.page),
            build_reliability_table(found.page),
            one_more(found.page),
            build_kappa_table(found.page),
            alpha_differences(found.page),
            build_criterion_table(found.criteria),
        ]
    if found.half:
        made += [name_half_table(table) for table in build_half_tables(found.half)]
    made += [
        build_influence_table(found.influence),
        build_preference_table(found),
        build_scoring_table(found),
        build_run_table(found.runs),
        Table("flow", "Flow of pairs", ("What", "How many"), found.flow.rows, SUMS),
        build_rater_table(found.profile),
        build_reported_table(found.study),
    ]
    return tuple(table for table in made if table.rows or table.warning)


SCORES: Final = ("n", "Coverage", "Accuracy", "Precision", "Recall", "F1", "MCC")


def format_score_cells(row: Scores) -> tuple[Cell, ...]:
    return (row.n, row.coverage, row.accuracy, row.precision, row.recall, row.f1, row.mcc)


def score_rows(tables: Mapping[str, Iterable[Scores]]) -> tuple[tuple[Cell, ...], ...]:
    """The rows of several tables of scores, each behind the name of its table."""
    return tuple(
        (name, describe_score_row(row), *format_score_cells(row))
        for name, rows in tables.items()
        for row in rows
    )


def describe_score_row(row: Scores) -> str:
    return f"{row.name} (leave-one-out)" if row.left_out else row.name


def main(found: Figures) -> Table:
    """Against the reference, by exact match. Raises AssertionError for a pairwise study."""
    assert found.page is not None, "a study of comparisons has no main table"
    made = build_main_table(found.page)
    exact = ", exact match" if found.half else ""
    off = ", ".join(found.off_criterion)
    told = f" By 50 % match judges {off}: raters were asked for exact match alone." if off else ""
    note = f"{made.note}{describe_runs(found.reference_runs)}{told}"
    return replace(made, title=made.title + exact, note=note)


def build_main_table(page: Page) -> Table:
    return Table(
        "main",
        f"Against the majority of “{page.reference}”",
        ("Annotator", *SCORES),
        tuple((describe_score_row(row), *format_score_cells(row)) for row in page.table),
        "Precision, recall, F1 and MCC are of label 1. People who made the reference are each held against "
        "the others, a split counting ½. Pairs weigh 1 ÷ their inclusion probability. Intervals are 95 %, "
        f"from resampling whole queries; exact where fewer than {FEW_EXCEPTIONS} have an exception.",
        "Accuracy",
    )


def build_half_tables(page: Page) -> tuple[Table, ...]:
    """What is told by 50 % match: a pair counts as a match from “at least half” on."""
    return (
        build_main_table(page),
        build_confusion_table(page),
        build_overall_table(page),
        build_comparison_table(page, ()),
        build_alternatives_table(page),
    )


def name_half_table(made: Table) -> Table:
    """A table by 50 % match, beside the one by exact match."""
    return replace(made, key=f"{made.key}-half", title=f"{made.title}, 50 % match")


def build_criterion_table(found: Iterable[CriterionAgreement]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        words, people = CRITERION_WORDS[one.criterion], one.reliability
        rows.append((words, people.name, "nobody", people.prevalence, people.alpha[Level.NOMINAL]))
        rows += [(words, people.name, name, None, alpha) for name, alpha in people.plus.items()]
    return Table(
        "alpha-criteria",
        "Agreement by criterion",
        ("Criterion", "Condition", "Annotator added", "Label 1", "Alpha"),
        tuple(rows),
        "Nominal alpha of match or not: “all of it” is an exact match, “at least half” a 50 % match, too. "
        "With an annotator added it is of the pairs that two people judged.",
        "Alpha",
    )


def describe_runs(runs: LabelRuns | None) -> str:
    """Which share of the reference's labels rests on a run; empty where nothing could be run."""
    if runs is None:
        return ""
    labels = count_noun(runs.labels, "label")
    return f" Of {labels} of the reference {runs.with_run:,} ({runs.share:.0%}) have a finished run."


def build_run_table(found: Iterable[LabelRuns]) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (one.condition, one.labels, one.with_run, one.share, one.with_reason, one.neither)
        for one in found
        if one.labels
    )
    return Table(
        "runs",
        "Labels with a run",
        ("Condition", "Labels", "With a run", "Share", "No test possible", "Neither"),
        rows,
        "A run counts if the rater’s own test ran before the label. “No test possible” are labels without "
        "a run whose rater says why.",
    )


def build_confusion_table(page: Page) -> Table:
    rows = tuple(
        (
            describe_score_row(row),
            *map(whole_if, astuple(row.confusion)),
            row.open_reference,
            row.open_annotator,
        )
        for row in page.table
    )
    return Table(
        "confusion",
        "Confusion matrices",
        ("Annotator", *CELLS, *LEFT_OPEN),
        rows,
        "Unweighted counts of pairs. Open pairs are in none of the four cells; some are open on both sides.",
        drawn=CELLS,
    )


def whole_if(count: float) -> Cell:
    """A count of pairs; parts of pairs where raters share one. A sum of thirds can miss a whole number."""
    near = round(count, 2)
    return int(near) if near == int(near) else near


def build_treatment_table(page: Page) -> Table:
    rows = tuple(
        (str(way), describe_score_row(row), row.n, row.accuracy, row.precision, row.recall)
        for way, table in page.treated.items()
        for row in table
    )
    return Table(
        "treatments",
        "Ties, skips and abandoned pairs, treated differently",
        ("Open pairs are", "Annotator", "n", "Accuracy", "Precision", "Recall"),
        rows,
        "The main table leaves them out; they are the hard ones. People who made the reference are held "
        "against each other; what they skipped is such that they agree least (all wrong), most (all right).",
    )


def build_stratum_table(page: Page, study: Study) -> Table:
    sampled = study.pairs.filter(planted="").order_by()
    names = sorted(sampled.values_list("stratum", flat=True).distinct())
    return Table(
        "strata",
        "By stratum",
        ("Stratum", "Annotator", *SCORES),
        score_rows({names[number]: table for number, table in page.strata.items()}),
        "Inside each stratum pairs weigh 1 ÷ their inclusion probability, which is a plain mean where all "
        "had the same chance.",
    )


def by_tag(page: Page) -> Table:
    return Table(
        "tags",
        "By tag",
        ("Tag", "Annotator", *SCORES),
        score_rows(page.slices),
        "Pairs to which one rater or more gave the tag with the first label; a pair may have several. "
        "Weighted as the main table is.",
    )


def build_overall_table(page: Page) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (whole.annotator, whole.pairs, whole.judged, whole.error, whole.plain_error, whole.prevalence)
        for whole in filter(None, [page.build])
    )
    return Table(
        "build",
        "All labels of the build",
        ("Annotator", "Labels", "Judged in the study", "Wrong", "Wrong, without prediction", "True matches"),
        rows,
        "Prediction-powered: the annotator's labels everywhere, people's on the sample (arXiv 2406.04291).",
    )


def margin_words(margin: Margin | None) -> str:
    if margin is None or margin.kept is None:
        return ""
    return f"not worse by {margin.margin:g} or more" if margin.kept else f"may be worse by {margin.margin:g}"


def build_comparison_table(page: Page, unresolved: Iterable[str]) -> Table:
    rows = tuple(
        (
            row.first,
            row.second,
            row.n,
            row.difference,
            row.method,
            row.p,
            row.p_holm,
            margin_words(row.margin),
        )
        for row in page.comparisons
    )  # fmt: skip
    return Table(
        "comparisons",
        "Differences in accuracy",
        ("First", "Second", "n", "First − second", "Method", "p", "p (Holm)", "Margin"),
        rows,
        "On the pairs that both judged. No p-value while the study is interim.",
        "First − second",
        " ".join(f"Not compared: {one}" for one in unresolved),
    )


def build_alternatives_table(page: Page) -> Table:
    rows = tuple(
        (
            row.annotator, row.people, row.n, row.agrees, row.people_agree, row.difference, row.winning,
            row.words,
        )
        for row in page.alternatives
    )  # fmt: skip
    return Table(
        "alternatives",
        "Alternative annotator test",
        ("Annotator", "People", "n", "It agrees", "They agree", "Difference", "Winning rate", "Remark"),
        rows,
        "The alternative annotator test (2025.acl-long.782): annotator and rater on the same pairs "
        "against the same others, a split counting ½. Winning rate: of the raters with "
        f"{FEWEST} pairs or more, the share that it could replace at ε = {EPSILON:g}; 0.5 or more passes.",
        "Difference",
    )


def build_reliability_table(page: Page) -> Table:
    rows = tuple(
        (
            one.name, one.raters, one.labels, one.planned, one.with_two, one.prevalence,
            one.alpha[Level.NOMINAL], one.alpha[Level.ORDINAL], one.alpha[Level.INTERVAL],
            one.gwet, one.alike, format_figure_range(one.without_one),
        )
        for one in page.reliability
    )  # fmt: skip
    return Table(
        "reliability",
        "Agreement of the raters",
        (
            "Condition", "Raters", "Labels", "Labels planned", "Pairs with two", "Label 1", "Alpha",
            "Alpha, ordinal", "Alpha, interval", "Gwet’s AC1", "Alike", "Alpha without one rater",
        ),
        rows,
        "Krippendorff’s alpha on the raters’ own scale. AC1 is added where one value has more than "
        "90 % of the labels. Without one rater: a range for these raters, no interval. Planned are pairs × "
        "raters; an unsure rater gives no label, one more rater asked after a split gives an unplanned one.",
        "Alpha",
    )  # fmt: skip


def format_figure_range(found: Range) -> str:
    if found.low is None or found.high is None:
        return found.words or "–"
    return f"{found.low:.3f} to {found.high:.3f}".replace("-", "−")


def one_more(page: Page) -> Table:
    rows = tuple(
        (one.name, annotator, figure) for one in page.reliability for annotator, figure in one.plus.items()
    )
    return Table(
        "alpha-with-one-more",
        "Agreement with one annotator added",
        ("Condition", "Annotator", "Alpha"),
        rows,
        "Nominal alpha of match or not, on the pairs that two people judged: an annotator that agrees "
        "with one rater does not lower it.",
        "Alpha",
    )


def build_kappa_table(page: Page) -> Table:
    rows = tuple(
        (one.name, pair.first, pair.second, pair.common, pair.kappa, pair.quadratic)
        for one in page.reliability
        for pair in one.kappas
    )
    columns = ("Condition", "First rater", "Second rater", "Pairs", "Cohen’s kappa", "Quadratic")
    left = sum(one.kappas_left_out for one in page.reliability)
    more = f" Left out are {left:,} more, with fewer pairs in common." if left else ""
    note = f"Every two raters of a condition with a pair in common.{more}"
    return Table("kappas", "Pairwise agreement", columns, rows, note)


def alpha_differences(page: Page) -> Table:
    rows = tuple(
        (row.first, row.second, row.pairs, *row.alphas, *row.prevalences, row.difference)
        for row in page.alpha_differences
    )
    return Table(
        "alpha-differences",
        "Alpha between conditions, on the same pairs",
        (
            "First", "Second", "Pairs", "Alpha of the first", "Alpha of the second", "Label 1, first",
            "Label 1, second", "First − second",
        ),
        rows,
        "Nominal alphas. Those of other pairs or another prevalence can’t be compared: these are of the "
        "same pairs.",
        "First − second",
    )  # fmt: skip


def build_influence_table(one: Influence | None) -> Table:
    arms: tuple[tuple[str, Arms], ...] = () if one is None else (
        ("switched to the agent", one.towards),
        ("switched from the agent", one.away),
        ("followed right advice", one.right_advice),
        ("stood firm against wrong advice", one.wrong_advice),
    )  # fmt: skip
    rows = tuple((words, arm.revealed, arm.second_look, arm.influence) for words, arm in arms)
    return Table(
        "influence",
        "What revealing the agents did",
        ("Share that", "After reveal", "After a second look", "Difference"),
        rows,
        "People also change on a plain second look: the difference is the agents’ influence. Right and wrong "
        f"are by other raters’ blind labels only. {one.sizes if one else ''}".strip(),
        "Difference",
    )


def build_preference_table(found: Figures) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (one.condition, *format_preference_shares(one.preference), one.alpha, one.alike)
        for one in found.chosen
    ]
    if found.preference and len(rows) > 1:
        rows.append(("all conditions", *format_preference_shares(found.preference), None, None))
    sides = sides_of(found.study) if rows else ""
    return Table(
        "preference",
        "Which answers better",
        (
            "Condition", "Choices", "Ties", "First, ties ½", "First, no ties", "Left", "For first",
            "For second", "p", "Alpha", "Alike",
        ),
        tuple(rows),
        f"{sides} Shares weigh a pair by 1 ÷ its inclusion probability. p is of a sign test that counts "
        "queries. Without a habit the left side wins half. Alpha is nominal, of the choices.".lstrip(),
        "First, ties ½",
    )  # fmt: skip


def format_preference_shares(one: Preference) -> tuple[Cell, ...]:
    return (
        one.choices, one.ties, one.halved, one.decided, one.left, one.for_first, one.for_second, one.p,
    )  # fmt: skip


def build_scoring_table(found: Figures) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            format_annotator_name(scoring.annotator),
            f"{scoring.at:%Y-%m-%d %H:%M} UTC",
            str(scoring.by) if scoring.by else "the command line",
        )
        for scoring in found.scorings
    )
    rows += tuple((format_annotator_name(one), "not scored yet", "") for one in found.unscored)
    sealed = found.study.purpose == found.study.Purpose.SEALED
    scored = count_noun(len(found.scorings), "annotator version was", "annotator versions were")
    note = (
        f"This study is sealed: {scored} scored on it. After many, a "
        "study is a training set. A version that is not scored yet is in no figure."
        if sealed
        else "A development study shows every version at once and counts none."
    )
    columns = ("Annotator", "First scored", "By")
    return Table("scorings", "Annotators scored on this study", columns, rows if sealed else (), note)


def build_rater_table(one: Profile) -> Table:
    rows: list[tuple[Cell, ...]] = [("raters", "gave a rating that counts", one.raters)]
    if one.told_years:
        years = f"{one.years}, median {one.median_years:g}"
        rows.append(("years of Python", years, one.told_years))
    rows += [("role", name, count) for name, count in one.roles]
    rows += [("language", name, count) for name, count in one.languages]
    return Table(
        "raters",
        "The raters",
        ("What", "Said", "Raters"),
        tuple(rows) if one.raters else (),
        "All raters together, as they answered before their first pair; no single rater is shown.",
    )


def build_reported_table(study: Study) -> Table:
    """What the papers report of people and annotators, or of choices between two benchmarks."""
    if study.kind == Study.Kind.PAIRWISE:
        return Table(
            REPORTED_KEY,
            "As reported by the papers",
            ("First", "Second", "First better", "Second better", "On", "Where"),
            tuple((row.first, row.second, *row.shares, row.on, row.where) for row in REPORTED_CHOICES),
            "Volunteers chose one of two functions for a query. The papers say nothing of ties, of how many "
            "people chose, or of intervals.",
        )
    return Table(
        REPORTED_KEY,
        "As reported by the papers",
        ("Who", "Criterion", "Accuracy", "Alpha", "On", "Where"),
        tuple(
            (row.who, row.criterion, row.accuracy, row.alpha, row.on, row.where)
            for row in REPORTED_ANNOTATORS
        ),
        "Protocols are not stated in full, and the rows are not paired: points of reference. Alpha of a "
        "model is of people and the model together. 0.890 with 0.61 equal the first paper’s printed "
        "digits. On a random sample “always 0” scores 0.787.",
    )
