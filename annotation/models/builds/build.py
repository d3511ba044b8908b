"""A build, its running totals, its history, and what models cost."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from django.conf import settings
from django.db import models
from django.utils.functional import cached_property

from annotation.stages import Stage
from retrieval.evaluation.merge_rule import FEWEST_REVIEWS
from retrieval.models import Annotator, Candidate, Collection, Mining, PairList, statements
from sandbox.reports.report import Rates

NANO = 1_000_000_000
"""Money is kept as whole nanodollars: exact on every database, and one token is still above 0."""

WRITING: Final = Decimal("1.25")
"""What a token costs that the provider's cache takes in for 5 minutes, in others: Anthropic's rule."""
WITHIN_CAP: Final = "(cap IS NULL OR cap >= spent + reserved + %s)"
"""A condition on a row of totals: so much more does not pass its cap."""
MOST_UNUSABLE_RUN: Final = 10
"""So many replies in a row that no agent can use, and a build asks nothing more until a person resumes it."""


MAY_ASK: Final = f"{WITHIN_CAP} AND unusable_run < %s"
"""The same, and its last replies were not all unusable."""


class ReviewRule(models.IntegerChoices):
    """What an expert's label does: how many have to agree before it counts instead of the agents'."""

    AT_ONCE = 1, "counts at once"
    AGREED = FEWEST_REVIEWS, "counts when two agree"


class Build(models.Model):
    """An admin's job: a mining, or given pairs, plus an annotation of its candidates, with a budget."""

    class State(models.TextChoices):
        RUNNING = "running"
        PAUSED = "paused"
        WAITING = "waiting", "waiting for provider"
        CANARY = "canary", "canary done: waiting for you"
        CANCELLED = "cancelled"
        FAILED = "failed"
        DONE = "done"

    class WaitsFor(models.TextChoices):
        PROVIDER = "provider"
        SANDBOX = "sandbox"
        DISK = "disk"
        REPLIES = "replies"

    class Provider(models.TextChoices):
        LIVE = "live", "live: asks the model named"
        EXCHANGE = "exchange", "file exchange: any model answers by file"
        RECORDED = "recorded", "recorded replies"

    name = models.CharField(max_length=120, unique=True)
    queries = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="builds_as_queries")
    snippets = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="builds_as_snippets")
    mining = models.ForeignKey(Mining, null=True, on_delete=models.PROTECT, related_name="builds")
    pair_list = models.ForeignKey(
        PairList,
        null=True,
        on_delete=models.PROTECT,
        related_name="builds",
        help_text="the pairs that it judges, in the place of a mining",
    )
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="builds")
    state = models.CharField(max_length=9, choices=State, default=State.RUNNING)
    provider = models.CharField(max_length=8, choices=Provider)
    recorded = models.CharField(max_length=400, blank=True, help_text="file of recorded replies")
    model = models.CharField(max_length=120)
    answered_by = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        help_text="the models that have answered by file, as whoever brought the replies named them",
    )
    limit = models.PositiveIntegerField(null=True, blank=True, help_text="at most so many pairs")
    rounds = models.PositiveSmallIntegerField(
        default=1, db_default=1, help_text="how often each pair is judged anew: so many cases has a pair"
    )
    reason = models.TextField(blank=True, help_text="why it waits, failed or was stopped")
    waits_for = models.CharField(max_length=8, choices=WaitsFor, default=WaitsFor.PROVIDER)
    waiting_since = models.DateTimeField(null=True, help_text="since when it waits for what is away")
    next_probe_at = models.DateTimeField(
        null=True, help_text="when what is away is tried next; none while it waits for a person"
    )
    probe_count = models.PositiveIntegerField(default=0, help_text="how often it was tried meanwhile")
    opened = models.BooleanField(default=False, help_text="its cases have been made")
    batches = models.BooleanField(
        default=False, db_default=False, help_text="screener and test writer are asked by batch"
    )
    for_experts = models.BooleanField(
        default=False, db_default=False, help_text="people judge its given pairs, no agent"
    )
    reviews_needed = models.PositiveSmallIntegerField(
        choices=ReviewRule,
        default=FEWEST_REVIEWS,
        db_default=FEWEST_REVIEWS,
        help_text="so many experts must agree before their label counts instead of the agents'",
    )
    hides_reviews = models.BooleanField(
        default=False,
        db_default=False,
        help_text="an expert sees others' labels of a pair once the own label is stored",
    )
    guideline = models.ForeignKey(
        "Guideline",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="builds",
        help_text="what its reviewers read; empty: the published rule",
    )
    estimate = models.JSONField(
        null=True, blank=True, help_text="what it was expected to take when somebody confirmed its launch"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    tally: Tally

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(mining__isnull=False, pair_list__isnull=True)
                | models.Q(mining__isnull=True, pair_list__isnull=False),
                name="build_of_one_source",
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_state_display(self) -> str:  # type: ignore[no-redef]  # Django makes one only where there is none
        """The state in words: also what a waiting build waits for."""
        if self.state == self.State.WAITING:
            return WAITING_WORDS[self.WaitsFor(self.waits_for)]
        return str(self.State(self.state).label)

    @property
    def answering_model(self) -> str:
        """Who answers, for people: as named with replies that came by file, else the model of the order."""
        return ", ".join(self.answered_by) or self.model

    @cached_property
    def looked_up(self) -> dict[str, Any]:
        """What was looked up for the build since it was read, as whoever works on a handful of cases does."""
        return {}

    @property
    def proposed(self) -> models.QuerySet[Candidate]:
        """The candidates of its mining, or of its given pairs."""
        of = {"pair_list": self.pair_list_id} if self.mining_id is None else {"mining": self.mining_id}
        return Candidate.objects.filter(**of)

    @property
    def own_mining(self) -> Mining:
        """Its mining, for what a build of given pairs has not got: it is refused before."""
        assert self.mining is not None, f"build {self.pk} judges given pairs"
        return self.mining

    @property
    def pair_count(self) -> int:
        """Its pairs, each of which has a case in every round; read it with its tally."""
        return self.tally.total // self.rounds

    @property
    def is_over(self) -> bool:
        return self.state in {self.State.CANCELLED, self.State.FAILED, self.State.DONE}


WAITING_WORDS: Final[Mapping[Build.WaitsFor, str]] = {
    Build.WaitsFor.PROVIDER: str(Build.State.WAITING.label),
    Build.WaitsFor.SANDBOX: "waiting for the sandbox",
    Build.WaitsFor.DISK: "waiting for room on the disk",
    Build.WaitsFor.REPLIES: "waiting for replies",
}
"""The state of a waiting build in words, by what it waits for."""


class Tally(models.Model):
    """A build's running totals: one row, changed in the transaction of each move, so that reading is O(1)."""

    build = models.OneToOneField(Build, on_delete=models.CASCADE, primary_key=True, related_name="tally")
    version = models.PositiveBigIntegerField(default=0, help_text="grows with every change: watch it")
    screening = models.PositiveIntegerField(default=0)
    reading = models.PositiveIntegerField(default=0, db_default=0)
    writing_test = models.PositiveIntegerField(default=0)
    executing = models.PositiveIntegerField(default=0)
    fixing = models.PositiveIntegerField(default=0)
    arbitrating = models.PositiveIntegerField(default=0)
    tie_breaking = models.PositiveIntegerField(default=0, db_default=0)
    settled = models.PositiveIntegerField(default=0)
    abandoned = models.PositiveIntegerField(default=0)
    matches = models.PositiveIntegerField(default=0, help_text="by the agents' own label")
    matches_in_force = models.PositiveIntegerField(
        default=0, db_default=0, help_text="by the label in force, whoever gave it"
    )
    no_matches_in_force = models.PositiveIntegerField(default=0, db_default=0)
    programs = models.PositiveIntegerField(default=0, help_text="generated programs that were executed")
    ran = models.PositiveIntegerField(default=0, help_text="of them, those that reached an assertion")
    asserted = models.PositiveIntegerField(default=0, help_text="of them, those that evaluated one")
    touched = models.PositiveIntegerField(default=0, help_text="of them, those that tested the candidate")
    second_tests = models.PositiveIntegerField(
        default=0, help_text="second programs that were executed, because the first tested nothing"
    )
    second_touched = models.PositiveIntegerField(
        default=0, help_text="of them, those that tested the candidate"
    )
    cleared = models.PositiveIntegerField(
        default=0, db_default=0, help_text="settled by the screener, without a test"
    )
    unclear = models.PositiveIntegerField(
        default=0, db_default=0, help_text="that the screener could not judge"
    )
    written = models.PositiveIntegerField(default=0, db_default=0, help_text="that got their test program")
    fixings = models.PositiveIntegerField(
        default=0, db_default=0, help_text="times that a module was missing and looked for"
    )
    test_cases = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="assertions in the programs written"
    )
    read = models.PositiveIntegerField(default=0, db_default=0, help_text="that the reader judged")
    disputed = models.PositiveIntegerField(
        default=0, db_default=0, help_text="on which reader and arbiter differed"
    )
    sound_tests = models.PositiveIntegerField(
        default=0, db_default=0, help_text="programs whose reference passed and whose neighbour failed"
    )
    screening_ms = models.PositiveBigIntegerField(default=0, db_default=0, help_text="worked in this stage")
    reading_ms = models.PositiveBigIntegerField(default=0, db_default=0)
    writing_test_ms = models.PositiveBigIntegerField(default=0, db_default=0)
    executing_ms = models.PositiveBigIntegerField(default=0, db_default=0)
    fixing_ms = models.PositiveBigIntegerField(default=0, db_default=0)
    arbitrating_ms = models.PositiveBigIntegerField(default=0, db_default=0)
    tie_breaking_ms = models.PositiveBigIntegerField(default=0, db_default=0)
    calls = models.PositiveIntegerField(default=0)
    provider_errors = models.PositiveIntegerField(
        default=0, help_text="errors of the provider since its last reply"
    )
    sandbox_errors = models.PositiveIntegerField(
        default=0, help_text="runs that the sandbox could not make since the last that it made"
    )
    usable_replies = models.PositiveIntegerField(
        default=0, db_default=0, help_text="of the live model, that an agent could use"
    )
    unusable_replies = models.PositiveIntegerField(
        default=0, db_default=0, help_text="of the live model, that no agent could use"
    )
    unusable_run = models.PositiveIntegerField(
        default=0, db_default=0, help_text="unusable replies since the last usable one, or since a resumption"
    )
    unusable_places = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        help_text="where the last unusable replies came among all counted ones, since a resumption",
    )
    last_unusable = models.ForeignKey(
        "LLMCall",
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
        db_constraint=False,
        help_text="the call with the newest unusable reply",
    )
    share_accepted = models.BooleanField(
        default=False, db_default=False, help_text="a person resumed after a share of unusable replies"
    )
    reused = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    cap = models.PositiveBigIntegerField(null=True, help_text="nanodollars; null = no cap")
    reserved = models.PositiveBigIntegerField(default=0, help_text="nanodollars")
    spent = models.PositiveBigIntegerField(default=0, help_text="nanodollars")

    def __str__(self) -> str:
        return f"{self.settled} of {self.total} settled"

    @property
    def judged_in_force(self) -> int:
        """Cases that have a label in force."""
        return self.matches_in_force + self.no_matches_in_force

    @property
    def total(self) -> int:
        return sum(getattr(self, stage) for stage in Stage)

    @property
    def open(self) -> int:
        """Cases that are neither settled nor abandoned."""
        return self.total - self.settled - self.abandoned

    @property
    def screened(self) -> int:
        """Cases that the screener has judged, clear or not."""
        return self.cleared + self.unclear

    @property
    def arbitrated(self) -> int:
        """Cases that were settled after a test."""
        return max(0, self.settled - self.cleared)

    @property
    def rates(self) -> Rates:
        """How many of the generated programs ran, asserted and touched the candidate."""
        return Rates(self.programs, self.ran, self.asserted, self.touched)

    def answered(self, usable: bool | None = None, **deltas: int) -> None:
        """The same as `change`, for a reply of the provider: its run of errors is over.

        `usable`: whether an agent can use the reply; None where that is not counted.
        """
        if usable is None:
            self._update(deltas, provider_errors=0)
        elif usable:
            self._update({**deltas, "usable_replies": 1}, provider_errors=0, unusable_run=0)
        else:
            self._update({**deltas, "unusable_replies": 1, "unusable_run": 1}, provider_errors=0)

    def change(self, **deltas: int) -> None:
        """Add `deltas` to the columns named, in one UPDATE, and grow the version."""
        self._update(deltas)

    def _update(self, deltas: Mapping[str, int], **values: int) -> None:
        grown = {name: delta for name, delta in deltas.items() if delta}
        statements.update_rows(Tally, {"build": self.pk}, put=values, grow={**grown, "version": 1})

    def reserve(self, amount: int) -> bool:
        """Reserve `amount` nanodollars; says whether it did.

        It does not where that would pass the cap, or where the last replies were unusable.
        """
        row, grown, values = {"build": self.pk}, {"reserved": amount}, [amount, MOST_UNUSABLE_RUN]
        return statements.update_rows(Tally, row, grow=grown, provided=MAY_ASK, values=values) == 1


