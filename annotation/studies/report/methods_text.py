"""The methods paragraph of a paper, as LaTeX: what the frozen plan says, and what was done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.db.models import Max, Min

from annotation.models import Condition
from annotation.schemas.studies.studies import Allocation, Stratifier
from annotation.stats.agreement.korn_graubard import FEW_EXCEPTIONS
from annotation.studies.enrolment.unfilled_places import given_up
from annotation.studies.plan.plan import plan_of
from annotation.studies.report.figures import Figures
from annotation.studies.report.formats import format_value
from annotation.studies.report.pairwise_choices import sides_of
from retrieval.metrics.resampling import AGREEMENT_SEED, FEW, RESAMPLES
from retrieval.texts import plurals
from retrieval.texts.latex import escape_latex

Kind = Condition.Kind
Plan = Mapping[str, Any]
SHOWN: Final = {
    Kind.AGENTS_TESTS.value: (
        "Under agent's tests they saw the agents' test program and its run from the start, but neither "
        "verdict nor explanation; such labels count as assisted."
    ),
    Kind.REVEAL.value: (
        "Under reveal everything that agents had said was shown once the first label was locked, and raters "
        "could revise it with a reason; figures of agreement and accuracy have the first label."
    ),
    Kind.SECOND_LOOK.value: "Under second look they looked again with nothing new to see.",
}
"""By condition, what raters saw beside the pair."""


def format_methods_paragraph(found: Figures) -> str:
    """The paragraph. Parts of the plan that say nothing are said to be missing, never passed over."""
    plan = found.study.plan or plan_of(found.study)
    parts: tuple[Callable[[Figures, Plan], str], ...] = (
        describe_sampling,
        describe_rating_process,
        describe_shown_evidence,
        describe_reference_runs,
        describe_rater_profiles,
        asked_again,
        describe_referred_pairs,
        describe_comparisons,
        describe_exclusions,
        describe_figure_methods,
        describe_kept_records,
    )
    return " ".join(filter(None, (part(found, plan) for part in parts))) + "\n"


def describe_sampling(found: Figures, plan: Plan) -> str:
    """What was sampled, how, and with which probabilities."""
    study, one = found.study, found.flow
    builds = ", ".join(map(str, plan["sample"]["builds"])) or "labels from elsewhere"
    question = study.question.strip()
    asked = f" to answer: {end_sentence(escape_latex(question))}" if question else "."
    not_counted = plurals.count_noun(one.planted, "planted pair that is", "planted pairs that are")
    planted = f", and {not_counted} not counted" if one.planted else ""
    first = f"We drew {plurals.count_noun(one.sampled, 'pair')} from {escape_latex(builds)}{planted}{asked}"
    wish = plan["sample"]["asked"]
    return (
        f"{first} {describe_sample_design(wish)} {describe_inclusion_probability(found)}"
        if "size" in wish
        else first
    )


def end_sentence(text: str) -> str:
    """A sentence that somebody typed, with one full stop or what stands for it."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def describe_sample_design(wish: Mapping[str, Any]) -> str:
    """How pairs were drawn: a query, strata, seed."""
    many = wish["per_query"]
    a_query = {0: "without a limit a query", 1: "one pair a query"}.get(
        many, f"{many} pairs of each query drawn"
    )
    names = [Stratifier(name).words for name in wish["strata"]]
    equal = wish["allocation"] == Allocation.EQUAL
    by = (
        f"in strata by {' and '.join(names)}, {'as many of each' if equal else 'in proportion to their size'}"
    )
    strata = by if names else "without strata"
    return f"They were drawn at random, {a_query}, {strata}, with the seed {wish['seed']}."


def describe_inclusion_probability(found: Figures) -> str:
    """The inclusion probabilities, and the population where it was counted."""
    study = found.study
    ends = study.pairs.filter(planted="").aggregate(least=Min("probability"), most=Max("probability"))
    least, most = ends["least"] or 1.0, ends["most"] or 1.0
    span = f"{least:.3g}" if least == most else f"{least:.3g} to {most:.3g}"
    of = study.sample.get("population"), study.sample.get("population_queries")
    population = f" from {of[0]:,} pairs of {of[1]:,} queries" if all(of) else ""
    alike = least == most
    weighed = (
        "all pairs weigh alike" if alike else "figures, also those by stratum, weigh pairs by its inverse"
    )
    return f"The probability of inclusion{population} was {span}: {weighed}."


