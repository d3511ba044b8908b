"""The review page: one case's evidence, the person's label, what was said before; and the end of a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.contrib.auth.models import User

from annotation.derived.rerun.sent_back import asked_among, is_awaiting_test
from annotation.models import Build, Case, Comment, Draft, PairTag, Review, ReviewAssignment
from annotation.review import (
    Conflict,
    Submission,
    drafts,
    last_action,
    recent_reviews_of_user,
    reviews_of,
    revision_seen,
)
from annotation.review.carried_labels import find_earlier_label, tags_carried
from annotation.review.comments import load_comments
from annotation.review.hidden_labels import hides_labels_from
from annotation.review.labels import SHOWN
from annotation.review.layout import Layout, layout_in
from annotation.review.shortcuts import OF_STUDIES, keys_in, load_preference
from annotation.review.tags import filter_known_tags, tag_name
from annotation.review.worklists.case_list import FilteredList
from annotation.review.worklists.order import Worklist, count_review_progress, reviewed_counts
from annotation.web.cases.code import first_line
from annotation.web.cases.evidence import Evidence, evidence_of
from annotation.web.cases.labels_in_force import ShownLabel, load_shown_labels
from annotation.web.cases.names import mark_missing_names, names_of_snippet
from annotation.web.cases.panes import Panes, panes_of
from annotation.web.cases.test_strength import strength_views
from annotation.web.review.calls import call_box
from annotation.web.review.drafts import Typed, choose_field_text
from annotation.web.review.guidelines import guide_of_build
from annotation.web.review.keys import KeyView, help_groups, key_views, views_of
from annotation.web.review.runs import run_lines
from annotation.web.review.tags import TagChoice, tag_choices
from annotation.web.review.verdict import build_verdict_card
from annotation.web.review.words import describe_lines, review_sign, said_sign, tag_words
from annotation.web.review.worklists import list_name, lists_beside, tag_lists
from retrieval.models.prepared_query import PreparedQuery

MOST_HISTORY = 100
LONGEST_TITLE = 80


REVIEWS: PreparedQuery[Review] = PreparedQuery(
    lambda pair: reviews_of(pair).select_related("rater", "carried__source"), int
)
TAGS_OF_LISTS: PreparedQuery[str] = PreparedQuery(
    lambda pair: PairTag.objects.filter(pair=pair, removed=None).values_list("tag", flat=True), int
)
ASSIGNED: PreparedQuery[tuple[int, str]] = PreparedQuery(
    lambda case: (
        ReviewAssignment.objects.filter(case=case, removed=None)
        .order_by("expert__username")
        .values_list("expert", "expert__username")
    ),
    int,
)


@dataclass(frozen=True, slots=True)
class UnsavedReview:
    """What was sent and could not be stored, so that the form shows it again."""

    reason: str = ""
    pending: str = ""
    tags: tuple[str, ...] | None = None
    lines: str | None = None
    problem: str = ""
    conflict: Conflict | None = None
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Own:
    """What is the person's own on the page: label of the pair, drafts, latest decisions, keys and layout."""

    last: Review | None
    standing: Review | None
    kept: dict[str, Draft]
    lately: Sequence[Review]
    keys: dict[str, KeyView]
    layout: Layout


def own_of(user: User, case: Case, reviews: Sequence[Review]) -> Own:
    """`reviews` are all of the pair."""
    last = next((review for review in reversed(reviews) if review.rater_id == user.pk), None)
    liked = load_preference(user)
    return Own(
        last=last,
        standing=last if last and not last.withdrawn else None,
        kept=drafts.load_drafts(user, case.pair_id),
        lately=recent_reviews_of_user(user, case.build),
        keys=views_of(keys_in(liked)),
        layout=layout_in(liked),
    )


def case_page(user: User, case: Case, show: Worklist, said: UnsavedReview | None = None) -> dict[str, Any]:
    """The page of a case that was read with `evidence.RELATED` and `build__tally`."""
    said = said or UnsavedReview()
    evidence = evidence_of(case)
    evidence = replace(evidence, candidate=mark_missing_names(evidence.candidate, case.pair.snippet.text))
    reviews = REVIEWS.load(case.pair_id)
    own = own_of(user, case, reviews)
    hidden = own.standing is None and hides_labels_from(user, case.build)
    texts = choose_label_texts(own, said)
    return {
        "evidence": evidence,
        "panes": case_panes(user, case, evidence, own, show),
        "layout": own.layout,
        "verdict": build_verdict_card(evidence),
        "show": show,
        "lists": lists_beside(show),
        "tag_lists": tag_lists(),
        "progress": count_review_progress(user, case.build, case.query_id),
        "mine": build_review_revision(own.standing, user, evidence.hash) if own.standing else None,
        "seen_revision": revision_seen(own.last),
        **texts,
        "decisions": [build_recent_review(review, case) for review in own.lately[:SHOWN]],
        "undo": undo_of(next(iter(own.lately), None)),
        "keys": own.keys,
        "guide": partial(guide_of_build, case.build),  # called by the whole page alone: fragments need none
        "help": help_groups({name: view for name, view in own.keys.items() if name not in OF_STUDIES}),
        "assigned_to": names_assigned(user, case),
        "list_query": show.filters.query if isinstance(show, FilteredList) else "",
        "before": None if own.standing else before_of(user, case),
        "problem": said.problem,
        "clash": clash_of(said.conflict, user, evidence.hash),
        "changed": said.changed,
        **what_people_said(user, case, evidence, reviews, hidden=hidden),
        **group_tags(tag_choices(texts["tags_draft"].text.split(), own.keys)),
        **label_buttons(case, own.standing, own.keys, said.pending),
    }


