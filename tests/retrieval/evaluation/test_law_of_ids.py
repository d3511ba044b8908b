"""The law of ids: for every format, what comes in and goes out again has pytrec_eval's figures on the ids of
the source.

One strategy makes data sets with copies of texts, odd ids, ties, grades, and lists of missing and extra
records; each format takes as much of one as it can say.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.collections.import_report import Options
from retrieval.collections.importer import import_cosqa, import_items
from retrieval.collections.label_import import Target, import_qrels
from retrieval.exporting import export_run
from retrieval.exporting.export_run import export_benchmark
from retrieval.models import Benchmark, Collection
from retrieval.sources.formats.beir import read_beir_folder
from retrieval.sources.formats.codesearchnet import read_codesearchnet
from tests.retrieval.evaluation.test_aliases import (
    NO_SHRINK,
    Made,
    by_beir,
    by_items,
    by_qrels,
    by_release,
    by_table,
    code,
    cosqa_plus_folder,
    expected,
    figures,
    import_beir,
    names,
    numbered,
    published,
    query,
)

pytestmark = pytest.mark.django_db

Bring = Callable[[Made, Path], Benchmark]
Called = Mapping[str, Mapping[str, str]]
"""By source id what an export calls it, of `queries` and of `documents`."""

odd_ids = st.text(st.sampled_from("aZ019_-./:é漢 "), min_size=1, max_size=6).filter(
    lambda name: name == name.strip() and "  " not in name
) | st.sampled_from(["0", "1", "7", "q0", "q1", "Q1", "d0", "D0", "007", "1.0", "1e3", "-1", "NaN", "null"])


@st.composite
def made_sets(draw: st.DrawFn) -> Made:
    """Few texts and many ids, so that most have copies; extra and missing records in the run."""
    asked = draw(st.lists(odd_ids, min_size=1, max_size=5, unique=True))
    found = draw(st.lists(odd_ids, min_size=1, max_size=7, unique=True))
    queries = {name: query(draw(st.integers(0, 2))) for name in asked}
    documents = {name: code(draw(st.integers(0, 3))) for name in found}
    grades = st.dictionaries(st.sampled_from(found), st.sampled_from([0, 1, 2, 3, 0, 1, 5, -1]), min_size=1)
    judged = draw(
        st.dictionaries(st.sampled_from(asked), grades, min_size=1).filter(
            lambda of: any(max(said.values()) > 0 for said in of.values())
        )
    )
    scores = st.dictionaries(
        st.sampled_from([*found, "extra document"]), st.sampled_from([0.5, 1.0, 2.0]), min_size=1
    )
    ranked = draw(st.dictionaries(st.sampled_from([*asked, "extra query"]), scores, min_size=1))
    return Made(queries, documents, judged, ranked)


def unchanged(made: Made) -> Made:
    return made


def judged_alone(made: Made) -> Made:
    """What a file of pairs can say: queries and documents of its judgements."""
    documents = {name for of in made.judged.values() for name in of}
    return Made(
        {name: made.queries[name] for name in made.queries if name in made.judged},
        {name: made.documents[name] for name in made.documents if name in documents},
        made.judged,
        made.ranked,
    )


def renamed(made: Made, queries: Mapping[str, str], documents: Mapping[str, str]) -> Made:
    """The same under other ids. Where two ids become one, a text is judged as its last id is."""
    judged = dict[str, dict[str, int]]()
    for asked, of in made.judged.items():
        judged.setdefault(queries[asked], {}).update({documents[name]: grade for name, grade in of.items()})
    ranked = {
        queries.get(asked, asked): {documents.get(name, name): score for name, score in of.items()}
        for asked, of in made.ranked.items()
    }
    return Made(
        {queries[name]: text for name, text in made.queries.items()},
        {documents[name]: text for name, text in made.documents.items()},
        judged,
        ranked,
    )


def by_one_id(made: Made) -> Made:
    """Documents under one id each, as a map from code to index has them."""
    first = dict[str, str]()
    for name, text in made.documents.items():
        first.setdefault(text, name)
    return renamed(
        made,
        {name: name for name in made.queries},
        {name: first[text] for name, text in made.documents.items()},
    )


def distinct(made: Made) -> Made:
    """Queries, too, under one id each."""
    first = dict[str, str]()
    for name, text in made.queries.items():
        first.setdefault(text, name)
    queries = {name: first[text] for name, text in made.queries.items()}
    return by_one_id(renamed(made, queries, {name: name for name in made.documents}))


def functions(made: Made) -> Made:
    """Each document with a query as its documentation: a function answers the query of its own id."""
    asked = list(made.queries.values())
    called = {name: f"a/b/m.py::{name}" for name in made.documents}
    told = {called[name]: asked[place % len(asked)] for place, name in enumerate(made.documents)}
    by_place = dict(zip(made.queries, called.values(), strict=False))
    ranked = {
        by_place.get(query, query): {called.get(name, name): score for name, score in of.items()}
        for query, of in made.ranked.items()
    }
    documents = {called[name]: text for name, text in made.documents.items()}
    return Made(told, documents, {name: {name: 1} for name in documents}, ranked)


def write_parquet(made: Made, folder: Path) -> Path:
    """As data sets lie on the hub: three configurations."""
    rows = [
        {"query-id": asked, "corpus-id": name, "score": grade}
        for asked, of in made.judged.items()
        for name, grade in of.items()
    ]
    files = {
        "queries": [{"_id": name, "text": text} for name, text in made.queries.items()],
        "corpus": [{"_id": name, "title": "", "text": text} for name, text in made.documents.items()],
        "data": rows,
    }
    for name, records in files.items():
        path = folder / name / "test-00000-of-00001.parquet"
        path.parent.mkdir(parents=True)
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records), path)
    return folder


def by_parquet(made: Made, folder: Path) -> Benchmark:
    return import_beir(write_parquet(made, folder / "hub"))


def by_json_qrels(made: Made, folder: Path) -> Benchmark:
    by_qrels(made, folder)
    texts = Collection.objects.order_by("-pk")
    path = folder / "qrels.json"
    path.write_text(json.dumps(made.judged))
    target = Target(texts.filter(kind="queries")[0], texts.filter(kind="snippets")[0], f"json {next(names)}")
    return published(import_qrels(path, target, Options()))


def cosqa_rows(made: Made) -> Iterator[dict[str, Any]]:
    for asked, of in made.judged.items():
        for name, grade in of.items():
            told = {"idx": asked, "doc": made.queries[asked], "code": made.documents[name]}
            yield told | {"retrieval_idx": name, "label": grade}


def by_cosqa(made: Made, folder: Path) -> Benchmark:
    """The pairs alone; their code is the code base."""
    path = folder / "cosqa.json"
    path.write_text(json.dumps(list(cosqa_rows(made))))
    return published(import_cosqa(path, None, f"made {next(names)}", Options()))


def by_cosqa_with_code_base(made: Made, folder: Path) -> Benchmark:
    """The official form: pairs, and a map from code to index."""
    path, base = folder / "cosqa.json", folder / "code_idx_map.txt"
    path.write_text(json.dumps(list(cosqa_rows(made))))
    base.write_text(json.dumps({text: int(name) for name, text in made.documents.items()}))
    return published(import_cosqa(path, base, f"made {next(names)}", Options()))


def by_codesearchnet(made: Made, folder: Path) -> Benchmark:
    path = folder / "python.jsonl"
    rows = [
        {"repo": "a/b", "path": "m.py", "func_name": name.partition("::")[2], "code": text}
        | {"language": "python", "docstring": made.queries[name]}
        for name, text in made.documents.items()
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    read = read_codesearchnet([path], documentation=True)
    return published(import_items(read, "csn", f"made {next(names)}", Options()))


def by_cosqa_plus(made: Made, folder: Path) -> Benchmark:
    return by_items(cosqa_plus_folder(made, folder / "plus"))


def by_release_folder(made: Made, folder: Path) -> Benchmark:
    return by_release(cosqa_plus_folder(made, folder / "plus"))


@dataclass(frozen=True)
class Format:
    """`adapted`: as much of a data set as it can say; `bring` imports and publishes it."""

    adapted: Callable[[Made], Made]
    bring: Bring


FORMATS = {
    "beir": Format(unchanged, by_beir),
    "parquet of the hub": Format(unchanged, by_parquet),
    "qrels": Format(unchanged, by_qrels),
    "qrels as json": Format(unchanged, by_json_qrels),
    "table": Format(judged_alone, by_table),
    "cosqa+": Format(numbered, by_cosqa_plus),
    "release": Format(numbered, by_release_folder),
    "cosqa": Format(lambda made: judged_alone(numbered(made)), by_cosqa),
    "cosqa with code base": Format(
        lambda made: Made(*_of_judged_queries(by_one_id(numbered(made)))), by_cosqa_with_code_base
    ),
    "codesearchnet": Format(functions, by_codesearchnet),
}


def _of_judged_queries(made: Made) -> tuple[Any, ...]:
    asked = {name: text for name, text in made.queries.items() if name in made.judged}
    return asked, made.documents, made.judged, made.ranked


def is_comparable(made: Made) -> bool:
    """Whether something matches, and the run has a query and a document of the set: else it is refused."""
    listed = {name for asked, of in made.ranked.items() if asked in made.queries for name in of}
    matched = any(grade > 0 for of in made.judged.values() for grade in of.values())
    return matched and bool(set(made.queries) & set(made.ranked)) and bool(set(made.documents) & listed)


law = settings(max_examples=8, deadline=None, phases=NO_SHRINK, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("format_", FORMATS)
@law
@given(made=made_sets())
def test_figures_equal_pytrec_eval_by_the_ids_of_the_source(format_: str, made: Made) -> None:
    made = FORMATS[format_].adapted(made)
    if not is_comparable(made):
        return
    with tempfile.TemporaryDirectory() as folder:
        benchmark = FORMATS[format_].bring(made, Path(folder))
        found = figures(benchmark, made.ranked, Path(folder))
        assert found == pytest.approx(expected(made.judged, made.ranked))


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def called_by_beir(folder: Path) -> Called:
    return {
        side: {row["metadata"]["source_id"]: row["_id"] for row in lines_of(folder / f"{name}.jsonl")}
        for side, name in (("queries", "queries"), ("documents", "corpus"))
    }


def called_by_hub(folder: Path) -> Called:
    return {
        side: {row["source_id"]: str(row[key]) for row in lines_of(folder / "data" / f"{name}.jsonl")}
        for side, name, key in (("queries", "queries", "query_idx"), ("documents", "codebase", "code_idx"))
    }


def called_by_parquet(folder: Path) -> Called:
    found = dict[str, dict[str, str]]()
    for side, name, key in (("queries", "queries", "query_idx"), ("documents", "codebase", "code_idx")):
        rows = pyarrow.parquet.read_table(folder / f"{name}.parquet").to_pylist()
        found[side] = {row["source_id"]: str(row[key]) for row in rows}
    return found


def called_by_release(folder: Path) -> Called:
    """A release of ours comes back under the ids that it was made of."""
    found = numbers_in_release(folder)
    return {side: {name: name for name in numbers} for side, numbers in found.items()}


def called_by_plain_release(folder: Path) -> Called:
    """Without what stands beside it, it is a release as others make them, by its numbers."""
    found = numbers_in_release(folder)
    (folder / "workbench.json").unlink()
    return found


def numbers_in_release(folder: Path) -> Called:
    return {
        side: {row["source_id"]: str(row[key]) for row in lines_of(folder / "provenance" / f"{name}.jsonl")}
        for side, name, key in (("queries", "queries", "query-idx"), ("documents", "codebase", "code-idx"))
    }


def import_exported_qrels(folder: Path) -> Benchmark:
    name = f"made {next(names)}"
    (folder / "qrels").mkdir()
    import_items(read_beir_folder(folder), "made", name, Options())
    collections = {one.kind: one for one in Collection.objects.filter(name=name)}
    target = Target(collections["queries"], collections["snippets"], f"{name} qrels")
    return published(import_qrels(folder / "qrels.txt", target, Options()))


def import_exported_cosqa(folder: Path) -> Benchmark:
    path, base = folder / "cosqa-all.json", folder / "code_idx_map.txt"
    return published(import_cosqa(path, base, f"made {next(names)}", Options()))


@dataclass(frozen=True)
class Export:
    """`format_` as `export` calls it, what it calls ids, and what reads it again."""

    format_: str
    called: Callable[[Path], Called]
    again: Callable[[Path], Benchmark]
    adapted: Callable[[Made], Made] = unchanged


def binary(made: Made) -> Made:
    """Judged 0 or 1, as what a release says without its provenance."""
    judged = {
        asked: {name: int(grade > 0) for name, grade in of.items()} for asked, of in made.judged.items()
    }
    return Made(made.queries, made.documents, judged, made.ranked)


EXPORTS = {
    "beir": Export("beir", called_by_beir, import_beir),
    "huggingface": Export("huggingface", called_by_hub, import_beir),
    "parquet": Export("parquet", called_by_parquet, import_beir),
    "qrels": Export("qrels", called_by_beir, import_exported_qrels),
    "release": Export("release", called_by_release, by_release),
    "release without provenance": Export("release", called_by_plain_release, by_release, binary),
}


@pytest.mark.parametrize(
    ("source", "export"),
    [*(("beir", name) for name in EXPORTS), ("release", "beir"), ("release", "release")],
)
@settings(law, max_examples=6)
@given(made=made_sets())
def test_an_export_gives_every_id_back_and_is_measured_alike(source: str, export: str, made: Made) -> None:
    out = EXPORTS[export]
    made = out.adapted(FORMATS[source].adapted(made))
    if not is_comparable(made):
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        export_benchmark(
            FORMATS[source].bring(made, folder), out.format_, folder / "out", export_run.Options()
        )
        called = out.called(folder / "out")
        assert set(called["queries"]) == set(made.queries)
        assert set(called["documents"]) == set(made.documents)
        same = renamed(made, called["queries"], called["documents"])
        found = figures(out.again(folder / "out"), same.ranked, folder)
        assert found == pytest.approx(expected(same.judged, same.ranked))


@settings(law, max_examples=6)
@given(made=made_sets())
def test_what_coclr_names_by_texts_is_measured_alike(made: Made) -> None:
    """Its format has 0 and 1, and no ids of queries: distinct texts, by ids that the import gives them."""
    made = binary(distinct(made))
    if not is_comparable(made):
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        export_benchmark(by_beir(made, folder), "coclr", folder / "out", export_run.Options())
        again = import_exported_cosqa(folder / "out")
        called = [
            {member.text.text: member.source_id for member in part.members.select_related("text__body")}
            for part in (again.queries, again.snippets)
        ]
        queries = {name: called[0].get(text, name) for name, text in made.queries.items()}
        documents = {name: called[1][text.strip()] for name, text in made.documents.items()}
        same = renamed(made, queries, documents)
        if not is_comparable(Made(*_of_judged_queries(same))):
            return
        found = figures(again, same.ranked, folder)
        assert found == pytest.approx(expected(same.judged, same.ranked))
