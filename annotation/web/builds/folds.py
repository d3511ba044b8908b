"""Fields of a long form that are folded, with the values in force beside the fold's name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.choices import flatten_choices

SEPARATOR = "; "


@dataclass(frozen=True, slots=True)
class Fold:
    """Some fields of a form. `is_open`: one was refused, or is not as the form proposes it."""

    words: str
    is_open: bool


def build_fold(form: forms.Form, names: tuple[str, ...]) -> Fold:
    """The fold of the fields `names`."""
    fields = [form[name] for name in names]
    is_open = any(field.errors or is_changed(form, field) for field in fields)
    return Fold(SEPARATOR.join(filter(None, map(describe_value, fields))), is_open)


def is_changed(form: forms.Form, field: forms.BoundField) -> bool:
    """Whether the field has another value than the form proposes."""
    proposed = form.fields[field.name].initial
    return form.fields[field.name].has_changed(proposed, field.value())


def describe_value(field: forms.BoundField) -> str:
    """`Label: value` in few words; empty where nothing is chosen."""
    told = ", ".join(list_value_words(field))
    return "" if not told else str(field.label) if field.value() is True else f"{field.label}: {told}"


def list_value_words(field: forms.BoundField) -> Iterator[str]:
    """Each chosen value as it is called in the form, up to its first colon.

    Where nothing was chosen of a list, a browser shows its first entry, and so that one is in force.
    """
    known: Any = flatten_choices(getattr(field.field, "choices", ()))
    choices = {str(one): str(words) for one, words in known}
    value = field.value()
    if value in (None, "") and choices and not isinstance(field.field, forms.MultipleChoiceField):
        value = next(iter(choices))
    for one in value if isinstance(value, list | tuple) else [value]:
        if str(one) in choices or one not in (None, "", False):
            yield str(choices.get(str(one), one)).partition(":")[0]