def choose_label_texts(own: Own, said: UnsavedReview) -> dict[str, Typed]:
    """The text of each field of the label: what was refused, else the draft, else what is stored."""
    stored, kept = own.standing, own.kept
    sent_tags, sent_lines = said.tags is not None, said.lines is not None
    tags, lines = " ".join(stored.tags) if stored else "", stored.marked_lines if stored else ""
    return {
        "tags_draft": choose_field_text(
            " ".join(said.tags or ()), kept.get(Draft.Field.TAGS), tags, again=sent_tags
        ),
        "lines_draft": choose_field_text(
            said.lines or "", kept.get(Draft.Field.LINES), lines, again=sent_lines
        ),
        "reason": choose_field_text(
            said.reason,
            kept.get(Draft.Field.REASON),
            stored.reason if stored else "",
            again=bool(said.reason),
        ),
        "comment": choose_field_text("", kept.get(Draft.Field.COMMENT), "", again=False),
    }


def what_people_said(
    user: User, case: Case, evidence: Evidence, reviews: Sequence[Review], *, hidden: bool
) -> dict[str, Any]:
    """Labels, tags and comments on the pair; where others' are `hidden`, the person's own alone."""
    comments = load_comments(user, case)
    if hidden:
        reviews = [review for review in reviews if review.rater_id == user.pk]
        comments = [comment for comment in comments if comment.author_id == user.pk]
    return {
        "others_hidden": hidden,
        "in_force": None if hidden else in_force_of(case, reviews),
        "list_tags": list_tag_names(user, case, hidden=hidden),
        "history": history_of(reviews, evidence, run_lines(case), user, comments),
        "unread": [comment for comment in comments if comment.unread],
        "sent_back": asked_among(reviews) and is_awaiting_test(case),
    }


def stored_page(user: User, case: Case, show: Worklist) -> dict[str, Any]:
    """What a label changes on the page of the next case, which is on the screen before it is stored."""
    lately = recent_reviews_of_user(user, case.build)
    return {
        "show": show,
        "progress": count_review_progress(user, case.build, case.query_id),
        "decisions": [build_recent_review(review, case) for review in lately[:SHOWN]],
        "undo": undo_of(next(iter(lately), None)),
        "keys": key_views(user),
    }


def in_force_of(case: Case, reviews: Sequence[Review]) -> ShownLabel | None:
    """The label that counts for readers; nothing, without a query, where the agents alone had a say."""
    if not reviews and case.label_in_force == case.label:
        return None
    return load_shown_labels([case], case.build.reviews_needed)[case.pk]


def list_tag_names(user: User, case: Case, *, hidden: bool) -> list[str]:
    """The tags that lists gave the pair; where others' labels are `hidden`, the person's own."""
    if hidden:
        rows = PairTag.objects.filter(pair=case.pair_id, removed=None, added__user=user)
        return list(map(tag_name, filter_known_tags(rows.values_list("tag", flat=True))))
    return list(map(tag_name, filter_known_tags(TAGS_OF_LISTS.load(case.pair_id))))


def names_assigned(user: User, case: Case) -> list[str]:
    """Who else is to review the pair; nobody where the person is."""
    assigned = dict(ASSIGNED.load(case.pk))
    return [] if user.pk in assigned else list(assigned.values())


def group_tags(choices: Sequence[TagChoice]) -> dict[str, Any]:
    """The boxes of the pair and those of its test, and how many of both are ticked."""
    return {
        "pair_tags": [choice for choice in choices if not choice.of_test],
        "test_tags": [choice for choice in choices if choice.of_test],
        "tags_set": sum(choice.ticked for choice in choices),
    }


def case_panes(user: User, case: Case, evidence: Evidence, own: Own, show: Worklist) -> Panes:
    """The evidence in panes, with the names that the candidate lacks, and with how strong the test is."""
    box = call_box(user, case, keys=own.keys, kept=own.kept)
    panes = panes_of(evidence, box, own.keys, Draft.Field.TEST in own.kept, str(show))
    strength = strength_views([case.program], own.keys)[case.program.pk] if case.program else None
    return replace(
        panes,
        code=replace(panes.code, names=names_of_snippet(case.pair.snippet)),
        test=replace(panes.test, strength=strength),
    )


