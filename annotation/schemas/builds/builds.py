"""What the API takes and says of builds: ordered, controlled, read."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import AliasChoices, Field, model_validator

from annotation.schemas.shared.estimates import EstimateFigures
from annotation.schemas.shared.fields import (
    Body,
    BuildState,
    CleanObject,
    CleanText,
    Dollars,
    Provider,
    Ref,
    RuleChoice,
    Unconfirmed,
)
from annotation.stages import Stage
from retrieval.filters import TextOption
from retrieval.schemas import Id, Paging, RowSchema


class GivenPairs(Body):
    """Pairs to judge, in the place of a mining: those that a benchmark labels, or of a list that is there."""

    benchmark: Ref | None = Field(
        None,
        description="a benchmark, by id, `name` (its newest version) or `name@version`: its labelled pairs",
    )
    list: Id | None = Field(None, description="id of a list, as POST /api/pairs gives it")

    @model_validator(mode="after")
    def of_one(self) -> GivenPairs:
        if (self.benchmark is None) == (self.list is None):
            raise ValueError("name a benchmark or a list")
        return self


class PairIn(Body):
    """A pair by its texts, or by the ids of members of the collections that are named."""

    query: CleanText = Field("", max_length=100_000)
    code: CleanText = Field("", max_length=1_000_000)
    query_id: CleanText = Field("", max_length=300)
    function_id: CleanText = Field("", max_length=300)
    label: Literal[0, 1] | None = Field(None, description="what it came with; null = it has none")


class PairsIn(Body):
    """Pairs that become a list; without collections their texts become two, as their labels a benchmark."""

    name: CleanText = Field(min_length=1, max_length=120, description="of the collections and the benchmark")
    queries: Ref | None = Field(None, description="name or id of the collection that query ids are of")
    functions: Ref | None = Field(None, description="name or id of the collection that function ids are of")
    pairs: Annotated[list[PairIn], Field(min_length=1, max_length=10_000)]


class Order(Body):
    """A build to launch. What is left out has the value shown."""

    name: CleanText = Field(max_length=120)
    queries: Ref | None = Field(
        None, description="name (its newest version), `name@version` or id of a collection of queries"
    )
    functions: Ref | None = Field(None, description="the same of functions; a mining needs both")
    encoders: list[CleanText] | None = Field(
        None,
        min_length=1,
        max_length=8,
        examples=[["bm25", "bow"]],
        description="of a mining; null = bm25 and bow, of the profile `paper` the paper's",
    )
    pairs: GivenPairs | None = Field(
        None,
        description="judge these pairs and mine nothing; several builds of the same pairs have one audit",
    )
    k: int = Field(20, ge=1, le=1000, description="candidates a query")
    provider: Provider = Field("exchange", description="live asks the model; exchange waits for files")
    model: CleanText = Field("any", min_length=1, max_length=120)
    budget: Decimal | None = Field(
        None, ge=0, le=1_000_000, decimal_places=6, description="dollars; null = no cap"
    )
    price_in: Decimal | None = Field(
        None,
        ge=0,
        le=1_000_000,
        decimal_places=6,
        description="dollars per million tokens in, for the estimate; a launch keeps it as the model's price",
    )
    price_out: Decimal | None = Field(
        None, ge=0, le=1_000_000, decimal_places=6, description="the same of tokens out; both or neither"
    )
    unpriced: bool = Field(
        False, description="ask a live model whose price nobody has entered: costs count as nothing"
    )
    skip_canary: CleanText = Field(
        "",
        max_length=400,
        description="why a large live build may ask for all pairs at once; empty = its canary comes first",
    )
    drift_check: bool = Field(
        False, description="ask a few fixed pairs again and again: is the live model still the same?"
    )
    batches: bool = Field(
        False, description="ask screener and test writer by batch: half the price, answers within a day"
    )
    limit: Id | None = Field(None, description="at most so many pairs; null = all")
    rule: RuleChoice = Field("testable_by_call", description="which functions are mined")
    query_rules: list[Literal["english", "no_identifier", "distinct"]] = Field(
        default_factory=list, description="which queries are mined: those that pass all of these; none = all"
    )
    text_option: TextOption = Field("whole", description="what text of a function is searched")
    fusion: Literal["mean", "maxabs"] = Field(
        "mean", description="mean of the encoders' scores, or each first divided by its largest for the query"
    )
    approximate: Literal["", "hnsw", "ivf"] = Field(
        "", description="search vectors by an approximate index, whose recall is measured; empty = exactly"
    )
    fix_rounds: int = Field(2, ge=0, le=10, description="how often a missing module is looked for")
    annotator: Literal["agents", "single_exact", "single_half"] = Field(
        "agents", description="test-driven agents, or one model alone by its exact or its 50 % criterion"
    )
    profile: Literal["", "paper"] = Field(
        "", description="paper = the paper's prompts, switches and mining; anything else than that is refused"
    )
    rewrites: int = Field(
        1, ge=0, le=5, description="how often a program that redefines its candidate goes back"
    )
    screen_by_query: bool = Field(
        False, description="the screener judges all candidates of a query in one request"
    )
    seed: int = Field(1, ge=0, lt=2**31, description="of the order in which it sees them")
    reader: bool = Field(
        True,
        description="a reader decides unclear pairs too, and a third judge where it and the arbiter differ",
    )
    neighbour: bool = Field(True, description="a test has to tell a neighbour of the task")
    withhold_report: bool = Field(
        True, description="no judge sees what the runs showed, people alone do: that gave better labels"
    )
    second_test: bool = Field(False, description="another test where the first one tested nothing")
    fresh: bool = Field(False, description="ask again what was answered before; it is paid again")
    rounds: int = Field(1, ge=1, le=9, description="how often each pair is judged, each time asked again")
    sampling: CleanObject = Field(
        default_factory=dict,
        description="sent to the model unchanged; max_tokens: how many tokens each reply may have at least",
    )
    reviews_needed: int = Field(
        2,
        ge=1,
        le=2,
        description="what an expert's label does: 1 = it counts at once, 2 = it counts when two agree",
    )
    hides_reviews: bool = Field(False, description="experts see others' labels once their own is stored")
    reason: CleanText = Field("", max_length=1000, description="why it is launched; kept in its history")

    @model_validator(mode="after")
    def has_source(self) -> Order:
        if self.pairs is None and not (self.queries and self.functions):
            raise ValueError("name queries and functions for a mining, or pairs to judge")
        return self


class SeveralOrder(Order):
    """Given pairs for several annotators at once: a build each, and for experts a queue."""

    annotators: list[Literal["agents", "single_exact", "single_half", "experts"]] = Field(
        min_length=2, max_length=4, description="who judges the pairs; `annotator` says nothing here"
    )
    unconfirmed: Unconfirmed = False


class LaunchOrder(Order):
    """A build to launch, on the estimate that was seen where it is paid."""

    estimate: str = Field(
        "", max_length=20_000, description="`confirm` of the estimate; a live build needs it"
    )
    unconfirmed: Unconfirmed = False


class Control(Body):
    """What to do with a build, and why."""

    action: Literal["pause", "resume", "go_on", "leave", "cancel", "retry"]
    reason: CleanText = Field(
        "",
        max_length=1000,
        validation_alias=AliasChoices("reason", "note"),
        description="kept in its history",
    )
    cause: CleanText | None = Field(
        None, max_length=130, description="retry only what was abandoned for this cause; null = all"
    )


class CapIn(Body):
    """Another cap for a build, and why."""

    budget: Decimal | None = Field(ge=0, le=1_000_000, decimal_places=6, description="dollars; null = no cap")
    reason: CleanText = Field(min_length=1, max_length=1000, description="kept in the history")


class ReviewRuleIn(Body):
    """What an expert's label does from now on, and why."""

    reviews_needed: int = Field(ge=1, le=2, description="1 = it counts at once, 2 = it counts when two agree")
    hides_reviews: bool | None = Field(
        None, description="true: experts see others' labels once their own is stored; null = as it is"
    )
    reason: CleanText = Field(min_length=1, max_length=1000, description="kept in the history")


