"""Make a study: what an admin orders, the sample that it draws, and the rows of the draft."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.models import Build, Condition, Enrolment, Guideline, Study, StudyPair
from annotation.schemas.studies.studies import AssumedRates, SampleWish
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.plan.plan import (
    StudyRefused,
    pairs_hash,
    refuse_if_changed,
    refuse_margin,
    refuse_unknown,
    refuse_without_table,
)
from annotation.studies.plan.row_names import Rows, foreseen_of
from annotation.studies.plan.seals import sealed_study_of_annotator
from annotation.studies.sampling import draw, frame, pairwise, planted_pairs
from annotation.studies.sampling.draw import Sample
from annotation.studies.sampling.planted_pairs import Line, Planted
from retrieval.collections import origins
from retrieval.corpus.languages import find_text_languages
from retrieval.models import Annotator, Pair
from retrieval.texts.hostile import mark_hostile_characters
from retrieval.texts.plurals import count_noun

USUAL_RATES: Final = AssumedRates()
FEWEST_RATERS: Final = 3
PAIRS_A_READ: Final = 500
MOST_CAPACITY: Final = 100_000
LONGEST_NAME: Final = 120
LONGEST_TEXT: Final = 20_000
MOST_RATERS: Final = 500
SCALES: Final = {
    Study.Kind.RATING.value: (Study.Scale.BINARY, Study.Scale.STEPS, Study.Scale.GRADED),
    Study.Kind.PAIRWISE.value: (Study.Scale.PREFERENCE,),
}


TEXTS: Final = ("question", "information", "exclusions")
CHOICES: Final = (
    "kind", "purpose", "scale", "order", "docstring", "ties", "one_more", "asks_profile", "practice",
    "needs_run", "shows_origin", "guideline", "reference", "margin",
)  # fmt: skip
"""What is called alike in an order, in its forms and in the columns of a study."""


@dataclass(frozen=True, slots=True)
class ConditionWish:
    """A condition with its ratings a pair and the seconds that a rating is assumed to take."""

    kind: str
    raters: int = FEWEST_RATERS
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class RaterWish:
    """An expert in one condition, and how many pairs they can be given, planted ones included."""

    user: User
    condition: str
    capacity: int


@dataclass(frozen=True)
class Order:
    """What an admin asks for. `against` are imported labels that a pairwise study compares one build with.

    `planted` is the text of a CSV; `hourly_rate` is in dollars, for the cost that is shown, nothing else.
    """

    name: str
    builds: tuple[Build, ...]
    wish: SampleWish
    conditions: tuple[ConditionWish, ...]
    kind: str = Study.Kind.RATING
    purpose: str = Study.Purpose.DEVELOPMENT
    scale: str = Study.Scale.BINARY
    question: str = ""
    information: str = ""
    order: str = Study.Order.SPACED
    docstring: str = Study.Docstring.SHOWN
    ties: bool = False
    one_more: bool = False
    asks_profile: bool = False
    practice: bool = False
    needs_run: bool = True
    shows_origin: bool = False
    rates: AssumedRates = USUAL_RATES
    guideline: Guideline | None = None
    against: Annotator | None = None
    planted: str = ""
    raters: tuple[RaterWish, ...] = ()
    reference: str = Condition.Kind.OWN_TESTS
    comparisons: tuple[tuple[str, str], ...] = ()
    margin: float | None = None
    exclusions: str = ""
    hourly_rate: float = 0.0


def draw_order_sample(order: Order) -> tuple[Sample, list[Line]]:
    """The sample of an order and its planted lines; stores nothing. Raises SampleRefused, StudyRefused, also
    where the plan compares what will be no row of the sample's table.
    """
    lines = planted_pairs.read_planted_lines(order.planted, order.scale)
    if order.shows_origin:
        refuse_telling_links(lines)
    sample = sample_of(order, set(planted_pairs.find_planted_pair_ids(lines)))
    if order.comparisons:
        refuse_unknown(foreseen_for(order, sample), order.comparisons)
    return sample, lines


def sample_of(order: Order, without: set[int]) -> Sample:
    """`without`: ids of the planted pairs, which are not drawn besides."""
    if order.kind == Study.Kind.PAIRWISE:
        first, second = load_pairwise_matches(order)
        return pairwise.draw_pairwise(first, second, order.wish, without)
    return draw.draw_sample(frame.build_sampling_frame(order.builds, order.wish.strata, without), order.wish)


def refuse_telling_links(lines: list[Line]) -> None:
    """Raises StudyRefused where a planted pair has no link: its lack would tell raters which one it is."""
    without = sum(not origins.find_origin_link(snippet) for snippet in planted_pairs.planted_snippets(lines))
    if without:
        raise StudyRefused(
            f"{count_noun(without, 'planted function')} without a link to an origin: raters could tell "
            "planted pairs by that. Plant functions that were imported with links, or show no links."
        )


def foreseen_for(order: Order, sample: Sample) -> Rows:
    """The rows that the study's table will have, before anything of it is stored."""
    pairs = [one.unit.pair for one in sample.drawn]
    builders = {build.annotator_id for build in order.builds}
    kinds = [condition.kind for condition in order.conditions]
    return foreseen_of(Study(**columns_of(order)), pairs, kinds, builders)


