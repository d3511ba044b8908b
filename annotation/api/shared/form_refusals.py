"""Operations that order what a page's form orders: the form checks the values, and its errors are told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import QueryDict


class InvalidValues(ValueError):
    """Values of a request that a form refuses: `errors` has what is wrong with each, by the field's name."""

    def __init__(self, errors: Iterable[tuple[str, str]]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(f"{name}: {what}" if name else what for name, what in self.errors))


def refuse_invalid(form: forms.BaseForm, **renamed: str) -> None:
    """Raise InvalidValues where the form has errors; `renamed` has the API's name of a field of the form."""
    if form.errors:
        raise InvalidValues(
            (renamed.get(name, "" if name == NON_FIELD_ERRORS else name), str(what))
            for name, told in form.errors.items()
            for what in told
        )


def form_values(values: Mapping[str, Any]) -> QueryDict:
    """The values as a browser sends them: lists item by item, false and null not at all."""
    made = QueryDict(mutable=True)
    for name, value in values.items():
        if isinstance(value, list | tuple):
            made.setlist(name, [str(item) for item in value])
        elif value is not None and value is not False:
            made[name] = str(value)
    return made
