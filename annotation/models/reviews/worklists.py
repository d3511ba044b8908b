"""What people note on a worklist: tags of pairs, who is to review which, and lists that they keep by name.

Tags and assignments are only ever added and ended, each by a change that says who made it and when.
"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.builds.build import Build
from annotation.models.builds.cases import Case
from retrieval.models import Pair

LONGEST_LIST: Final = 600
"""Characters of a saved list's filters, as an address has them."""


class ListChange(models.Model):
    """One thing that somebody did to the rows of a list, at once; `undoes` names the one it takes back."""

    class Kind(models.TextChoices):
        TAG = "tag", "tag added"
        UNTAG = "untag", "tag removed"
        ASSIGN = "assign", "assigned"
        UNASSIGN = "unassign", "assignment removed"
        SHARE = "share", "shared out"
        UNDO = "undo", "undone"

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="list_changes", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8, choices=Kind)
    undoes = models.OneToOneField(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="undone_by"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["build", "user", "id"], name="list_change_by_person")]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="undo", undoes__isnull=False) | (~Q(kind="undo") & Q(undoes__isnull=True)),
                name="list_change_undo",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} by {self.user}"


class ListMark(models.Model):
    """Something that a change put on a row of a list, and another one may have taken off."""

    added = models.ForeignKey(ListChange, on_delete=models.PROTECT, related_name="%(class)ss_added")
    removed = models.ForeignKey(
        ListChange, on_delete=models.PROTECT, null=True, blank=True, related_name="%(class)ss_removed"
    )

    class Meta:
        abstract = True


class PairTag(ListMark):
    """A tag that somebody put on a pair without labelling it."""

    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="list_tags", db_index=False)
    tag = models.CharField(max_length=40, help_text="a known tag, see annotation.review.tags")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["pair", "tag"], condition=Q(removed__isnull=True), name="pair_tag_once"
            )
        ]
        indexes = [
            models.Index(fields=["tag", "pair"], condition=Q(removed__isnull=True), name="pair_tag_by_tag")
        ]

    def __str__(self) -> str:
        return f"{self.tag} on {self.pair_id}"


class ReviewAssignment(ListMark):
    """That an expert is to review a case; who said so, and when, is in the change that added it."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="assignments", db_index=False)
    expert = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="review_assignments", db_index=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["case", "expert"], condition=Q(removed__isnull=True), name="review_assignment_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["expert", "case"],
                condition=Q(removed__isnull=True),
                name="review_assignment_by_expert",
            )
        ]

    def __str__(self) -> str:
        return f"case {self.case_id} for {self.expert}"


class SavedList(models.Model):
    """Filters of a build's list that a person keeps by name; a shared one is shown to all reviewers."""

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="saved_lists", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_lists")
    name = models.CharField(max_length=80)
    query = models.CharField(max_length=LONGEST_LIST, blank=True, help_text="the filters, as in an address")
    shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint(fields=["build", "user", "name"], name="saved_list_once")]

    def __str__(self) -> str:
        return self.name