def load_pairwise_matches(order: Order) -> tuple[pairwise.Matches, pairwise.Matches]:
    """The matches of both sides of a pairwise study. Raises StudyRefused."""
    if order.against and sealed_study_of_annotator(order.against):
        raise StudyRefused("These are the labels of a sealed study: the plan would reveal them.")
    if order.against and len(order.builds) == 1:
        return pairwise.matches_of_build(order.builds[0]), pairwise.matches_of_labels(order.against)
    if not order.against and len(order.builds) == 2:
        first, second = order.builds
        return pairwise.matches_of_build(first), pairwise.matches_of_build(second)
    raise StudyRefused("A pairwise study compares two builds, or one build with imported labels.")


def refuse_bad_order(order: Order, study: Study | None = None) -> None:
    """Raises StudyRefused where the order is wrong whatever its sample."""
    if not 0 < len(order.name.strip()) <= LONGEST_NAME:
        raise StudyRefused(f"Give the study a name of 1 to {LONGEST_NAME} characters.")
    others = Study.objects.filter(name=mark_hostile_characters(order.name.strip()))
    if (others.exclude(pk=study.pk) if study else others).exists():
        raise StudyRefused("There is a study of that name; choose another one.")
    if not order.builds:
        raise StudyRefused("Choose at least one build to draw pairs from.")
    if order.scale not in SCALES[order.kind]:
        allowed = " or ".join(scale.value for scale in SCALES[order.kind])
        raise StudyRefused(f"The scale of such a study is {allowed}.")
    if any(len(getattr(order, name)) > LONGEST_TEXT for name in TEXTS):
        raise StudyRefused(f"Question, information and exclusions take {LONGEST_TEXT:,} characters each.")
    if order.shows_origin and order.docstring == Study.Docstring.HIDDEN:
        raise StudyRefused("A link to the function leads to its docstring: show docstrings, or no links.")
    refuse_margin(order.margin)
    refuse_without_table(order.kind, order.comparisons, order.margin)
    refuse_bad_conditions(order)
    refuse_bad_raters(order, study)


def refuse_bad_conditions(order: Order) -> None:
    kinds = [condition.kind for condition in order.conditions]
    if not kinds or len(set(kinds)) < len(kinds):
        raise StudyRefused("Choose at least one condition, and each only once.")
    raters = [condition.raters for condition in order.conditions]
    if any(1 < count < FEWEST_RATERS for count in raters):
        raise StudyRefused(
            f"At least {FEWEST_RATERS} raters a pair in each condition: two that disagree have no majority. "
            "Or one, where many pairs count for more than agreement."
        )
    if 1 in raters and len(raters) > 1:
        raise StudyRefused("With one rater a pair there is nothing to compare: choose a single condition.")
    if 1 in raters and order.comparisons:
        raise StudyRefused("With one rater a pair nothing counts as true: leave the comparisons out.")
    if order.reference not in kinds:
        raise StudyRefused("The reference is one of the study's conditions.")
    if order.kind == Study.Kind.PAIRWISE and set(kinds) - {Condition.Kind.READING, Condition.Kind.OWN_TESTS}:
        raise StudyRefused("A pairwise study has the conditions reading and own tests: no agent judged it.")


def refuse_bad_raters(order: Order, study: Study | None) -> None:
    kinds = {condition.kind for condition in order.conditions}
    if len(order.raters) > MOST_RATERS:
        raise StudyRefused(f"At most {MOST_RATERS} raters.")
    if len({rater.user.pk for rater in order.raters}) < len(order.raters):
        raise StudyRefused("Each rater is in one condition of a study.")
    for rater in order.raters:
        if rater.condition not in kinds:
            raise StudyRefused(f"{rater.user} is enrolled in a condition that the study does not have.")
        if not 0 < rater.capacity <= MOST_CAPACITY:
            raise StudyRefused(f"The capacity of {rater.user} is 1 to {MOST_CAPACITY:,} pairs.")
        if study is not None and rater.user.pk == study.created_by_id:
            raise StudyRefused(f"{rater.user} made the study, and so can't rate in it.")


def create_draft_study(order: Order, by: User) -> Study:
    """A draft with its sample drawn and its raters enrolled. Raises StudyRefused, SampleRefused."""
    refuse_bad_order(order)
    if any(rater.user.pk == by.pk for rater in order.raters):
        raise StudyRefused("You can't rate in a study that you make: remove yourself from the raters.")
    sample, lines = draw_order_sample(order)
    try:
        with transaction.atomic():
            study = Study.objects.create(created_by=by, **columns_of(order))
            fill_draft_study(study, order, sample, planted_pairs.plant_known_pairs(lines))
            append_audit_event(by, Verb.STUDY_MADE, study.name, study, {"pairs": study.planned_pairs})
            return study
    except IntegrityError:
        refuse_bad_order(order)  # somebody, or a second click, took the name meanwhile
        raise


