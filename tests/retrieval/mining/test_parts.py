"""Parts of a mining: taken up once, left to others, merged into what one search finds."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings as configured
from django.db import connection
from django.utils import timezone

from retrieval.encoders import find_encoder
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.index.vectors import VectorStore
from retrieval.mining import OtherWeights, Unwanted, parts, perform_mining, release_mining_parts
from retrieval.mining.frequencies import load_document_frequencies
from retrieval.mining.input_texts import note_end, snippets_of
from retrieval.models import Candidate, Mining, Pair
from tests import factories
from tests.retrieval.encoders.conftest import tiny_models  # noqa: F401  (a fixture)

WORDS = tuple(f"sort {word}" for word in ("rows", "words", "dates", "files", "keys", "lines"))
CODES = tuple(
    f"def {verb}_{word}({word}):\n    return {verb}({word})\n"
    for verb in ("sort", "read", "write", "count")
    for word in ("rows", "words", "dates", "files", "keys", "lines")
)

Row = tuple[int, int, int, float]


def mining(encoder: str, **columns: Any) -> Mining:
    wanted: dict[str, Any] = {
        "encoders": [encoder],
        "k": 4,
        "state": Mining.State.WAITING,
        "rule": 0,
        **columns,
    }
    queries = wanted.pop("queries", None) or factories.queries(WORDS)
    return factories.mining(queries, factories.snippets(CODES), **wanted)


def found(row: Mining) -> list[Row]:
    columns = ("query_id", "rank", "pair__snippet_id", "score")
    return list(Candidate.objects.filter(mining=row).order_by("query_id", "rank").values_list(*columns))


@pytest.mark.django_db
def test_parts_give_the_candidates_of_one_search(
    tiny_models: dict[str, Path],  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, divided = (mining(f"minilm:{tiny_models['minilm']}") for _ in range(2))
    perform_mining(whole, tmp_path)
    monkeypatch.setattr(parts, "SNIPPETS_A_PART", 5)
    told: list[str] = []
    perform_mining(divided, tmp_path, lambda phase, done, total: told.append(phase))
    assert len(found(whole)) == 24 and found(divided) == found(whole)
    assert {phase.partition(":")[0] for phase in told} == {f"part {n} of 5" for n in range(1, 6)}
    divided.refresh_from_db()
    assert divided.state == Mining.State.DONE and not divided.parts.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("fusion", ["mean", "maxabs"])
@pytest.mark.parametrize("encoders", ["bm25", "bow", "bm25-fields", "bm25 bow", "minilm", "bm25 minilm"])
def test_each_encoder_and_fusion_gives_the_candidates_of_one_search(
    tiny_models: dict[str, Path],  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    encoders: str,
    fusion: str,
) -> None:
    """Of unequal parts: terms are rare in one and frequent in another, and one holds the largest scores."""
    names = [f"minilm:{tiny_models['minilm']}" if one == "minilm" else one for one in encoders.split()]
    whole, divided = (mining("", encoders=names, fusion=fusion, k=6) for _ in range(2))
    perform_mining(whole, tmp_path)
    monkeypatch.setattr(parts, "SNIPPETS_A_PART", 7)
    assert perform_mining(divided, tmp_path) == 36
    assert found(divided) == found(whole)
    scores = [
        list(row.candidates.order_by("query", "rank").values_list("scores")) for row in (whole, divided)
    ]
    assert scores[0] == scores[1]
    for row in (whole, divided):
        row.refresh_from_db()
    assert divided.overlaps == whole.overlaps
    assert not divided.shared.exists()


@pytest.mark.django_db
def test_terms_are_counted_once_for_all_parts_and_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "SNIPPETS_A_PART", 7)
    row = mining("bm25")

    def stop(phase: str, done: int, total: int) -> None:
        if phase.startswith("part 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perform_mining(row, tmp_path, stop)
    assert row.shared.count() == 1
    told: list[str] = []
    assert perform_mining(row, tmp_path, lambda phase, done, total: told.append(phase)) == 24
    assert not any("counting" in phase for phase in told)


@pytest.mark.django_db
def test_nothing_is_searched_before_every_part_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who finds none to measure waits for those who are at it; a dead one's part is measured by others."""
    monkeypatch.setattr(parts, "SNIPPETS_A_PART", 12)
    row = mining("bow", fusion="maxabs")
    parts.plan_mining_parts(row, 24, together=False)
    one, two = parts.claim_mining_part(row, "one"), parts.claim_mining_part(row, "two")
    assert one is not None and two is not None
    parts.keep_largest(one, {"bow": np.array([0.5, 0.25])})
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        row.parts.filter(number=2).update(lease_until=timezone.now() - timedelta(seconds=1))

    monkeypatch.setattr("retrieval.mining.parts.time.sleep", wait)
    again = parts.claim_mining_part(row, "one")
    assert again is not None and again.number == 2 and len(waits) == 1
    parts.keep_largest(again, {"bow": np.array([0.25, 1.0])})
    assert parts.largest_of_all(row)["bow"].tolist() == [0.5, 1.0]
    first = parts.claim_mining_part(row, "one")
    assert first is not None and first.number == 1
    with pytest.raises(Unwanted):
        parts.keep_largest(two, {"bow": np.array([1.0, 1.0])})