class BuildEvent(models.Model):
    """What somebody did to a build, when and why; appended, never changed."""

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="events")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    event = models.CharField(max_length=40)
    note = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"{self.event} of {self.build}"


class PriceQuerySet(models.QuerySet["Price"]):
    def at(self, model: str, moment: datetime) -> Price | None:
        """The price of `model` in force at `moment`, or None."""
        return self.filter(model=model, effective_from__lte=moment).order_by("-effective_from").first()


class Price(models.Model):
    """Dollars per million tokens of one model from a date on."""

    model = models.CharField(max_length=120)
    effective_from = models.DateTimeField()
    input = models.DecimalField(max_digits=12, decimal_places=6)
    output = models.DecimalField(max_digits=12, decimal_places=6)
    cache_read = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="input that was read from the provider's cache; empty = as other input",
    )
    cache_write = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="input that was written to it; empty = 1.25 times other input, Anthropic's rule for the "
        "cache of 5 minutes that our requests ask for",
    )
    note = models.CharField(max_length=200, blank=True)
    source = models.CharField(
        max_length=200, blank=True, help_text="where a shipped price was read; empty = a person entered it"
    )

    objects = PriceQuerySet.as_manager()

    class Meta:
        ordering = ["model", "-effective_from"]
        constraints = [models.UniqueConstraint(fields=["model", "effective_from"], name="price_once")]

    def __str__(self) -> str:
        return f"{self.model} from {self.effective_from:%Y-%m-%d}"

    def cost(self, input_tokens: int, output_tokens: int, cache_read: int = 0, cache_write: int = 0) -> int:
        """Nanodollars of one call (dollars per million tokens × tokens × 1,000)."""
        dollars_per_million = (
            self.input * input_tokens
            + self.output * output_tokens
            + self.of_reading * cache_read
            + self.of_writing * cache_write
        )
        return int(dollars_per_million * (NANO // 1_000_000))

    @property
    def is_used(self) -> bool:
        """Whether a call was made at it: then it is history."""
        return self.calls.exists()

    def most(self, input_tokens: int, output_tokens: int) -> int:
        """Nanodollars that a call costs at most, wherever the provider's cache takes a part in its input."""
        dearest = max(self.input, self.of_reading, self.of_writing)
        return int((dearest * input_tokens + self.output * output_tokens) * (NANO // 1_000_000))

    @property
    def of_reading(self) -> Decimal:
        """A token that the provider's cache had costs what any other does, unless somebody says otherwise."""
        return self.input if self.cache_read is None else self.cache_read

    @property
    def of_writing(self) -> Decimal:
        return WRITING * self.input if self.cache_write is None else self.cache_write
