"""Choices of a form's field that are known once the form is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms


def set_choices(form: forms.Form, name: str, choices: Iterable[Any]) -> None:
    """Let a field offer these values with their words, or groups of them."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField), "as declared"
    field.choices = list(choices)
