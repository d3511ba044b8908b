"""A field of several lines, whose lines end as in all other text: browsers send them with CR LF."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict


class Lines(forms.Textarea):
    """A text area. What is stored, hashed and exported has no CR that nobody typed."""

    def value_from_datadict(
        self, data: Mapping[str, Any], files: MultiValueDict[str, UploadedFile[Any]], name: str
    ) -> Any:
        sent = super().value_from_datadict(data, files, name)
        return sent.replace("\r\n", "\n") if isinstance(sent, str) else sent