def redraw_draft_study(study: Study, order: Order, by: User, seen: int = -1) -> None:
    """The draft as another order has it, with a new draw. Raises StudyRefused, SampleRefused, and
    ChangedMeanwhile where somebody has changed it after `seen`.
    """
    refuse_bad_order(order, study)
    sample, lines = draw_order_sample(order)
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        if locked.state != Study.State.DRAFT:
            raise StudyRefused(
                "The study has been started: change its parts one by one, or make another one."
            )
        refuse_if_changed(locked, seen)
        empty_draft_study(locked)
        for name, value in columns_of(order).items():
            setattr(locked, name, value)
        locked.save()
        fill_draft_study(locked, order, sample, planted_pairs.plant_known_pairs(lines))
        append_audit_event(by, Verb.STUDY_CHANGED, locked.name, locked, {"pairs": locked.planned_pairs})
    study.refresh_from_db()


def empty_draft_study(study: Study) -> None:
    """Take the rows of a draft away; nothing has been rated."""
    study.pairs.all().delete()
    study.enrolments.all().delete()
    study.conditions.all().delete()


def columns_of(order: Order) -> dict[str, Any]:
    return {
        **{name: getattr(order, name) for name in CHOICES},
        **{name: mark_hostile_characters(getattr(order, name)) for name in TEXTS},
        "name": mark_hostile_characters(order.name.strip()),
        "seed": order.wish.seed,
        "comparisons": [list(pair) for pair in order.comparisons],
    }


def fill_draft_study(study: Study, order: Order, sample: Sample, planted: Sequence[Planted]) -> None:
    """The pairs, conditions and raters of a draft."""
    study.builds.set(order.builds)
    store_pairs(study, sample, planted)
    for wish in order.conditions:
        Condition.objects.create(study=study, kind=wish.kind, raters=wish.raters)
    add_wished_raters(study, order.raters)
    study.planned_pairs = len(sample.drawn)
    study.sample = describe_order_draw(order, sample) | {"pairs_sha256": pairs_hash(study)}
    study.save(update_fields=["planned_pairs", "sample"])


def describe_order_draw(order: Order, sample: Sample) -> dict[str, Any]:
    """What is kept of an order and its draw beside the columns."""
    return {
        "wish": order.wish.model_dump(mode="json")
        | {"against": str(order.against) if order.against else None},
        "builds": [build.pk for build in order.builds],
        "against": order.against.pk if order.against else None,
        "planted_csv": mark_hostile_characters(order.planted),
        "strata": [list(astuple(one)) for one in sample.strata],
        "queries": sample.queries,
        "population": sample.population,
        "population_queries": sample.population_queries,
        "room": sample.room,
        "seconds": {condition.kind: condition.seconds for condition in order.conditions},
        "hourly_rate": order.hourly_rate,
        "rates": order.rates.dict(),
    }


def store_pairs(study: Study, sample: Sample, planted: Sequence[Planted]) -> None:
    """Number all pairs in one shuffled order, in which planted ones lie among the others."""
    rows = [
        StudyPair(
            study=study,
            pair_id=one.unit.pair,
            other_id=one.unit.other,
            case_id=one.unit.case,
            stratum=one.unit.stratum,
            probability=one.probability,
        )
        for one in sample.drawn
    ]
    rows += [
        StudyPair(
            study=study,
            pair_id=one.pair,
            other_id=one.other,
            planted=one.kind,
            answer=one.answer,
            answer_reason=one.reason,
        )
        for one in planted
    ]
    secrets.SystemRandom().shuffle(rows)
    languages = languages_of_pairs([row.pair_id for row in rows])
    for number, row in enumerate(rows, 1):
        row.number, row.language = number, languages.get(row.pair_id, "")
    StudyPair.objects.bulk_create(rows, batch_size=1000)


def languages_of_pairs(pairs: Sequence[int]) -> dict[int, str]:
    """By id of a pair the programming language of its function, where that is known."""
    snippets = dict[int, int]()
    for start in range(0, len(pairs), PAIRS_A_READ):
        rows = Pair.objects.filter(pk__in=pairs[start : start + PAIRS_A_READ]).values_list("pk", "snippet")
        snippets.update(rows)
    languages = find_text_languages(dict.fromkeys(snippets.values()))
    return {pair: languages[text] for pair, text in snippets.items() if text in languages}


def add_wished_raters(study: Study, raters: Iterable[RaterWish]) -> None:
    conditions = {condition.kind: condition for condition in study.conditions.all()}
    wanted = list(raters)
    for wish, pseudonym in zip(wanted, draw_pseudonyms(study, len(wanted)), strict=True):
        Enrolment.objects.create(
            study=study,
            user=wish.user,
            condition=conditions[wish.condition],
            capacity=wish.capacity,
            pseudonym=pseudonym,
            seed=secrets.randbits(62),
        )


def draw_pseudonyms(study: Study, count: int) -> list[str]:
    """So many new pseudonyms, drawn: neither their order nor a gap tells who came when."""
    used = set(study.enrolments.values_list("pseudonym", flat=True))
    highest = 99 if len(used) + count <= 50 else 9999
    free = [name for number in range(1, highest + 1) if (name := f"R{number:02}") not in used]
    return secrets.SystemRandom().sample(free, count)
