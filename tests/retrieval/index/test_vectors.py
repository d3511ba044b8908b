"""The vector store: every text is encoded once, and a killed process loses one shard at most."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from retrieval.encoders import find_encoder
from retrieval.encoders.base import Floats, Kind, NoDirection, Progress
from retrieval.index import mine_best_snippets, vectors
from retrieval.index.vectors import DamagedShard, StoredVectors, VectorStore

ROOT = Path(__file__).resolve().parents[3]


class Lengths:
    """Encodes a text as (its length, 1), scaled to length 1, and keeps what it was asked."""

    name = "lengths"
    dimension = 2

    def __init__(self, identity: str = "lengths;v1") -> None:
        self.identity = identity
        self.asked: list[str] = []
        self.before_encoding: Callable[[], object] = lambda: None

    def encode(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Floats:
        self.before_encoding()
        self.asked += texts
        if progress is not None:
            progress(len(texts), len(texts))
        return expected(texts)


def expected(texts: Sequence[str]) -> Floats:
    plain = np.array([[len(text), 1] for text in texts], dtype=np.float32).reshape(-1, 2)
    return np.asarray(plain / np.linalg.norm(plain, axis=1, keepdims=True), dtype=np.float32)


@pytest.fixture(autouse=True)
def three_texts_a_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "TEXTS_A_SHARD", 3)


TEXTS = ["a", "bb", "a", "", "cccc", "ddddd", "\ud800", "bb", "é\0"]


def test_rows_come_back_in_order(tmp_path: Path) -> None:
    rows = VectorStore(tmp_path).rows(Lengths(), TEXTS, "snippet")
    assert isinstance(rows, StoredVectors)
    assert len(rows) == len(TEXTS)
    assert np.array_equal(rows[:], expected(TEXTS))
    assert np.array_equal(rows[2:5], expected(TEXTS[2:5]))
    assert np.array_equal(rows[np.array([8, 0, 8])], expected([TEXTS[8], TEXTS[0], TEXTS[8]]))


def test_runs_are_the_rows_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = VectorStore(tmp_path).rows(Lengths(), TEXTS, "snippet")
    for worth in (0, 8):  # torn as these are, 8 would read all at once
        monkeypatch.setattr(vectors, "TEXTS_WORTH_A_PIECE", worth)
        found = list(rows.runs(1, 8))
        assert (len(found) > 1) == (worth == 0)
        assert [first for first, _ in found] == [
            1 + sum(len(p) for _, p in found[:i]) for i in range(len(found))
        ]
        assert np.array_equal(np.vstack([piece for _, piece in found]), rows[1:8])


def test_a_text_is_encoded_once(tmp_path: Path) -> None:
    encoder = Lengths()
    VectorStore(tmp_path).rows(encoder, TEXTS, "snippet")
    VectorStore(tmp_path).rows(encoder, ["new", *reversed(TEXTS)], "snippet")
    assert sorted(encoder.asked) == sorted([*set(TEXTS), "new"])


def test_a_text_that_two_encode_at_once_is_stored_once(tmp_path: Path) -> None:
    both, texts = threading.Barrier(2), ["a", "bb", "ccc", "dddd"]
    encoders = [Lengths(), Lengths()]
    for encoder in encoders:
        encoder.before_encoding = both.wait

    def rows(encoder: Lengths) -> Floats:
        return VectorStore(tmp_path).rows(encoder, texts, "snippet")[:]

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(rows, encoders))
    assert [encoder.asked for encoder in encoders] == [texts, texts]
    assert all(np.array_equal(one, expected(texts)) for one in found)
    stored = [row for file in tmp_path.glob("*/*.npy") for row in np.load(file)["key"].tolist()]
    assert sorted(stored) == sorted(map(vectors.text_key, texts))


def test_the_vector_that_was_stored_first_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter(range(99, 0, -1))  # what comes later is called so that it is read earlier
    monkeypatch.setattr("uuid.uuid4", lambda: UUID(int=next(numbers)))
    encoder, other = Lengths(), Lengths()
    other.encode = lambda texts, kind, progress=None: -expected(texts)  # type: ignore[method-assign]
    encoder.before_encoding = lambda: VectorStore(tmp_path).rows(other, ["bb"], "query")
    found = VectorStore(tmp_path).rows(encoder, ["a", "bb", "ccc"], "query")
    assert np.array_equal(found[:], expected(["a", "bb", "ccc"]) * np.array([[1], [-1], [1]]))


def test_kind_and_identity_have_their_own_vectors(tmp_path: Path) -> None:
    first, second = Lengths(), Lengths("lengths;v2")
    VectorStore(tmp_path).rows(first, ["a"], "snippet")
    VectorStore(tmp_path).rows(first, ["a"], "query")
    VectorStore(tmp_path).rows(second, ["a"], "snippet")
    assert (first.asked, second.asked) == (["a", "a"], ["a"])


def test_the_folder_tells_of_which_text_options_its_snippets_are(tmp_path: Path) -> None:
    encoder = Lengths()
    for option in ("whole", "without docstring", "whole"):
        VectorStore(tmp_path, option).rows(encoder, ["a"], "snippet")
    VectorStore(tmp_path, "whole").rows(encoder, ["a"], "query")
    told = [json.loads(file.read_text()) for file in tmp_path.glob("*/encoder.json")]
    by_kind = {one["kind"]: one.get("text_options") for one in told}
    assert by_kind == {"snippet": ["whole", "without docstring"], "query": None}
    assert encoder.asked == ["a", "a"]


def test_no_texts(tmp_path: Path) -> None:
    assert VectorStore(tmp_path).rows(Lengths(), [], "query")[:].shape == (0, 2)


def test_work_before_a_failure_is_kept(tmp_path: Path) -> None:
    encoder = Lengths()

    def fail_at_the_third_shard() -> None:
        if len(encoder.asked) == 6:
            raise KeyboardInterrupt

    encoder.before_encoding = fail_at_the_third_shard
    texts = [f"text {i}" for i in range(9)]
    with pytest.raises(KeyboardInterrupt):
        VectorStore(tmp_path).rows(encoder, texts, "snippet")
    again = Lengths()
    assert np.array_equal(VectorStore(tmp_path).rows(again, texts, "snippet")[:], expected(texts))
    assert again.asked == texts[6:]


KILLED_WHILE_WRITING = """
import sys, time
from pathlib import Path
import numpy as np
from retrieval.index import vectors