class ReviewRuleOut(Schema):
    """What came of it."""

    reviews_needed: int
    hides_reviews: bool
    changed: int = Field(description="labels in force that are others now")


class CapOut(RowSchema):
    """A build's cap and what is gone of it, in dollars."""

    budget: Dollars | None = Field(description="null = no cap", validation_alias="cap")
    reserved: Dollars
    spent: Dollars


class Controlled(Schema):
    """What came of it."""

    state: BuildState
    cases: int = Field(description="cases that were sent back to work; only retry does that")


class Resumed(Schema):
    """The builds that go on."""

    builds: list[int] = Field(description="their ids; where the cap leaves nothing they stop again")


class Me(Schema):
    """Whom the request counts as."""

    name: str
    role: str


class BuildPage(Paging):
    state: BuildState | None = None


class CollectionRef(Schema):
    id: int
    name: str
    version: int


class BuildOut(RowSchema):
    """A build and how far it is."""

    id: int
    name: str
    state: BuildState
    reason: str = Field(description="why it waits, failed or was stopped")
    waiting_since: datetime | None = Field(description="since when it waits for what is away")
    next_probe_at: datetime | None = Field(
        description="when what is away is tried next; null while it waits for a person"
    )
    waits_for: Literal["provider", "sandbox", "disk", "replies"] = Field(
        description="what it waits for, while it waits"
    )
    provider: str
    model: str
    answered_by: list[str] = Field(description="models that answered by file, as named with their replies")
    queries: CollectionRef
    functions: CollectionRef = Field(validation_alias="snippets")
    batches: bool = Field(description="screener and test writer are asked by batch")
    limit: int | None = Field(description="at most so many pairs")
    rounds: int = Field(description="how often each pair is judged: so many cases has a pair")
    pairs: int = Field(
        description="cases made so far, in all rounds; 0 until the mining is done",
        validation_alias="tally.total",
    )
    settled: int = Field(validation_alias="tally.settled")
    abandoned: int = Field(
        description="could not be judged; never a label", validation_alias="tally.abandoned"
    )
    matches: int = Field(description="by the agents' own label", validation_alias="tally.matches")
    matches_in_force: int = Field(
        description="by the label in force; by the agents' own where others' labels are hidden from you",
        validation_alias="tally.matches_in_force",
    )
    no_matches_in_force: int = Field(validation_alias="tally.no_matches_in_force")
    reviews_needed: int = Field(
        description="so many experts must agree before their label counts instead of the agents'"
    )
    hides_reviews: bool = Field(description="experts see others' labels once their own is stored")
    created_by: str | None = Field(validation_alias="created_by.username")
    created_at: datetime
    finished_at: datetime | None


