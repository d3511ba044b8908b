"""What a rater has typed and not submitted, kept on the server for each assignment, also after a lapse.

The draft of the field *choice* is what was chosen and the tags, parted by blanks: `1 partial unsafe`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from django.utils import timezone

from annotation import draft_rules
from annotation.draft_rules import DraftRefused, Window
from annotation.models import Assignment, RatingDraft
from retrieval.models.prepared_query import PreparedQuery

DRAFTS: PreparedQuery[RatingDraft] = PreparedQuery(
    lambda assignment: RatingDraft.objects.filter(assignment=assignment), int
)
SUBMITTED: Final = (
    RatingDraft.Field.NOTES,
    RatingDraft.Field.REASON,
    RatingDraft.Field.READING,
    RatingDraft.Field.CHOICE,
    RatingDraft.Field.LINES,
    RatingDraft.Field.NO_TEST,
)
"""The fields that a rating takes with it; tests, calls and why to skip stay as they were typed."""

RATED_TEXTS: Final = {
    RatingDraft.Field.NOTES: "notes",
    RatingDraft.Field.REASON: "reason",
    RatingDraft.Field.READING: "reading",
    RatingDraft.Field.LINES: "marked_lines",
    RatingDraft.Field.NO_TEST: "no_test",
}
"""The texts of a rating, and how a rating calls each."""

TEXTS: Final = (
    RatingDraft.Field.NOTES,
    RatingDraft.Field.REASON,
    RatingDraft.Field.READING,
    RatingDraft.Field.TEST,
    RatingDraft.Field.SKIP,
    RatingDraft.Field.NO_TEST,
)
"""The fields in which a text is written: one that another window has kept is not overwritten unseen."""


def save_draft(assignment: Assignment, field: str, text: str, window: Window | None = None) -> str:
    """Keep `text` as the draft of one field, an empty one clears it; returns its revision, empty for none.

    A text that the rating already has is no draft: a browser's save can arrive after the rating that took the
    text along. Without a window whatever stands is overwritten. Raises DraftRefused and DraftChanged.
    """
    if field not in RatingDraft.Field.values:
        raise DraftRefused(f"A draft is of the field {', '.join(RatingDraft.Field.values)}.")
    blank = RatingDraft(assignment=assignment, field=field)
    rows = draft_rows_of_assignment(assignment, field)
    revision = draft_rules.save_draft(blank, rows, text, window, TEXTS)
    # Asked afterwards: the rating may have been stored meanwhile, and found no draft to clear.
    if field in RATED_TEXTS and revision and text.strip() == load_stored_text(assignment, field):
        rows.filter(text=draft_rules.check_draft_text(text)).delete()
        return ""
    return revision


def load_stored_text(assignment: Assignment, field: str) -> str:
    """What the assignment's rating says in one of RATED_TEXTS, empty for none."""
    last = assignment.ratings.order_by("id").last()
    name = RATED_TEXTS[RatingDraft.Field(field)]
    return str(getattr(last, name)) if last is not None and not last.withdrawn else ""


def draft_rows_of_assignment(assignment: Assignment, *fields: str) -> draft_rules.Rows:
    return RatingDraft.objects.filter(assignment=assignment, field__in=fields)


def store_drafts(assignment: Assignment, kept: dict[str, str], *, over: bool = True) -> None:
    """Store drafts by field; what is there already stays, unless it is to be written `over`."""
    rows = [
        RatingDraft(assignment=assignment, field=field, text=text, updated_at=timezone.now())
        for field, text in kept.items()
        if text.strip()
    ]
    if not over:
        RatingDraft.objects.bulk_create(rows, ignore_conflicts=True)
        return
    RatingDraft.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["assignment", "field"],
        update_fields=["text", "window", "updated_at"],
    )


def not_of_others(assignment: Assignment, kept: dict[str, str], window: Window | None) -> dict[str, str]:
    """Those of the texts, by field, that overwrite nothing which another window has kept since."""
    if window is None:
        return kept
    rows = by_field(assignment).values()
    others = {row.field for row in rows if draft_rules.is_of_another(row, window, TEXTS)}
    return {field: text for field, text in kept.items() if field not in others}


def by_field(assignment: Assignment) -> dict[str, RatingDraft]:
    """The drafts of an assignment. One query."""
    return {draft.field: draft for draft in DRAFTS.load(assignment.pk)}


def load_draft_texts(assignment: Assignment) -> dict[str, str]:
    """The drafts of an assignment, by field."""
    return dict(RatingDraft.objects.filter(assignment=assignment).values_list("field", "text"))


def take_along(made: Assignment) -> None:
    """The texts that the rater had typed for the pair before it was asked again and not sent, or sent too
    late to be a rating: here they are found. The choice is not among them, as it is made anew; nor is what
    stayed beside a rating.
    """
    before = RatingDraft.objects.filter(
        assignment__study_pair=made.study_pair_id,
        assignment__rater=made.rater_id,
        assignment__round__lt=made.round,
        field__in=TEXTS,
    )
    beside = [field for field in TEXTS if field not in SUBMITTED]
    rows = before.exclude(field__in=beside, assignment__state=Assignment.State.DONE)
    store_drafts(made, dict(rows.order_by("assignment__round").values_list("field", "text")), over=False)


def clear_sent_drafts(assignment: Assignment, *fields: str, window: Window | None = None) -> None:
    """What was sent is no draft any more; what another window has kept since stays."""
    draft_rules.clear_drafts(draft_rows_of_assignment(assignment, *fields), window, TEXTS)


def clear_sent(assignment: Assignment, sent: Mapping[str, str], tags: Sequence[str]) -> None:
    """Clear the drafts that say what is stored already, as where its answer got lost and the page kept it;
    what was typed since stays. Of a choice the page may keep the tags alone.
    """
    known = {field: {text.strip()} for field, text in sent.items()}
    known[RatingDraft.Field.CHOICE].add(" ".join(tags))
    same = [
        field for field, text in load_draft_texts(assignment).items() if text.strip() in known.get(field, ())
    ]
    clear_sent_drafts(assignment, *same)