def describe_rating_process(found: Figures, plan: Plan) -> str:
    study = found.study
    parts = [
        f"{Kind(one['kind']).label} ({one['ratings_a_pair']} ratings a pair, "
        f"{len(one['raters'])} raters{describe_median_time(found, one['kind'])})"
        for one in plan["conditions"]
    ]
    rules = f" They followed the guidelines {escape_latex(str(study.guideline))}." if study.guideline else ""
    beside = found.flow.places.beside
    more = (
        f" Where the planned raters of a pair split, one more was asked who had not seen it ({beside:,} "
        f"rating{'' if beside == 1 else 's'})."
        if study.one_more
        else ""
    )
    origin = ", with a link to where each function comes from" if study.shows_origin else ""
    return (
        f"Raters judged under {escape_latex('; '.join(parts))}, other people for each condition, on "
        "the scale "
        f"{escape_latex(study.get_scale_display())}, in the order "
        f"{escape_latex(study.get_order_display())}; docstrings were "
        f"{escape_latex(study.docstring)}{origin}.{rules}{more}"
    )


def describe_median_time(found: Figures, kind: str) -> str:
    seconds = found.seconds.get(kind)
    return f", median {format_value(round(seconds))} s of active time" if seconds else ""


def describe_shown_evidence(found: Figures, plan: Plan) -> str:
    """What raters could see of the agents, by condition."""
    kinds = [one["kind"] for one in plan["conditions"]]
    aided = [SHOWN[kind] for kind in kinds if kind in SHOWN]
    if not {Kind.AGENTS_TESTS.value, Kind.REVEAL.value}.intersection(kinds):
        return " ".join(["What agents had said was closed to them.", *aided])
    closed = [Kind(kind).label for kind in kinds if kind not in SHOWN]
    first = (
        f"What agents had said was closed to raters under {escape_latex(' and '.join(closed))}."
        if closed
        else ""
    )
    return " ".join(filter(None, [first, *aided]))


def describe_reference_runs(found: Figures, plan: Plan) -> str:
    """Which share of the reference rests on a run; nothing where its raters could run nothing."""
    one = found.reference_runs
    if one is None:
        return ""
    asked = plan.get("own_tests_need_a_run") and one.condition == Kind.OWN_TESTS.label
    rule = "A label needed a finished run of the rater's own test, or a reason why none is possible. "
    labels = plurals.count_noun(one.labels, "label")
    share = rf"{100 * (one.share or 0):.1f}\,\%"
    return (
        f"{rule if asked else ''}Of {labels} of the reference {one.with_run:,} ({share}) have a finished run "
        f"of the rater's own test; {one.with_reason:,} have a reason instead."
    )


def describe_rater_profiles(found: Figures, plan: Plan) -> str:
    """Who they were, all together."""
    one = found.profile
    if not one.raters:
        return ""
    years = f", with {one.years} years of Python (median {one.median_years:g})" if one.told_years else ""
    said = ""
    for word, names in (("roles", one.roles), ("languages", one.languages)):
        counted = ", ".join(f"{name} ({count})" for name, count in names)
        said += f"; {word}: {escape_latex(counted)}" if names else ""
    return f"{plurals.count_noun(one.raters, 'rater')} took part{years}{said}."


def asked_again(found: Figures, plan: Plan) -> str:
    """That pairs were rated anew after the guidelines changed their meaning."""
    earlier = found.flow.handed_out.earlier
    if not earlier:
        return ""
    ratings = plurals.count_noun(earlier, "rating of an earlier round is", "ratings of earlier rounds are")
    return f"Pairs were asked again as the guidelines had changed: {ratings} in no figure."


def describe_referred_pairs(found: Figures, plan: Plan) -> str:
    if found.page is None:
        sides = escape_latex(sides_of(found.study))
        return f"Each choice is between two functions whose sides were shuffled. {sides}".rstrip()
    return (
        "The reference is the strict majority of the planned ratings under "
        f"{escape_latex(found.page.reference)}; "
        r"people who made it are each held against the others \cite{calderon2025}. "
        f"{describe_criteria(found)}{left_open(found)}"
    )


def describe_criteria(found: Figures) -> str:
    """By which criterion annotators are held against the reference, where there are two."""
    if found.half is None:
        return ""
    return (
        "Each annotator is held against the reference by its own criterion: exact match counts all of it, "
        r"50\,\% match at least half, too. "
    )


