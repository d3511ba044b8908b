"""Figures that took long to compute, kept by the hash of what decides them, and figures that were pinned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.db import models

from retrieval.models.benchmarks import Benchmark
from retrieval.models.blobs import Digest


class KeptFiguresQuerySet(models.QuerySet["KeptFigures"]):
    def found(self, digests: Mapping[str, str]) -> dict[str, Any]:
        """What is kept, by the names in `digests`, of which several may have one hash."""
        kept = dict(self.filter(digest__in=set(digests.values())).values_list("digest", "data"))
        return {name: kept[digest] for name, digest in digests.items() if digest in kept}

    def keep(self, benchmark: Benchmark, digest: str, code_version: str, data: Any) -> None:
        """Keep `data`, which JSON can hold; what another version of the code computed goes."""
        self.filter(benchmark=benchmark).exclude(code_version=code_version).delete()
        row = KeptFigures(benchmark=benchmark, digest=digest, code_version=code_version, data=data)
        self.bulk_create([row], ignore_conflicts=True)

    def once(self, benchmark: Benchmark, digest: str, code_version: str, make: Callable[[], Any]) -> Any:
        """What is kept under `digest`, made and kept where it is not."""
        there = self.filter(digest=digest).values_list("data", flat=True).first()
        if there is None:
            there = make()
            self.keep(benchmark, digest, code_version, there)
        return there


class KeptFigures(models.Model):
    """Figures of runs on a benchmark, by the sha256 of runs, options, seeds and code that decide them.

    Nothing else knows them: a row may be deleted at any time and is computed again.
    """

    digest = Digest(max_length=64, primary_key=True)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="+")
    code_version = models.CharField(max_length=80)
    data = models.JSONField()

    objects = KeptFiguresQuerySet.as_manager()

    def __str__(self) -> str:
        return f"figures {self.digest[:12]} of {self.benchmark}"


class Pin(models.Model):
    """A published figure, with all that is needed to compute it again; never changed.

    `subject` says what is computed of what (options and seeds too), `value` what came out, `ground` what it
    rests on: hashes, the last event of the history, versions of the code.
    """

    class Kind(models.TextChoices):
        LEADERBOARD = "leaderboard", "a system's figure on a benchmark"
        STUDY = "study", "a figure of a study"
        CORPUS = "corpus", "corpus statistics"
        COMPARISON = "comparison", "two versions of a benchmark"
        BUILD = "build", "a build's own figures"
        MINING = "mining", "a mining's own figures"
        TWO_BUILDS = "two builds", "two builds over their common pairs"

    kind = models.CharField(max_length=12, choices=Kind)
    title = models.CharField(max_length=300, help_text="what people read")
    subject = models.JSONField()
    value = models.JSONField()
    ground = models.JSONField()
    digest = Digest(max_length=64, unique=True, help_text="sha256 of all of it; names it")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """How people write it: the first digits of its hash."""
        return str(self.digest)[:12]
