"""What the API takes and says of benchmarks: published, searched, scored, compared, exported."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from annotation.schemas.builds.builds import CollectionRef
from annotation.schemas.shared.fields import Body, CleanText
from retrieval.filters import TextOption
from retrieval.schemas import Kind, Paging, RowSchema
from sandbox.candidate.mutants import BUGS

PoolName = Literal["collection", "candidates"]
TableFormat = Literal["json", "csv", "tex", "svg"]
Matches = Literal["", "1", "2-4", "5+"]


class BenchmarkPage(Paging):
    """Which benchmarks of the list."""

    name: CleanText | None = Field(None, description="exactly this name: all its versions")


class BenchmarkOut(RowSchema):
    """One version of a benchmark. It never changes."""

    id: int
    name: str
    version: int
    queries: CollectionRef
    functions: CollectionRef = Field(validation_alias="snippets")
    pool: PoolName = Field(description="what systems search for a query")
    labels: int = Field(validation_alias="size")
    matches: int = Field(description="labels above 0", validation_alias="positives")
    query_count: int
    function_count: int = Field(validation_alias="snippet_count")
    merge_rule: str = Field(description="whose labels these are, and which one counts")
    notes: str
    sha256: str = Field(description="of all that it holds", validation_alias="digest")
    published_at: datetime


class PublishIn(Body):
    """A build's pairs as a benchmark."""

    name: CleanText | None = Field(
        None,
        min_length=1,
        max_length=120,
        description="null = the build's name; if the name exists, this becomes its next version",
    )
    pool: PoolName = Field("collection", description="what systems search for a query")


class CorrectIn(Body):
    """The corrected labels of given pairs, as a version of their benchmark."""

    name: CleanText | None = Field(
        None, min_length=1, max_length=120, description="null = the benchmark's name: its next version"
    )


class LabelCountOut(Schema):
    """How many pairs one source gives a label."""

    source: str
    matches: int
    no_matches: int


class PublicationOut(Schema):
    """What publishing a build would give."""

    pairs: int
    judged: int
    unjudged: int
    counts: list[LabelCountOut]
    out_of_reach: int = Field(description="searched functions that no mining could propose")
    rule: str = Field(description="whose label counts")


class BoardQuery(Schema):
    """Which leaderboard; what is left out is as on the page."""

    pool: PoolName | None = Field(None, description="null = what the benchmark says")
    metric: str = Field("", max_length=40, description="orders the systems, such as ndcg@10")
    show: list[str] = Field([], max_length=40, description="metrics of the tables' columns; none = a few")
    matches: Matches = Field("", description="only queries with so many matches")
    errors: str = Field("", max_length=40, description="share of wrong labels, such as 0.05 or 0.04,0.1")
    table: Literal["systems", "differences"] = "systems"
    format: TableFormat | None = Field(None, description="null = all figures as JSON; else one table")


class SystemFigureOut(Schema):
    """A mean over the queries with a match; null where it is undefined or not computed."""

    value: float | None
    low: float | None = Field(description="of the 95 % interval; queries are resampled")
    high: float | None
    judged: float | None = Field(description="share of results up to the cut-off that have a label")
    condensed: float | None = Field(description="the same mean without unjudged results")


class SecondStageOut(Schema):
    """How a reranker ranked a system's first results again."""

    first_stage: str
    reranker: str
    depth: int = Field(description="results that were ranked again; those below kept their order")
    pairs: int = Field(description="pairs of a query and a function that it scored")
    first_seconds: float = Field(description="of the first stage")
    seconds: float = Field(description="of the second stage")
    usd: float = Field(description="what was paid; a model on this machine costs nothing")
    unusable: int = Field(0, description="replies of a language model that left their list as it was")


class SystemOut(Schema):
    """One system of a leaderboard."""

    run: int
    system: str
    text_option: str = Field(description="what of a function it searched; empty = not known")
    figures: dict[str, SystemFigureOut] = Field(description="by metric")
    second_stage: SecondStageOut | None = Field(description="null = no reranker")
    helped_to_mine: bool = Field(description="an encoder of it proposed candidates of this benchmark")
    less_judged: bool = Field(description="clearly fewer of its results have labels than of the others'")


class DifferenceOut(Schema):
    """How much higher a system is than the next one, paired by query."""

    better: int = Field(description="its run")
    other: int = Field(description="its run")
    value: float
    low: float | None
    high: float | None
    p: float = Field(description="of a randomisation test, corrected by Holm")


