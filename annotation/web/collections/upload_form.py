"""The upload form: files up to the limit become an import job; larger ones are named the command."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile

from annotation.web.collections.upload_addresses import (
    SUFFIX,
    AddressField,
    addresses_of_columns,
    names_of_upload_files,
    path_of_upload_column,
)
from annotation.web.collections.upload_guides import BY_FORMAT, PICKLES
from retrieval.jobs import delete_stored_files, path_of_job_file, store_job_file, submit_job
from retrieval.models import Collection, Job
from retrieval.sources import Problem
from retrieval.sources.code.languages import LANGUAGES
from retrieval.sources.formats.table import peek_table_file
from retrieval.sources.readers.compression import PACKED, without_packing
from retrieval.uploads import Format, ImportOrder, by_name, discard_upload, forget_files
from retrieval.uploads.files import COLUMNS, place_of_upload

FURTHER_FILES: Final = {
    Format.COSQA.value: ("codebase",),
    Format.COSQA_PLUS.value: ("codebase", "pairs"),
    Format.STAQC.value: ("titles",),
}
LONGEST_ERROR: Final = 400


def build_collection_field(kind: Collection.Kind, label: str) -> forms.ModelChoiceField[Collection]:
    """A field for one of the collections of a kind that have members."""
    rows = Collection.objects.filter(kind=kind, size__gt=0)
    return forms.ModelChoiceField(rows, label=label, required=False, empty_label="choose …")


def describe_endings(endings: tuple[str, ...]) -> str:
    """The endings in words; packed tables are named once."""
    plain = [end for end in endings if end.startswith(".tar") or end == without_packing(end)]
    packed = f", also packed ({', '.join(PACKED)})" if len(plain) < len(endings) else ""
    return f"{', '.join(plain)}{packed}"


class UploadForm(forms.Form):
    """What a person uploads. Every refusal names what to do instead.

    `columns`: of a table at an address, where they are known before it is downloaded.
    """

    columns: Mapping[str, Any] = MappingProxyType({})
    name = forms.CharField(
        max_length=120,
        label="Name",
        help_text="The name of the collection, and of the benchmark made of its labels. If it exists, what "
        "is new in the file is added; nothing is stored twice.",
    )
    format = forms.ChoiceField(
        choices=Format.choices, widget=forms.RadioSelect, initial=Format.COSQA, label="Format"
    )
    file = forms.FileField(label="File", max_length=200, required=False)
    file_from = AddressField("Or its address")
    codebase = forms.FileField(
        label="Code base",
        required=False,
        max_length=200,
        help_text="The file with each function and its index. CoSQA\u2019s pairs hold their code: without "
        "this file, that is what is searched.",
    )
    codebase_from = AddressField("Or the address of the code base")
    pairs = forms.FileField(
        label="Labelled pairs", required=False, max_length=200, help_text="pairs.json, if there is no zip."
    )
    pairs_from = AddressField("Or the address of the pairs")
    titles = forms.FileField(
        label="Titles",
        required=False,
        max_length=200,
        help_text="qid_to_title.pickle. Without it only the code is imported, no queries.",
    )
    titles_from = AddressField("Or the address of the titles")
    written_in = forms.ChoiceField(
        choices=[(name, known.display) for name, known in LANGUAGES.items()],
        required=False,
        label="Language of the sources",
        help_text="Files of other languages in an archive are skipped.",
    )
    split = forms.RegexField(
        r"^[\w.-]*$",
        max_length=40,
        required=False,
        label="Labels of this split only",
        help_text="Such as test, for qrels/test.tsv. Empty: all.",
        error_messages={"invalid": "A split is called like its file in qrels/, such as test."},
    )
    config = forms.RegexField(
        r"^[\w.+#-]*$",
        max_length=40,
        required=False,
        label="Configuration",
        help_text="Where the zip has a data set for each language: such as python for python-corpus/, "
        "python-queries/ and python-qrels/, or for a folder python/.",
        error_messages={"invalid": "A configuration is called like its folders, such as python."},
    )
    queries = build_collection_field(Collection.Kind.QUERIES, "Judged queries")
    snippets = build_collection_field(Collection.Kind.SNIPPETS, "Judged functions")
    documentation = forms.BooleanField(
        required=False, label="Use the first paragraph of documentation as a query that the function answers"
    )
    language = forms.CharField(
        max_length=40,
        required=False,
        label="Only this language",
        help_text="For annotations of several languages, such as Python.",
    )

    allow_partial = forms.BooleanField(
        required=False,
        label="Publish the labels as a benchmark although some are refused or a file is cut off",
    )

    replace = forms.BooleanField(
        required=False,
        label="Replace what was imported under this name before by these files alone, as a new version",
    )

    def refuse_large(self) -> None:
        """Add errors for files beyond the limit, with what to do instead."""
        guide = BY_FORMAT.get(self.data.get("format", ""))
        command = guide.command if guide else "cosqa import"
        limit = settings.UPLOAD_LIMIT_BYTES // (1024 * 1024)
        for column in COLUMNS:
            file: UploadedFile[bytes] | None = self.cleaned_data.get(column)
            if file and (file.size or 0) > settings.UPLOAD_LIMIT_BYTES:
                advice = f"Give its address, or import it on the server with: {command}"
                self.add_error(column, f"Larger than {limit} MB. {advice}")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        self.refuse_large()
        has = names_of_upload_files(cleaned)
        for column in COLUMNS:
            if cleaned.get(column) and cleaned.get(f"{column}{SUFFIX}"):
                self.add_error(f"{column}{SUFFIX}", "You also chose a file: leave one out.")
        if not has and not self.errors.keys() & {"file", f"file{SUFFIX}"}:
            self.add_error("file", "Choose a file, or give its address.")
        if cleaned.get("format"):
            self.refuse_endings(cleaned["format"], has)
            self.refuse_missing(cleaned["format"])
        if Collection.objects.filter(name=cleaned.get("name", ""), filtered__isnull=False).exists():
            self.add_error(
                "name", "This name holds what passed the filters of another collection: choose another name."
            )
        return cleaned

    def refuse_endings(self, chosen: str, has: Mapping[str, str]) -> None:
        """Add errors for files, by column, whose names end in what the format does not read."""
        expected = {"file": BY_FORMAT[chosen].endings}
        if chosen == Format.STAQC:
            expected["titles"] = PICKLES
        for column, endings in expected.items():
            if not has.get(column, endings[0]).endswith(endings):
                field = column if self.cleaned_data.get(column) else f"{column}{SUFFIX}"
                self.add_error(field, f"Expected a file that ends in {describe_endings(endings)}.")
        other = _other_sources(self.cleaned_data.get("written_in") or "python")
        if chosen == Format.DOCUMENTED and has.get("file", "").endswith(other):
            self.add_error("written_in", "The file is not of this language.")

    def refuse_missing(self, chosen: str) -> None:
        """Add an error for what a format needs beside its files."""
        told = self.errors.keys()
        for name in ("queries", "snippets"):
            if chosen == Format.QRELS and not self.cleaned_data.get(name) and name not in told:
                noun = Collection.Kind(name).noun
                said = f"Judgements are about {noun} that are here: choose their collection."
                self.add_error(name, said)

    def job(self, user: User) -> Job | None:
        """The job of a valid form; a worker takes it up, of an uploaded table when its columns were chosen.

        None, with an error, for a table without a readable record: then nothing is kept of it.
        """
        values = self.cleaned_data
        columns = ("file", *FURTHER_FILES.get(values["format"], ()))
        order = ImportOrder(
            name=values["name"].strip(),
            format=values["format"],
            options=self.options(values["format"]),
            allow_partial=values["allow_partial"],
            replace=values["replace"],
            addresses=addresses_of_columns(values, columns),
        )
        is_here = order.format == Format.TABLE and not order.addresses
        if is_here:
            forget_files()  # of tables that others left
        state = Job.State.COLUMNS if is_here else Job.State.WAITING
        job, _ = submit_job(order, user, state=state, files=self.stored(columns))
        return self.peeked(job) if is_here else job

    def stored(self, columns: tuple[str, ...]) -> dict[str, str]:
        """Where the files of these columns are kept, or will be once they are downloaded."""
        files = dict[str, str]()
        try:
            for column in columns:
                if file := self.cleaned_data[column]:
                    files[column] = store_job_file(place_of_upload(file.name), file)
                elif place := path_of_upload_column(self.cleaned_data, column):
                    files[column] = place
        except OSError:
            delete_stored_files(files)  # those before the one for which there was no room
            raise
        return files

    def options(self, chosen: str) -> dict[str, Any]:
        """What a format asks beside its files, of a valid form."""
        values = self.cleaned_data
        if chosen == Format.TABLE:
            return dict(self.columns)
        if chosen == Format.BEIR:
            return {"split": values["split"], "config": values["config"]}
        if chosen == Format.CODESEARCHNET:
            return {"documentation": values["documentation"]}
        if chosen == Format.DOCUMENTED:
            return {"language": values["written_in"] or "python"}
        if chosen == Format.QRELS:
            judged = {name: values[name].pk for name in ("queries", "snippets")}
            return {**judged, "language": values["language"].strip()}
        return {}

    def peeked(self, job: Job) -> Job | None:
        """The job of a table that has a record; else None, with the error, and the job is gone."""
        seen = peek_table_file(path_of_job_file(job))
        if not isinstance(seen, Problem):
            return job
        self.add_error("file", f"No record of it can be read: {by_name(job, str(seen))}"[:LONGEST_ERROR])
        discard_upload(job)
        return None


def _other_sources(language: str) -> tuple[str, ...]:
    """The ends of the names of source files in other languages than this."""
    others = (known.endings for name, known in LANGUAGES.items() if name != language)
    return tuple(ending for endings in others for ending in endings)


def form_for(given: Mapping[str, str]) -> UploadForm:
    """An empty form, but for the name and format of an address, such as that of an upload that failed."""
    known = given.get("format", "") in BY_FORMAT
    initial = {"name": given.get("name", "")[:120], "format": given["format"] if known else Format.COSQA}
    lies = {f"file{SUFFIX}": given[f"file{SUFFIX}"][:1000]} if f"file{SUFFIX}" in given else {}
    return UploadForm(initial={**initial, **lies})
