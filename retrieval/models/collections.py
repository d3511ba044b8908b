"""Collections of queries or snippets, their members, and the jobs that import them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F

from retrieval.filters import Rule
from retrieval.models.texts import Text


class Collection(models.Model):
    """A named, versioned list of members; members are added, never edited."""

    class Kind(models.TextChoices):
        QUERIES = "queries"
        SNIPPETS = "snippets"

    name = models.CharField(max_length=120)
    version = models.PositiveIntegerField(default=1)
    kind = models.CharField(max_length=8, choices=Kind)
    source = models.CharField(max_length=400, blank=True, help_text="where the members came from")
    size = models.PositiveIntegerField(default=0, help_text="number of members")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "kind", "-version"]
        constraints = [models.UniqueConstraint(fields=["name", "kind", "version"], name="collection_once")]

    def __str__(self) -> str:
        return f"{self.name} ({self.kind}, version {self.version})"


class MemberQuerySet(models.QuerySet["Member"]):
    def passing(self, rule: Rule) -> MemberQuerySet:
        """Members that pass every bit of `rule`; `Rule(0)` passes all."""
        return self.alias(kept=F("rules").bitand(int(rule))).filter(kept=int(rule))


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


class ImportJob(models.Model):
    """An uploaded file that a worker imports in the background."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    class Format(models.TextChoices):
        COSQA = "cosqa", "CoSQA: queries and a code base (JSON)"
        PYTHON = "python", "Python: a source file, a wheel, an sdist or a zip of sources"
        DOCUMENTED = (
            "documented",
            "Python: documented functions, their documentation as queries",
        )
        CODESEARCHNET = "codesearchnet", "CodeSearchNet: functions of six languages (JSON Lines)"
        STAQC = "staqc", "StaQC: a pickle of Stack Overflow code"
        NCS = "ncs", "Neural Code Search: questions with their answers (JSON)"

    name = models.CharField(max_length=120)
    format = models.CharField(max_length=16, choices=Format)
    file = models.FileField(upload_to="imports/%Y/%m/", max_length=300)
    codebase = models.FileField(upload_to="imports/%Y/%m/", max_length=300, blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    read = models.PositiveIntegerField(default=0)
    stored = models.PositiveIntegerField(default=0)
    unreadable = models.PositiveIntegerField(default=0)
    problems = models.JSONField(default=list, help_text="the first problems, as text")
    message = models.TextField(blank=True)
    lease_until = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.state})"
