"""Minings and the candidates that they found."""

from __future__ import annotations

from django.db import models

from retrieval.filters import USUAL_RULE
from retrieval.fusion import WORDS, Fusion
from retrieval.models.collections import Collection
from retrieval.models.texts import Pair, Text
from retrieval.nearest import INDEXES


class Mining(models.Model):
    """One run that finds, for each query, its top-k snippets by the average score of several encoders."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    queries = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="minings_as_queries")
    snippets = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="minings_as_snippets")
    encoders = models.JSONField(help_text="names, in the order of the scores")
    k = models.PositiveIntegerField(default=20)
    limit = models.PositiveIntegerField(null=True, blank=True, help_text="only the first so many queries")
    chosen = models.JSONField(
        default=list, blank=True, help_text="positions of its queries; empty = the first so many"
    )
    seed = models.PositiveBigIntegerField(null=True, blank=True, help_text="drew those of them that are new")
    until = models.PositiveIntegerField(
        null=True, blank=True, help_text="only snippets before this position; noted when it is performed"
    )
    rule = models.PositiveIntegerField(default=int(USUAL_RULE))
    query_rule = models.PositiveIntegerField(
        default=0, db_default=0, help_text="bits of retrieval.filters.queries.QueryRule"
    )
    text_option = models.CharField(max_length=24, default="whole")
    fusion = models.CharField(max_length=8, choices=tuple(WORDS.items()), default=Fusion.MEAN.value)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    done = models.PositiveIntegerField(default=0, help_text="units of work finished")
    total = models.PositiveIntegerField(default=0)
    phase = models.CharField(max_length=80, blank=True, help_text="what is being done, for people")
    message = models.TextField(blank=True, help_text="why it failed")
    identities = models.JSONField(null=True, help_text="by encoder: weights, options and precision")
    revisions = models.JSONField(
        null=True, help_text="by encoder of the hub: the commit that was loaded by whoever began"
    )
    approximate = models.CharField(
        max_length=4, choices=tuple(INDEXES.items()), blank=True, help_text="empty: exact search"
    )
    recall = models.JSONField(
        null=True, help_text="of an approximate index: what share of exact search it found, on a sample"
    )
    asked = models.JSONField(
        null=True, help_text="by encoder of a server: model, requests, tokens, and answers that named none"
    )
    recovered = models.JSONField(null=True, help_text="counts of human matches, and of those that it found")
    overlaps = models.JSONField(
        null=True, help_text="what every two encoders alone have in common, on a sample of the queries"
    )
    lease_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    @property
    def searched(self) -> str:
        """How snippets were searched, in words."""
        if not self.approximate:
            return "exact"
        found = self.recall
        measured = (
            f"{100 * found['recall']:.1f} % of the top {found['k']} of exact search, "
            f"measured on {found['queries']:,} queries drawn by seed {found['seed']}"
            if found
            else "not measured yet"
        )
        return f"{self.get_approximate_display()}: {measured}"

    @property
    def recovery(self) -> str:
        """What share of the human matches that came with the data it found, in words; empty of none."""
        about = self.recovered
        if not about or not about["matches"]:
            return ""
        found, matches = about["found"][str(self.k)], about["matches"]
        left_out = (
            f"; {about['outside']:,} more have a function that it did not search" if about["outside"] else ""
        )
        return (
            f"{100 * found / matches:.1f} % of {matches:,} human matches are among the top {self.k} "
            f"({found:,} found){left_out}"
        )

    def __str__(self) -> str:
        return f"top {self.k} of {self.snippets} for {self.queries} by {', '.join(self.encoders)}"


class MiningPart(models.Model):
    """Some of a mining's snippets, those from number `start` to `stop`, which one worker searches."""

    mining = models.ForeignKey(Mining, on_delete=models.CASCADE, related_name="parts", db_index=False)
    number = models.PositiveIntegerField(help_text="from 1")
    start = models.PositiveIntegerField()
    stop = models.PositiveIntegerField()
    worker = models.CharField(max_length=32, blank=True, help_text="who works on it, or did")
    lease_until = models.DateTimeField(null=True)
    found = models.BinaryField(null=True, help_text="its lists, as retrieval.mining.lists stores them")

    alone = models.BinaryField(null=True, help_text="each encoder's own lists for a sample of the queries")
    largest = models.BinaryField(
        null=True, help_text="each encoder's largest score for each query, where a fusion divides by it"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["mining", "number"], name="mining_part_once")]

    def __str__(self) -> str:
        return f"part {self.number} of {self.mining}"


class MiningShared(models.Model):
    """What all parts of a mining rest on, computed once: such as how many of all snippets have a term."""

    mining = models.ForeignKey(Mining, on_delete=models.CASCADE, related_name="shared", db_index=False)
    name = models.CharField(max_length=400, help_text="what of which encoder")
    content = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["mining", "name"], name="mining_shared_once")]

    def __str__(self) -> str:
        return f"{self.name} of {self.mining}"


class Candidate(models.Model):
    """(query, snippet) proposed by a mining, with its rank (from 1), mean score and each encoder's score.

    Or one of a list of given pairs: its rank is its place among those of its query, and it has no score.
    """

    mining = models.ForeignKey(
        Mining, null=True, on_delete=models.CASCADE, related_name="candidates", db_index=False
    )
    pair_list = models.ForeignKey(
        "retrieval.PairList",
        null=True,
        on_delete=models.CASCADE,
        related_name="candidates",
        db_index=False,
    )
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="candidates", db_index=False)
    query = models.ForeignKey(Text, on_delete=models.PROTECT, related_name="+", db_index=False)
    rank = models.PositiveIntegerField()
    score = models.FloatField()
    scores = models.JSONField(help_text="by encoder: what entered the mean, and the raw score")

    class Meta:
        ordering = ["mining", "query", "rank"]
        constraints = [
            models.UniqueConstraint(fields=["mining", "query", "rank"], name="candidate_rank_once"),
            models.UniqueConstraint(fields=["mining", "pair"], name="candidate_pair_once"),
            models.UniqueConstraint(
                fields=["pair_list", "query", "rank"],
                condition=models.Q(pair_list__isnull=False),
                name="given_rank_once",
            ),
            models.UniqueConstraint(
                fields=["pair_list", "pair"],
                condition=models.Q(pair_list__isnull=False),
                name="given_pair_once",
            ),
            models.CheckConstraint(
                condition=models.Q(mining__isnull=False, pair_list__isnull=True)
                | models.Q(mining__isnull=True, pair_list__isnull=False),
                name="candidate_of_one_source",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rank}. {self.pair}"
