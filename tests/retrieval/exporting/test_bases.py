"""How a label came about goes through an export and back, within the hash, and users can cut by it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from retrieval.exporting.export_run import Options, export_benchmark
from retrieval.exporting.labels import LabelChoice
from retrieval.models import Basis, Benchmark, Label
from retrieval.models.labels import BASES
from tests.retrieval.exporting.conftest import annotator, benchmark, lines, loaded
from tests.retrieval.exporting.test_release import imported, sources

pytestmark = pytest.mark.django_db

PLACES = [(query, snippet) for query in range(3) for snippet in range(3)]
EACH = dict(zip(PLACES, BASES, strict=False))
"""A pair for each basis, and one of which it is not known."""
VALUES = {(0, 0): 1, (0, 1): 0, (1, 1): 1}


@pytest.fixture
def made() -> Benchmark:
    return benchmark(said={annotator(): dict.fromkeys(EACH, 1)}, candidates=PLACES, bases=EACH)


def hashed(of: Benchmark) -> str:
    """The hash as it was before labels had a basis."""
    rows = [f"pool {of.pool}"]
    for name, part in (("query", of.queries), ("snippet", of.snippets)):
        members = part.members.order_by("position").select_related("text")
        rows += [f"{name} {member.text.digest}" for member in members]
    labels = of.labels.select_related("pair__query", "pair__snippet")
    said = sorted((row.pair.query.digest, row.pair.snippet.digest, row.relevance) for row in labels)
    rows += [f"label {query} {snippet} {relevance!r}" for query, snippet, relevance in said]
    return hashlib.sha256("".join(f"{row}\n" for row in rows).encode()).hexdigest()


def test_each_basis_comes_back_with_the_same_hash(made: Benchmark, tmp_path: Path) -> None:
    export_benchmark(made, "release", tmp_path, Options())
    again = imported(tmp_path, "again")
    assert again.digest == made.digest
    assert sources(again) == sources(made)
    assert sorted(again.labels.values_list("label__basis", flat=True)) == sorted(BASES)
    assert loaded(tmp_path, "workbench.json")["by_basis"] == dict.fromkeys([*Basis.values, ""], 1)
    assert imported(tmp_path, "again") == again


def test_the_hash_covers_it_and_stays_where_it_is_not_known() -> None:
    plain = benchmark(said={annotator(): VALUES})
    assert plain.digest == hashed(plain)
    others = {basis: {annotator(of=basis): VALUES} for basis in (Basis.AGREED, Basis.DISPUTED)}
    agreed, disputed = (benchmark(said=said, basis=basis) for basis, said in others.items())
    assert len({plain.digest, agreed.digest, disputed.digest}) == 3


def test_users_can_cut_by_it(made: Benchmark, tmp_path: Path) -> None:
    export_benchmark(made, "release", tmp_path, Options())
    sure = {Basis.CLEAR, Basis.AGREED, Basis.PERSON}
    kept = {
        (row["query-idx"], row["code-idx"])
        for row in lines(tmp_path, "provenance/labels.jsonl")
        if row["basis"] in sure
    }
    assert kept == {place for place, basis in EACH.items() if basis in sure}
    assert made.labels.filter(label__basis__in=sure).count() == len(kept)


def test_a_release_from_before_has_none(made: Benchmark, tmp_path: Path) -> None:
    export_benchmark(made, "release", tmp_path, Options())
    rows = lines(tmp_path, "provenance/labels.jsonl")
    before = [json.dumps({name: told for name, told in row.items() if name != "basis"}) for row in rows]
    (tmp_path / "provenance/labels.jsonl").write_text("\n".join(before))
    again = imported(tmp_path, "again")
    assert [row[:-1] for row in sources(again)] == [row[:-1] for row in sources(made)]
    assert set(again.labels.values_list("label__basis", flat=True)) == {""}
    others = {annotator(number=2): dict.fromkeys(EACH, 1)}
    plain = benchmark(said=others, candidates=PLACES)
    assert again.digest == plain.digest != made.digest


@pytest.mark.parametrize("told", ["sure", "x" * 900, None, 7, ["clear"]])
def test_what_is_no_basis_is_not_known(made: Benchmark, tmp_path: Path, told: object) -> None:
    export_benchmark(made, "release", tmp_path, Options())
    rows = [json.dumps(row | {"basis": told}) for row in lines(tmp_path, "provenance/labels.jsonl")]
    (tmp_path / "provenance/labels.jsonl").write_text("\n".join(rows))
    assert set(imported(tmp_path, "again").labels.values_list("label__basis", flat=True)) == {""}


def test_what_agents_said_where_people_overruled_them_has_its_own(tmp_path: Path) -> None:
    agents, person = annotator(), annotator("person", user=1)
    made = benchmark(said={agents: {(0, 0): 0, (1, 1): 1}, person: {(0, 0): 1}})
    Label.objects.filter(annotator=agents).update(basis=Basis.TESTED)
    Label.objects.filter(annotator=person).update(basis=Basis.PERSON)
    for choice, bases in (
        (LabelChoice.FINAL, ["person", "tested"]),
        (LabelChoice.AGENTS, ["tested", "tested"]),
    ):
        export_benchmark(made, "release", tmp_path / choice, Options(labels=choice))
        assert [row["basis"] for row in lines(tmp_path / choice, "provenance/labels.jsonl")] == bases
