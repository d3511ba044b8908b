"""Ask pairs again, blind, after the guidelines changed their meaning: a round beside the old ratings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery
from django.utils import timezone

from annotation.models import Assignment, Condition, Quota, Rating, Study, StudyPair
from annotation.models.studies.raters import RatingQuerySet
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.enrolment import places, queue, unfilled_places
from annotation.studies.plan.plan import StudyRefused
from retrieval.models import Text
from retrieval.models.texts import fold_for_search


@dataclass(frozen=True, slots=True)
class RepeatPairFilter:
    """Which rated pairs: by a tag that a rater gave, by words in query, code or notes, by slice; all hold.

    `slice` is a stratum's name, or `find_split_pairs` for pairs on which the blind ratings part. `every` asks
    all.
    """

    tag: str = ""
    text: str = ""
    slice: str = ""
    every: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.tag or self.text or self.slice or self.every)


def find_pairs_to_repeat(study: Study, choice: RepeatPairFilter) -> QuerySet[StudyPair]:
    """The study's pairs that were rated in their last round and match; none where nothing was chosen."""
    rated = find_standing_ratings(study).values("assignment__study_pair")
    rows = study.pairs.filter(pk__in=rated, planted="").order_by("number")
    if choice.is_empty:
        return rows.none()
    if choice.tag:
        rows = rows.filter(pk__in=find_tagged_pairs(study, choice.tag))
    if choice.text:
        rows = rows.filter(pk__in=find_pairs_with_words(study, choice.text))
    if choice.slice == "split":
        return rows.filter(pk__in=find_split_pairs(study))
    return rows.filter(stratum=choice.slice) if choice.slice else rows


def find_standing_ratings(study: Study) -> RatingQuerySet:
    """What was said in the round that is asked now: no pair is asked a third time for what came before the
    second, nor twice for one choice that was sent twice.
    """
    same = {name: OuterRef(f"assignment__{name}") for name in ("study_pair", "condition", "round")}
    now = Exists(Quota.objects.filter(**same))
    return Rating.objects.current().filter(now, assignment__study_pair__study=study)


def find_tagged_pairs(study: Study, tag: str) -> list[int]:
    """Pairs whose standing ratings carry the tag; looked through here, as no database has lists alike."""
    rows = find_standing_ratings(study).exclude(tags=[])
    found = rows.values_list("assignment__study_pair_id", "tags").iterator(2000)
    return sorted({pair for pair, tags in found if tag in tags})


def find_pairs_with_words(study: Study, part: str) -> list[int]:
    """Pairs with `part` somewhere in the query, in a snippet or in a standing rating's notes, whatever the
    case of letters. Looked through here: texts are stored compressed, and beginnings would not do.
    """
    wanted = fold_for_search(part)
    columns = "pk", "pair__query_id", "pair__snippet_id", "other__snippet_id"
    pairs = {pk: {*texts} - {None} for pk, *texts in study.pairs.filter(planted="").values_list(*columns)}
    found = find_texts_with_words({text for texts in pairs.values() for text in texts}, wanted)
    notes = find_standing_ratings(study).exclude(notes="")
    said = notes.values_list("assignment__study_pair_id", "notes").iterator(2000)
    noted = {pair for pair, words in said if wanted in fold_for_search(words)}
    return sorted(pk for pk, texts in pairs.items() if pk in noted or texts & found)


def find_texts_with_words(texts: Iterable[int], wanted: str) -> set[int]:
    """Those of the texts (ids) that contain the folded words somewhere."""
    found: set[int] = set()
    keys = sorted(texts)
    for start in range(0, len(keys), 500):
        rows = Text.objects.with_bodies().filter(pk__in=keys[start : start + 500])
        found |= {row.pk for row in rows if wanted in fold_for_search(row.text)}
    return found


def find_split_pairs(study: Study) -> list[int]:
    """Pairs on which two blind ratings of one condition and round part."""
    rows = find_standing_ratings(study).counted().filter(phase=Rating.Phase.BLIND, value__isnull=False)
    said: dict[tuple[int, int, int], set[int]] = {}
    columns = "assignment__study_pair_id", "assignment__condition_id", "assignment__round", "value"
    for pair, condition, number, value in rows.values_list(*columns).iterator(2000):
        said.setdefault((pair, condition, number), set()).add(value)
    return sorted({pair for (pair, *_), values in said.items() if len(values) > 1})


@dataclass(frozen=True, slots=True)
class Takers:
    """How many raters of a condition could take each of the chosen pairs, the fewest and the most of any.

    `short` pairs have fewer than the `planned` ratings: raters that have seen what agents said of a pair, as
    in *agent's tests* and after *reveal*, are not given it again; new raters are.
    """

    condition: str
    planned: int
    fewest: int
    most: int
    short: int


def find_repeat_takers(study: Study, choice: RepeatPairFilter) -> list[Takers]:
    """What a round of the chosen pairs could get, by condition."""
    pairs = find_pairs_to_repeat(study, choice).values("pk")
    rows = Quota.objects.filter(study_pair__in=pairs).select_related("study_pair", "condition")
    quotas = list(rows.order_by("condition", "study_pair"))
    found = unfilled_places.find_able_raters(study, quotas)
    counts: dict[Condition, list[int]] = {}
    for row in quotas:
        counts.setdefault(row.condition, []).append(found.takers(row, row.round + 1))
    return [
        Takers(
            condition=one.get_kind_display(),
            planned=one.raters,
            fewest=min(some),
            most=max(some),
            short=sum(able < one.raters for able in some),
        )
        for one, some in counts.items()
    ]


def ask_again(study: Study, choice: RepeatPairFilter, why: str, by: User) -> int:
    """Open another round for the chosen pairs; says for how many. Raises StudyRefused.

    Pairs that somebody has open in a second phase are left out: ask again when they are done.
    """
    if not why.strip():
        raise StudyRefused("Say why the pairs are asked again.")
    if not study.is_live:
        raise StudyRefused("Pairs are asked again while the study runs or is paused.")
    with transaction.atomic():
        places.pause_parts(study.pk)
        Study.objects.select_for_update().get(pk=study.pk)
        locked = Assignment.objects.filter(study_pair=OuterRef("pk"), state=Assignment.State.LOCKED)
        pairs = list(find_pairs_to_repeat(study, choice).filter(~Exists(locked)).values_list("pk", flat=True))
        if not pairs:
            raise StudyRefused("No rated pair matches: choose another tag, text or slice.")
        open_round(pairs)
        queue.reopen_finished_raters(study)
        chosen = {"tag": choice.tag, "text": choice.text, "slice": choice.slice}
        detail = {"pairs": len(pairs), "why": why} | chosen
        append_audit_event(by, Verb.ASKED_AGAIN, study.name, study, detail)
    return len(pairs)


def open_round(pairs: list[int]) -> None:
    """Count from nothing in the next round; what is open of the old one lapses, and its draft stays.

    Wanted are the planned ratings again: one more only where these split as well.
    """
    planned = Subquery(Condition.objects.filter(pk=OuterRef("condition")).values("raters")[:1])
    for start in range(0, len(pairs), 500):
        some = pairs[start : start + 500]
        quotas = Quota.objects.filter(study_pair__in=some)
        quotas.update(round=F("round") + 1, opened_at=timezone.now(), reserved=0, done=0, wanted=planned)
        Assignment.objects.filter(study_pair__in=some, state=Assignment.State.RESERVED).update(
            state=Assignment.State.LAPSED
        )
