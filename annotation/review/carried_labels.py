"""A label as before: for a candidate equal to one that the same person judged for the same query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction

from annotation.draft_rules import Window
from annotation.models import CarriedOver, Case, Draft, NormalForm, Review
from annotation.review import drafts
from annotation.review.evidence_hash import refuse_changed
from annotation.review.labels import WORDS, BadReview, Beside, store_label
from annotation.review.tags import Tag, filter_known_tags
from retrieval.models import Text
from retrieval.models.prepared_query import PreparedQuery
from sandbox.candidate.normal_form import VERSION, normal_form

MOST_LOOKED_AT: Final = 200
"""Reviews of one query, the newest first."""
OF_QUERY: PreparedQuery[Review] = PreparedQuery(
    lambda user, query, pair: (
        Review.objects.current()
        .filter(rater=user, pair__query=query, label__isnull=False)
        .exclude(pair=pair)
        .order_by("-id")
        .select_related("pair__snippet__normal_form")[:MOST_LOOKED_AT]
    ),
    *(int, int, int),
)


class NothingBefore(BadReview):
    """The earlier label is gone, or was of other code; nothing was stored."""

    def __init__(self) -> None:
        super().__init__("Your earlier label for the same code has changed. Please label this pair itself.")


def find_earlier_label(user: User, case: Case) -> Review | None:
    """The person's latest standing label on another candidate of the query that is the same code.

    At most two queries, and one write for texts whose form was not known.
    """
    found = OF_QUERY.load(user.pk, case.query_id, case.pair_id)
    if not found:
        return None
    forms = forms_of([case.pair.snippet, *(review.pair.snippet for review in found)])
    wanted = forms[case.pair.snippet_id]
    return next((review for review in found if wanted and forms[review.pair.snippet_id] == wanted), None)


def forms_of(snippets: Iterable[Text]) -> dict[int, str]:
    """By snippet: the hash of its normal form, empty where it has none; what is not known yet is stored."""
    texts = {text.pk: text for text in snippets}
    rows = NormalForm.objects.filter(snippet__in=texts, version=VERSION).values_list("snippet", "digest")
    known = dict(rows)
    unknown = [text for pk, text in texts.items() if pk not in known]
    made = [
        NormalForm(snippet=text, version=VERSION, digest=normal_form(text.text) or "") for text in unknown
    ]
    if made:
        NormalForm.objects.bulk_create(
            made,
            update_conflicts=True,
            unique_fields=["snippet"],
            update_fields=["version", "digest"],
        )
    return known | {row.snippet_id: row.digest for row in made}


def submit_earlier_label(user: User, case: Case, source: int, evidence: str, seen_revision: int) -> Review:
    """Carry over what somebody asks for, on a page or over the API; the way in for both.

    Raises EvidenceChanged where the agents went on, and what carry_label_over raises.
    """
    refuse_changed(case, evidence)
    return carry_label_over(user, case, source, evidence, seen_revision)


def carry_label_over(user: User, case: Case, source: int, evidence: str, seen_revision: int) -> Review:
    """Store the earlier label, the review `source` (its id), for this candidate, marked as carried over.

    It keeps the earlier reason and the tags of the pair; their author is the same person, their time that of
    the review that it was carried over from. A reason that somebody typed here is no part of it, and stays a
    draft. Raises NothingBefore, and what store_label raises; then nothing is stored.
    """
    before = find_earlier_label(user, case)
    if before is None or before.pk != source:
        raise NothingBefore
    reason = before.reason or f"As before: the same code as pair {before.case_id}, {WORDS[before.label]}."
    with transaction.atomic():
        beside = Beside(tags_carried(before), window=Window())
        made = store_label(user, case, before.label, reason, evidence, seen_revision, beside)
        drafts.clear_same(user, case.pair_id, Draft.Field.REASON, made.reason)
        CarriedOver.objects.get_or_create(review=made, defaults={"source": before})
    return made


def tags_carried(before: Review) -> tuple[Tag, ...]:
    """The tags that hold for equal code. Those of a test are of the other candidate's test."""
    return tuple(tag for tag in filter_known_tags(before.tags) if not tag.of_test)
