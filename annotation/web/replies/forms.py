"""Replies by hand: a file of them, or one answer in fields that its schema asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from annotation.builds.limits.awaited_replies import LONGEST_NAME, clean_model_name
from annotation.builds.pipeline import file_exchange
from annotation.builds.pipeline.file_exchange import Imported
from annotation.llm import Request
from annotation.llm.exchange import LONGEST_LINE, ReplyLine
from annotation.llm.strict_json import NotJson, parse_strict_json
from annotation.models import Build, LLMCall

MEGABYTE: Final = 1024 * 1024
WHOLE: Final = "reply"
"""The field of an answer whose schema is too deep for fields of its own."""


class ModelForm(forms.Form):
    """Who answered: it is kept with each reply, and named wherever the build's model is."""

    model = forms.CharField(
        max_length=LONGEST_NAME,
        label="Who answered",
        help_text="The model’s name, or “a person”. Figures, rows and cards name it.",
    )

    def __init__(self, build: Build, data: Any = None, files: Any = None) -> None:
        known = build.answered_by[-1] if build.answered_by else "" if build.model == "any" else build.model
        super().__init__(data, files, initial={"model": known})
        self.build = build

    def clean_model(self) -> str:
        return clean_model_name(self.cleaned_data["model"])


class UploadForm(ModelForm):
    """A file of replies."""

    file = forms.FileField(
        label="File of replies",
        max_length=200,
        allow_empty_file=True,
        help_text='Lines {"id", "reply"}, or the screener’s sheet with its verdicts.',
    )

    def clean_file(self) -> UploadedFile[bytes]:
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if (file.size or 0) > settings.UPLOAD_LIMIT_BYTES:
            raise forms.ValidationError(
                f"Larger than {settings.UPLOAD_LIMIT_BYTES // MEGABYTE} MB. Upload it in parts: "
                "any part of the lines is a file of replies."
            )
        return file

    def take(self) -> Imported:
        """What came of the file of a valid form."""
        values = self.cleaned_data
        return file_exchange.import_replies(self.build, values["file"].file, values["model"])


class AnswerForm(ModelForm):
    """One answer: a field for each property of a flat schema, else the whole reply as JSON."""

    def __init__(self, build: Build, call: LLMCall, request: Request, data: Any = None) -> None:
        super().__init__(build, data)
        self.call, self.properties = call, read_flat_properties(request.schema)
        for name, said in self.properties.items():
            self.fields[name] = field_of_property(name, said)
        if not self.properties:
            self.fields[WHOLE] = forms.CharField(
                max_length=LONGEST_LINE,
                label="Reply",
                widget=forms.Textarea(attrs={"rows": 14, "class": "mono", "spellcheck": "false"}),
                help_text="One JSON object that fits the schema above.",
            )
        self.order_fields([*self.properties, WHOLE, "model"])

    def clean(self) -> dict[str, Any]:
        """Take the reply; what its agent can't use is said in the form."""
        cleaned = super().clean() or self.cleaned_data
        if not self.errors:
            line = ReplyLine(0, 0, self.call.digest, self.reply_text(cleaned), "", None)
            done = file_exchange.take_replies(self.build, [line], cleaned["model"])
            for problem in done.problems:
                self.add_error(None, f"Not taken: {problem.message}.")
        return cleaned

    def reply_text(self, cleaned: Mapping[str, Any]) -> str:
        """The reply as a model would have written it."""
        if not self.properties:
            return str(cleaned[WHOLE])
        return json.dumps(
            {name: read_value(cleaned[name], self.properties[name]) for name in self.properties}
        )


def read_flat_properties(schema: Mapping[str, object]) -> dict[str, Mapping[str, Any]]:
    """The properties of a schema with texts and choices alone; empty where it has others."""
    found = schema.get("properties")
    properties = dict(found) if isinstance(found, dict) else {}
    is_flat = all(said.get("type") == "string" or "enum" in said for said in properties.values())
    return properties if is_flat else {}


def field_of_property(name: str, said: Mapping[str, Any]) -> forms.Field:
    """A menu, or a text of several lines."""
    label = name.replace("_", " ").capitalize()
    if "enum" in said:
        choices = [("", "choose …"), *((json.dumps(value), str(value)) for value in said["enum"])]
        return forms.ChoiceField(label=label, choices=choices)
    return forms.CharField(label=label, max_length=LONGEST_LINE, widget=forms.Textarea(attrs={"rows": 4}))


def read_value(given: str, said: Mapping[str, Any]) -> object:
    """The value of a choice, of whatever type it is, or the text."""
    if "enum" not in said:
        return given
    try:
        return parse_strict_json(given)
    except NotJson:
        return given
