"""Benchmarks, which never change once they are published, and the runs of systems on them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from django.db import models
from django.utils import timezone

from retrieval.models.blobs import Digest
from retrieval.models.collections import Collection
from retrieval.models.labels import Label
from retrieval.models.minings import Mining
from retrieval.models.texts import Pair, Text

if TYPE_CHECKING:  # every command imports the models, and few compute
    import numpy as np
    import numpy.typing as npt

Places: TypeAlias = "npt.NDArray[np.uint32]"
NOWHERE = 2**32 - 1
"""Stands in a ranked list for a snippet that the benchmark does not have."""


class Published(ValueError):
    """A published benchmark is not changed; whoever has other labels publishes another version."""


class Pool(models.TextChoices):
    """What a system searches for a query. Figures of different pools never share a table."""

    COLLECTION = "collection", "the whole collection"
    CANDIDATES = "candidates", "the query's candidates of the mining"


class BenchmarkQuerySet(models.QuerySet["Benchmark"]):
    def newest(self, name: str) -> Benchmark | None:
        return self.filter(name=name).order_by("-version").first()


class Benchmark(models.Model):
    """Queries, snippets and labels, by which systems are measured.

    Collections only grow, so where they ended at the time says which members belong to it.
    """

    name = models.CharField(max_length=120)
    version = models.PositiveIntegerField(default=1)
    queries = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="+")
    queries_until = models.PositiveIntegerField(help_text="only queries before this position")
    snippets = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="+")
    snippets_until = models.PositiveIntegerField(help_text="only snippets before this position")
    query_aliases = models.PositiveIntegerField(
        default=0, db_default=0, help_text="further ids of queries that are queries of their own; 0: by text"
    )
    snippet_aliases = models.PositiveIntegerField(
        default=0, db_default=0, help_text="further ids of snippets that are results of their own; 0: by text"
    )
    pool = models.CharField(max_length=10, choices=Pool, default=Pool.COLLECTION)
    mining = models.ForeignKey(Mining, null=True, on_delete=models.PROTECT, related_name="benchmarks")
    extension_minings = models.ManyToManyField(
        Mining, related_name="+", blank=True, help_text="those of extensions of the build that it was made of"
    )
    holes = models.ForeignKey(
        "retrieval.Holes",
        null=True,
        on_delete=models.PROTECT,
        related_name="filled",
        help_text="those whose labels it has beside the ones of the version before",
    )
    previous_version = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="the version whose labels it has beside those of the holes, or corrects",
    )
    pair_list = models.ForeignKey(
        "retrieval.PairList",
        null=True,
        on_delete=models.PROTECT,
        related_name="corrected",
        help_text="pairs that were judged again, whose labels it has instead of those of the version before",
    )
    merge_rule = models.CharField(max_length=400, help_text="whose labels these are, and which one counts")
    notes = models.TextField(
        blank=True, default="", db_default="", help_text="what people must know of its labels; mostly empty"
    )
    scale = models.CharField(
        max_length=8,
        choices=Label.Scale,
        blank=True,
        default="",
        db_default="",
        help_text="which relevances there are; empty: published before it was noted",
    )
    size = models.PositiveIntegerField(help_text="labels")
    positives = models.PositiveIntegerField(help_text="labels above 0")
    matches = models.BinaryField(
        help_text="number of matches of each query, by position, then of each alias; uint32"
    )
    digest = Digest(max_length=64, help_text="sha256 of all that it holds")
    published_at = models.DateTimeField(auto_now_add=True)

    objects = BenchmarkQuerySet.as_manager()

    class Meta:
        ordering = ["name", "-version"]
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="benchmark_once")]

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Raises `Published` for a row that is there already."""
        if self.pk is not None:
            raise Published(f"Benchmark {self} is published and is not changed; publish another version.")
        super().save(*args, **kwargs)

    @property
    def goes_by_ids(self) -> bool:
        """Whether every id of the source counts by itself, also where several have one text."""
        return self.query_aliases + self.snippet_aliases > 0

    @property
    def query_count(self) -> int:
        """Queries, each id counted where it goes by ids."""
        return self.queries_until + self.query_aliases

    @property
    def snippet_count(self) -> int:
        """Snippets, counted so."""
        return self.snippets_until + self.snippet_aliases

    @property
    def match_counts(self) -> Places:
        """Number of matches of each query by position, then of its aliases, shape (queries + aliases,)."""
        import numpy as np

        return np.frombuffer(bytes(self.matches), dtype="<u4")

    @property
    def minings(self) -> list[Mining]:
        """Those whose candidates it was made of, the first one first; none where nobody knows."""
        if self.mining is None:
            return []
        return [self.mining, *self.extension_minings.order_by("pk")]

    @cached_property
    def has_judged_non_matches(self) -> bool:
        """Whether a query with a match has a snippet that is known to be none.

        Else a list of judged results alone is perfect by itself, as of CoSQA's pairs, one label a query.
        """
        if not 0 < self.positives < self.size:
            return False
        matches = self.labels.filter(relevance__gt=0, pair__query=models.OuterRef("pair__query"))
        return self.labels.filter(models.Exists(matches), relevance__lte=0).exists()


