"""What the API takes for imports: uploaded files, the columns of a table, filters of a collection."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field

from annotation.schemas.shared.fields import Body, CleanText
from retrieval.uploads import Format

Column = Annotated[CleanText, Field(max_length=300)]


class ImportIn(Schema):
    """Beside the files of an import: what they are, and what they become. Sent as multipart/form-data."""

    name: CleanText = Field(
        min_length=1,
        max_length=120,
        description="of the collection, and of the benchmark made of its labels; what is new is added",
    )
    format: Literal[tuple(Format.values)] = Field(description="what the files are")  # type: ignore[valid-type]
    file_from: str = Field("", description="the address of the file, instead of the file")
    codebase_from: str = Field("", description="the address of the code base, of CoSQA and CoSQA+")
    pairs_from: str = Field("", description="the address of the labelled pairs, of CoSQA+")
    titles_from: str = Field("", description="the address of the titles, of StaQC")
    written_in: str = Field("", description="documented functions: the language of the sources")
    split: str = Field("", description="BEIR: labels of this split only")
    config: str = Field("", description="BEIR: the configuration, where there are several")
    queries: str = Field("", description="qrels: name or id of the collection of the judged queries")
    functions: str = Field("", description="qrels: name or id of the collection of the judged functions")
    documentation: bool = Field(False, description="CodeSearchNet: documentation becomes queries")
    language: str = Field("", description="CodeSearchNet's annotations: only this language")
    allow_partial: bool = Field(False, description="make a benchmark although some labels are refused")
    replace: bool = Field(False, description="a new version of these files alone")
    columns: str = Field(
        "",
        max_length=5_000,
        description="of a table: a JSON object as POST …/columns takes it, or `guess`; empty: named later",
    )


class ColumnsIn(Body):
    """Which column of a table is what; an empty name means that there is none."""

    query: Column = ""
    function: Column = ""
    label: Column = ""
    query_id: Column = ""
    function_id: Column = ""
    origin: Column = Field("", description="where a row comes from")
    licence: Column = ""
    scale: Literal["binary", "graded", "whole"] = Field(
        "binary", description="of labels: 1 and 0, 0 to 3, or whole numbers up to 1,000"
    )


class ColumnsOut(Schema):
    """What an uploaded table has."""

    columns: list[str]
    guessed: ColumnsIn = Field(description="by the names in the header")
    rows: list[dict[str, Any]] = Field(description="the first records, long cells cut")


class FilterIn(Body):
    """A collection of what passes filters of another one."""

    name: CleanText = Field(min_length=1, max_length=120, description="of the new collection")
    filters: list[CleanText] = Field(min_length=1, max_length=20, description="texts have to pass every one")