class Ones:
    name, identity, dimension = "ones", "ones", 50
    def encode(self, texts, kind, progress=None):
        return np.ones((len(texts), 50), dtype=np.float32)

save = vectors._save
def save_slowly(part, rows):
    save(part, rows)
    part.write_bytes(part.read_bytes()[:-400])
    if len(list(part.parent.glob("*.npy"))) == 2:
        print("half written", flush=True)
        time.sleep(60)
    save(part, rows)

vectors._save, vectors.TEXTS_A_SHARD = save_slowly, 4
vectors.VectorStore(Path(sys.argv[1])).rows(Ones(), [str(i) for i in range(20)], "query")
"""


def test_a_process_killed_in_the_middle_of_a_shard_loses_that_shard_only(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED_WHILE_WRITING, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half written\n"
        process.send_signal(signal.SIGKILL)
    asked: list[str] = []

    class Ones:
        name, identity, dimension = "ones", "ones", 50

        def encode(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Floats:
            asked.extend(texts)
            return np.ones((len(texts), 50), dtype=np.float32)

    rows = VectorStore(tmp_path).rows(Ones(), [str(i) for i in range(20)], "query")
    assert (rows[:] == 1).all()
    assert asked == [str(i) for i in range(8, 20)]


def test_half_written_files_go_after_a_day(tmp_path: Path) -> None:
    store, encoder = VectorStore(tmp_path), Lengths()
    store.rows(encoder, ["a"], "query")
    folder = next(tmp_path.iterdir())
    (folder / "gone.part").symlink_to("nowhere")  # as another process's that is whole by now
    for name, age in (("old.part", 2 * 86400), ("young.part", 60)):
        (folder / name).write_bytes(b"")
        os.utime(folder / name, (time.time() - age,) * 2)
    store.rows(encoder, ["b"], "query")
    assert sorted(file.name for file in folder.glob("*.part")) == ["gone.part", "young.part"]


def test_a_damaged_shard_is_named(tmp_path: Path) -> None:
    store = VectorStore(tmp_path)
    store.rows(Lengths(), ["a", "b"], "query")
    shard = next(tmp_path.glob("*/*.npy"))
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(DamagedShard, match=f"{shard.name} cannot be read .* delete it to encode it again"):
        store.rows(Lengths(), ["a", "b"], "query")


def test_progress_counts_what_was_found(tmp_path: Path) -> None:
    store = VectorStore(tmp_path)
    store.rows(Lengths(), ["a", "b"], "query")
    seen: list[tuple[int, int]] = []
    store.rows(Lengths(), ["b", "c", "d", "e", "f"], "query", lambda *step: seen.append(step))
    assert seen == [(4, 5), (5, 5), (5, 5)]


def test_mining_from_the_store_equals_mining_in_memory(tmp_path: Path) -> None:
    texts = [f"{'word ' * (i % 7)}{i}" for i in range(40)]
    encoders = [Lengths(), find_encoder("bow")]
    stored = mine_best_snippets(["word 3", "4"], texts, encoders, 9, vectorise=VectorStore(tmp_path).rows)
    assert stored == mine_best_snippets(["word 3", "4"], texts, encoders, 9)


class Damaged(Lengths):
    """Encodes one text as a vector that points nowhere."""

    def __init__(self, values: tuple[float, float]) -> None:
        super().__init__()
        self.values = values

    def encode(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Floats:
        found = super().encode(texts, kind, progress)
        found[texts.index("b" * 90)] = self.values
        return found


@pytest.mark.parametrize(
    ("values", "why"),
    [((0, 0), "is all 0"), ((np.nan, 1), "is not finite"), ((np.inf, 0), "is not finite")],
)
def test_a_vector_that_points_nowhere_stops_with_its_text(
    tmp_path: Path, values: tuple[float, float], why: str
) -> None:
    texts, encoder = ["a", "b" * 90, "c"], Damaged(values)
    with pytest.raises(NoDirection, match=f"lengths: the vector of '{'b' * 60}' {why} .1 of 3 texts."):
        VectorStore(tmp_path).rows(encoder, texts, "snippet")
    with pytest.raises(NoDirection):
        mine_best_snippets(["a"], texts, [encoder], 1)
    assert VectorStore(tmp_path).share(encoder, texts, "snippet") == 0
