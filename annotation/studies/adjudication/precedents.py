"""Decisions on hard cases, to be searched by whoever labels a similar one."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.accounts.roles import blind_in
from annotation.models import Adjudication, Precedent, StudyPair
from annotation.studies.exposure import pairs_of_study_rows
from retrieval.texts.hostile import mark_hostile_characters

LONGEST_SEARCH = 200


def search_precedents(user: User, text: str = "", guidelines: str = "") -> QuerySet[Precedent]:
    """Precedents that stand, the newest first; each word of `text` is in query, code, reason or tags.

    A rater sees none of a pair that is in a study which they still rate: it would tell the label.
    """
    later = Adjudication.objects.filter(supersedes=OuterRef("adjudication"))
    rows = Precedent.objects.filter(~Exists(later))
    if guidelines:
        rows = rows.filter(guideline_name=mark_hostile_characters(guidelines))
    for word in mark_hostile_characters(text)[:LONGEST_SEARCH].split():
        rows = rows.filter(
            Q(query__icontains=word)
            | Q(code__icontains=word)
            | Q(reason__icontains=word)
            | Q(tags__icontains=word)
        )
    return not_of_pairs_still_rated(rows, user).select_related("created_by", "adjudication__condition__study")


def pairs_of_precedents(shown: Collection[int]) -> set[int]:
    """The pairs (ids) of precedents (ids) that rest on a decision."""
    return pairs_of_study_rows(StudyPair.objects.filter(adjudications__precedent__in=shown))


def not_of_pairs_still_rated(rows: QuerySet[Precedent], user: User) -> QuerySet[Precedent]:
    """By pair, and by text: one that was written without a decision names no pair."""
    studies = blind_in(user)
    if not studies:
        return rows
    rated = StudyPair.objects.filter(study__in=studies)
    same = rated.filter(pair=OuterRef("adjudication__study_pair__pair"))
    by_text = rated.filter(pair__query__head=OuterRef("query"))
    return rows.filter(~Exists(same), ~Exists(by_text))
