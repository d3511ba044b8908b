"""What the pages of collections show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from annotation.pages.ordering import RULES
from retrieval.deriving import EXAMPLES_OF
from retrieval.filters import Rule
from retrieval.models import Collection, ImportJob, Member

PAGE = 50
SURVEYED = 10_000
"""Rules, licences and origins are counted over so many members at most, so that the page costs the same."""
JOBS = 20


@dataclass(frozen=True)
class Share:
    """`count` of `total` members are like this."""

    name: str
    count: int
    total: int


@dataclass(frozen=True)
class MemberRow:
    """A member in a list: the beginning of its text, where it came from, which rules it passes."""

    position: int
    source_id: str
    head: str
    is_cut: bool
    origin: str
    licence: str
    is_testable: bool


@dataclass(frozen=True)
class CollectionPage:
    """A collection, and the members behind position `after`. `surveyed` members were counted."""

    collection: Collection
    members: tuple[MemberRow, ...]
    rules: tuple[Share, ...]
    licences: tuple[Share, ...]
    origins: tuple[Share, ...]
    surveyed: int
    after: int | None
    before: int | None

    @property
    def is_snippets(self) -> bool:
        return self.collection.kind == Collection.Kind.SNIPPETS

    @property
    def refused_examples(self) -> list[tuple[str, list[str]]]:
        """Of each filter that the collection was made by, what it refused first; none of older ones."""
        told = (self.collection.filtered or {}).get(EXAMPLES_OF, {})
        return [(name, examples) for name, examples in told.items() if examples]


@dataclass(frozen=True)
class JobsPage:
    """Imports, the newest first."""

    jobs: tuple[ImportJob, ...]

    @property
    def is_live(self) -> bool:
        open_states = {ImportJob.State.WAITING, ImportJob.State.RUNNING}
        return any(job.state in open_states for job in self.jobs)


@dataclass(frozen=True)
class CollectionsPage:
    collections: tuple[Collection, ...]
    jobs: JobsPage


def collections_page() -> CollectionsPage:
    return CollectionsPage(tuple(Collection.objects.all()[:500]), jobs_page())


def jobs_page() -> JobsPage:
    return JobsPage(tuple(ImportJob.objects.select_related("created_by")[:JOBS]))


def collection_page(collection: Collection, after: int | None, before: int | None) -> CollectionPage:
    """One page of members, and the counts of the first 10,000."""
    rows = members_from(collection, after, before)
    members = Member.objects.filter(collection=collection).order_by("position")
    survey = list(members.values_list("rules", "licence", "origin")[:SURVEYED])
    last = rows[-1].position if rows else 0
    return CollectionPage(
        collection=collection,
        members=rows,
        rules=rule_shares([rules for rules, _, _ in survey]),
        licences=shares((licence for _, licence, _ in survey), len(survey)),
        origins=shares((origin for _, _, origin in survey), len(survey)),
        surveyed=len(survey),
        after=last if rows and members.filter(position__gt=last).exists() else None,
        before=rows[0].position if rows and members.filter(position__lt=rows[0].position).exists() else None,
    )


def members_from(collection: Collection, after: int | None, before: int | None) -> tuple[MemberRow, ...]:
    """Up to 50 members behind `after`, or before `before`, by position."""
    members = Member.objects.filter(collection=collection).select_related("text")
    if before is not None:
        found = list(members.filter(position__lt=before).order_by("-position")[:PAGE])[::-1]
    else:
        start = members if after is None else members.filter(position__gt=after)
        found = list(start.order_by("position")[:PAGE])
    return tuple(row(member) for member in found)


def row(member: Member) -> MemberRow:
    head = member.text.head
    return MemberRow(
        position=member.position,
        source_id=member.source_id,
        head=head,
        is_cut=member.text.size > len(head),
        origin=member.origin,
        licence=member.licence,
        is_testable=bool(member.rules & Rule.TESTABLE),
    )


def rule_shares(flags: list[int]) -> tuple[Share, ...]:
    """How many members pass each rule."""
    return tuple(
        Share(words, sum(1 for flag in flags if flag & int(bit)), len(flags))
        for bit, words in RULES
        if bit != "0"
    )


def shares(values: Iterable[str], total: int) -> tuple[Share, ...]:
    """The five most frequent values."""
    return tuple(
        Share(value or "not stated", count, total) for value, count in Counter(values).most_common(5)
    )
