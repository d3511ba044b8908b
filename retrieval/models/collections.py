"""Collections of queries or snippets, and their members."""

from __future__ import annotations

from django.db import models
from django.db.models import F

from retrieval.filters import Rule, is_left_out
from retrieval.models.texts import Text

MEMBERS_A_READ = 500


class Collection(models.Model):
    """A named, versioned list of members; members are added, never edited."""

    class Kind(models.TextChoices):
        QUERIES = "queries"
        SNIPPETS = "snippets"

        @property
        def noun(self) -> str:
            """What people read and type for it."""
            return "functions" if self.value == "snippets" else self.value

        @classmethod
        def named(cls, noun: str) -> Collection.Kind:
            """The kind that people call so; its stored name is taken, too."""
            return cls.SNIPPETS if noun == "functions" else cls(noun)

    name = models.CharField(max_length=120)
    version = models.PositiveIntegerField(default=1)
    kind = models.CharField(max_length=8, choices=Kind)
    source = models.CharField(max_length=400, blank=True, help_text="where the members came from")
    size = models.PositiveIntegerField(default=0, help_text="number of members")
    filtered_from = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="filtered_into"
    )
    filtered = models.JSONField(
        null=True, blank=True, help_text="what was read and kept, and refused by each filter; null: imported"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "kind", "-version"]
        constraints = [models.UniqueConstraint(fields=["name", "kind", "version"], name="collection_once")]

    @property
    def noun(self) -> str:
        """What its members are called: queries or functions."""
        return Collection.Kind(self.kind).noun

    def __str__(self) -> str:
        return f"{self.name} ({self.noun}, version {self.version})"


class MemberQuerySet(models.QuerySet["Member"]):
    def passing(self, rule: Rule) -> MemberQuerySet:
        """Members that pass every bit of `rule`; `Rule(0)` passes all."""
        return self.alias(kept=F("rules").bitand(int(rule))).filter(kept=int(rule))

    def left_out(self, option: str) -> list[int]:
        """The ids of members that no search by a part of them reads: their docstring can't be told.

        Such code parses as no Python, so it passes no rule.
        """
        found = list[int]()
        ids = list(self.filter(rules=0).values_list("pk", flat=True)) if option != "whole" else []
        for start in range(0, len(ids), MEMBERS_A_READ):
            rows = Member.objects.filter(pk__in=ids[start : start + MEMBERS_A_READ])
            rows = rows.select_related("text__body")
            found += [row.pk for row in rows if is_left_out(row.text.text, option)]
        return found


class Member(models.Model):
    """One text in one collection, with where it came from and which rules it passes."""

    collection = models.ForeignKey(
        Collection, on_delete=models.CASCADE, related_name="members", db_index=False
    )
    text = models.ForeignKey(Text, on_delete=models.PROTECT, related_name="members")
    position = models.PositiveIntegerField()
    source_id = models.CharField(max_length=300, help_text="such as query-idx, code-idx or file::name")
    origin = models.CharField(max_length=400, blank=True)
    licence = models.CharField(max_length=120, blank=True)
    partition = models.CharField(
        max_length=5, blank=True, db_default="", help_text="train, valid or test, where the source says one"
    )
    rules = models.PositiveIntegerField(default=0, help_text="bits of retrieval.filters.Rule")

    objects = MemberQuerySet.as_manager()

    class Meta:
        ordering = ["collection", "position"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "position"], name="member_position_once"),
            models.UniqueConstraint(fields=["collection", "text"], name="member_text_once"),
        ]
        indexes = [models.Index(fields=["collection", "source_id"], name="member_by_source_id")]

    def __str__(self) -> str:
        return f"{self.source_id}: {self.text.head}"


class Alias(models.Model):
    """A further id that a source gives to a text which is a member already; the member has the first one."""

    collection = models.ForeignKey(
        Collection, on_delete=models.CASCADE, related_name="aliases", db_index=False
    )
    number = models.PositiveIntegerField(help_text="from 1, in the order in which they came")
    text = models.ForeignKey(Text, on_delete=models.PROTECT, related_name="+", db_index=False)
    source_id = models.CharField(max_length=300)

    class Meta:
        ordering = ["collection", "number"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "number"], name="alias_number_once"),
            models.UniqueConstraint(fields=["collection", "source_id", "text"], name="alias_once"),
        ]
        indexes = [models.Index(fields=["collection", "text"], name="alias_by_text")]

    def __str__(self) -> str:
        return f"{self.source_id}: {self.text.head}"
