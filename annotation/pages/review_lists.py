"""The lists that a person goes through in words, and the builds with how far they are."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotation.models import Build
from annotation.review.order import Apart, Flipped, Parted, Show, Tagged, Worklist, reviewed_counts, standing
from annotation.review.tags import Tag, tag_name

LISTS: dict[Show, str] = {
    Show.WAITING: "settled, not labelled by you",
    Show.UNSETTLED: "open or abandoned, not labelled by you",
    Show.REVIEWED: "labelled by you",
    Show.UNSURE: "unsure, by you",
    Show.OVERRIDDEN: "overridden by anybody",
    Show.ALL: "all cases",
}


@dataclass(frozen=True, slots=True)
class BuildLine:
    """One build in the list, with how far the person is."""

    pk: int
    name: str
    state: str
    state_word: str
    settled: int
    open: int
    abandoned: int
    reviewed: int

    @property
    def left(self) -> int:
        """Settled cases that the person may still label; labels of other cases may make it less."""
        return max(0, self.settled - self.reviewed)


def build_lines(user: User, builds: QuerySet[Build]) -> tuple[BuildLine, ...]:
    """The builds that have cases, with the person's own progress.

    Two queries, and one for each build with several rounds.
    """
    counts = reviewed_counts(user, builds)
    return tuple(
        BuildLine(
            pk=build.pk,
            name=build.name,
            state=build.state,
            state_word=build.get_state_display(),
            **standing(build),
            reviewed=counts.get(build.pk, 0),
        )
        for build in builds.filter(opened=True).select_related("tally")
    )


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
        return "rounds part, not labelled by you"
    if isinstance(show, Apart):  # not who said what: plain review tells of a pair what it tells of any
        return "labelled otherwise by two annotators, not labelled by you"
    if isinstance(show, Tagged):
        return f"tagged “{tag_name(show.tag)}” by anybody"
    if not isinstance(show, Flipped):
        return LISTS[show]
    other = Build.objects.filter(pk=show.against).values_list("name", flat=True).first()
    return f"labelled otherwise in {other}, not labelled by you"
