"""Every request to a language model and its reply, stored before the reply is used."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from django.db import models
from django.db.models import Q

from annotation.llm import Request, Usage
from annotation.models.builds.batches import Batch, compute_batch_price
from annotation.models.builds.build import Build, Price
from annotation.models.common import load_common_text
from retrieval.models import Annotator, Blob, statements

RERANKS: Final = "reranks"
"""In the configuration of an annotator that ranks results of a search: its build has no cases."""


class SystemText(Blob):
    """The fixed rules of an agent: the same for many requests."""


class RequestText(Blob):
    """A whole request as canonical JSON, its system text left out."""

    common = load_common_text("requests")


class ReplyText(Blob):
    """A reply, word for word."""

    common = load_common_text("replies")


@dataclass(frozen=True)
class Attempts:
    """What has been asked with one request so far: of each attempt its number, its row and its status."""

    rows: tuple[tuple[int, int, str, str], ...]

    @classmethod
    def at(cls, digest: str) -> Attempts:
        """Those of the request whose hash is `digest`, in one look."""
        columns = ("attempt", "id", "status", "provider")
        return cls(tuple(sorted(statements.select_columns(LLMCall, columns, {"digest": digest}))))

    @property
    def next(self) -> int:
        """The number of another attempt."""
        return 1 + max((number for number, *_ in self.rows), default=0)

    def all(self, status: str) -> list[int]:
        """The rows of all attempts of that status."""
        return [row for _, row, its, _ in self.rows if its == status]

    def first(self, status: str, provider: str | None = None) -> int | None:
        """The row of the first attempt of that status (by that provider)."""
        wanted = (row for _, row, its, by in self.rows if its == status and provider in (None, by))
        return next(wanted, None)


class LLMCallQuerySet(models.QuerySet["LLMCall"]):
    def answered(self, digest: str) -> LLMCall | None:
        """The successful call of this request, if there is one: it is never paid twice."""
        return self.filter(digest=digest, status=LLMCall.Status.SUCCEEDED).select_related("reply").first()


class LLMCall(models.Model):
    """One attempt at one request. `digest` is the request's hash and the call's id in exchange files."""

    class Status(models.TextChoices):
        RESERVED = "reserved"
        WAITING = "waiting", "waiting for a reply by file"
        BATCHED = "batched", "in a batch, which ends later"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        UNUSABLE = "unusable", "no answer that can be used; its build does not ask again by itself"
        UNKNOWN = "unknown", "no word came back; counted at its bound"

    digest = models.CharField(max_length=64)
    attempt = models.PositiveIntegerField(default=1)
    status = models.CharField(max_length=9, choices=Status)
    agent = models.CharField(max_length=40)
    model = models.CharField(max_length=120)
    batch = models.ForeignKey(
        Batch, on_delete=models.PROTECT, null=True, related_name="calls", help_text="it costs half in one"
    )
    provider = models.CharField(max_length=120, help_text="which LLM answered: live, recorded:NAME, exchange")
    build = models.ForeignKey(
        Build, on_delete=models.PROTECT, related_name="calls", db_index=False, help_text="who pays"
    )
    system = models.ForeignKey(SystemText, on_delete=models.PROTECT, related_name="+", db_index=False)
    request = models.ForeignKey(RequestText, on_delete=models.PROTECT, related_name="+", db_index=False)
    reply = models.ForeignKey(
        ReplyText, on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )
    error = models.TextField(blank=True)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cache_read_tokens = models.PositiveIntegerField(default=0)
    cache_write_tokens = models.PositiveIntegerField(default=0)
    price = models.ForeignKey(Price, on_delete=models.PROTECT, null=True, related_name="calls")
    bound = models.PositiveBigIntegerField(default=0, help_text="nanodollars reserved for it")
    cost = models.PositiveBigIntegerField(default=0, help_text="nanodollars")
    latency = models.FloatField(null=True, help_text="seconds")
    answered_by = models.CharField(max_length=120, blank=True, help_text="the model that the reply names")
    provider_id = models.CharField(max_length=120, blank=True, help_text="the provider's id of the call")
    stop_reason = models.CharField(max_length=40, blank=True)
    expires_at = models.DateTimeField(null=True, help_text="when a reservation counts as lost")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    objects = LLMCallQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest", "attempt"], name="call_attempt_once")]
        indexes = [
            models.Index(fields=["build", "status", "id"], name="call_by_build_and_status"),
            models.Index(fields=["model"], condition=Q(status="reserved"), name="call_in_the_air"),
        ]

    def whole_request(self) -> Request:
        """The request as it was asked; its digest is this call's."""
        return Request.from_dict(json.loads(self.request.text) | {"system": self.system.text})

    def cost_of(self, usage: Usage) -> int:
        """Nanodollars that these tokens cost: half in a batch, 0 where the model has no price."""
        if self.price is None:
            return 0
        tokens = usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens
        whole = self.price.cost(*tokens)
        return whole if self.batch_id is None else compute_batch_price(whole)

    def __str__(self) -> str:
        return f"{self.agent} {self.digest[:12]} ({self.status})"


@dataclass(frozen=True)
class BuildQuestion:
    """Asks for a build whose requests belong to no case: see `annotation.builds.pipeline.llm_calls`."""

    build: Build
    round: int = 1

    @property
    def annotator(self) -> Annotator:
        return self.build.annotator

    @property
    def build_id(self) -> int:
        return self.build.pk


HOLDING: Final = frozenset({LLMCall.Status.RESERVED, LLMCall.Status.BATCHED})
"""The states in which a call has its bound reserved."""
OVER: Final = frozenset({LLMCall.Status.SUCCEEDED, LLMCall.Status.FAILED, LLMCall.Status.UNUSABLE})
"""The states of a call whose cost is known for good."""
IN_WORK: Final = frozenset({LLMCall.Status.WAITING, LLMCall.Status.BATCHED})
"""The states in which a call has no reply yet, and cases wait for it without a worker."""
