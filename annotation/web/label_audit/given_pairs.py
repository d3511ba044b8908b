"""Given pairs on pages: which there are to choose from, and a file of them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

from django import forms
from django.core.files.uploadedfile import UploadedFile

from annotation.web.collections.upload_form import build_collection_field
from retrieval.given_pairs import NoPairs, Read, Wanted, of_benchmark, of_file
from retrieval.models import Benchmark, Collection, PairList
from retrieval.sources.readers.compression import is_longer_than
from retrieval.sources.readers.records import JSON_LINES, SEPARATORS, kind_of
from retrieval.texts.plurals import count_noun

MOST_CHOICES: Final = 200
MOST_MB: Final = 10
"""A file of so much is read while a person waits; a larger one is for the command."""
TOO_LARGE: Final = f"larger than {MOST_MB} MB: give it on the server, by cosqa build NAME --pairs FILE."
PROBLEMS_SHOWN: Final = 20
NONE: Final = ("", "none: mining finds the pairs")
KINDS: Final = (*JSON_LINES, ".json", *SEPARATORS)


def list_given_pair_choices() -> list[tuple[str, str]]:
    """The benchmarks and the lists of pairs that a build can judge, the newest first."""
    benchmarks = Benchmark.objects.order_by("-pk").defer("matches")[:MOST_CHOICES]
    lists = PairList.objects.exclude(source="").order_by("-pk")[:MOST_CHOICES]
    told = [
        *((f"list-{one.pk}", f"{one.name}: {count_noun(one.size, 'pair')} of a file") for one in lists),
        *(
            (f"benchmark-{benchmark.pk}", f"{benchmark}: {count_noun(benchmark.size, 'labelled pair')}")
            for benchmark in benchmarks
        ),
    ]
    return [NONE, *told]


def find_chosen_pair_list(told: str) -> PairList | None:
    """The list that a choice names; None for none. Raises NoPairs where it is gone, or has no pair."""
    kind, _, number = told.partition("-")
    if not number.isdecimal():
        return None
    if kind == "list":
        found = PairList.objects.select_related("benchmark", "queries", "snippets").filter(pk=number).first()
    else:
        benchmark = Benchmark.objects.filter(pk=number).first()
        found = of_benchmark(benchmark) if benchmark else None
    if found is None:
        raise NoPairs("These pairs no longer exist; choose others.")
    return found


class PairsForm(forms.Form):
    """A file of pairs, by their texts or by ids of members."""

    name = forms.CharField(
        max_length=120,
        label="Name",
        help_text="The name of the new collections of its texts, and of the benchmark of its labels.",
    )
    file = forms.FileField(
        label="File",
        max_length=200,
        help_text=f"{', '.join(KINDS)}, up to {MOST_MB} MB: rows of a query and its code, or ids of both, "
        "with a label, if there is one. CoSQA’s own JSON is such a file.",
    )
    queries = build_collection_field(Collection.Kind.QUERIES, "Collection of the query ids")
    snippets = build_collection_field(Collection.Kind.SNIPPETS, "Collection of the function ids")
    skip_bad = forms.BooleanField(required=False, label="Skip rows that can’t be read")

    def clean_file(self) -> UploadedFile[bytes]:
        given: UploadedFile[bytes] = self.cleaned_data["file"]
        if (given.size or 0) > MOST_MB * 2**20:
            raise forms.ValidationError(f"{TOO_LARGE[0].upper()}{TOO_LARGE[1:]}")
        if kind_of(Path(given.name or "")) not in KINDS:
            raise forms.ValidationError(f"The name must end in one of {', '.join(KINDS)}.")
        return given

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if bool(cleaned.get("queries")) != bool(cleaned.get("snippets")):
            self.add_error("queries", "Choose a collection of queries and one of functions, or neither.")
        return cleaned

    def read(self) -> Read | None:
        """The list of a valid form; None, with errors, where the file has none."""
        file = self.cleaned_data["file"]  # first: add_error takes it out of cleaned_data
        try:
            with tempfile.TemporaryDirectory() as folder:
                wanted = self._kept(Path(folder))
                if is_longer_than(wanted.path, MOST_MB * 2**20):
                    raise NoPairs(f"Unpacked it is {TOO_LARGE}")
                return of_file(wanted)
        except NoPairs as why:
            for problem in why.problems[:PROBLEMS_SHOWN]:
                told = f"line {problem.record}: {problem.message}" if problem.record else problem.message
                self.add_error("file", told)
            self.add_error(None, str(why))
            return None
        finally:
            file.close()

    def _kept(self, folder: Path) -> Wanted:
        """The upload as a file, whose name tells its format alone: what it is called is somebody's text."""
        values, name = self.cleaned_data, Path(self.cleaned_data["file"].name).name
        path = folder / f"pairs{''.join(Path(name.lower()).suffixes[-2:])[-12:]}"
        with path.open("wb") as out:
            for part in values["file"].chunks():
                out.write(part)
        return Wanted(
            path,
            values["name"].strip(),
            values["queries"],
            values["snippets"],
            skip_bad=values["skip_bad"],
            called=name,
        )
