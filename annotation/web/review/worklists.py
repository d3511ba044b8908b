"""The lists that a person goes through in words, and the builds with how far they are."""

from __future__ import annotations

from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from annotation.models import Build
from annotation.review.tags import Tag, tag_name
from annotation.review.worklists.case_list import FilteredList
from annotation.review.worklists.order import (
    Apart,
    Disputed,
    Flipped,
    Parted,
    Show,
    Tagged,
    Worklist,
    count_pairs_by_state,
    reviewed_counts,
)
from annotation.web.worklist.filters import describe_filters

FOR_EXPERTS: Final = Q(state=Build.State.PAUSED) & (Q(mining__holes__people=True) | Q(for_experts=True))

LISTS: dict[Show, str] = {
    Show.WAITING: "judged, not labelled by you",
    Show.DISPUTED: "agents disagree, not labelled by you",
    Show.UNSETTLED: "no verdict, not labelled by you",
    Show.REVIEWED: "labelled by you",
    Show.UNSURE: "my unsure",
    Show.OVERRIDDEN: "disagreements",
    Show.ASSIGNED: "assigned to you, not labelled by you",
    Show.ALL: "all pairs",
}


def build_lines(user: User, builds: QuerySet[Build]) -> list[dict[str, Any]]:
    """The builds that have cases, with the person's own progress.

    Three queries, and one for each build with several rounds.
    """
    counts = reviewed_counts(user, builds)
    rows = builds.filter(opened=True).select_related("tally")
    queues = set(rows.filter(FOR_EXPERTS).values_list("pk", flat=True))
    return [line_of(build, counts.get(build.pk, 0), build.pk in queues) for build in rows]


def line_of(build: Build, reviewed: int, for_experts: bool) -> dict[str, Any]:
    """One build with how far the person is. Of a queue for experts no agent judges the pairs, so that it is
    no build that somebody paused, and all of them wait; of others the settled ones, as far as is known.
    """
    counts = count_pairs_by_state(build)
    to_label = sum(counts.values()) if for_experts else counts["settled"]
    return counts | {
        "pk": build.pk,
        "name": build.name,
        "state": "waiting" if for_experts else build.state,
        "state_word": "for experts" if for_experts else build.get_state_display(),
        "reviewed": reviewed,
        "left": max(0, to_label - reviewed),
        "disputed": build.tally.disputed,
        "for_experts": for_experts,
    }


def lists_beside(show: Worklist) -> tuple[tuple[Worklist, str], ...]:
    """The lists to choose from; flips, or where rounds part, are among them while they are gone through."""
    own = () if isinstance(show, Show) else ((show, list_name(show)),)
    return (*LISTS.items(), *own)


def tag_lists() -> tuple[tuple[Worklist, str], ...]:
    """The lists by tag."""
    return tuple((Tagged(tag), tag_name(tag)) for tag in Tag)


def list_name(show: Worklist) -> str:
    """A list in words."""
    if isinstance(show, Parted):
        return "rounds disagree, not labelled by you"
    if isinstance(show, Disputed):
        return "label changed by agents, not labelled by you"
    if isinstance(show, Apart):  # not who said what: plain review tells of a pair what it tells of any
        return "two annotators disagree, not labelled by you"
    if isinstance(show, FilteredList):
        return describe_filters(show.filters)
    if isinstance(show, Tagged):
        return f"tagged “{tag_name(show.tag)}” by anybody"
    if not isinstance(show, Flipped):
        return LISTS[show]
    other = Build.objects.filter(pk=show.against).values_list("name", flat=True).first()
    return f"labelled differently in {other}, not labelled by you"
