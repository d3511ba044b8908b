"""Whoever takes an export, ranks it, and sends the ranked lists back, is scored by the ids of the export."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyarrow import parquet

from retrieval.evaluation.content import content_of
from retrieval.evaluation.runs.system_run import evaluate_file
from retrieval.exporting.export_run import Options, export_benchmark
from retrieval.metrics.names import parse_measures
from retrieval.models import Benchmark, Pool
from tests.retrieval.exporting.conftest import benchmark, lines, loaded

pytestmark = pytest.mark.django_db
CANDIDATES = [(query, snippet) for query in range(3) for snippet in range(4)]
Ids = tuple[list[object], list[object]]


@pytest.fixture(params=["positions", "numbers", "letters"])
def made(request: pytest.FixtureRequest) -> Benchmark:
    """One whose members have no numbers, one whose source ids are numbers, in another order, one whose source
    ids are those of a folder of BEIR that counts from 1.
    """
    found = benchmark(candidates=CANDIDATES)
    if request.param != "positions":
        for letter, collection in (("q", found.queries), ("d", found.snippets)):
            for member in collection.members.all():
                counted = request.param == "letters"
                member.source_id = f"{letter}{member.position + 1}" if counted else str(40 - member.position)
                member.save()
    return found


def of_release(folder: Path) -> Ids:
    queries, snippets = loaded(folder, "query.json"), loaded(folder, "codebase.json")
    return [row["query-idx"] for row in queries], [row["code-idx"] for row in snippets]


def of_beir(folder: Path) -> Ids:
    names = "queries.jsonl", "corpus.jsonl"
    queries, snippets = ([row["_id"] for row in lines(folder, name)] for name in names)
    return queries, snippets


def of_parquet(folder: Path) -> Ids:
    queries, snippets = (
        parquet.read_table(folder / f"{name}.parquet")[column].to_pylist()
        for name, column in (("queries", "query_idx"), ("codebase", "code_idx"))
    )
    return queries, snippets


READERS: dict[str, Callable[[Path], Ids]] = {
    "release": of_release,
    "beir": of_beir,
    "qrels": of_beir,
    "parquet": of_parquet,
}


def run_of(queries: list[object], snippets: list[object]) -> Iterator[str]:
    """Every query's list has the snippets in their order, but for the second query the other way round."""
    for number, query in enumerate(queries):
        order = snippets[::-1] if number == 1 else snippets
        for rank, snippet in enumerate(order, 1):
            yield f"{query} Q0 {snippet} {rank} {10 - rank} me\n"


def test_ids_that_came_from_a_folder_of_beir_go_out_as_they_came(tmp_path: Path) -> None:
    found = benchmark(candidates=CANDIDATES)
    for member in found.snippets.members.all():
        member.source_id = f"d{member.position + 1}"
        member.save()
    export_benchmark(found, "beir", tmp_path / "out", Options())
    assert of_beir(tmp_path / "out") == (["q0", "q1", "q2"], ["d1", "d2", "d3", "d4"])


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("pool", list(Pool))
def test_lists_by_the_ids_of_an_export_are_those_lists(
    made: Benchmark, kind: str, pool: Pool, tmp_path: Path
) -> None:
    export_benchmark(made, kind, tmp_path / "out", Options())
    run = tmp_path / "mine.run"
    run.write_text("".join(run_of(*READERS[kind](tmp_path / "out"))))
    content = content_of(made)
    done = evaluate_file(run, "mine", content, pool, parse_measures(["mrr"]))
    lists = {row.query_id: row.places.tolist() for row in done.run.lists.all()}
    assert [lists[query] for query in content.queries] == [[0, 1, 2, 3], [3, 2, 1, 0], [0, 1, 2, 3]]
    assert (done.run.options["unknown_queries"], done.run.options["unknown_snippets"]) == (0, 0)
    assert done.figures["mrr"].value == (1 + 1 / 3) / 2
