"""Addresses in the upload form: a worker downloads what is there, so only their spelling is judged here."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from django import forms

from retrieval.sources.web.download import NotDownloaded, address_of
from retrieval.uploads.files import COLUMNS, place_of_upload

SUFFIX: Final = "_from"
SPELLED: Final = re.compile(r"[!-~]{1,1000}")
FILE_NAME: Final = re.compile(r"[\w+%-][\w.+%-]{0,149}", re.ASCII)
NO_PLACE: Final = "Expected https://\u2026, hf:OWNER/NAME/FILE or github:OWNER/NAME, without blanks."


class AddressField(forms.CharField):
    """Where a file lies, instead of the file itself."""

    def __init__(self, label: str) -> None:
        super().__init__(
            label=label,
            required=False,
            max_length=1000,
            help_text="https://\u2026, hf:OWNER/NAME/FILE[@REVISION] or github:OWNER/NAME[@REVISION].",
            widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        )

    def validate(self, value: str) -> None:
        super().validate(value)
        if value:
            name_at(value)


def name_at(given: str) -> str:
    """The name of the file at an address. Raises ValidationError with what was expected."""
    try:
        url, name = address_of(given)
        parts = urlsplit(url)
        there = parts.hostname and parts.port != 0
    except (NotDownloaded, ValueError) as why:
        raise forms.ValidationError(NO_PLACE) from why
    if not SPELLED.fullmatch(given) or not there:
        raise forms.ValidationError(NO_PLACE)
    if "@" in parts.netloc:
        raise forms.ValidationError("Leave out the name or password in it: others would see it.")
    if not FILE_NAME.fullmatch(name):
        raise forms.ValidationError("It must end in the name of a file, such as \u2026/queries.jsonl.")
    return name


def path_of_upload_column(cleaned: dict[str, Any], column: str) -> str:
    """Where the file of a column will lie, empty where no address is given; the form is valid."""
    given = cleaned.get(f"{column}{SUFFIX}")
    return place_of_upload(name_at(given)) if given else ""


def addresses_of_columns(cleaned: dict[str, Any], columns: tuple[str, ...]) -> dict[str, str]:
    """The addresses that a valid form has for these columns."""
    return {column: given for column in columns if (given := cleaned.get(f"{column}{SUFFIX}"))}


def names_of_upload_files(cleaned: dict[str, Any]) -> dict[str, str]:
    """The name of each column's file in lower case, uploaded or at an address, of those that were given."""
    found = {}
    for column in COLUMNS:
        file, given = cleaned.get(column), cleaned.get(f"{column}{SUFFIX}")
        if file:
            found[column] = str(file.name).lower()
        elif given:
            found[column] = name_at(given).lower()
    return found
