"""A study's figures as tables."""

from __future__ import annotations

from typing import Final

from annotation.agreement import FEW_EXCEPTIONS, Level, Preference
from annotation.agreement.alternative import EPSILON, FEWEST
from annotation.agreement.conditions import Range
from annotation.agreement.differences import Margin
from annotation.agreement.influence import Arms
from annotation.agreement.scores import Confusion, Scores
from annotation.studies.choices import sides_of
from annotation.studies.figures import Figures
from annotation.studies.flow import SUMS
from annotation.studies.naming import name_of
from annotation.studies.reported import REPORTED
from annotation.studies.table import Cell, Table
from retrieval.counting import counted

CELLS: Final = ("both say match", "only it says match", "only the reference does", "neither does")
LEFT_OPEN: Final = ("the reference is open", "it has no label")


def tables(found: Figures) -> tuple[Table, ...]:
    """Every table that has rows, in the order of the page."""
    made: list[Table] = []
    if found.page:
        made += [main(found), confusion(found), treated(found), stratified(found), by_tag(found)]
        made += [whole(found)]
        made += [
            comparisons(found),
            alternatives(found),
            reliability(found),
            one_more(found),
            kappas(found),
            alpha_differences(found),
        ]
    made += [influence(found), preference(found), scorings(found), flow(found), raters(found)]
    made += [reported()]
    return tuple(table for table in made if table.rows or table.warning)


SCORES: Final = ("n", "Coverage", "Accuracy", "Precision", "Recall", "F1", "MCC")


def scores(row: Scores) -> tuple[Cell, ...]:
    return (row.n, row.coverage, row.accuracy, row.precision, row.recall, row.f1, row.mcc)


def named(row: Scores) -> str:
    return f"{row.name} (each left out)" if row.left_out else row.name


def main(found: Figures) -> Table:
    assert found.page
    return Table(
        "main",
        f"Against the majority of “{found.page.reference}”",
        ("Annotator", *SCORES),
        tuple((named(row), *scores(row)) for row in found.page.table),
        "Precision, recall, F1 and MCC are of label 1. People who made the reference are each held against "
        "the others, a split counting ½. Pairs weigh 1 ÷ their inclusion probability. Intervals are 95 %, "
        f"from resampling whole queries; exact where fewer than {FEW_EXCEPTIONS} have an exception.",
        "Accuracy",
    )


def confusion(found: Figures) -> Table:
    assert found.page
    rows = tuple(
        (named(row), *map(whole_if, cells_of(row.confusion)), row.open_reference, row.open_annotator)
        for row in found.page.table
    )
    return Table(
        "confusion",
        "Confusion matrices",
        ("Annotator", *CELLS, *LEFT_OPEN),
        rows,
        "Unweighted counts of pairs. Open pairs are in none of the four cells; some are open on both sides.",
        drawn=CELLS,
    )


def cells_of(one: Confusion) -> tuple[float, ...]:
    return one.both, one.only_annotator, one.only_reference, one.neither


def whole_if(count: float) -> Cell:
    """A count of pairs; parts of pairs where raters share one. A sum of thirds can miss a whole number."""
    near = round(count, 2)
    return int(near) if near == int(near) else near


def treated(found: Figures) -> Table:
    assert found.page
    rows = tuple(
        (str(way), named(row), row.n, row.accuracy, row.precision, row.recall)
        for way, table in found.page.treated.items()
        for row in table
    )
    return Table(
        "treatments",
        "Ties, skips and abandoned pairs, treated otherwise",
        ("Open pairs are", "Annotator", "n", "Accuracy", "Precision", "Recall"),
        rows,
        "The main table leaves them out; they are the hard ones. People who made the reference are held "
        "against each other; what they skipped is such that they agree least (all wrong), most (all right).",
    )


def stratified(found: Figures) -> Table:
    assert found.page
    sampled = found.study.pairs.filter(planted="").order_by()
    names = sorted(sampled.values_list("stratum", flat=True).distinct())
    rows = tuple(
        (names[number], named(row), *scores(row))
        for number, table in found.page.strata.items()
        for row in table
    )
    return Table(
        "strata",
        "By stratum",
        ("Stratum", "Annotator", *SCORES),
        rows,
        "Inside each stratum pairs weigh 1 ÷ their inclusion probability, which is a plain mean where all of "
        "them had the same chance.",
    )


def by_tag(found: Figures) -> Table:
    assert found.page
    rows = tuple((tag, named(row), *scores(row)) for tag, table in found.page.slices.items() for row in table)
    return Table(
        "tags",
        "By tag",
        ("Tag", "Annotator", *SCORES),
        rows,
        "Pairs to which one rater or more gave the tag beside the first label; a pair may have several. "
        "Weighted as the main table is.",
    )


def whole(found: Figures) -> Table:
    assert found.page
    one = found.page.build
    rows: tuple[tuple[Cell, ...], ...] = ()
    if one is not None:
        rows = ((one.annotator, one.pairs, one.judged, one.error, one.plain_error, one.prevalence),)
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


def comparisons(found: Figures) -> Table:
    assert found.page
    rows = tuple(
        (
            one.first,
            one.second,
            one.n,
            one.difference,
            one.method,
            one.p,
            one.p_holm,
            margin_words(one.margin),
        )
        for one in found.page.comparisons
    )
    return Table(
        "comparisons",
        "Differences in accuracy",
        ("First", "Second", "n", "First − second", "Method", "p", "p (Holm)", "Margin"),
        rows,
        "On the pairs that both judged. No p-value while the study is interim.",
        "First − second",
        " ".join(f"Not compared: {one}" for one in found.unresolved),
    )


