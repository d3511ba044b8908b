"""What an order file says: the API's order, with names where that has numbers. Plain data."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from annotation.schemas.builds import builds
from annotation.schemas.shared.fields import CleanText
from retrieval.schemas import Id

Judges = Literal["agents", "single_exact", "single_half", "experts"]


class OrderFile(builds.Order):
    """`NAME` of a collection or benchmark is its newest version, `NAME@2` its second."""

    queries: CleanText | None = Field(
        None, max_length=140, description="collection of queries; a mining needs it"
    )
    functions: CleanText | None = Field(
        None, max_length=140, description="collection of functions; a mining needs it"
    )
    pairs: CleanText | None = Field(  # type: ignore[assignment]
        None, max_length=140, description="benchmark whose labelled pairs are judged; nothing is mined"
    )
    pair_list: Id | None = Field(None, description="number of a list of given pairs, in the place of `pairs`")
    provider: Literal["live", "exchange", "recorded"] = Field(  # type: ignore[assignment]
        "exchange", description="live asks the model; exchange waits for files; recorded reads one"
    )
    recorded: CleanText = Field("", max_length=1000, description="file of recorded replies")
    annotators: list[Judges] = Field(
        ["agents"],
        min_length=1,
        max_length=4,
        description="who judges; several judge given pairs only",
    )

    @field_validator("queries", "functions", "pairs")
    @classmethod
    def is_named(cls, name: str | None) -> str | None:
        if name is not None and not name.strip():
            raise ValueError("is empty")
        return name

    @model_validator(mode="after")
    def has_source(self) -> OrderFile:
        given = self.pairs is not None or self.pair_list is not None
        mined_by = self.encoders or self.profile  # the profile has encoders of its own
        if not given and not (self.queries and self.functions and mined_by):
            raise ValueError("name queries, functions and encoders for a mining, or pairs to judge")
        if self.pairs is not None and self.pair_list is not None:
            raise ValueError("name pairs or pair_list, not both")
        return self
