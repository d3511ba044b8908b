"""One text under several ids: each id of a source counts by itself, as pytrec_eval takes its files."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval
from django.core.management import call_command
from hypothesis import Phase

from retrieval.collections.import_report import Imported, Options
from retrieval.collections.importer import import_cosqa, import_items
from retrieval.collections.label_import import Target, import_qrels
from retrieval.evaluation.content import content_of
from retrieval.evaluation.files import evaluate_files
from retrieval.evaluation.holes import find_unjudged_results
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.runs.system_run import evaluate_file, evaluate_system
from retrieval.evaluation.systems.search import Search, find_system
from retrieval.exporting import export_run
from retrieval.exporting.export_run import export_benchmark
from retrieval.metrics.names import parse_measures
from retrieval.models import (
    Alias,
    Annotator,
    Benchmark,
    BenchmarkIdLabel,
    Collection,
    Label,
    LabelIds,
    Pair,
    Pool,
)
from retrieval.releases.importer import import_release
from retrieval.sources.formats.beir import read_beir_folder
from retrieval.sources.formats.cosqa_plus import read_cosqa_plus, release_in
from retrieval.sources.formats.table import Columns, read_table_rows

pytestmark = pytest.mark.django_db

MEASURES = {"mrr": "recip_rank", "ndcg_linear@10": "ndcg_cut_10", "recall@5": "recall_5", "map": "map"}
Judged = Mapping[str, Mapping[str, int]]
Ranked = Mapping[str, Mapping[str, float]]
names = count()
NO_SHRINK = (Phase.explicit, Phase.generate)


@dataclass(frozen=True)
class Made:
    """A data set with copies, judgements of its ids, and a system's scores."""

    queries: Mapping[str, str]
    documents: Mapping[str, str]
    judged: Judged
    ranked: Ranked


def query(number: int) -> str:
    return f"question number {number}"


def code(number: int) -> str:
    return f"def f{number}(x):\n    return x + {number}"


TWICE = Made(
    {"q1": query(1), "q2": query(2), "q3": query(2)},
    {"a1": code(1), "b1": code(2), "a2": code(1) + "\n", "b2": code(2).replace("\n", "\r\n")},
    {"q1": {"a2": 1}, "q2": {"b2": 1}, "q3": {"b1": 1}},
    {"q1": {"a2": 9.0, "b1": 8.0}, "q2": {"b2": 5.0, "a1": 4.0}, "q3": {"b1": 5.0}},
)
"""Two codes and a question under two ids each; every list begins with what is judged right by its id."""


def beir_folder(made: Made, folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    for name, texts in (("queries", made.queries), ("corpus", made.documents)):
        rows = (json.dumps({"_id": one, "text": text}) for one, text in texts.items())
        (folder / f"{name}.jsonl").write_text("\n".join(rows) + "\n")
    rows = (f"{q}\t{d}\t{grade}\n" for q, of in made.judged.items() for d, grade in of.items())
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))
    return folder


def write_run(ranked: Ranked, path: Path) -> Path:
    """A run whose ranks settle ties as trec_eval does: the later id goes first."""
    rows = list[str]()
    for asked, scores in ranked.items():
        order = sorted(scores, key=lambda name: (scores[name], name.encode()), reverse=True)
        rows += [f"{asked}\tQ0\t{name}\t{rank}\t{scores[name]}\tmine" for rank, name in enumerate(order)]
    path.write_text("\n".join(rows) + "\n")
    return path


def expected(judged: Judged, ranked: Ranked) -> dict[str, float]:
    """pytrec_eval's means over the queries with a match; one without a list scores 0."""
    asked = [name for name, of in judged.items() if any(grade > 0 for grade in of.values())]
    qrels = {name: dict(judged[name]) for name in asked}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(MEASURES.values()))
    found = evaluator.evaluate({name: dict(scores) for name, scores in ranked.items()})
    return {
        ours: sum(found.get(name, {}).get(theirs, 0.0) for name in asked) / len(asked)
        for ours, theirs in MEASURES.items()
    }


def figures(benchmark: Benchmark, ranked: Ranked, folder: Path) -> dict[str, float | None]:
    path = write_run(ranked, folder / f"{next(names)}.run")
    done = evaluate_file(
        path, "mine", content_of(benchmark), Pool.COLLECTION, parse_measures(MEASURES), source="mine"
    )
    return {name: figure.value for name, figure in done.figures.items()}


def import_beir(folder: Path) -> Benchmark:
    return published(import_items(read_beir_folder(folder), "made", f"made {next(names)}", Options()))


def published(done: Imported) -> Benchmark:
    assert done.benchmark is not None
    return done.benchmark


