"""What the API takes for the measurement of label quality against a truth."""

from __future__ import annotations

from ninja import Schema
from pydantic import Field

from annotation.schemas.shared.fields import CleanText


class QualityIn(Schema):
    """Whose labels are measured on which truth. Sent as multipart/form-data with the files."""

    known: CleanText = Field("", max_length=200, description="stored pairs and truth, in the place of files")
    builds: list[CleanText] = Field(
        [], max_length=12, description="names or ids, of a round with `name#2`; one configuration counts once"
    )
    annotators: list[int] = Field([], max_length=12, description="ids of annotators with stored labels")
    queries: CleanText = Field("", max_length=140, description="collection, where pairs have a query_id")
    functions: CleanText = Field("", max_length=140, description="collection, where pairs have a code_id")
