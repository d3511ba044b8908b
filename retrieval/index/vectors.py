"""Vectors on disk: encode a text once, whatever collection it turns up in again.

One folder for each encoder identity and kind of text; in it shards that are written once and never changed:

    <sha256 of identity and kind>/encoder.json     what the folder belongs to, for people, and of
                                                   which text options its snippets are
    <sha256 of identity and kind>/<unique>.npy     rows of (sha256 of the text, float32 vector)
    <sha256 of identity and kind>/lock             held by whoever adds to the folder, for that moment

A shard appears under its name only when it is whole, so a process that is killed loses the shard at hand
and nothing else. Two processes can add to one folder at once; of a text that both encoded the vector counts
that was stored first, and is stored once: which one a mining reads never changes.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from retrieval.encoders.base import DenseEncoder, Floats, Kind, Progress, encode_texts

Indices: TypeAlias = npt.NDArray[np.int64]
Shard: TypeAlias = npt.NDArray[np.void]

TEXTS_A_SHARD = 4096
TEXTS_WORTH_A_PIECE = 8
ABANDONED_AFTER_SECONDS = 24 * 3600


class DamagedShard(Exception):
    """A shard cannot be read, for example after a disk fault; the message says which file to delete."""


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """Vectors of a list of texts, shape (n, d), read from memory-mapped shards part by part."""

    shards: Sequence[Shard]
    shard_of: Indices
    row_of: Indices
    dimension: int

    def __len__(self) -> int:
        return len(self.shard_of)

    def __getitem__(self, rows: slice | Indices) -> Floats:
        """Read the vectors of some texts into memory, float32 of shape (texts, d)."""
        owners, places = self.shard_of[rows], self.row_of[rows]
        vectors = np.empty((len(owners), self.dimension), dtype=np.float32)
        for shard in np.unique(owners):
            mine = owners == shard
            vectors[mine] = self.shards[shard]["vector"][places[mine]]
        return vectors

    def runs(self, start: int, stop: int) -> Iterator[tuple[int, Floats]]:
        """The vectors of the texts from `start` to `stop` in pieces, each with the number of its first text.

        What lies in one row in a shard is not copied; where nearly nothing does, all is read at once.
        """
        owners, places = self.shard_of[start:stop], self.row_of[start:stop]
        torn = np.flatnonzero((np.diff(owners) != 0) | (np.diff(places) != 1)) + 1
        if len(torn) * TEXTS_WORTH_A_PIECE > stop - start:
            yield start, self[start:stop]
            return
        for first, last in pairwise([0, *torn.tolist(), stop - start]):
            row = places[first]
            yield start + first, self.shards[owners[first]]["vector"][row : row + last - first]


@dataclass(frozen=True, slots=True)
class VectorStore:
    """All vectors of an installation, under one folder.

    `text_option`: what of a snippet its texts are, noted for people beside the vectors; a text that two
    options have in common is stored once.
    """

    folder: Path
    text_option: str = ""

    def rows(
        self, encoder: DenseEncoder, texts: Sequence[str], kind: Kind, progress: Progress | None = None
    ) -> StoredVectors:
        """Return the texts' vectors in order; encode and store those that are not there yet.

        `progress` counts texts, those found included. Raises what the encoder raises, and `DamagedShard`.
        """
        place = _Place.of(self.folder, encoder, kind)
        if self.text_option and kind == "snippet":
            place.note(self.text_option)
        keys = [text_key(text) for text in texts]
        found = place.read()
        lacking = {key: text for key, text in zip(keys, texts, strict=True) if key not in found.rows}
        _encode(place, encoder, kind, lacking, found, len(set(keys)), progress)
        return (place.read() if lacking else found).vectors_of(keys, encoder.dimension)

    def share(self, encoder: DenseEncoder, texts: Sequence[str], kind: Kind) -> float:
        """The share of the texts whose vectors are there; nothing is encoded or written. Of no text 0."""
        known = _Place.at(self.folder, encoder, kind).read().rows
        return sum(text_key(text) in known for text in texts) / max(1, len(texts))


@dataclass(frozen=True, slots=True)
class _Shards:
    """The shards of a folder, their files, and for each text's key its (shard, row)."""

    shards: Sequence[Shard]
    files: Sequence[Path]
    rows: dict[bytes, tuple[int, int]]

    def vectors_of(self, keys: Sequence[bytes], dimension: int) -> StoredVectors:
        places = np.array([self.rows[key] for key in keys], dtype=np.int64).reshape(len(keys), 2)
        return StoredVectors(self.shards, places[:, 0], places[:, 1], dimension)


