"""Files of each kind that an import reads: made of records, then damaged in a record or in a byte."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st

Record: TypeAlias = dict[str, Any]
Records: TypeAlias = list[Record]

ODD: Final[tuple[Any, ...]] = (
    *(None, "", " ", 0, -1, 1.5, 7.0, float("nan"), 10**30, True, [], {}, ["x"], {"$oid": "a1"}),
    *("\ud800", "\x00", "\u202e", "e\u0301", "１", "0", "a b", "<script>", "=1+1", "x" * 400),
)
"""Values that somebody's file has where a text, a number or an id is expected."""
TEXTS: Final = st.sampled_from(
    (
        *("a", "a ", "sort a list", "SORT a list", "é", "e\u0301", "名前", "print 1", "def f(:"),
        *("def f():\n    return 1\n", "  def g(x):\n      return x\n", "def f(x):\n  '''x'''"),
        "class A:\n\tdef m(self): pass",
    )
)
IDS: Final = st.sampled_from(("1", "2", "d3", "d 4", "5.0", "é", "0")) | st.integers(0, 9)


@dataclass(frozen=True)
class Damage:
    """One change of a file's bytes, at a share of its length."""

    how: str
    place: float
    byte: int

    def apply(self, content: bytes) -> bytes:
        at = int(self.place * len(content))
        changed = {
            "cut": content[:at],
            "drop": content[:at] + content[at + 1 :],
            "add": content[:at] + bytes([self.byte]) + content[at:],
            "set": content[:at] + bytes([self.byte]) + content[at + 1 :],
            "twice": content + content[at:],
        }
        return changed[self.how]


DAMAGES: Final = st.lists(
    st.builds(
        Damage,
        st.sampled_from(("cut", "drop", "add", "set", "twice")),
        st.floats(0, 1, exclude_max=True),
        st.sampled_from((0, 9, 10, 13, 34, 44, 92, 128, 255)) | st.integers(0, 255),
    ),
    max_size=3,
)


def objects_of(**columns: st.SearchStrategy[Any]) -> st.SearchStrategy[Records]:
    """Records with these columns; of some a value is odd, or missing."""
    value = {name: st.one_of(usual, usual, usual, st.sampled_from(ODD)) for name, usual in columns.items()}
    whole = st.fixed_dictionaries(dict(columns))
    return st.lists(whole | whole | st.fixed_dictionaries({}, optional=value), max_size=6)


def as_json(records: Sequence[Any]) -> bytes:
    return json.dumps(list(records)).encode()


def as_json_lines(records: Sequence[Any]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def as_text(value: object) -> str:
    """A value as a cell of a table has it."""
    return "" if value is None else str(value).encode("utf-8", "replace").decode()


def as_table(records: Records, separator: str = ",") -> bytes:
    """CSV of what a table can say: numbers become texts, what is missing an empty cell."""
    names = list(dict.fromkeys(name for record in records for name in record)) or ["query"]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, delimiter=separator)
    writer.writeheader()
    writer.writerows(records)
    return stream.getvalue().encode("utf-8", "replace")


def as_pickle(records: Records) -> bytes:
    return pickle.dumps({(record.get("id", 0), 0): record.get("code", "") for record in records}, protocol=2)


def as_parquet(records: Records) -> bytes:
    """Columns of texts, as most tools write them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(dict.fromkeys(name for record in records for name in record)) or ["_id"]
    columns = {
        name: pa.array([as_text(r[name]) if name in r else None for r in records], pa.string())
        for name in names
    }
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


ENCODED: Final[dict[str, Callable[[Any], bytes]]] = {
    ".json": as_json,
    ".jsonl": as_json_lines,
    ".csv": as_table,
    ".tsv": lambda records: as_table(records, "\t"),
    ".parquet": as_parquet,
    ".pickle": as_pickle,
}
PACKED: Final[dict[str, Callable[[bytes], bytes]]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def encode_records(name: str, records: Any) -> bytes:
    """The bytes of a file that is called so; text as it is."""
    packing = next((ending for ending in PACKED if name.endswith(ending)), "")
    content = records.encode() if isinstance(records, str) else None
    if content is None:
        content = ENCODED[Path(name.removesuffix(packing)).suffix](records)
    return PACKED[packing](content) if packing else content


def write_files(folder: Path, files: dict[str, Any], damages: dict[str, Sequence[Damage]]) -> None:
    for name, records in files.items():
        content = encode_records(name, records)
        for damage in damages.get(name, ()):
            content = damage.apply(content)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
