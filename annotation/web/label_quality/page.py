"""The page of label quality: pairs and truth are uploaded or chosen, and the bench's tables shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils.datastructures import MultiValueDict
from django.utils.text import slugify

from annotation.builds.results.annotator_comparison import find_labelling_annotators
from annotation.models import Build
from annotation.quality import tables
from annotation.quality.bench import Bench, measure_bench
from annotation.quality.ground import NothingToMeasure
from annotation.quality.inputs import files
from annotation.quality.inputs.annotator_choice import NoSuchAnnotator, source_chosen
from annotation.quality.inputs.entrants import Group, OfFile
from annotation.quality.inputs.pair_lookup import PlacedPair, place_bench_pairs
from annotation.quality.report import WrongPair
from annotation.studies.report.charts import draw_chart
from annotation.studies.report.downloads import FORMATS, formats_of
from annotation.studies.report.table import Table
from annotation.web.cases.code import spell_unseen_characters
from annotation.web.collections.upload_form import build_collection_field
from annotation.web.comparison.annotators import choices_of
from annotation.web.shared.forms import set_choices
from annotation.web.shared.words import label_sign
from retrieval.models import Collection

FOLDER: Final = "quality"
PAIRS, TRUTH = "pairs.jsonl", "truth.jsonl"
MOST_PAIRS: Final = 5000
"""Measure larger sets with the command: a page should take seconds, not minutes."""
MOST_BUILDS: Final = 200
MOST_CHOSEN: Final = 12
MOST_WRONG: Final = 50
LONGEST_CODE: Final = 2000
LONGEST_NOTE: Final = 600
COMMAND: Final = "cosqa admin bench quality --pairs FILE --truth FILE --annotators …"


class FilesField(forms.FileField):
    """Any number of files; Django's own takes one."""

    widget = type("Files", (forms.ClearableFileInput,), {"allow_multiple_selected": True})

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[bytes]]:
        given = data if isinstance(data, list) else [data] if data else []
        return [super(FilesField, self).clean(file, initial) for file in given]


class QualityForm(forms.Form):
    """What is measured on, and who. Every refusal names what to do instead."""

    known = forms.ChoiceField(
        label="Stored pairs and truth",
        required=False,
        help_text=f"Folders in {FOLDER}/ next to the database, each with {PAIRS} and {TRUTH}.",
    )
    pairs = forms.FileField(
        label="Or a file of pairs",
        required=False,
        max_length=200,
        help_text='JSON Lines: {"id", "query", "code"}. A "stratum", such as "tested", may be in every line.',
    )
    truth = forms.FileField(
        label="And their truth",
        required=False,
        max_length=200,
        help_text='JSON Lines: {"id", "label"} or {"id", "votes": [1, 1]}; split votes are left out.',
    )
    who = forms.MultipleChoiceField(
        label="Builds and annotators",
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 8}),
        help_text="Hold Ctrl or Shift to choose several. Builds with one configuration count as its runs.",
    )
    labels = FilesField(
        label="Labels of other systems",
        required=False,
        max_length=200,
        help_text='JSON Lines: {"id", "label"}, perhaps "tested" and "why"; a file each.',
    )
    queries = build_collection_field(Collection.Kind.QUERIES, "Queries, where the pairs have a query_id")
    snippets = build_collection_field(Collection.Kind.SNIPPETS, "Functions, where they have a code_id")

    def __init__(
        self, builds: QuerySet[Build], data: Any = None, uploads: MultiValueDict[str, Any] | None = None
    ) -> None:
        super().__init__(data, uploads)
        self.builds = builds.filter(opened=True)
        self.bench: Bench | None = None
        known = ((name, spell_unseen_characters(name)) for name in list_truth_sets())
        set_choices(self, "known", [("", "choose …"), *known])
        set_choices(self, "who", who_is_there(self.builds))

    def clean_who(self) -> list[str]:
        chosen: list[str] = self.cleaned_data["who"]
        if len(chosen) > MOST_CHOSEN:
            raise forms.ValidationError(f"At most {MOST_CHOSEN} at once: on the server, {COMMAND}")
        return chosen

    def clean(self) -> dict[str, Any]:
        """Also measures: what is wrong with a file is an error of its field."""
        cleaned = super().clean() or self.cleaned_data
        if not self.errors:
            self.refuse_missing(dict(cleaned))
        if not self.errors:
            try:
                self.bench = self.measure(cleaned)
            except (files.BadFile, NoSuchAnnotator, NothingToMeasure) as why:
                self.add_error(None, str(why))
        return cleaned

    def refuse_missing(self, values: dict[str, Any]) -> None:
        """Add errors for what was not chosen."""
        if values["known"] and (values["pairs"] or values["truth"]):
            self.add_error("known", "You also chose files: leave one out.")
        for name in ("pairs", "truth"):
            if not values["known"] and not values[name]:
                self.add_error(name, "Choose a file, or stored pairs and truth.")
        if not values["who"] and not values["labels"]:
            self.add_error("who", "Choose an annotator, or a file of labels.")
        for file in (values["pairs"], values["truth"], *values["labels"]):
            if file and (file.size or 0) > settings.UPLOAD_LIMIT_BYTES:
                self.add_error(None, f"{file.name} is too large for the page: on the server, {COMMAND}")

    def measure(self, values: dict[str, Any]) -> Bench:
        """Raises BadFile, NoSuchAnnotator and NothingToMeasure."""
        places, truth = self.placed(values)
        ids = [place.pair.id for place in places]
        groups = [Group((source_chosen(choice, self.builds),)) for choice in values["who"]]
        read = [OfFile(file.name, files.read_labels(file, file.name, ids)) for file in values["labels"]]
        groups += [Group((source,)) for source in read]
        return measure_bench(places, truth, groups)

    def placed(self, values: dict[str, Any]) -> tuple[tuple[PlacedPair, ...], files.Truth]:
        """The pairs and their truth, of files that were uploaded or are here."""
        collections = values["queries"], values["snippets"]
        if not values["known"]:
            pairs, truth = values["pairs"], values["truth"]
            return read_pairs_with_truth(pairs, pairs.name, truth, truth.name, *collections)
        folder = Path(settings.COSQA_HOME) / FOLDER / values["known"]
        with (folder / PAIRS).open("rb") as pairs, (folder / TRUTH).open("rb") as truth:
            return read_pairs_with_truth(pairs, PAIRS, truth, TRUTH, *collections)


