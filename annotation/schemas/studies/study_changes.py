"""What the API takes and says of changes of a study: its plan, raters, rounds, and what is scored on it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from ninja import Schema
from pydantic import Field

from annotation.schemas.shared.fields import Body, CleanText, Ref
from annotation.schemas.studies.studies import ConditionKind, OutlookOut, RaterIn, StudyIn
from retrieval.schemas import LARGEST_ID, RowSchema

LONGEST_WHY = 2_000


class SeenChange(Body):
    """Beside which change of the study this was decided."""

    seen_change: int = Field(
        -1, ge=-1, le=LARGEST_ID, description="`last_change` of the study as you read it; -1 = any"
    )


class RedrawIn(StudyIn, SeenChange):
    """A draft as another order has it."""


class StudyEstimateIn(StudyIn):
    """A study that is not stored, and what is simulated for it."""

    simulate: Literal["nothing", "precision", "size"] = Field(
        "nothing", description="precision: how sure it will be; size: the smallest that is sure enough"
    )


class StudyEstimateOut(Schema):
    """What a study would take. Nothing is stored."""

    outlook: OutlookOut
    simulated: dict[str, Any] | None = Field(description="null where nothing was to be simulated")


class AmendIn(SeenChange):
    """What the plan says otherwise. What is left out stays; null takes away."""

    question: CleanText = Field("", max_length=20_000)
    comparisons: list[tuple[CleanText, CleanText]] = Field(default_factory=list, max_length=50)
    reference: ConditionKind = "own_tests"
    margin: float | None = Field(None, gt=0, lt=1)
    exclusions: CleanText = Field("", max_length=20_000)
    information: CleanText = Field("", max_length=20_000)
    guideline: Ref | None = Field(None, description="name (its newest version), `name@version` or id")
    reason: CleanText = Field("", max_length=LONGEST_WHY, description="needed once the plan is frozen")


class AddRaterIn(RaterIn):
    """Another rater."""

    reason: CleanText = Field("", max_length=LONGEST_WHY, description="needed once the plan is frozen")


class RaterChangeIn(Body):
    """What becomes of a rater."""

    action: Literal["capacity", "remove", "include"] = Field(
        description="capacity: so many pairs; remove: no more pairs; include: an excluded one counts again"
    )
    capacity: int | None = Field(None, ge=1, le=100_000, description="of the action capacity")
    exclude: bool = Field(False, description="remove: leave the ratings out of every figure")
    reason: CleanText = Field("", max_length=LONGEST_WHY)


class RaterOut(RowSchema):
    """A rater of a study, and how far they are. Assignments are counted."""

    id: int
    user: str = Field(validation_alias="user.username")
    pseudonym: str
    condition: ConditionKind = Field(validation_alias="condition.kind")
    capacity: int
    given: int
    done: int
    open: int
    skipped: int
    lapsed: int
    left_out: int
    excluded: bool = Field(description="left out of every figure")
    left_at: datetime | None
    finished_at: datetime | None


class RaterChanged(Schema):
    """What a change of a rater did."""

    rater: RaterOut | None = Field(description="null: a draft's rater was taken away")
    freed: int = Field(description="places of ratings that others can take now")
    counted: int = Field(description="ratings that count again")
    taken: int = Field(description="ratings that stay left out, as others have their places")


class RepeatChoice(Body):
    """Which rated pairs are asked again; all that is given has to hold."""

    tag: CleanText = Field("", max_length=40, description="that a rater gave")
    text: CleanText = Field("", max_length=200, description="anywhere in query, code or notes")
    slice: CleanText = Field("", max_length=200, description="a stratum, or `split` where raters differ")
    every: bool = Field(False, description="every rated pair")


class RepeatIn(RepeatChoice):
    """The same, and why."""

    reason: CleanText = Field(min_length=1, max_length=LONGEST_WHY)


class TakersOut(RowSchema):
    """Who could take the pairs of another round in one condition."""

    condition: str
    planned: int = Field(description="ratings a pair")
    fewest: int = Field(description="raters that could take a pair, the fewest of any pair")
    most: int
    short: int = Field(description="pairs that fewer raters could take than are planned")


class RepeatEstimate(Schema):
    """What another round would be."""

    pairs: int
    takers: list[TakersOut]


class Repeated(Schema):
    """How many pairs are asked again."""

    pairs: int


class GiveUpIn(Body):
    """Why planned ratings that nobody can give are waited for no more."""

    reason: CleanText = Field(min_length=1, max_length=LONGEST_WHY)


class GivenUp(Schema):
    """How many planned ratings are waited for no more."""

    ratings: int


class VersionOut(RowSchema):
    """A version of an annotator."""

    id: int
    name: str
    version: str


class ScoresOut(Schema):
    """Which annotator versions are scored on a sealed study, and which are not yet."""

    waiting: list[VersionOut]
    scored: list[VersionOut]


class SealedScoreIn(Body):
    """Which versions are scored: that stays with the study for ever."""

    versions: list[Ref] = Field(
        min_length=1, max_length=100, description="ids, names, or beginnings of versions, of those that wait"
    )