def alternatives(found: Figures) -> Table:
    assert found.page
    rows = tuple(
        (
            one.annotator,
            one.people,
            one.n,
            one.agrees,
            one.people_agree,
            one.difference,
            one.winning,
            one.words,
        )
        for one in found.page.alternatives
    )
    return Table(
        "alternatives",
        "Could it stand in for one of the people?",
        ("Annotator", "People", "n", "It agrees", "They agree", "Difference", "Winning rate", "Remark"),
        rows,
        "The alternative annotator test (2025.acl-long.782): annotator and rater on the same pairs "
        "against the same others, a split counting ½. Winning rate: of the raters with "
        f"{FEWEST} pairs or more, the share that it could replace at ε = {EPSILON:g}; 0.5 or more passes.",
        "Difference",
    )


def reliability(found: Figures) -> Table:
    assert found.page
    rows = tuple(
        (
            one.name, one.raters, one.labels, one.planned, one.with_two, one.prevalence,
            one.alpha[Level.NOMINAL], one.alpha[Level.ORDINAL], one.alpha[Level.INTERVAL],
            one.gwet, one.alike, span(one.without_one),
        )
        for one in found.page.reliability
    )  # fmt: skip
    return Table(
        "reliability",
        "Agreement of the raters",
        (
            "Condition", "Raters", "Labels", "Labels planned", "Pairs with two", "Label 1", "Alpha",
            "Alpha, ordinal", "Alpha, interval", "Gwet’s AC1", "Alike", "Alpha without one rater",
        ),
        rows,
        "Krippendorff’s alpha on the raters’ own scale. AC1 stands beside it where one value has more than "
        "90 % of the labels. Without one rater: a range for these raters, no interval. Planned are pairs × "
        "raters; who is unsure gives no label, one more rater asked of a split gives one beside the plan.",
        "Alpha",
    )  # fmt: skip


def span(found: Range) -> str:
    if found.low is None or found.high is None:
        return found.words or "–"
    return f"{found.low:.3f} to {found.high:.3f}".replace("-", "−")


def one_more(found: Figures) -> Table:
    assert found.page
    rows = tuple(
        (one.name, annotator, figure)
        for one in found.page.reliability
        for annotator, figure in one.plus.items()
    )
    return Table(
        "alpha-with-one-more",
        "Alpha of the people and one annotator more",
        ("Condition", "Annotator", "Alpha"),
        rows,
        "Nominal alpha of match or not, on the pairs that two people judged: an annotator that is like "
        "one of them does not lower it.",
        "Alpha",
    )


def kappas(found: Figures) -> Table:
    assert found.page
    rows = tuple(
        (one.name, pair.first, pair.second, pair.common, pair.kappa, pair.quadratic)
        for one in found.page.reliability
        for pair in one.kappas
    )
    columns = ("Condition", "First rater", "Second rater", "Pairs", "Cohen’s kappa", "Quadratic")
    left = sum(one.kappas_left_out for one in found.page.reliability)
    more = f" Left out are {left:,} more, with fewer pairs in common." if left else ""
    note = f"Every two raters of a condition with a pair in common.{more}"
    return Table("kappas", "Two raters at a time", columns, rows, note)


def alpha_differences(found: Figures) -> Table:
    assert found.page
    rows = tuple(
        (one.first, one.second, one.pairs, *one.alphas, *one.prevalences, one.difference)
        for one in found.page.alpha_differences
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


def influence(found: Figures) -> Table:
    one = found.influence
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


def preference(found: Figures) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (one.condition, *shares(one.preference), one.alpha, one.alike) for one in found.chosen
    ]
    if found.preference and len(rows) > 1:
        rows.append(("all conditions", *shares(found.preference), None, None))
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


def shares(one: Preference) -> tuple[Cell, ...]:
    return (
        one.choices, one.ties, one.halved, one.decided, one.left, one.for_first, one.for_second, one.p,
    )  # fmt: skip


def scorings(found: Figures) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            name_of(one.annotator),
            f"{one.at:%Y-%m-%d %H:%M} UTC",
            str(one.by) if one.by else "the command line",
        )
        for one in found.scorings
    )
    rows += tuple((name_of(one), "not scored yet", "") for one in found.unscored)
    sealed = found.study.purpose == found.study.Purpose.SEALED
    scored = counted(len(found.scorings), "annotator version was", "annotator versions were")
    note = (
        f"This study is sealed: {scored} scored on it. After many, a "
        "study is a training set. A version that is not scored yet is in no figure."
        if sealed
        else "A development study shows every version at once and counts none."
    )
    columns = ("Annotator", "First scored", "By")
    return Table("scorings", "Annotators scored on this study", columns, rows if sealed else (), note)


def flow(found: Figures) -> Table:
    return Table("flow", "Flow of pairs", ("What", "How many"), found.flow.rows, SUMS)


def raters(found: Figures) -> Table:
    one = found.profile
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
        "All raters together, as they answered before their first pair; nobody is told apart.",
    )


def reported() -> Table:
    return Table(
        "reported",
        "As reported by the papers",
        ("Who", "Accuracy", "Alpha", "On", "Where"),
        tuple((one.who, one.accuracy, one.alpha, one.sample, one.where) for one in REPORTED),
        "Protocols are not stated in full, the rows are not paired, and 0.890 with 0.61 equal the first "
        "paper’s printed digits: points of reference. On a random sample “always 0” scores 0.787.",
    )