def label_buttons(
    case: Case, standing: Review | None, keys: dict[str, KeyView], pending: str
) -> dict[str, Any]:
    """The three buttons, match, no match and unsure, and the one that waits to be sent.

    One that `overrides` contradicts the agents, so a reason is needed.
    """
    options = (("1", 1, "match"), ("0", 0, "no_match"), ("unsure", None, "unsure"))
    choices = [
        {
            "value": value,
            "sign": said_sign(label),
            "key": keys[action],
            "overrides": label is not None and case.label is not None and label != case.label,
            "current": standing is not None and standing.label == label,
            "pending": pending == value,
        }
        for value, label, action in options
    ]
    return {"choices": choices, "pending": next((choice for choice in choices if choice["pending"]), None)}


def build_recent_review(last: Review, here: Case) -> dict[str, Any]:
    """A person's last revision of a pair as a line of the list beside the page; `here`: it is the page's."""
    return {
        "case": last.case_id,
        "query": last.asked[:LONGEST_TITLE],
        "sign": review_sign(last),
        "tags": tag_words(last),
        "at": last.created_at,
        "here": last.pair_id == here.pair_id,
    }


def build_review_revision(review: Review, user: User, evidence: str) -> dict[str, Any]:
    """One review as people read it. `stale`: it was given beside other evidence than is there now.

    `carried_from`: the case whose label, with reason and tags, it repeats, because the code is the same;
    `carried_at`: when that was given.
    """
    source = review.carried.source if hasattr(review, "carried") else None
    return {
        "who": review.rater.get_username(),
        "mine": review.rater_id == user.pk,
        "sign": review_sign(review),
        "reason": review.reason,
        "at": review.created_at,
        "override": review.is_override,
        "stale": review.evidence != evidence and not review.withdrawn,
        "tags": tag_words(review),
        "lines": describe_lines(review),
        "first_line": review.marked_first,
        "seconds": review.seconds,
        "calls": len(review.calls),
        "runs": len(review.runs),
        "carried_from": source and source.case_id,
        "carried_at": source and source.created_at,
    }


def clash_of(conflict: Conflict | None, user: User, evidence: str) -> dict[str, Any] | None:
    """Two texts of one person for one pair, from two windows: what is stored, and what was sent."""
    if conflict is None:
        return None
    sent = conflict.mine or Submission(None, "")
    stored = build_review_revision(conflict.stored, user, evidence) if conflict.stored else None
    sign = said_sign(sent.label)
    return {"message": str(conflict), "stored": stored, "sent": sign, "reason": sent.reason}


def undo_of(last: Review | None) -> dict[str, Any] | None:
    """What the undo button takes back: the person's latest label in the build."""
    if last is None:
        return None
    title = last.asked[:LONGEST_TITLE]
    return {"case": last.case_id, "seen_revision": last.revision, "sign": review_sign(last), "title": title}


def history_of(
    reviews: Sequence[Review],
    evidence: Evidence,
    runs: Iterable[dict[str, Any]],
    user: User,
    comments: Iterable[Comment] = (),
) -> list[dict[str, Any]]:
    """All that was said and done on the pair, the newest first: each a review, a comment, a step or a run."""
    entries: list[dict[str, Any]] = [
        *(
            {"at": review.created_at, "review": build_review_revision(review, user, evidence.hash)}
            for review in reviews
        ),
        *({"at": verdict.at, "step": verdict} for verdict in evidence.verdicts),
        *({"at": run["at"], "run": run} for run in runs),
        *({"at": comment.created_at, "comment": comment} for comment in comments),
    ]
    return sorted(entries, key=lambda entry: entry["at"], reverse=True)[:MOST_HISTORY]


def nothing_left(user: User, build: Build, show: Worklist) -> dict[str, Any]:
    """The page at the end of a list; an undo still leads back."""
    return {
        "build": build.pk,
        "build_name": build.name,
        "list_name": list_name(show),
        "show": show,
        "lists": lists_beside(show),
        "reviewed": reviewed_counts(user, Build.objects.filter(pk=build.pk)).get(build.pk, 0),
        "undo": undo_of(last_action(user, build)),
        "keys": key_views(user),
    }


def before_of(user: User, case: Case) -> dict[str, Any] | None:
    """What can be offered beside a case that the person has not labelled; None where nothing can.

    `review` is the earlier label, on the case `there`; `tags` are those that would be carried over with it.
    """
    found = find_earlier_label(user, case)
    if found is None:
        return None
    return {
        "case": case.pk,
        "review": found.pk,
        "there": found.case_id,
        "title": first_line(found.pair.snippet.head),
        "sign": said_sign(found.label),
        "reason": found.reason,
        "tags": list(map(tag_name, tags_carried(found))),
        "at": found.created_at,
    }
