"""The review page: one case's evidence, the person's label, what was said before; and the end of a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.contrib.auth.models import User

from annotation.models import Build, Case, Draft, Preference, Review
from annotation.pages.as_before import Before, before_of
from annotation.pages.drafting import Typed, typed
from annotation.pages.evidence import Evidence, Verdict, evidence_now, evidence_of
from annotation.pages.names import marked, names_view
from annotation.pages.panes import Panes, panes_of
from annotation.pages.review_calls import call_box
from annotation.pages.review_keys import KeyView, helped, key_views, views_of
from annotation.pages.review_lists import list_name, lists_beside, tag_lists
from annotation.pages.review_runs import RunLine, run_lines
from annotation.pages.review_words import review_sign, said_sign, tag_words
from annotation.pages.strength import strength_views
from annotation.pages.tagging import TagChoice, tag_choices
from annotation.pages.words import UNSURE, Sign, label_sign
from annotation.rerunning.sent_back import asked_among, waits
from annotation.review import Conflict, Submission, decisions, drafts, last_action, reviews_of, revision_seen
from annotation.review.labelling import SHOWN
from annotation.review.layout import Layout, Pane, layout_in
from annotation.review.order import Progress, Worklist, progress, reviewed_counts
from annotation.review.shortcuts import OF_STUDIES, keys_in

MOST_HISTORY = 100
LONGEST_TITLE = 80


class EvidenceChanged(Exception):
    """The agents went on since the page was served: what was on screen is no longer what is known."""

    def __init__(self) -> None:
        super().__init__(
            "The agents went on with this case while you were reading. Look at the evidence, then label."
        )


@dataclass(frozen=True, slots=True)
class Revision:
    """One review as people read it. `stale`: it was given beside other evidence than is there now.

    `carried_from`: the case whose label, with reason and tags, it repeats, because the code is the same;
    `carried_at`: when that was given.
    """

    who: str
    mine: bool
    sign: Sign
    reason: str
    at: datetime
    override: bool = False
    stale: bool = False
    tags: tuple[str, ...] = ()
    seconds: int = 0
    calls: int = 0
    runs: int = 0
    carried_from: int | None = None
    carried_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a pair's history; exactly one of the three is set."""

    at: datetime
    review: Revision | None = None
    step: Verdict | None = None
    run: RunLine | None = None


@dataclass(frozen=True, slots=True)
class Undo:
    """What the undo button takes back: the person's latest label in the build."""

    case: int
    seen_revision: int
    sign: Sign
    title: str


@dataclass(frozen=True, slots=True)
class Decision:
    """One of the person's last decisions, in the list beside the page; `here`: it is the page's own."""

    case: int
    query: str
    sign: Sign
    tags: tuple[str, ...]
    at: datetime
    here: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """One label button. `overrides`: it contradicts the agents, so a reason is needed."""

    value: str
    sign: Sign
    key: KeyView
    overrides: bool
    current: bool
    pending: bool


@dataclass(frozen=True, slots=True)
class Said:
    """What was sent and could not be stored, so that the form shows it again."""

    reason: str = ""
    pending: str = ""
    tags: tuple[str, ...] | None = None
    problem: str = ""
    conflict: Conflict | None = None
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Clash:
    """Two texts of one person for one pair, from two windows: what is stored, and what was sent."""

    message: str
    stored: Revision | None
    sent: Sign
    reason: str


@dataclass(frozen=True, slots=True)
class CasePage:
    """Everything that the page of one case shows."""

    evidence: Evidence
    panes: Panes
    layout: Layout
    show: Worklist
    lists: tuple[tuple[Worklist, str], ...]
    tag_lists: tuple[tuple[Worklist, str], ...]
    progress: Progress
    mine: Revision | None
    seen_revision: int
    choices: tuple[Choice, ...]
    tags: tuple[TagChoice, ...]
    tags_draft: Typed
    reason: Typed
    decisions: tuple[Decision, ...]
    undo: Undo | None
    keys: dict[str, KeyView]
    history: tuple[Entry, ...]
    before: Before | None
    sent_back: bool
    problem: str = ""
    pending: Choice | None = None
    clash: Clash | None = None
    changed: bool = False

    @property
    def help(self) -> tuple[KeyView, ...]:
        """Every key that works on this page, in words."""
        return helped(view for name, view in self.keys.items() if name not in OF_STUDIES)

    @property
    def history_closed(self) -> bool:
        return Pane.HISTORY in self.layout.closed

    @property
    def pair_tags(self) -> tuple[TagChoice, ...]:
        return tuple(choice for choice in self.tags if not choice.of_test)

    @property
    def test_tags(self) -> tuple[TagChoice, ...]:
        return tuple(choice for choice in self.tags if choice.of_test)


@dataclass(frozen=True, slots=True)
class NothingLeft:
    """The end of a list."""

    build: int
    build_name: str
    list_name: str
    show: Worklist
    lists: tuple[tuple[Worklist, str], ...]
    reviewed: int
    undo: Undo | None
    keys: dict[str, KeyView] = field(default_factory=dict)


def refuse_changed(case: Case, seen: str) -> None:
    """A label belongs to the evidence that was on screen. Raises EvidenceChanged."""
    if evidence_now(case) != seen:
        raise EvidenceChanged


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
    liked = Preference.objects.filter(user=user).first()
    return Own(
        last=last,
        standing=last if last and not last.withdrawn else None,
        kept=drafts.load(user, case.pair_id),
        lately=decisions(user, case.build),
        keys=views_of(keys_in(liked)),
        layout=layout_in(liked),
    )


