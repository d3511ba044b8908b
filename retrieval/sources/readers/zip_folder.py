"""A zip whose files are read as those of a folder: unpacked within limits, or refused as a whole.

Only files that the format knows are written, under names made of plain parts; nothing else of the archive is
unpacked. What it really unpacks to is counted, whatever sizes it states.
"""

from __future__ import annotations

import re
import stat
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from retrieval.disk_space import is_full_disk
from retrieval.sources.code import archives
from retrieval.sources.code.archives import UNREADABLE, why_refused
from retrieval.sources.readers.compression import PACKED_AT_MOST, SURELY_SMALL

DEEPEST: Final = 3
"""Folders around the files: whoever zips a folder has its name before each path."""
CHUNK: Final = 2**20
NO_FILES: Final = ("__MACOSX",)


class NotUnpacked(ValueError):
    """The archive is refused and nothing of it is left; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The files of a format: `top` beside each other, `below` in folders under them; `told` names them.

    `texts` are those below without which it would be none: they tell the folder as the files at its top do.
    `scattered`: those of `top` lie in several folders, all of one data set. `beside`: folders with a data set
    each may lie beside each other, of which the reader takes one. `lost`: files beside those of `top` of
    which the reader tells that it does not read them.
    """

    top: re.Pattern[str]
    below: re.Pattern[str]
    told: str
    texts: re.Pattern[str] = re.compile(r"(?!)")
    scattered: bool = False
    beside: bool = False
    lost: re.Pattern[str] = re.compile(r"(?!)")

    def has(self, path: PurePosixPath) -> bool:
        """Whether a path, from the folder of the top files on, is one of them."""
        patterns = (self.top, self.lost) if len(path.parts) == 1 else (self.below,)
        return any(pattern.fullmatch(str(path)) for pattern in patterns)


TEXTS: Final = "corpus|codebase|queries|query"
PACKED: Final = r"(\.(gz|bz2|xz|zst))?"
PARQUET: Final = r"(-[\w-]+)?\.parquet"
ONE_OF: Final = r"([\w.+#-]+-)?"
"""Before the names of one of several data sets, such as `python-`."""
BEIR_TOP: Final = rf"{ONE_OF}(corpus|queries)\.jsonl{PACKED}|{ONE_OF}({TEXTS}|qrels|pairs){PARQUET}"
BEIR_BELOW: Final = (
    rf"{ONE_OF}qrels/([^/]+/)?[^/]+"  # also what is not read, of which the reader tells
    rf"|({ONE_OF}({TEXTS}|qrels)|data|default)/([\w.-]+/)?[\w-]+\.parquet"
    r"|data/(queries|codebase|pairs-[\w-]+)\.jsonl"
)
LOST: Final = (
    r"(corpus|codebase|queries|query|qrels|pairs)([-_.][\w-]*)?"
    r"\.(jsonl?|ndjson|tsv|csv|txt|trec|qrels)(\.(gz|bz2|xz|zst|zip))?"
)
"""A file that is called like texts or labels of BEIR: where it is none, the reader tells so."""
BEIR: Final = Layout(
    re.compile(BEIR_TOP),
    re.compile(rf"{BEIR_BELOW}|[\w.+#-]+/({BEIR_TOP}|{BEIR_BELOW}|{ONE_OF}{LOST})"),
    "corpus.jsonl, queries.jsonl and qrels/test.tsv, or the same as Parquet,",
    re.compile(rf"{ONE_OF}({TEXTS})/([\w.-]+/)?[\w-]+\.parquet|data/({TEXTS})({PARQUET}|\.jsonl)"),
    beside=True,
    lost=re.compile(ONE_OF + LOST),
)
LOST_OF_RELEASE: Final = (
    r"(test_agent_|gpt4o_augment_)?(query|queries|codebase|pairs|pairs_for_search|pairs_true)"
    r"\.(jsonl|ndjson|csv|tsv|parquet|txt)(\.(gz|bz2|xz|zst|zip))?"
    r"|(test_agent_|gpt4o_augment_)?(queries\.json|(query|codebase|pairs)\.json\.zip)"
)
"""The same of a release."""
RELEASE: Final = Layout(
    re.compile(
        r"(test_agent_|gpt4o_augment_)?(query|codebase|pairs|pairs_for_search|pairs_true)"
        rf"(\.json{PACKED})?|workbench\.json"
    ),
    re.compile(r"provenance/\w+\.jsonl"),
    "query.json, codebase.json and pairs.json",
    lost=re.compile(LOST_OF_RELEASE),
)
_FUNCTIONS: Final = rf"[^/]+(\.(jsonl|ndjson){PACKED}|\.parquet)"
CODESEARCHNET: Final = Layout(
    re.compile(_FUNCTIONS),
    re.compile(rf"([^/]+/)+{_FUNCTIONS}"),
    "files of JSON Lines, such as python_test_0.jsonl.gz,",
    scattered=True,
)
"""As python.zip is published: python/final/jsonl/{train,valid,test}/, beside pickles, which stay packed."""