class AskedOut(RowSchema):
    """What an encoder on a server was asked for a mining."""

    encoder: str
    model: str
    requests: int
    tokens: int = Field(description="as the server counted them")
    untold: int = Field(description="answers that named no tokens")
    cost: Dollars | None = Field(
        description="dollars, by the prices at its end; null = not known", validation_alias="known"
    )


class MiningOut(RowSchema):
    """How the build's candidates were found."""

    id: int
    encoders: list[str]
    k: int
    limit: int | None = Field(description="only the first so many queries")
    rules: list[str] = Field(description="rules that a function had to pass")
    searched: int = Field(description="functions that pass them, and so can become candidates")
    left_out: int = Field(description="functions that do not, and so can't be proposed")
    query_rules: list[str] = Field(description="rules that a query had to pass")
    text_option: str
    fusion: str
    approximate: str = Field(description="by which index vectors were searched; empty = exactly")
    recall: float | None = Field(description="of an approximate index: its share of exact search, measured")
    asked: list[AskedOut] = Field(description="what its encoders on servers were asked")
    state: str
    phase: str
    done: int = Field(description="units of work")
    total: int
    message: str
    created_at: datetime
    finished_at: datetime | None


class GivenOut(RowSchema):
    """The pairs that the build judges, in the place of a mining."""

    id: int
    name: str = Field(description="of the benchmark or the file that they came from")
    pairs: int = Field(validation_alias="size")
    benchmark: int | None = Field(
        description="has the labels that they came with; null = they had none",
        validation_alias="benchmark_id",
    )
    digest: str = Field(description="sha256 of the file, or of the benchmark")
    created_at: datetime


class AnnotatorOut(Schema):
    """Who labels, with the exact configuration."""

    id: int
    kind: str
    name: str
    version: str
    config: dict[str, Any]


class Reason(Schema):
    """Why cases were abandoned."""

    reason: str
    cases: int


class FailedCall(Schema):
    """A call to a language model that failed."""

    agent: str
    error: str


class BatchOut(Schema):
    """Requests that the provider answers together, later."""

    stage: str
    state: Literal["filling", "sending", "open"]
    provider_id: str = Field(description="the provider's id; empty until it is known")
    requests: int
    answered: int = Field(description="results with a reply")
    returned: int = Field(description="results without: asked again")
    created_at: datetime
    sent_at: datetime | None
    next_poll_at: datetime | None = Field(description="when a worker looks after it next")
    error: str = Field(description="what went wrong at the last look")


class Progress(RowSchema):
    """A build's running totals at one moment."""

    version: int = Field(description="grows with every change")
    stages: dict[Stage, int] = Field(description="cases by stage")
    programs: int = Field(description="generated programs that were executed")
    ran: int = Field(description="those that reached an assertion")
    executable_rate: float | None = Field(
        description="ran ÷ programs; null before the first", validation_alias="rates.executable"
    )
    second_tests: int = Field(description="programs that were executed because the first one tested nothing")
    second_touched: int = Field(description="second tests that tested the candidate")
    calls: int
    reused: int = Field(description="calls that had been paid for before")
    input_tokens: int
    output_tokens: int
    budget: Dollars | None = Field(description="dollars; null = no cap", validation_alias="cap")
    reserved: Dollars = Field(description="dollars")
    spent: Dollars = Field(description="dollars")
    finished_a_minute: float | None = Field(description="over the last minutes; null where that says nothing")
    seconds_left: float | None = Field(description="at this rate; null where that says nothing")
    waiting_replies: int = Field(
        description="requests that wait for a reply by file; 10001 = more than 10,000"
    )
    open_batches: list[BatchOut] = Field(description="batches that have not ended, the oldest first")
    abandoned_because: list[Reason] = Field(description="the most frequent of the latest reasons")
    failed_calls: list[FailedCall] = Field(description="the latest")


class EventOut(RowSchema):
    """What somebody did to a build, when and why."""

    event: str
    note: str
    user: str | None = Field(validation_alias="user.username")
    at: datetime


class BuildDetail(BuildOut):
    """A build with its mining or its given pairs, its annotator and its progress."""

    mining: MiningOut | None = Field(description="null where pairs were given")
    pair_list: GivenOut | None = Field(description="null where a mining found the pairs")
    annotator: AnnotatorOut
    progress: Progress
    estimate: EstimateFigures | None = Field(
        description="what it was expected to take at launch; null where it is free or was not estimated"
    )
    events: list[EventOut] = Field(description="the latest, newest first")