class LeaderboardOut(Schema):
    """Systems on a benchmark, the best first."""

    benchmark: str = Field(description="name@version")
    pool: PoolName
    metric: str = Field(description="orders the systems; empty where there is no run")
    metrics: list[str] = Field(description="all that any of its runs has")
    queries: int = Field(description="queries that count")
    systems: list[SystemOut]
    differences: list[DifferenceOut]
    unmeasured: bool = Field(description="intervals and differences take long: POST …/figures orders them")


class RunOut(RowSchema):
    """The ranked lists of one system."""

    id: int
    system: str
    encoders: list[str]
    text_option: str
    pool: PoolName
    source: str = Field(description="name of the file that it came from")
    sha256: str = Field(description="of its lists", validation_alias="digest")
    scored_at: datetime


class RunPage(Paging):
    """Which runs of a benchmark."""

    pool: PoolName | None = None


class RunIn(Schema):
    """Beside the file of ranked lists: whose they are. Sent as multipart/form-data."""

    system: CleanText = Field(min_length=1, max_length=120, description="its name in the leaderboard")
    text_option: TextOption | Literal[""] = Field("", description="what it searched; empty = not known")
    pool: PoolName | None = Field(None, description="null = what the benchmark says")
    language: CleanText = Field("", max_length=40, description="of a CSV file with several languages")


class ScoreIn(Body):
    """Encoders that search a benchmark; of several the mean of the scores counts."""

    encoders: list[CleanText] = Field(min_length=1, max_length=8)
    rerank: CleanText = Field(
        "", max_length=120, description="ranks the first results again, such as cross-encoder:/models/mine"
    )
    depth: int = Field(100, ge=1, le=1000, description="results that the reranker ranks again")
    text_option: TextOption = "whole"
    pool: PoolName | None = Field(None, description="null = what the benchmark says")


class ContaminationIn(Body):
    """Training data with which a benchmark is compared."""

    collection: int | CleanText = Field(description="a collection's id, name or name@version")
    kind: Kind = Field("functions", description="of a collection that is named")


class DistractorsIn(Body):
    """Bugs that are planted into a benchmark's matches."""

    most: int = Field(len(BUGS), ge=1, le=len(BUGS), description="bugs for each function, one of each kind")
    seed: int = Field(1, ge=0, lt=2**31, description="decides where bugs are planted")


class SimilarityIn(Body):
    """Labels by code similarity to known answers."""

    answers: int | CleanText | None = Field(
        None,
        description="a collection of functions by id, name or name@version; their source ids are those of "
        "the queries; null = the benchmark's matches",
    )
    language: Literal["java", "python"] = "python"
    threshold: float = Field(
        0.25, ge=0.01, le=1, description="from which similarity on a function is a match"
    )
    depth: int = Field(10, ge=0, le=100, description="results of each run that are judged")


class FiguresIn(Body):
    """Figures of a leaderboard that a page can't wait for."""

    what: Literal["figures", "without"] = Field(
        "figures", description="figures = intervals and label errors, without = ranks without each encoder"
    )
    pool: PoolName | None = None
    metric: CleanText = Field("", max_length=40)
    matches: Matches = ""
    errors: CleanText = Field("", max_length=40)


class ExportIn(Body):
    """An export of a benchmark."""

    format: Literal["release", "coclr", "beir", "qrels", "parquet", "huggingface"] = "release"
    labels: Literal["final", "experts", "agents"] = Field("final", description="whose labels")
    seed: int | None = Field(
        None, ge=0, le=2**31 - 1, description="of a split into train, dev and test; null = no split"
    )
    by_repository: bool = Field(
        False, description="split: queries whose matches come from one repository stay together"
    )
    published_split: bool = Field(
        False, description="train, dev and test as the source has them (CodeSearchNet's partition); no seed"
    )
    rounds: bool = Field(False, description="BEIR and qrels: means of labels as the nearest whole numbers")
    withhold: Literal["none", "forbidden", "unknown"] = Field(
        "none", description="of which texts only origin and hash are written, by their licences"
    )


class MovedOut(Schema):
    """A system's means on the queries that two versions have in common."""

    system: str
    first: float
    second: float
    difference: float
    low: float | None
    high: float | None
    same_lists: bool = Field(description="the same lists were measured by both versions' labels")


class VersionsOut(Schema):
    """Two versions of a benchmark: labels that changed, and scores on the common queries."""

    first: str
    second: str
    labels: dict[str, int] = Field(description="by the kind of change, how many pairs")
    queries: dict[str, int] = Field(description="with a match in the first, in the second, in both")
    metric: str
    systems: list[MovedOut]
    kendall_tau: float | None = Field(description="of the two orders of systems; null = undefined")


class TableQuery(Schema):
    """Which table, and as what."""

    table: str = Field("", max_length=60, description="its key; empty = all tables as JSON")
    format: TableFormat = "json"