def by_beir(made: Made, folder: Path) -> Benchmark:
    return import_beir(beir_folder(made, folder / "beir"))


def by_qrels(made: Made, folder: Path) -> Benchmark:
    """Texts as BEIR has them, judgements as TREC has them."""
    unlabelled = beir_folder(Made(made.queries, made.documents, {}, {}), folder / "texts")
    name = f"made {next(names)}"
    import_items(read_beir_folder(unlabelled), "made", name, Options())
    path = folder / "qrels.txt"
    rows = (f"{q}\t0\t{d}\t{grade}\n" for q, of in made.judged.items() for d, grade in of.items())
    path.write_text("".join(rows))
    collections = {one.kind: one for one in Collection.objects.filter(name=name)}
    target = Target(collections["queries"], collections["snippets"], f"{name} qrels")
    return published(import_qrels(path, target, Options()))


def by_table(made: Made, folder: Path) -> Benchmark:
    """A row for each judged pair; what nobody judged is not in it."""
    path = folder / "rows.jsonl"
    rows = (
        {"q": made.queries[q], "qid": q, "c": made.documents[d], "cid": d, "said": grade}
        for q, of in made.judged.items()
        for d, grade in of.items()
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = Columns("q", "c", "said", "qid", "cid", scale="whole")
    return published(import_items(read_table_rows(path, columns), "made", f"made {next(names)}", Options()))


FORMATS = (by_beir, by_qrels, by_table)


@pytest.mark.parametrize("format_", FORMATS)
def test_a_list_that_begins_with_the_judged_id_scores_1(
    format_: Callable[[Made, Path], Benchmark], tmp_path: Path
) -> None:
    benchmark = format_(TWICE, tmp_path)
    assert figures(benchmark, TWICE.ranked, tmp_path) == dict.fromkeys(MEASURES, 1.0)
    assert benchmark.match_counts.tolist() == [1, 1, 1]


def test_figures_equal_those_of_the_files_alone(tmp_path: Path) -> None:
    ranked = {"q1": {"a1": 3.0, "a2": 2.0}, "q2": {"b1": 3.0, "a1": 2.0, "b2": 1.0}}
    benchmark, run = by_qrels(TWICE, tmp_path), write_run(ranked, tmp_path / "alone.run")
    alone = evaluate_files(tmp_path / "qrels.txt", run, parse_measures(MEASURES))
    found = figures(benchmark, ranked, tmp_path)
    assert found == pytest.approx({name: one.value for name, one in alone.averages.items()})
    assert found["mrr"] == pytest.approx((1 / 2 + 1 / 3 + 0) / 3)


def test_threefold_texts_have_the_figures_of_their_ids(tmp_path: Path) -> None:
    """60 queries of 20 texts, 120 codes of 40: equal texts have equal scores, one id of each is right."""
    draw = random.Random(5)
    queries = {f"q{n}": f"translate operator number {n % 20} to another framework" for n in range(60)}
    documents = {f"d{n}": f"def op_{n % 40}(x):\n    return x * {n % 40}" for n in range(120)}
    right = {q: draw.choice(list(documents)) for q in queries}
    ranked = dict[str, dict[str, float]]()
    for q, asked in queries.items():
        scores = {text: random.Random(asked + text).random() for text in documents.values()}
        order = sorted(documents, key=lambda d: (-scores[documents[d]], d))
        ranked[q] = {d: 1000.0 - rank for rank, d in enumerate(order)}
    made = Made(queries, documents, {q: {d: 1} for q, d in right.items()}, ranked)
    found = figures(by_beir(made, tmp_path), ranked, tmp_path)
    assert {name: round(value or 0, 4) for name, value in found.items()} == {
        "mrr": 0.0569,
        "ndcg_linear@10": 0.0489,
        "recall@5": 0.0333,
        "map": 0.0569,
    }
    assert found == pytest.approx(expected(made.judged, ranked))


def numbered(made: Made) -> Made:
    """The same by numbers, queries from 11 and documents from 21 on, and judged 0 or 1, as CoSQA+ has it."""
    asked = {name: str(place) for place, name in enumerate(made.queries, 11)}
    found = {name: str(place) for place, name in enumerate(made.documents, 21)}
    judged = {
        asked[q]: {found[d]: int(grade > 0) for d, grade in of.items()} for q, of in made.judged.items()
    }
    ranked = {
        asked.get(q, q): {found.get(d, d): score for d, score in of.items()} for q, of in made.ranked.items()
    }
    queries = {asked[name]: text for name, text in made.queries.items()}
    return Made(queries, {found[name]: text for name, text in made.documents.items()}, judged, ranked)


def cosqa_plus_folder(made: Made, folder: Path) -> Path:
    folder.mkdir()
    files: dict[str, list[dict[str, Any]]] = {
        "query": [{"query-idx": int(name), "query": text} for name, text in made.queries.items()],
        "codebase": [{"code-idx": int(name), "code": text} for name, text in made.documents.items()],
        "pairs": [
            {"query-idx": int(q), "query": made.queries[q]}
            | {"code-idx": int(d), "code": made.documents[d], "label": grade}
            for q, of in made.judged.items()
            for d, grade in of.items()
        ],
    }
    for name, rows in files.items():
        (folder / f"{name}.json").write_text(json.dumps(rows))
    return folder


def by_items(folder: Path) -> Benchmark:
    read = read_cosqa_plus(release_in(folder))
    return published(import_items(read, "plus", f"made {next(names)}", Options()))


def by_release(folder: Path) -> Benchmark:
    return published(import_release(folder, f"made {next(names)}", Options()))


@pytest.mark.parametrize("way", [by_items, by_release])
def test_a_release_is_measured_by_its_numbers(way: Callable[[Path], Benchmark], tmp_path: Path) -> None:
    made = numbered(TWICE)
    benchmark = way(cosqa_plus_folder(made, tmp_path / "plus"))
    assert figures(benchmark, made.ranked, tmp_path)["mrr"] == 1.0
    copy_first = {**made.ranked, "11": {"21": 2.0, "23": 1.0}}
    assert figures(benchmark, copy_first, tmp_path)["mrr"] == pytest.approx((1 / 2 + 1 + 1) / 3)


def test_an_exported_release_comes_back_with_the_same_content(tmp_path: Path) -> None:
    benchmark = by_beir(TWICE, tmp_path)
    export_benchmark(benchmark, "release", tmp_path / "out", export_run.Options())
    again = published(import_release(tmp_path / "out", f"made {next(names)}", Options()))
    assert again.digest == benchmark.digest
    assert figures(again, TWICE.ranked, tmp_path) == dict.fromkeys(MEASURES, 1.0)


@pytest.mark.parametrize("format_", ["beir", "huggingface"])
def test_an_exported_folder_comes_back_with_the_same_content(format_: str, tmp_path: Path) -> None:
    benchmark = by_beir(TWICE, tmp_path)
    export_benchmark(benchmark, format_, tmp_path / "out", export_run.Options())
    assert import_beir(tmp_path / "out").digest == benchmark.digest


def test_cosqa_is_measured_by_idx_and_retrieval_idx(tmp_path: Path) -> None:
    pairs = [("q1", "a", 5), ("q2", "b", 7), ("q3", "b", 6)]
    rows = [
        {"idx": name, "doc": query(ord(text)), "code": code(number // 6), "retrieval_idx": number, "label": 1}
        for name, text, number in pairs
    ]
    (tmp_path / "pairs.json").write_text(json.dumps(rows))
    done = import_cosqa(tmp_path / "pairs.json", None, f"made {next(names)}", Options())
    ranked = {"q1": {"5": 1.0}, "q2": {"6": 2.0, "7": 1.0}, "q3": {"6": 1.0}}
    assert figures(published(done), ranked, tmp_path)["mrr"] == pytest.approx((1 + 1 / 2 + 1) / 3)


def test_names_of_cosqas_pairs_are_no_ids_of_its_queries(tmp_path: Path) -> None:
    rows = [{"idx": f"cosqa-all-{n}", "doc": query(1), "code": code(n), "label": 1} for n in range(3)]
    (tmp_path / "pairs.json").write_text(json.dumps(rows))
    done = published(import_cosqa(tmp_path / "pairs.json", None, f"made {next(names)}", Options()))
    assert (done.query_count, done.match_counts.tolist()) == (1, [3])


def by_text(made: Made, folder: Path) -> Benchmark:
    """Labels of an annotator who sees texts: no id of them is another one."""
    imported = by_beir(made, folder)
    by = Annotator.objects.version(Annotator.Kind.AGENTS, "agents", {})
    for pair in Pair.objects.filter(labels__annotator__name=imported.name).distinct():
        Label.objects.create(pair=pair, annotator=by, value=1)
    order = Order(f"made {next(names)}", imported.queries, imported.snippets, "agents")
    return publish_benchmark(order, Label.objects.filter(annotator=by))


def test_of_labels_by_text_the_first_of_two_copies_counts(tmp_path: Path) -> None:
    benchmark = by_text(TWICE, tmp_path)
    ranked = {"q1": {"b1": 9.0, "b2": 8.0, "a2": 7.0, "a1": 6.0}, "q3": {"b2": 1.0}}
    run = write_run(ranked, tmp_path / "copies.run")
    done = evaluate_file(run, "mine", content_of(benchmark), Pool.COLLECTION, parse_measures(MEASURES))
    assert done.counts.scored == 2
    assert done.figures["mrr"].value == pytest.approx((1 / 2 + 1) / 2)
    assert any("2 ids" in note and "under another id" in note for note in done.notes)


def test_of_labels_by_text_one_of_two_lists_of_a_query_counts(tmp_path: Path) -> None:
    benchmark = by_text(TWICE, tmp_path)
    ranked = {"q3": {"b2": 1.0}, "q2": {"a1": 2.0, "b1": 1.0}, "q1": {"a1": 1.0}}
    run = write_run(ranked, tmp_path / "lists.run")
    done = evaluate_file(run, "mine", content_of(benchmark), Pool.COLLECTION, parse_measures(["mrr"]))
    assert done.figures["mrr"].value == pytest.approx((1 + 1 / 2) / 2)  # q2's own list, not that of its alias
    assert any("1 query id" in note for note in done.notes)


def test_labels_by_text_keep_the_content_that_they_had_without_aliases(tmp_path: Path) -> None:
    single = Made({"q1": query(1), "q2": query(2)}, {"a1": code(1), "b1": code(2)}, {}, {})
    judged = {"q1": {"a1": 1}, "q2": {"b1": 1}}
    alone = by_beir(Made(single.queries, single.documents, judged, {}), tmp_path / "alone")
    assert by_text(TWICE, tmp_path).digest == alone.digest


def test_a_search_finds_all_ids_of_a_text_one_after_the_other(tmp_path: Path) -> None:
    benchmark = by_beir(TWICE, tmp_path)
    content = content_of(benchmark)
    how = Search("whole", None, tmp_path / "vectors")
    done = evaluate_system(find_system("bow"), content, Pool.COLLECTION, how, parse_measures(["mrr"]))
    lists = {row.key: row.places.tolist() for row in done.run.lists.all()}
    assert set(lists) == set(content.queries)
    assert lists[content.queries[1]] == lists[-1]  # q2 and q3 have one text
    for places in lists.values():
        found = [(own, alias) for own, alias in ((0, 2), (1, 3)) if own in places]
        assert found
        assert all(places.index(alias) == places.index(own) + 1 for own, alias in found)


def test_a_hole_is_a_pair_of_texts_that_no_id_has_a_label_of(tmp_path: Path) -> None:
    benchmark = by_beir(TWICE, tmp_path)
    ranked = {"q2": {"b1": 9.0, "a1": 8.0, "a2": 7.0}, "q3": {"a2": 1.0}}
    run = write_run(ranked, tmp_path / "holes.run")
    content = content_of(benchmark)
    done = evaluate_file(run, "mine", content, Pool.COLLECTION, parse_measures(["mrr"]))
    (hole,) = find_unjudged_results(done.run, content)
    assert hole == (content.queries[1], content.snippets[0], 2)


def test_a_collection_of_an_older_release_gets_its_ids_by_importing_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its labels name no ids: the first are taken, and this is told; --replace takes the source's."""
    folder = str(beir_folder(TWICE, tmp_path / "beir"))
    call_command("import", "beir", folder, "--name", "old")
    for model in (LabelIds, BenchmarkIdLabel, Alias):
        model.objects.all().delete()
    call_command("import", "beir", folder, "--name", "old")
    assert "2 labels from before this import may mean another id" in capsys.readouterr().out
    assert Alias.objects.count() == 3
    call_command("import", "beir", folder, "--name", "old", "--replace")
    assert "from before this import" not in capsys.readouterr().out
    newest = Benchmark.objects.newest("old")
    assert newest is not None and newest.queries.version == 2
    assert figures(newest, TWICE.ranked, tmp_path) == dict.fromkeys(MEASURES, 1.0)
    assert newest.match_counts.tolist() == [1, 1, 1]


def test_ids_that_differ_in_case_are_two_and_texts_are_one(tmp_path: Path) -> None:
    made = Made({"q1": query(1), "q2": query(2)}, {"a": code(1), "A": code(2)}, {"q1": {"a": 1}}, {})
    benchmark = by_beir(made, tmp_path)
    other = {"Q1": {"a": 1.0}, "q2": {"A": 1.0}}
    assert figures(benchmark, other, tmp_path)["mrr"] == 0.0  # Q1 is no query of it, and q1 has no list
    assert figures(benchmark, {query(1).upper(): {"a": 1.0}}, tmp_path)["mrr"] == 1.0
