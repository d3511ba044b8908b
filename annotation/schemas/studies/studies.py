"""What the API says of studies. Plain data, as in `schemas`."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Self

from ninja import Schema
from pydantic import ConfigDict, Field

from annotation.schemas.shared.fields import Body, CleanText, Ref
from retrieval.schemas import Id, Paging, RowSchema

StudyState = Literal["draft", "running", "paused", "closed"]
ConditionKind = Literal["reading", "own_tests", "agents_tests", "reveal", "second_look"]


class Stratifier(StrEnum):
    """What pairs can be told apart by before anybody has rated them."""

    words: str
    """For people."""

    def __new__(cls, value: str, words: str = "") -> Self:
        made = str.__new__(cls, value)
        made._value_, made.words = value, words
        return made

    LABEL = "label", "the agents' label"
    SCREENER = "screener", "the screener's value"
    EXECUTABLE = "executable", "whether the test program ran"
    DISAGREEMENT = "disagreement", "whether builds or rounds disagree"
    RANK = "rank", "the rank (1, 2 to 5, 6 to 10, after 10)"


class Allocation(StrEnum):
    """How a sample is divided among strata."""

    PROPORTIONAL = "proportional"
    EQUAL = "equal"


class SampleWish(Body):
    """Which pairs are drawn: `size` by `seed`, from crossed strata or none."""

    model_config = ConfigDict(frozen=True)

    size: int = Field(ge=1, le=20_000)
    seed: int = Field(default=1, ge=0, le=2**53)
    per_query: int = Field(default=1, ge=0, le=1000, description="0: no limit")
    strata: tuple[Stratifier, ...] = Field(default=(), max_length=5)
    allocation: Allocation = Allocation.PROPORTIONAL


class ConditionIn(Body):
    """One condition with its ratings a pair."""

    kind: ConditionKind
    raters: int = Field(3, ge=1, le=100)
    seconds: float | None = Field(None, ge=1, le=36_000, description="a rating is assumed to take so long")


class RaterIn(Body):
    """An expert in one condition."""

    user: CleanText = Field(max_length=150, description="name of the account")
    condition: ConditionKind
    capacity: int = Field(ge=1, le=100_000, description="pairs that they can be given, planted ones included")


class AssumedRates(Body):
    """What the planner simulates for the draft: a pilot's rates, or shares that are assumed; null: its usual.

    What a pilot can't tell (clustering, where it has one pair a query) stays as typed.
    """

    model_config = ConfigDict(frozen=True)

    pilot: Id | None = Field(default=None, description="id of a study with ratings that somebody has started")
    prevalence: float | None = Field(default=None, ge=0, le=1, description="share of matches")
    rater_accuracy: float | None = Field(default=None, ge=0, le=1)
    annotator_accuracy: float | None = Field(default=None, ge=0, le=1)
    clustering: float | None = Field(
        default=None, ge=0, le=1, description="similarity of a query's pairs; 0: none"
    )
    skipped: float | None = Field(default=None, ge=0, le=1)

    def typed(self) -> dict[str, float]:
        """Those that are assumed, by name."""
        return self.dict(exclude={"pilot"}, exclude_none=True)


class StudyIn(Body):
    """A study to be made as a draft."""

    name: CleanText = Field(min_length=1, max_length=120)
    builds: list[Ref] = Field(min_length=1, max_length=50, description="names or ids")
    sample: SampleWish
    conditions: list[ConditionIn] = Field(min_length=1, max_length=5)
    raters: list[RaterIn] = Field(default_factory=list, max_length=500)
    kind: Literal["rating", "pairwise"] = "rating"
    purpose: Literal["development", "sealed"] = "development"
    scale: Literal["binary", "steps", "graded", "preference"] = "binary"
    question: CleanText = Field("", max_length=20_000)
    information: CleanText = Field("", max_length=20_000)
    order: Literal["spaced", "by_query"] = "spaced"
    docstring: Literal["shown", "folded", "hidden"] = "shown"
    ties: bool = False
    one_more: bool = Field(False, description="where the planned raters of a pair split, one more is asked")
    asks_profile: bool = Field(False, description="raters must say who they are before their first pair")
    practice: bool = Field(
        False, description="raters read the right label of each onboarding pair after theirs"
    )
    needs_run: bool = Field(
        True,
        description="under own tests a label needs a finished run of the rater's own program, or a reason "
        "why no test is possible",
    )
    shows_origin: bool = Field(
        False, description="raters have a link to where the function comes from, where the import stored one"
    )
    guideline: Ref | None = Field(None, description="name (its newest version), `name@version` or id")
    against: Id | None = Field(None, description="pairwise: id of the annotator of imported labels")
    planted: CleanText = Field("", max_length=2_000_000, description="CSV of planted pairs")
    reference: ConditionKind = "own_tests"
    comparisons: list[tuple[CleanText, CleanText]] = Field(default_factory=list, max_length=50)
    margin: float | None = Field(None, gt=0, lt=1)
    exclusions: CleanText = Field("", max_length=20_000)
    hourly_rate: float = Field(0, ge=0, le=10_000, description="dollars, for the cost that is shown")
    rates: AssumedRates | None = None


class StudyPage(Paging):
    """Which studies of the list."""

    state: StudyState | None = None


class StudyOut(RowSchema):
    """One study of the list."""

    id: int
    name: str
    state: StudyState
    kind: str
    purpose: str
    scale: str
    pairs: int = Field(description="sampled; planted ones are not counted", validation_alias="planned_pairs")
    frozen_at: datetime | None
    plan_hash: str = Field(description="sha256 of the plan's canonical JSON; empty until it is frozen")
    created_by: str | None = Field(
        description="null where a command made it", validation_alias="created_by.username"
    )
    created_at: datetime


class ConditionOut(Schema):
    """How far a condition is."""

    word: str
    raters: int
    wanted: int
    done: int
    open: int
    complete: int = Field(description="pairs with all ratings that are planned")
    pairs: int
    seconds: float | None = Field(description="median active time of a rating")


class OutlookOut(Schema):
    """What a draft will take."""

    pairs: int
    queries: int
    ratings: int
    hours: float
    dollars: float
    problems: list[str] = Field(description="what stops it from starting")
    warnings: list[str]


class StudyDetail(StudyOut):
    """One study with its plan and its progress."""

    question: str
    plan: dict[str, Any] = Field(description="the frozen plan, else the current one")
    progress: list[ConditionOut]
    outlook: OutlookOut | None = Field(description="of a draft")
    last_change: int = Field(description="send it as `seen_change`, so that nobody's change is replaced")


class StudyControl(Body):
    """What is to be done with a study."""

    action: Literal["start", "pause", "resume", "close", "delete"]
    reason: CleanText = Field("", max_length=2_000)


class StudyPublicationOut(Schema):
    """The labels that publishing a study would give."""

    labels: int
    by_majority: int
    by_adjudication: int
    undecided: int = Field(description="pairs without a verdict; they get no label")


class StudyPublished(Schema):
    """What was published."""

    labels: int
    annotator: int = Field(description="id of the study's own annotator, whose labels they are")


class StudyControlled(Schema):
    """The state afterwards; null where the draft was deleted."""

    state: StudyState | None


class StudyRatingOut(RowSchema):
    """One revision of a rating, under its pseudonym."""

    pair: int = Field(description="number of the pair in the study")
    query: str = Field(description="sha256 of the query's text")
    query_text: str = Field(description="its beginning")
    function: str = Field(validation_alias="snippet", description="sha256 of the function's text")
    other_function: str | None = Field(
        validation_alias="other_snippet", description="pairwise: of the second function"
    )
    swapped: bool = Field(description="pairwise: the second function stood on the left")
    planted: str
    condition: str
    rater: str = Field(description="pseudonym, the same in every export")
    round: int
    phase: str
    revision: int
    withdrawn: bool
    value: int | None
    reason: str
    notes: str
    tags: list[str]
    seconds: float
    guidelines: int | None = Field(description="version")
    docstring: str
    evidence: str = Field(description="sha256 of what was on screen")
    created_at: datetime
    reading: str = Field(description="how the rater read the query")
    stratum: str
    probability: float = Field(description="of the pair being in the sample")
    calls: int = Field(description="how many the rating rests on")
    runs: int = Field(description="how many the rating rests on")
    calls_sha256: list[str] = Field(description="of each call's expression")
    runs_sha256: list[str] = Field(description="of each run's program")
    query_whole: str
    state: str = Field(description="of the assignment; left_out: in no figure, its place is another rater's")
    answer: int | None = Field(description="the known value of a planted pair")
    excluded: bool = Field(description="the rater is left out of every figure")
    excluded_by: int | None = Field(description="number of the amendment that did it")
    excluded_why: str = Field(description="the rule, as that amendment gives it")
    marked_first: int | None = Field(description="first line of the function marked as the reason")
    marked_last: int | None = Field(description="last of these lines")
    marked_code: str = Field(description="sha256 of the function with these lines; empty for none")
    no_test: str = Field(description="why no test is possible, where the plan asks for a run")


class RatingPage(Paging):
    """Which ratings; `after` counts revisions."""