class BenchmarkLabel(models.Model):
    """A label as the benchmark holds it; a pair without one is unjudged, never a 0.

    Published in one transaction that has just read what its rows refer to, and never changed: the database
    does not look all that up again, which took five sixths of writing it. Django refuses to delete it.
    """

    benchmark = models.ForeignKey(
        Benchmark, on_delete=models.CASCADE, related_name="labels", db_index=False, db_constraint=False
    )
    pair = models.ForeignKey(
        Pair, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    relevance = models.FloatField(help_text="a match above 0; may be a mean of several labels")
    label = models.ForeignKey(
        Label,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,
        help_text="its source",
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "pair"], name="benchmark_pair_once")]

    def __str__(self) -> str:
        return f"{self.relevance:g} for pair {self.pair_id}"


class BenchmarkIdLabel(models.Model):
    """A label under ids, of a benchmark that goes by ids and a pair of which a text has several.

    Such a pair has one for each two ids that are judged; 0 is a member's own id, else an alias' number.
    """

    benchmark = models.ForeignKey(
        Benchmark, on_delete=models.CASCADE, related_name="id_labels", db_index=False
    )
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="+", db_index=False)
    query_alias = models.PositiveIntegerField(default=0)
    snippet_alias = models.PositiveIntegerField(default=0)
    relevance = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "pair", "query_alias", "snippet_alias"], name="benchmark_ids_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.relevance:g} for pair {self.pair_id} ({self.query_alias}, {self.snippet_alias})"


class Run(models.Model):
    """The ranked lists of one retrieval system for one benchmark; the same lists are stored once."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="runs", db_index=False)
    system = models.CharField(max_length=120)
    encoders = models.JSONField(default=list, help_text="names; empty for a run that came as a file")
    options = models.JSONField(default=dict, help_text="all else that decides the lists")
    text_option = models.CharField(max_length=24, blank=True, help_text="empty: not known")
    pool = models.CharField(max_length=10, choices=Pool)
    source = models.CharField(max_length=400, blank=True, help_text="name of the file")
    code_version = models.CharField(max_length=80)
    digest = Digest(max_length=64, help_text="sha256 of the lists")
    created_at = models.DateTimeField(auto_now_add=True)
    scored_at = models.DateTimeField(
        default=timezone.now,
        help_text="when its lists came last; of several runs of a system the last one stands",
    )

    class Meta:
        ordering = ["benchmark", "system", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "system", "text_option", "pool", "digest"], name="run_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.system} on {self.benchmark}"

    @property
    def title(self) -> str:
        """The system, and what of a snippet it searched, unless that is all: no two of `newest` are alike."""
        return self.system if self.text_option == "whole" else f"{self.system} ({self.text_told})"

    @property
    def text_told(self) -> str:
        """What of a snippet it searched, in words that can follow another."""
        return self.text_option or "text not known"


class RankedList(models.Model):
    """One query's results: positions in the benchmark's snippets, best first, and behind them its aliases."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="lists", db_index=False)
    query = models.ForeignKey(Text, on_delete=models.PROTECT, related_name="+", db_index=False)
    alias = models.PositiveIntegerField(
        default=0, db_default=0, help_text="number of the id that was asked; 0: the query's own"
    )
    data = models.BinaryField(help_text="uint32")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "query", "alias"], name="ranked_list_once")]

    def __str__(self) -> str:
        return f"{len(self.places)} results for query {self.query_id}"

    @property
    def places(self) -> Places:
        import numpy as np

        return np.frombuffer(bytes(self.data), dtype="<u4")

    @property
    def key(self) -> int:
        return query_key(self.query_id, self.alias)


def query_key(text: int, alias: int) -> int:
    """What a query goes by in memory: the id of its text; asked under an alias, that one's number below 0."""
    return -alias if alias else text


class Score(models.Model):
    """One measure of one run, query by query, in the order of the benchmark's queries; NaN = no match.

    `condensed` is the measure of the list without its unjudged results, `judged` the share of judged ones.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="scores", db_index=False)
    metric = models.CharField(max_length=40)
    values = models.BinaryField(help_text="float64")
    condensed = models.BinaryField(help_text="float64")
    judged = models.BinaryField(help_text="float64")
    digest = Digest(
        max_length=64, blank=True, help_text="sha256 of the three; empty for those kept before there was one"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "metric"], name="score_once")]

    def __str__(self) -> str:
        return f"{self.metric} of run {self.run_id}"
