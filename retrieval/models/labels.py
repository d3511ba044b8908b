"""Who labels, and what they said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from django.db import models

from retrieval.models.texts import Pair


def version_hash(config: dict[str, Any]) -> str:
    """sha256 (hex) of the canonical JSON of an annotator's configuration."""
    return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()


class Source(models.TextChoices):
    """Where a label comes from, from what counts most in a published benchmark to what counts least."""

    STUDY = "study", "majority of a blind study"
    ADJUDICATED = "adjudicated", "adjudicated in a blind study"
    ACCEPTED = "accepted", "written function that an expert accepted"
    REVIEWS = "reviews", "agreeing assisted reviews"
    AGENT = "agent", "agents"
    SIMILARITY = "similarity", "similar code"
    ORIGINAL = "original", "original data"


class Basis(models.TextChoices):
    """How a label came about: what users can cut by. A release says it of each label, within its hash.

    Empty where nobody knows, as of imported data. docs/data.md has the table.
    """

    CLEAR = "clear", "clear to the screener"
    SINGLE = "single", "one model alone"
    TESTED = "tested", "decided by the arbiter alone, after a test"
    AGREED = "agreed", "reader and arbiter agree"
    DISPUTED = "disputed", "reader and arbiter differ; the cases or a third judge decided"
    MERGED = "merged", "several rounds of agents, merged"
    PERSON = "person", "a person"


BASES: Final = ("", *Basis.values)
"""What a label can say of it; where there are many, they are held as places in this."""
ADJUDICATED: Final = ", adjudicated"
"""Ends what a study's label says of its source, where raters had no majority and somebody decided."""
MATCH_FROM: Final = 2
"""From which relevance on (0 to 3) a graded label says 1 where labels are compared as 0 and 1."""
WRITTEN: Final = "written functions"
"""What the annotator decides whose labels are an expert's acceptances of functions written for queries."""


def label_source_of(kind: str, config: Mapping[str, Any], assisted: bool, told: str = "") -> Source:
    """The source of a label, by its annotator's kind and configuration, whether it was assisted, and what it
    says itself of its source.

    An imported release says of its labels who gave them (`given_by`).
    """
    if kind == Annotator.Kind.ORIGINAL:
        given = config.get("given_by")
        return Source(given) if given in Source.values else Source.ORIGINAL
    if kind == Annotator.Kind.PERSON and config.get("decides") == WRITTEN:
        return Source.ACCEPTED
    if kind == Annotator.Kind.PERSON or "study" in config:
        blind = Source.ADJUDICATED if told.endswith(ADJUDICATED) else Source.STUDY
        return Source.REVIEWS if assisted else blind
    if kind == Annotator.Kind.SIMILARITY:
        return Source.SIMILARITY
    return Source.AGENT


def is_match(value: int, scale: str) -> bool:
    """Whether a label of that scale says that the snippet is a match: of relevances 2 (strong) and 3 (exact),
    as in a study that rates relevance; of other whole numbers all above 0.
    """
    return value >= (MATCH_FROM if scale == Label.Scale.GRADED else 1)


def filter_matching_labels(value: str = "value", scale: str = "scale") -> models.Q:
    """The same for a query, of the columns of those names."""
    graded = models.Q(**{scale: Label.Scale.GRADED, f"{value}__gte": MATCH_FROM})
    return graded | models.Q(models.Q(**{f"{value}__gte": 1}), ~models.Q(**{scale: Label.Scale.GRADED}))


class AnnotatorManager(models.Manager["Annotator"]):
    def version(self, kind: str, name: str, config: dict[str, Any]) -> Annotator:
        """The annotator with exactly this configuration; made once."""
        return self.get_or_create(
            kind=kind, name=name, version=version_hash(config), defaults={"config": config}
        )[0]


class Annotator(models.Model):
    """Who labels, versioned: any change of its configuration is another annotator."""

    class Kind(models.TextChoices):
        ORIGINAL = "original", "original data"
        AGENTS = "agents", "test-driven agents"
        SINGLE_LLM = "single_llm", "single LLM"
        PERSON = "person", "person"
        MERGE = "merge", "merge"
        SIMILARITY = "similarity", "code similarity"

    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=120)
    version = models.CharField(max_length=64)
    config = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AnnotatorManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "name", "version"], name="annotator_once")]

    def __str__(self) -> str:
        return f"{self.name} ({self.get_kind_display()}, {self.version[:8]})"


class Label(models.Model):
    """What one annotator said of one pair in one round; `value` null = the annotator took the label back,
    or could not judge.
    """

    class Scale(models.TextChoices):
        BINARY = "binary", "1 match, 0 no match"
        HALF = "half", "50 % match"
        GRADED = "graded", "0 to 3, as in CodeSearchNet"
        WHOLE = "whole", "whole numbers, as in TREC qrels"

    GRADES: Final = (Scale.GRADED, Scale.WHOLE)
    """Scales that are more than match and no match: the merge rule leaves them out."""

    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="labels", db_index=False)
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="labels")
    round = models.PositiveIntegerField(default=1)
    value = models.SmallIntegerField(null=True)
    scale = models.CharField(max_length=8, choices=Scale, default=Scale.BINARY)
    assisted = models.BooleanField(default=False, help_text="given with an agent's judgement on screen")
    source = models.CharField(max_length=200, blank=True)
    basis = models.CharField(
        max_length=8,
        choices=Basis,
        blank=True,
        default="",
        db_default="",
        help_text="how it came about; empty: not known",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pair", "annotator", "round"], name="label_once")]

    def __str__(self) -> str:
        return f"{self.value} for {self.pair} by {self.annotator}"


class LabelIds(models.Model):
    """Under which ids a source labelled a pair, of which a text has several there.

    A label without rows was said of the members' own ids. An empty id stands for all that the text has.
    """

    label = models.ForeignKey(Label, on_delete=models.CASCADE, related_name="ids", db_index=False)
    query_source_id = models.CharField(max_length=300, blank=True)
    snippet_source_id = models.CharField(max_length=300, blank=True)
    value = models.SmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["label", "query_source_id", "snippet_source_id"], name="label_ids_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.value} for {self.query_source_id} and {self.snippet_source_id}"