def unpack_zip(archive: Path, into: Path, layout: Layout, chosen: str = "") -> None:
    """Write the files of `layout` into the new folder `into`. Raises `NotUnpacked`.

    A folder of the name that was `chosen` is kept around its data set, as those are that have others beside.
    """
    try:
        into.mkdir(parents=True)
        with zipfile.ZipFile(archive) as opened:
            _unpack(opened, into, layout, chosen)
    except UNREADABLE as error:
        if isinstance(error, NotUnpacked) or is_full_disk(error):
            raise
        raise NotUnpacked(
            f"is not a readable zip: {error}. Pack the files again, without a password."
        ) from error


def list_packed_pickles(archive: Path) -> list[str]:
    """The pickles in a zip that was unpacked without them."""
    with zipfile.ZipFile(archive) as opened:
        return [name for name in opened.namelist() if name.endswith(".pkl") and not _is_no_file(name)]


def _unpack(opened: zipfile.ZipFile, into: Path, layout: Layout, chosen: str) -> None:
    members = {PurePosixPath(info.filename): info for info in _safe(opened.infolist())}
    root = _around(_root(members, layout), members, chosen)
    wanted = {
        inside: info
        for path, info in members.items()
        if path.is_relative_to(root) and layout.has(inside := path.relative_to(root))
    }
    _refuse_bombs(wanted.values())
    left = archives.UNPACKED_LIMIT
    for inside, info in wanted.items():
        left -= _written(opened, info, into / inside, left)


def _safe(members: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """The members that are files. One that leads out of the archive, or is a link, refuses all."""
    if len(members) > archives.MEMBERS_LIMIT:
        raise NotUnpacked(f"has more than {archives.MEMBERS_LIMIT:,} members.")
    named = [info for info in members if info.filename]  # a damaged one may have no name at all
    files = [info for info in named if not info.is_dir() and not _is_no_file(info.filename)]
    for info in files:
        if why_refused(info.filename, stat.S_ISLNK(info.external_attr >> 16)):
            raise NotUnpacked(
                f"has {info.filename[:80]!r}, a link or a path that leads out. Pack the plain files again."
            )
    if len({PurePosixPath(info.filename) for info in files}) < len(files):
        raise NotUnpacked("has a file twice, so nobody knows which counts. Pack the files again.")
    return files


def _is_no_file(name: str) -> bool:
    return any(part in NO_FILES for part in PurePosixPath(name).parts)


def _root(paths: Iterable[PurePosixPath], layout: Layout) -> PurePosixPath:
    """The outermost folder that has a file of the format; the archive itself, where they are scattered."""
    if layout.scattered and any(layout.has(path) for path in paths):
        return PurePosixPath()
    parents = {parent for path in paths if (parent := _outermost(path, layout)) is not None}
    if not parents:
        raise NotUnpacked(f"has none of this format\u2019s files: expected {layout.told} in it.")
    depth = min(len(parent.parts) for parent in parents)
    outermost = sorted(parent for parent in parents if len(parent.parts) == depth)
    if layout.beside and len({parent.parent for parent in outermost}) == 1 < len(outermost):
        return outermost[0].parent
    if len(outermost) > 1:
        several = " and ".join(str(parent)[:60] for parent in outermost[:2])
        raise NotUnpacked(
            f"has the files of several data sets, in {several}. Upload each as a zip of its own."
        )
    return outermost[0]


def _around(root: PurePosixPath, paths: Iterable[PurePosixPath], chosen: str) -> PurePosixPath:
    """The folder around the root, where the root is what was chosen, and has no part of that name itself."""
    if not chosen or root.name != chosen:
        return root
    part = str(root / f"{chosen}-")
    return root if any(str(path).startswith(part) for path in paths) else root.parent


def _outermost(path: PurePosixPath, layout: Layout) -> PurePosixPath | None:
    """The outermost folder from which a file is one that tells the folder; None for another file."""
    for parent in reversed(path.parents):
        inside = path.relative_to(parent)
        pattern = layout.top if len(inside.parts) == 1 else layout.texts
        if len(parent.parts) <= DEEPEST and pattern.fullmatch(str(inside)):
            return parent
    return None


def _refuse_bombs(members: Iterable[zipfile.ZipInfo]) -> None:
    """By what it states; who states less is counted when it is unpacked."""
    sizes = [(info.file_size, info.compress_size) for info in members]
    stated, packed = sum(size for size, _ in sizes), sum(size for _, size in sizes)
    if stated > archives.UNPACKED_LIMIT:
        raise _too_large()
    if stated > SURELY_SMALL and stated > PACKED_AT_MOST * max(packed, 1):
        raise NotUnpacked(
            f"would unpack {packed:,} bytes to {stated:,}, as a zip bomb does. If it is none, pack it less, "
            "or import the folder on the server."
        )


def _written(opened: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, most: int) -> int:
    """Unpack one member to a new file; returns its bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with opened.open(info) as packed, path.open("xb") as file:
        while chunk := packed.read(CHUNK):
            size += len(chunk)
            if size > most:
                raise _too_large()
            file.write(chunk)
    return size


def _too_large() -> NotUnpacked:
    return NotUnpacked(
        f"unpacks to more than {archives.UNPACKED_LIMIT // 2**20:,} MB. Import such a folder on the server."
    )
