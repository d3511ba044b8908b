"""What the API says of a row is read from its attributes, once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pydantic import Field, ValidationError

from retrieval.schemas import Page, RowSchema


class Pet(RowSchema):
    name: str
    keeper: str | None = Field(validation_alias="keeper.name")


class Litter(RowSchema):
    pets: list[Pet]


def test_of_reads_a_place_through_the_row_or_what_is_given_beside_it() -> None:
    row = SimpleNamespace(name="Rex", keeper=SimpleNamespace(name="Ann"))
    assert Pet.of(row).model_dump() == {"name": "Rex", "keeper": "Ann"}
    beside = Pet.of(SimpleNamespace(name="Rex"), keeper=SimpleNamespace(name="Bob"))
    assert beside.keeper == "Bob"


def test_of_reads_a_place_in_a_mapping_and_calls_what_stands_there() -> None:
    assert Pet.of(SimpleNamespace(name="Rex", keeper={"name": "Ann"})).keeper == "Ann"
    assert Pet.of(SimpleNamespace(name="Rex", keeper=SimpleNamespace(name=lambda: "Ann"))).keeper == "Ann"


def test_of_without_the_place_is_refused() -> None:
    with pytest.raises(ValidationError):
        Pet.of(SimpleNamespace(name="Rex", other=None))


def test_row_that_was_read_is_not_read_again() -> None:
    pet = Pet.of(SimpleNamespace(name="Rex", keeper=SimpleNamespace(name="Ann")))
    answer = Page[Pet].model_validate(Page(items=[pet], next=None))
    assert answer.items[0] is pet
    assert Litter.of(SimpleNamespace(pets=[pet])).pets[0] is pet


def test_rows_of_another_kind_are_read_by_their_attributes() -> None:
    row = SimpleNamespace(name="Rex", keeper=SimpleNamespace(name="Ann"))
    answer = Page[Pet].model_validate(Page(items=[row], next=None))
    assert answer.items == [Pet.of(row)]