@pytest.mark.django_db
def test_a_part_is_one_workers_until_its_lease_has_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SNIPPETS_A_PART", 12)
    row = mining("bow")
    parts.plan_mining_parts(row, 24, together=False)
    parts.plan_mining_parts(row, 24, together=False)
    one, two = parts.claim_mining_part(row, "one"), parts.claim_mining_part(row, "two")
    assert one is not None and two is not None and parts.claim_mining_part(row, "three") is None
    assert [(p.number, p.start, p.stop) for p in (one, two)] == [(1, 0, 12), (2, 12, 24)]
    row.parts.filter(number=1).update(lease_until=timezone.now() - timedelta(seconds=1))
    again = parts.claim_mining_part(row, "three")
    assert again is not None and again.number == 1
    monkeypatch.setattr(parts, "SECONDS_BETWEEN_RENEWALS", -1.0)
    with pytest.raises(Unwanted):
        parts.renew_lease_on_progress(one, 2, None)("search", 1, 2)
    release_mining_parts("two")
    assert getattr(parts.claim_mining_part(row, "four"), "number", None) == 2
    assert parts.merge_finished_parts(row) is None


@pytest.mark.django_db
def test_a_killed_workers_parts_are_not_searched_again(
    tiny_models: dict[str, Path],  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parts, "SNIPPETS_A_PART", 8)
    row = mining(f"minilm:{tiny_models['minilm']}")

    def stop(phase: str, done: int, total: int) -> None:
        if phase.startswith("part 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perform_mining(row, tmp_path, stop, "first")
    release_mining_parts("first")
    seen: list[str] = []
    assert perform_mining(row, tmp_path, lambda phase, done, total: seen.append(phase[:6])) == 24
    assert set(seen) == {"part 2", "part 3"}


@pytest.mark.django_db
def test_what_its_encoders_were_is_noted_by_whoever_begins(tmp_path: Path) -> None:
    row = mining("bow")
    perform_mining(row, tmp_path)
    assert row.identities == Mining.objects.get(pk=row.pk).identities == {"bow": "bow"}


@pytest.mark.django_db
def test_other_weights_are_refused(
    tiny_models: dict[str, Path],  # noqa: F811
    tmp_path: Path,
) -> None:
    name = f"minilm:{tiny_models['minilm']}"
    other = TransformerEncoder("minilm", str(tiny_models["minilm"])).identity + "another"
    row = mining(name, identities={name: other})
    with pytest.raises(OtherWeights, match="not those that this mining began with"):
        perform_mining(row, tmp_path)


@pytest.mark.django_db(transaction=True)
def test_two_minings_of_the_same_pairs_do_not_wait_for_each_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In the order of their queries each would hold what the other waits for: PostgreSQL ends one of them."""
    monkeypatch.setattr("retrieval.mining.storage.PAIRS_A_TIME", 3)
    factories.snippets(CODES)
    orders = {"small": WORDS, "turned": WORDS[::-1]}
    rows = [mining("bow", queries=factories.queries(words, name)) for name, words in orders.items()]
    faults: list[BaseException] = []
    together = threading.Barrier(2)

    def work(row: Mining) -> None:
        try:
            together.wait()
            perform_mining(row, tmp_path)
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(row,)) for row in rows]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults and found(rows[0]) == found(rows[1])
    assert Pair.objects.count() == 24


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("fusion", "other"), [("mean", "minilm"), ("maxabs", "bow")])
def test_two_processes_find_what_one_does(
    tiny_models: dict[str, Path],  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fusion: str,
    other: str,
) -> None:
    names = ["bm25", f"minilm:{tiny_models['minilm']}" if other == "minilm" else other]
    alone, shared = (mining("", encoders=names, fusion=fusion) for _ in range(2))
    monkeypatch.setattr(parts, "SNIPPETS_A_PART", 3)
    perform_mining(alone, tmp_path / "vectors")
    note_end(shared)
    load_document_frequencies(shared, snippets_of(shared), [find_encoder("bm25")], None)
    parts.plan_mining_parts(shared, len(CODES), together=False)
    for worker in [process(shared.pk, tmp_path) for _ in range(2)]:
        out, err = worker.communicate(timeout=400)
        assert worker.returncode == 0, out + err
    shared.refresh_from_db()
    assert shared.state == Mining.State.DONE
    assert found(shared) == found(alone) and len(found(alone)) == 24


@pytest.mark.django_db
def test_a_mining_takes_the_precision_in_which_its_snippets_are_stored(
    tiny_models: dict[str, Path],  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("retrieval.index.stored_precision.multiplies_bf16", lambda: True)
    encoder = TransformerEncoder("minilm", str(tiny_models["minilm"]), wanted="bf16")
    VectorStore(tmp_path, "whole").rows(encoder, [code.strip() for code in CODES], "snippet")
    before = len(list(tmp_path.rglob("*.npy")))
    row = mining(encoder.name)
    perform_mining(row, tmp_path)
    row.refresh_from_db()
    assert row.identities == {encoder.name: encoder.identity}
    assert len(list(tmp_path.rglob("*.npy"))) == before + 1  # the queries alone were encoded


def process(pk: int, home: Path) -> subprocess.Popen[str]:
    """`manage.py mine` in a process of its own, on the database of this test."""
    known = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    known["COSQA_HOME"] = str(home)
    if connection.vendor == "sqlite":
        (home / "workbench.sqlite3").unlink(missing_ok=True)
        (home / "workbench.sqlite3").symlink_to(connection.settings_dict["NAME"])
    else:
        known["DATABASE_URL"] = url_of_test_database()
    return subprocess.Popen(
        [sys.executable, "manage.py", "mine", str(pk)],
        cwd=configured.BASE_DIR,
        env=known,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def url_of_test_database() -> str:
    about = connection.settings_dict
    return f"postgres://{about['USER']}:{about['PASSWORD']}@{about['HOST']}:{about['PORT']}/{about['NAME']}"
