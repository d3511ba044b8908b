"""The upload form: files up to the limit become an import job; larger ones are named the command."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile

from retrieval.models import ImportJob

SOURCES: Final = (".py", ".whl", ".zip", ".tar.gz", ".tgz")
ENDINGS: Final = {
    ImportJob.Format.COSQA.value: (".json", ".jsonl", ".txt"),
    ImportJob.Format.PYTHON.value: SOURCES,
    ImportJob.Format.DOCUMENTED.value: SOURCES,
    ImportJob.Format.CODESEARCHNET.value: (".jsonl", ".jsonl.gz"),
    ImportJob.Format.STAQC.value: (".pickle", ".pkl"),
    ImportJob.Format.NCS.value: (".json",),
}
COMMANDS: Final = {
    ImportJob.Format.COSQA.value: "python manage.py import cosqa FILE --codebase FILE --name NAME",
    **{
        each.value: f"python manage.py import {each.value} PATH --name NAME"
        for each in ImportJob.Format
        if each != ImportJob.Format.COSQA
    },
}


class UploadForm(forms.Form):
    """What a person uploads. Every refusal names what to do instead."""

    name = forms.CharField(
        max_length=120,
        label="Name of the collection",
        help_text="A name that exists gets what is new in the file; nothing is stored twice.",
    )
    format = forms.ChoiceField(
        choices=ImportJob.Format.choices,
        widget=forms.RadioSelect,
        initial=ImportJob.Format.COSQA,
        label="Format",
    )
    file = forms.FileField(label="File", max_length=200)
    codebase = forms.FileField(
        label="Code base",
        required=False,
        max_length=200,
        help_text="The file that maps each code to its index.",
    )

    def clean_file(self) -> UploadedFile[bytes]:
        return self.fitting("file")

    def clean_codebase(self) -> UploadedFile[bytes] | None:
        return self.fitting("codebase") if self.cleaned_data.get("codebase") else None

    def fitting(self, name: str) -> UploadedFile[bytes]:
        """The file, if it is within the limit. Raises ValidationError."""
        file: UploadedFile[bytes] = self.cleaned_data[name]
        if (file.size or 0) > settings.UPLOAD_LIMIT_BYTES:
            command = COMMANDS.get(self.data.get("format", ""), "python manage.py import")
            limit = settings.UPLOAD_LIMIT_BYTES // (1024 * 1024)
            raise forms.ValidationError(
                f"Larger than {limit} MB. Import it on the server instead, with: {command}"
            )
        return file

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        chosen, file = cleaned.get("format"), cleaned.get("file")
        if chosen == ImportJob.Format.COSQA and not cleaned.get("codebase") and "codebase" not in self.errors:
            self.add_error("codebase", "CoSQA's queries point into a code base: choose its file too.")
        if chosen and file and not str(file.name).lower().endswith(ENDINGS[chosen]):
            self.add_error("file", f"Expected a file that ends in {', '.join(ENDINGS[chosen])}.")
        return cleaned

    def job(self, user: User) -> ImportJob:
        """The job of a valid form; a worker takes it up."""
        values = self.cleaned_data
        return ImportJob.objects.create(
            name=values["name"].strip(),
            format=values["format"],
            file=values["file"],
            codebase=values["codebase"] if values["format"] == ImportJob.Format.COSQA else "",
            created_by=user,
        )