@dataclass(frozen=True, slots=True)
class _Place:
    """The folder of one encoder and one kind of text."""

    folder: Path
    dimension: int

    @classmethod
    def of(cls, root: Path, encoder: DenseEncoder, kind: Kind) -> _Place:
        place, text = cls.at(root, encoder, kind), cls.about(encoder, kind)
        about = place.folder / "encoder.json"
        if not about.exists():
            place.folder.mkdir(parents=True, exist_ok=True)
            with _alone(place.folder):
                if not about.exists():
                    _write_whole(about, lambda part: part.write_text(text + "\n", "utf-8"))
        return place

    @classmethod
    def at(cls, root: Path, encoder: DenseEncoder, kind: Kind) -> _Place:
        """The place, be it there or not."""
        return cls(root / hashlib.sha256(cls.about(encoder, kind).encode()).hexdigest(), encoder.dimension)

    @staticmethod
    def about(encoder: DenseEncoder, kind: Kind) -> str:
        told = {"encoder": encoder.identity, "kind": kind, "dimension": encoder.dimension}
        return json.dumps(told, sort_keys=True)

    def note(self, text_option: str) -> None:
        """Add to what `encoder.json` tells that texts of this option are here."""
        file = self.folder / "encoder.json"
        if text_option in json.loads(file.read_text("utf-8")).get("text_options", ()):
            return
        with _alone(self.folder):
            about = json.loads(file.read_text("utf-8"))
            options = {*about.get("text_options", ()), text_option}
            text = json.dumps(about | {"text_options": sorted(options)}, sort_keys=True)
            _write_whole(file, lambda part: part.write_text(text + "\n", "utf-8"))

    @property
    def dtype(self) -> np.dtype[np.void]:
        return np.dtype([("key", "V32"), ("vector", "<f4", (self.dimension,))])

    def read(self) -> _Shards:
        files = sorted(self.folder.glob("*.npy"))
        shards = [self._open(file) for file in files]
        rows: dict[bytes, tuple[int, int]] = {}
        for number, shard in enumerate(shards):
            for row, key in enumerate(_keys_of(shard)):
                rows.setdefault(key, (number, row))
        return _Shards(shards, files, rows)

    def add(self, keys: Sequence[bytes], vectors: Floats, seen: set[Path]) -> None:
        """Store what no shard has yet; `seen` are shards that have none of it, and the new one joins them."""
        _remove_abandoned(self.folder)
        with _alone(self.folder):
            others = set(self.folder.glob("*.npy")) - seen
            there = {key for file in others for key in _keys_of(self._open(file))}
            new = [place for place, key in enumerate(keys) if key not in there]
            file = self.folder / f"{uuid.uuid4().hex}.npy"
            if new:
                rows = self._rows([keys[place] for place in new], vectors[new])
                _write_whole(file, lambda part: _save(part, rows))
            seen.add(file)

    def _rows(self, keys: Sequence[bytes], vectors: Floats) -> Shard:
        rows = np.zeros(len(keys), dtype=self.dtype)
        rows["key"] = np.frombuffer(b"".join(keys), dtype="V32")
        rows["vector"] = vectors
        return rows

    def _open(self, file: Path) -> Shard:
        try:
            shard: Shard = np.load(file, mmap_mode="r")
        except (ValueError, EOFError) as error:
            raise DamagedShard(f"{file} cannot be read ({error}); delete it to encode it again") from error
        if shard.dtype != self.dtype:
            raise DamagedShard(f"{file} holds {shard.dtype}, not {self.dtype}; delete it to encode it again")
        return shard


def text_key(text: str) -> bytes:
    """The key of a text: sha256 of its UTF-8, 32 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _encode(
    place: _Place,
    encoder: DenseEncoder,
    kind: Kind,
    lacking: dict[bytes, str],
    found: _Shards,
    total: int,
    progress: Progress | None,
) -> None:
    keys, known, seen = list(lacking), total - len(lacking), set(found.files)
    for start in range(0, len(keys), TEXTS_A_SHARD):
        chunk = keys[start : start + TEXTS_A_SHARD]
        texts = [lacking[key] for key in chunk]
        vectors = encode_texts(encoder, texts, kind, _shifted(progress, known + start, total))
        place.add(chunk, vectors, seen)
    if progress is not None:
        progress(total, total)


def _shifted(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Progress of a part, told as progress of the whole."""
    if progress is None:
        return None

    def report(done: int, _: int) -> None:
        progress(before + done, total)

    return report


def _keys_of(shard: Shard) -> Iterator[bytes]:
    keys = shard["key"].tobytes()
    return (keys[start : start + 32] for start in range(0, len(keys), 32))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else adds to the folder meanwhile; a process that is killed lets go of it."""
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write_whole(file: Path, write: Callable[[Path], Any]) -> None:
    """Write beside `file` and rename, so that readers see all of it or nothing."""
    part = file.with_name(f"{file.name}.{uuid.uuid4().hex}.part")
    try:
        write(part)
        with part.open("rb") as stream:
            os.fsync(stream.fileno())
        part.replace(file)
    except OSError:
        part.unlink(missing_ok=True)  # a full disk needs that room
        raise


def _save(part: Path, rows: Shard) -> None:
    with part.open("wb") as stream:
        np.save(stream, rows)


def _remove_abandoned(folder: Path) -> None:
    """Delete what killed processes left half-written; a live one's file is younger than a day."""
    limit = time.time() - ABANDONED_AFTER_SECONDS
    for part in folder.glob("*.part"):
        with suppress(FileNotFoundError):  # another process's, which is whole by now
            if part.stat().st_mtime < limit:
                part.unlink()
