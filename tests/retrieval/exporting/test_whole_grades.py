"""Grades go out as they came; fractions go only where they can be read, or rounded."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from retrieval.collections.import_report import Imported
from retrieval.collections.import_report import Options as ImportOptions
from retrieval.collections.importer import import_items
from retrieval.collections.label_import import Target, import_qrels
from retrieval.evaluation.content import find_named_benchmark
from retrieval.exporting.export_run import Options, export_benchmark
from retrieval.exporting.whole_grades import Fractions
from retrieval.models import Benchmark, Collection
from retrieval.releases import import_release
from retrieval.sources.formats.beir import read_beir_folder
from tests.retrieval.exporting.conftest import annotator, benchmark, lines, loaded, names

PAIRS = [(0, 0), (0, 1), (1, 1), (2, 3)]


def read_folder(folder: Path, name: str) -> Imported:
    return import_items(read_beir_folder(folder), folder.name, name, ImportOptions())


def read_qrels_folder(folder: Path, name: str) -> Imported:
    read_folder(folder, name)
    found = [Collection.objects.get(name=name, kind=kind) for kind in ("queries", "snippets")]
    return import_qrels(folder / "qrels.txt", Target(found[0], found[1], name), ImportOptions())


READERS: dict[str, Callable[[Path, str], Imported]] = {
    "beir": read_folder,
    "parquet": read_folder,
    "huggingface": read_folder,
    "qrels": read_qrels_folder,
    "release": lambda folder, name: import_release(folder, name, ImportOptions()),
}


class RoundTrips(TestCase):
    @settings(max_examples=8, deadline=None)
    @given(st.lists(st.integers(-1000, 1000) | st.integers(-1, 4), min_size=4, max_size=4))
    def test_whole_grades_that_are_exported_come_back_the_same(self, grades: list[int]) -> None:
        said = dict(zip(PAIRS, grades, strict=True))
        scale = "binary" if set(grades) <= {0, 1} else "graded" if set(grades) <= {0, 1, 2, 3} else "whole"
        made = benchmark(said={annotator("original"): said}, scale=scale)
        assert made.scale == scale
        for kind, read in READERS.items():
            with tempfile.TemporaryDirectory() as folder:
                export_benchmark(made, kind, Path(folder) / "out", Options())
                again = read(Path(folder) / "out", f"again {next(names)}").benchmark
            assert again is not None and (again.digest, again.scale) == (made.digest, scale), kind
            assert set(again.labels.values_list("label__scale", flat=True)) == {scale}, kind


@pytest.fixture
def means() -> Benchmark:
    said = {(0, 0): 2.5, (0, 1): 0.25, (1, 1): 3, (2, 3): -0.5}
    return benchmark(said={annotator("original"): said}, scale="graded")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("beir", "qrels/test.tsv: q0\td0\t3 q0\td1\t0 q1\td1\t3 q2\td3\t0"),
        ("qrels", "qrels.txt: q0 0 d0 3|q0 0 d1 0|q1 0 d1 3|q2 0 d3 0"),
    ],
)
def test_fractions_are_refused_or_rounded_and_noted(
    means: Benchmark, kind: str, rows: str, tmp_path: Path
) -> None:
    """2.5 and -0.5 go up, to 3 and 0; 0.25 goes down to 0 and is no match any more."""
    with pytest.raises(Fractions, match=r"no whole numbers \(3, such as 2\.5\).* --round writes the nearest"):
        export_benchmark(means, kind, tmp_path / "out", Options())
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())
    done = export_benchmark(means, kind, tmp_path / "out", Options(rounds=True))
    name, _, told = rows.partition(": ")
    written = (tmp_path / "out" / name).read_text().splitlines()[kind == "beir" :]
    assert written == told.split(" " if kind == "beir" else "|")
    rule = "to the nearest whole number, halves up"
    assert loaded(tmp_path / "out", "workbench.json")["rounded"] == {
        "labels": 3,
        "matches_lost": 1,
        "rule": rule,
    }
    assert f"3 labels rounded {rule}; 1 match became none: provenance/labels.jsonl" in done.warnings[-1]
    kept = [row["relevance"] for row in lines(tmp_path / "out", "provenance/labels.jsonl")]
    assert kept == [2.5, 0.25, 3, -0.5]


@pytest.mark.django_db
def test_the_command_rounds_when_it_is_told_to(means: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--round writes the nearest whole numbers"):
        call_command("export", "qrels", means.name, str(tmp_path / "out"))
    call_command("export", "qrels", means.name, str(tmp_path / "out"), "--round")
    assert (tmp_path / "out" / "qrels.txt").is_file()
    with pytest.raises(CommandError, match="unrecognized arguments: --round"):
        call_command("export", "release", means.name, str(tmp_path / "release"), "--round")


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["release", "parquet", "huggingface"])
def test_formats_with_room_for_fractions_keep_them(means: Benchmark, kind: str, tmp_path: Path) -> None:
    export_benchmark(means, kind, tmp_path, Options(rounds=True))
    assert loaded(tmp_path, "workbench.json")["rounded"] is None


@pytest.mark.django_db
def test_a_benchmark_of_whole_numbers_is_found_with_its_scale() -> None:
    made = benchmark(said={annotator("original"): {(0, 0): 4, (0, 1): -1}}, scale="whole")
    found = find_named_benchmark(made.name)
    assert (found.scale, found.positives) == ("whole", 1)
