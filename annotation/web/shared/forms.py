"""What forms share: fields of several lines, and choices that are known once the form is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils.datastructures import MultiValueDict

Made = TypeVar("Made")


class Lines(forms.Textarea):
    """A text area. What is stored, hashed and exported has no CR that nobody typed."""

    def value_from_datadict(
        self, data: Mapping[str, Any], files: MultiValueDict[str, UploadedFile[Any]], name: str
    ) -> Any:
        sent = super().value_from_datadict(data, files, name)
        return sent.replace("\r\n", "\n") if isinstance(sent, str) else sent


def attempt(form: forms.BaseForm, do: Callable[[], Made], *refusals: type[Exception]) -> Made | None:
    """What was done on a valid form; None where one of these refuses it, which the form then says."""
    try:
        return do()
    except refusals as why:
        form.add_error(None, str(why))
        return None


def set_choices(form: forms.Form, name: str, choices: Iterable[Any]) -> None:
    """Let a field offer these values with their words, or groups of them."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField), "as declared"
    field.choices = list(choices)


def set_queryset(form: forms.Form, name: str, rows: QuerySet[Any]) -> None:
    """Let a field offer these rows."""
    field = form.fields[name]
    assert isinstance(field, forms.ModelChoiceField), "as declared"
    field.queryset = rows