def left_open(found: Figures) -> str:
    """What became of the pairs without a majority; one that nobody rated is no split."""
    one = found.flow.undecided
    if not one.all:
        return "Every pair had a strict majority."
    short = f", {one.short:,} had fewer ratings and no majority" if one.short else ""
    unrated = f", {one.unrated:,} had no rating that counts" if one.unrated else ""
    pairs = f"{one.split:,} pair{'' if one.split == 1 else 's'}"
    return (
        f"Raters of {pairs} split with all planned ratings given{short}{unrated}; "
        f"{one.adjudicated:,} of these were adjudicated."
    )


def describe_comparisons(found: Figures, plan: Plan) -> str:
    """The planned comparisons, those that could not be made, and the margin."""
    if found.page is None:
        return ""
    planned = [" with ".join(map(str, two)) for two in plan["comparisons"]]
    first = (
        f"Planned were the comparisons of {escape_latex('; '.join(planned))}."
        if planned
        else "No comparison was planned: every two annotators are compared."
    )
    missing = f" Not made: {len(found.unresolved)}." if found.unresolved else ""
    margin = plan["margin"]
    return f"{first}{missing}" + (
        f" The margin of non-inferiority is {margin:g}."
        if margin
        else " No margin of non-inferiority was set."
    )


def describe_exclusions(found: Figures, plan: Plan) -> str:
    """The rules, and whom they met."""
    rules = str(plan["exclusions"]).strip()
    first = (
        f"By plan left out are: {end_sentence(escape_latex(rules))}"
        if rules
        else "The plan has no exclusion rules."
    )
    gone = found.study.enrolments.filter(excluded=True).count()
    missing = given_up(found.study)
    left = plurals.count_noun(gone, "rater is", "raters are")
    ratings = plurals.count_noun(missing, "planned rating was", "planned ratings were")
    return " ".join(
        filter(
            None,
            (
                first,
                f"{left} left out of every figure." if gone else "Nobody's ratings are left out.",
                f"{ratings} given up, as nobody could give them." if missing else "",
            ),
        )
    )


def describe_figure_methods(found: Figures, plan: Plan) -> str:
    """How figures are made: those that the study has."""
    return (
        f"Intervals are 95\\,\\% and resample queries with all their pairs ({RESAMPLES:,} draws, "
        f"seed {AGREEMENT_SEED}); "
        r"Wilson's \cite{wilson1927} where no pairs share a query and all weigh alike; exact "
        rf"\cite{{korn1998}} of other shares with exceptions in fewer than {FEW_EXCEPTIONS} queries. "
        r"Agreement is Krippendorff's alpha \cite{krippendorff2011}"
        rf"{describe_agreement_tests(found)} We follow the design of \cite{{cosqaplus}}."
    )


def describe_agreement_tests(found: Figures) -> str:
    """The end of the sentence on agreement, and what follows it."""
    if found.page is None:
        return (
            " of the choices. Whether the first functions are preferred is an exact sign test over queries."
        )
    whole = r" The error of all labels is prediction-powered \cite{fisch2024}." if found.page.build else ""
    return (
        r", with Gwet's AC1 \cite{gwet2008} where one label prevails. "
        r"Differences are tested by mid-p McNemar \cite{fagerland2013} or the query bootstrap, by Tango's "
        rf"score \cite{{tango1998}} where fewer than {FEW} queries have one, corrected by Holm.{whole}"
    )


def describe_scoring_count(found: Figures) -> str:
    """How often the study was looked at, where that is counted."""
    if found.study.purpose != found.study.Purpose.SEALED:
        return "this is a development study, on which scored versions are not counted"
    versions = plurals.count_noun(len(found.scorings), "annotator version was", "annotator versions were")
    return f"{versions} scored on this sealed study"


def describe_kept_records(found: Figures, plan: Plan) -> str:
    study = found.study
    interim = " These figures are interim: planned ratings are missing." if found.interim else ""
    if not study.plan_hash:
        return f"The plan was not frozen.{interim}"
    amendments = plurals.count_noun(study.amendments.count(), "amendment was", "amendments were")
    return (
        f"The plan was frozen on {study.frozen_at:%Y-%m-%d} with the SHA-256 "
        rf"\texttt{{{study.plan_hash[:16]}}}\ldots; {amendments} recorded and "
        rf"{describe_scoring_count(found)}.{interim}"
    )
