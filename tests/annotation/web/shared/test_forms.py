"""Fields of forms that are made of what the API takes."""

from __future__ import annotations

from django import forms

from annotation.schemas.builds.builds import Order
from annotation.schemas.studies.studies import StudyIn
from annotation.web.shared.forms import schema_field


def test_schema_field_of_a_number_has_its_bounds_and_usual_value() -> None:
    field = schema_field(Order, "seed", "Of the draw.")
    assert isinstance(field, forms.IntegerField)
    assert (field.min_value, field.max_value, field.initial) == (0, 2**31 - 1, 1)
    assert (field.label, field.help_text, field.required) == ("Seed", "Of the draw.", False)


def test_schema_field_of_a_text_has_its_length_and_a_name_of_several_words() -> None:
    field = schema_field(Order, "skip_canary")
    assert isinstance(field, forms.CharField)
    assert (field.max_length, field.label) == (400, "Skip canary")


def test_schema_field_of_what_may_be_null_has_its_kind() -> None:
    assert isinstance(schema_field(StudyIn, "margin"), forms.FloatField)


def test_schema_field_says_what_the_form_says_otherwise() -> None:
    field = schema_field(Order, "k", label="Depth", required=True, max_value=5)
    assert isinstance(field, forms.IntegerField)
    assert (field.label, field.required, field.max_value, field.initial) == ("Depth", True, 5, 20)