def read_pairs_with_truth(
    pairs: Any,
    name: str,
    truth: Any,
    truth_name: str,
    queries: Collection | None,
    snippets: Collection | None,
) -> tuple[tuple[PlacedPair, ...], files.Truth]:
    """Raises BadFile and NothingToMeasure."""
    try:
        given = files.read_pairs(pairs, name, MOST_PAIRS)
    except files.TooManyLines as why:
        told = f"More than {MOST_PAIRS:,} pairs are too many for the page: on the server, {COMMAND}"
        raise NothingToMeasure(told) from why
    places = place_bench_pairs(given, name, queries, snippets)
    return places, files.read_truth(truth, truth_name, [pair.id for pair in given])


def list_truth_sets() -> list[str]:
    """The folders that have pairs and their truth."""
    home = Path(settings.COSQA_HOME) / FOLDER
    folders = sorted(home.iterdir()) if home.is_dir() else []
    return [folder.name for folder in folders if (folder / PAIRS).is_file() and (folder / TRUTH).is_file()]


def who_is_there(builds: QuerySet[Build]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The builds, newest first, each with its rounds where there are several; and who has labels."""
    rows = builds.order_by("-pk")[:MOST_BUILDS]
    named = [
        (
            f"b{build.pk}.{number}",
            spell_unseen_characters(
                f"{build.name} ({build.answering_model})" + (f", round {number}" if build.rounds > 1 else "")
            ),
        )
        for build in rows
        for number in range(1, build.rounds + 1)
    ]
    yield "Builds", named
    labelling = choices_of(find_labelling_annotators().order_by("kind", "name", "pk"))
    yield ("Stored labels", [(f"a{row.pk}", spell_unseen_characters(name)) for row, name in labelling])


def page_of(bench: Bench) -> dict[str, Any]:
    """The bench as tables, the first wrong pairs of each answering, and what counted its tokens."""
    groups = groupby(bench.report.wrong, key=lambda wrong: (wrong.entry, wrong.answering))
    lists = [(name, list(some)) for (_, name), some in groups]
    return {
        "tables": tables.build_bench_tables(bench.report),
        "wrong": [
            {
                "name": name,
                "rows": [build_wrong_pair_row(bench, wrong) for wrong in some[:MOST_WRONG]],
                "wrong": len(some),
            }
            for name, some in lists
        ],
        "counted_by": bench.counted_by,
        "longest_code": LONGEST_CODE,
        "longest_note": LONGEST_NOTE,
    }


def pack_table_files(shown: Sequence[tables.Table]) -> BytesIO:
    """A zip with each table as CSV, JSON and LaTeX, numbered in the order of the page, and the accuracies of
    its rows as a drawing.
    """
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for table, named in zip(shown, name_tables(shown), strict=True):
            for form in formats_of(named):
                archive.writestr(f"{named.key}.{form}", FORMATS[form][0](named))
            if drawing := draw_accuracies(table):
                archive.writestr(f"{named.key}.svg", drawing)
    packed.seek(0)
    return packed


def name_tables(shown: Sequence[tables.Table]) -> Iterator[Table]:
    """The tables with a key each, in the order of the page."""
    for number, table in enumerate(shown, 1):
        key = f"{number:02}-{slugify(table.title)}"
        yield Table(key, table.title, table.columns, table.rows, table.note)


def draw_accuracies(table: tables.Table) -> str:
    """A dot and an interval for each row; empty where nothing is drawn, or no accuracy is defined."""
    rows = tuple((row[0], figure) for row, figure in zip(table.rows, table.drawn, strict=False))
    return draw_chart(Table("", table.title, ("Annotator", "Accuracy"), rows, charted="Accuracy"))


def build_wrong_pair_row(bench: Bench, wrong: WrongPair) -> dict[str, Any]:
    """A pair that was labelled wrong, ready to be read."""
    answer = wrong.answer
    return {
        "pair": wrong.pair,
        "place": bench.places[wrong.pair],
        "said": label_sign(1 - wrong.truth),
        "truth": label_sign(wrong.truth),
        "how": ", ".join(filter(None, [answer.stage, answer.decided, answer.outcome.replace("_", " ")])),
        "steps": bench.said_of(wrong),
        "answer": answer,
    }
