"""What the API takes and says of trainings, and of the systems that came of them."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from annotation.schemas.benchmarks.benchmarks import PoolName, TableQuery
from annotation.schemas.shared.fields import Body, CleanText, Ref
from retrieval.filters import TextOption

LARGEST_SEED: Final = 2**31 - 1
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]


def refuse_twice(seeds: list[int]) -> list[int]:
    """Raises ValueError."""
    if len(set(seeds)) < len(seeds):
        raise ValueError("name each seed once")
    return seeds


class TrainIn(Body):
    """A training on the matches of a benchmark; what is null is as in the system's recipe."""

    system: CleanText = Field(
        min_length=1, max_length=100, description="such as codebert, codebert:FOLDER or nbow"
    )
    seeds: Annotated[list[Seed], AfterValidator(refuse_twice)] = Field(
        [], max_length=10, description="a training each; none = one with the recipe's seed"
    )
    epochs: int | None = Field(None, ge=1, le=1000)
    minutes: float = Field(0, ge=0, le=100_000, description="stop after so many; 0 = never")
    text_option: TextOption = "whole"
    split_seed: int = Field(1, ge=0, le=LARGEST_SEED, description="of the split into train, dev and test")
    by_project: bool = Field(False, description="matches of one project are in one part")
    without: list[Ref] = Field(
        [], max_length=20, description="benchmarks of which no query and no function is learned"
    )
    score_on: list[Ref] = Field(
        [], max_length=20, description="benchmarks that the trained system searches afterwards"
    )
    max_pairs: int | None = Field(
        None, ge=1, le=100_000_000, description="learn so many pairs, drawn by seed"
    )
    shuffles_labels: bool = Field(False, description="control: the same texts with shuffled labels")
    masks_matches: bool = Field(False, description="other matches of a query are no non-matches")
    hard_negatives: int | None = Field(None, ge=0, le=100, description="judged non-matches with each pair")
    batch_size: int | None = Field(None, ge=1, le=100_000)
    learning_rate: float | None = Field(None, gt=0, lt=1)
    loss: Literal["softmax", "margin", "ranking"] | None = None
    patience: int | None = Field(
        None, ge=0, le=1000, description="end after so many epochs without a better one; 0 = never"
    )
    mixed_precision: bool = Field(False, description="bfloat16 where it is safe")
    checkpoint_steps: int = Field(1000, ge=0, le=10_000_000, description="0 = after each epoch alone")


class TrainedQuery(TableQuery):
    """Which trained systems, and which table of them."""

    pool: PoolName | None = Field(None, description="null = what the benchmark says")
    metric: str = Field("", max_length=40, description="decides the differences, such as ndcg@10")
