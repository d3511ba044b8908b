"""What forms share: fields of several lines, and choices that are known once the form is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar, get_args

from annotated_types import Ge, Le, Lt, MaxLen
from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils.datastructures import MultiValueDict
from ninja import Schema

Made = TypeVar("Made")
KINDS: Final[Mapping[Any, type[forms.Field]]] = {
    bool: forms.BooleanField,
    int: forms.IntegerField,
    float: forms.FloatField,
    str: forms.CharField,
}


class Lines(forms.Textarea):
    """A text area. What is stored, hashed and exported has no CR that nobody typed."""

    def value_from_datadict(
        self, data: Mapping[str, Any], files: MultiValueDict[str, UploadedFile[Any]], name: str
    ) -> Any:
        sent = super().value_from_datadict(data, files, name)
        return sent.replace("\r\n", "\n") if isinstance(sent, str) else sent


def schema_field(schema: type[Schema], name: str, help_text: str = "", **otherwise: Any) -> forms.Field:
    """A field of a form for one that the API takes, whose schema says its kind, bounds and usual value.

    It may be left out, and is labelled by its name, unless the form says `otherwise`.
    """
    field = schema.model_fields[name]
    kind = next(kind for kind in (field.annotation, *get_args(field.annotation)) if kind in KINDS)
    label = name.replace("_", " ").capitalize()
    usual = None if field.is_required() else field.get_default() or None
    said: dict[str, Any] = {"required": False, "initial": usual, "label": label}
    for rule in field.metadata:
        match rule:
            case Ge(ge=least):
                said["min_value"] = least
            case Le(le=most):
                said["max_value"] = most
            case Lt(lt=int() as end):
                said["max_value"] = end - 1
            case MaxLen(max_length=longest):
                said["max_length"] = longest
    return KINDS[kind](help_text=help_text, **said | otherwise)


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