def case_page(user: User, case: Case, show: Worklist, said: Said | None = None) -> CasePage:
    """The page of a case that was read with `evidence.RELATED` and `build__tally`."""
    said = said or Said()
    evidence = evidence_of(case)
    evidence = replace(evidence, candidate=marked(evidence.candidate, case.pair.snippet.text))
    reviews = list(reviews_of(case.pair_id).select_related("rater", "carried__source"))
    own = own_of(user, case, reviews)
    choices = choices_of(case, own.standing, own.keys, said.pending)
    tags = tags_typed(said, own.kept.get(Draft.Field.TAGS), own.standing)
    stands = own.standing.reason if own.standing else ""
    return CasePage(
        evidence=evidence,
        panes=case_panes(user, case, evidence, own, show),
        layout=own.layout,
        show=show,
        lists=lists_beside(show),
        tag_lists=tag_lists(),
        progress=progress(user, case.build, case.query_id),
        mine=revision(own.standing, user, evidence.hash) if own.standing else None,
        seen_revision=revision_seen(own.last),
        choices=choices,
        tags=tag_choices(tags.text.split(), own.keys),
        tags_draft=tags,
        reason=typed(said.reason, own.kept.get(Draft.Field.REASON), stands, again=bool(said.reason)),
        decisions=tuple(decision(one, case) for one in own.lately[:SHOWN]),
        undo=undo_of(next(iter(own.lately), None)),
        keys=own.keys,
        history=history_of(reviews, evidence, run_lines(case), user),
        before=None if own.standing else before_of(user, case),
        sent_back=asked_among(reviews) and waits(case),
        problem=said.problem,
        pending=next((choice for choice in choices if choice.pending), None),
        clash=clash_of(said.conflict, user, evidence.hash),
        changed=said.changed,
    )


def case_panes(user: User, case: Case, evidence: Evidence, own: Own, show: Worklist) -> Panes:
    """The evidence in panes, with the names that the candidate lacks, and with how strong the test is."""
    box = call_box(user, case, keys=own.keys, kept=own.kept)
    panes = panes_of(evidence, box, own.keys, own.layout.closed, Draft.Field.TEST in own.kept, str(show))
    strength = strength_views([case.program], own.keys)[case.program.pk] if case.program else None
    return replace(
        panes,
        code=replace(panes.code, names=names_view(case.pair.snippet.text)),
        test=replace(panes.test, strength=strength),
    )


def choices_of(
    case: Case, standing: Review | None, keys: dict[str, KeyView], pending: str
) -> tuple[Choice, ...]:
    """The three buttons: match, no match, unsure."""
    options = (
        ("1", 1, label_sign(1), "match"),
        ("0", 0, label_sign(0), "no_match"),
        ("", None, UNSURE, "unsure"),
    )
    return tuple(
        Choice(
            value=value or "unsure",
            sign=sign,
            key=keys[action],
            overrides=label is not None and case.label is not None and label != case.label,
            current=standing is not None and standing.label == label,
            pending=pending == (value or "unsure"),
        )
        for value, label, sign, action in options
    )


def tags_typed(said: Said, draft: Draft | None, standing: Review | None) -> Typed:
    """The tags that were just sent, else those of the draft, else those that stand; by spaces."""
    stands = " ".join(standing.tags) if standing else ""
    return typed(" ".join(said.tags or ()), draft, stands, again=said.tags is not None)


def decision(last: Review, here: Case) -> Decision:
    """A person's last revision of a pair as a line of the list."""
    return Decision(
        case=last.case_id,
        query=last.asked[:LONGEST_TITLE],
        sign=review_sign(last),
        tags=tag_words(last),
        at=last.created_at,
        here=last.pair_id == here.pair_id,
    )


def revision(review: Review, user: User, evidence: str) -> Revision:
    source = review.carried.source if hasattr(review, "carried") else None
    return Revision(
        who=review.rater.get_username(),
        mine=review.rater_id == user.pk,
        sign=review_sign(review),
        reason=review.reason,
        at=review.created_at,
        override=review.is_override,
        stale=review.evidence != evidence and not review.withdrawn,
        tags=tag_words(review),
        seconds=review.seconds,
        calls=len(review.calls),
        runs=len(review.runs),
        carried_from=source.case_id if source else None,
        carried_at=source.created_at if source else None,
    )


def clash_of(conflict: Conflict | None, user: User, evidence: str) -> Clash | None:
    if conflict is None:
        return None
    sent = conflict.mine or Submission(None, "")
    stored = revision(conflict.stored, user, evidence) if conflict.stored else None
    return Clash(str(conflict), stored, said_sign(sent.label), sent.reason)


def undo_of(last: Review | None) -> Undo | None:
    if last is None:
        return None
    title = last.asked[:LONGEST_TITLE]
    return Undo(last.case_id, last.revision, review_sign(last), title)


def history_of(
    reviews: Sequence[Review], evidence: Evidence, runs: Iterable[RunLine], user: User
) -> tuple[Entry, ...]:
    """All that was said and done on the pair, the newest first."""
    entries = [
        *(Entry(review.created_at, review=revision(review, user, evidence.hash)) for review in reviews),
        *(Entry(verdict.at, step=verdict) for verdict in evidence.verdicts),
        *(Entry(run.at, run=run) for run in runs),
    ]
    return tuple(sorted(entries, key=lambda entry: entry.at, reverse=True)[:MOST_HISTORY])


def nothing_left(user: User, build: Build, show: Worklist) -> NothingLeft:
    """The page at the end of a list; an undo still leads back."""
    return NothingLeft(
        build=build.pk,
        build_name=build.name,
        list_name=list_name(show),
        show=show,
        lists=lists_beside(show),
        reviewed=reviewed_counts(user, Build.objects.filter(pk=build.pk)).get(build.pk, 0),
        undo=undo_of(last_action(user, build)),
        keys=key_views(user),
    )
