"""What a study's record consists of, each as rows in stable columns: ratings, skips, decisions on splits; or
the labels from elsewhere that it was made of.

Raters are named by their pseudonyms everywhere, also where one of them decided on another pair. Whoever else
decides is D01, D02 …, in the order of their first decision in the study: the study's pages say who that is.
Labels from elsewhere name raters as their file does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from annotation.models import Adjudication, Assignment, ImportedRating, Study
from annotation.models.reviews.marked_code import MARK_COLUMNS
from annotation.studies.adjudication.latest_round import rounds_of
from annotation.studies.report.rating_export import (
    CHUNK,
    COLUMNS,
    NO_RULE,
    as_csv,
    convert_to_plain_cell,
    exclusions_of_study,
    export_rating_revisions,
    stream_json_array,
)

PAIR: Final[Mapping[str, str]] = {
    "pair": "study_pair__number",
    "query": "study_pair__pair__query__body_id",
    "query_text": "study_pair__pair__query__head",
    "snippet": "study_pair__pair__snippet__body_id",
    "other_snippet": "study_pair__other__snippet__body_id",
    "stratum": "study_pair__stratum",
    "probability": "study_pair__probability",
    "condition": "condition__kind",
}
SKIPPED: Final[Mapping[str, str]] = {
    **PAIR,
    "planted": "study_pair__planted",
    "answer": "study_pair__answer",
    "rater": "enrolment__pseudonym",
    "round": "round",
    "reason": "skip_reason",
    "at": "reserved_until",
    "excluded": "enrolment__excluded",
}
"""Where the columns of the skips come from; a skip ends the reservation. New ones are added at the end."""
DECIDED: Final[Mapping[str, str]] = {
    **PAIR,
    "decision": "pk",
    "supersedes": "supersedes",
    "value": "value",
    "cause": "cause",
    "note": "note",
    "precedent": "precedent",
    "by": "by",
    "at": "at",
    **{name: name for name in MARK_COLUMNS},
}
"""Where the columns of the decisions come from. New ones are added at the end."""
DECISION_COLUMNS: Final = (*(name for name in DECIDED if name not in MARK_COLUMNS), "stands", *MARK_COLUMNS)

LABELS: Final = "labels"
IMPORTED: Final[Mapping[str, str]] = {
    "row": "row",
    "item": "item_text",
    "rater": "rater",
    "label": "value",
    "notes": "notes",
    "item_sha256": "item",
    "query_sha256": "cluster",
}
"""Where the columns of labels from elsewhere come from. New ones are added at the end."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the record: its columns in order, and its rows."""

    columns: tuple[str, ...]
    rows: Callable[[Study], Iterator[dict[str, Any]]]


def lines_of_part(study: Study, part: Part, as_list: bool) -> Iterator[str]:
    """The part as CSV, or as a JSON list, to be sent line by line."""
    rows = part.rows(study)
    return stream_json_array(rows) if as_list else as_csv(part.columns, rows)


def export_skipped_pairs(study: Study) -> Iterator[dict[str, Any]]:
    """Every pair that a rater skipped, with the reason, by pair and rater; of every round."""
    rows = Assignment.objects.filter(enrolment__study=study, state=Assignment.State.SKIPPED)
    rules = exclusions_of_study(study)
    ordered = rows.order_by("study_pair__number", "enrolment__pseudonym", "round", "pk")
    for row in ordered.values_list(*SKIPPED.values()).iterator(CHUNK):
        found = dict(zip(SKIPPED, map(convert_to_plain_cell, row), strict=True))
        yield found | rules.get(found["rater"], NO_RULE)


def export_split_decisions(study: Study) -> Iterator[dict[str, Any]]:
    """Every decision on a split, also those that a later one took the place of, by pair and time.

    `stands` is false for these, and for one on an earlier round of a pair that was asked again.
    """
    rows = Adjudication.objects.filter(study_pair__study=study).order_by("study_pair__number", "pk")
    rounds, names = rounds_of(study), names_of_deciders(study)
    places = rows.values_list("study_pair_id", "condition_id", "at", "superseded_by", *DECIDED.values())
    for pair, condition, at, later, *row in places.iterator(CHUNK):
        found = dict(zip(DECIDED, map(convert_to_plain_cell, row), strict=True))
        stands = later is None and not rounds.is_outdated(pair, condition, at)
        kept = found["precedent"] is not None
        whole = found | {"precedent": kept, "by": names[found["by"]], "stands": stands}
        yield {name: whole[name] for name in DECISION_COLUMNS}


def names_of_deciders(study: Study) -> dict[int, str]:
    """By account (id) the name under which it stands in the study's exports."""
    names = dict(study.enrolments.values_list("user_id", "pseudonym"))
    rows = Adjudication.objects.filter(study_pair__study=study).order_by("pk").values_list("by", flat=True)
    others = [who for who in dict.fromkeys(rows) if who not in names]
    return names | {who: f"D{number:02}" for number, who in enumerate(others, 1)}


def export_imported_labels(study: Study) -> Iterator[dict[str, Any]]:
    """Every label of the file that the study was made of, in its order, as it was imported."""
    rows = ImportedRating.objects.filter(study=study).order_by("row").values_list(*IMPORTED.values())
    for row in rows.iterator(CHUNK):
        found = dict(zip(IMPORTED, row, strict=True))
        # Files write 1 and not 1.0; half a step stays half a step.
        whole = int(found["label"])
        yield found | {"label": whole if whole == found["label"] else found["label"]}


def record_parts_of_study(study: Study) -> Mapping[str, Part]:
    """What this study has, the main part first: in one of labels from elsewhere nobody rated or decided."""
    theirs = study.kind == Study.Kind.IMPORTED
    return {name: part for name, part in PARTS.items() if (name == LABELS) is theirs}


PARTS: Final[Mapping[str, Part]] = {
    "ratings": Part(COLUMNS, export_rating_revisions),
    "skips": Part((*SKIPPED, "excluded_by", "excluded_why"), export_skipped_pairs),
    "decisions": Part(DECISION_COLUMNS, export_split_decisions),
    LABELS: Part(tuple(IMPORTED), export_imported_labels),
}
"""By the word that names it in addresses and on the command line."""
