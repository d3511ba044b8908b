"""Where the files of a folder of BEIR or MTEB lie, also of one with a data set for each language.

Several data sets lie beside each other as the hub's configurations, `python-corpus/`, `python-queries/` and
`python-qrels/` for one that is called `python` (CoIR's and MTEB's CodeSearchNet), each in a folder, or as
splits of the same name in `corpus/`, `queries/` and `qrels/` (NanoCodeSearchNet).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from retrieval.sources.readers.compression import PACKED
from retrieval.sources.readers.parquet import ENDING, split_of
from retrieval.sources.readers.records import kind_of
from retrieval.sources.readers.zip_folder import LOST

NAMES: Final = {"queries": ("queries", "query"), "corpus": ("corpus", "codebase")}
"""What files and folders of texts are called; the second are a configuration of MTEB's, and ours."""
QRELS: Final = "qrels"
PAIRS: Final = "pairs"
"""What our exports call the labels."""
DEFAULT: Final = ("data", "default")
OF_TREC: Final = ("", ".txt", ".qrels", ".trec")
"""What files of TREC's qrels are called, which have no header."""
OF_LABELS: Final = (".tsv", ".csv", ".jsonl", ".ndjson", ".json", *OF_TREC)
"""What files of labels are, beside Parquet."""
NO_LABELS: Final = (".md",)
"""What may lie beside labels, and tells of them alone."""
OF_ONE: Final = frozenset({"train", "training", "dev", "development", "val", "valid", "validation", "test"})
"""Splits that are parts of one data set, not data sets of their own."""
CALLED: Final = tuple(called for names in NAMES.values() for called in names)
PART: Final = re.compile(rf"(.+)-({'|'.join((*CALLED, QRELS))})(-\d{{5}}-of-\d{{5}})?")
"""A file or folder of one configuration, without what a file's name ends in."""
ENDINGS: Final = (*(f".jsonl{end}" for end in PACKED), ".jsonl", ENDING)
CALLED_SO: Final = re.compile(LOST)
MOST_NAMED: Final = 20


class NotChosen(ValueError):
    """Which data set is meant isn't known, or it isn't there; `there` are the names of those that are.

    The message goes on from the folder's name.
    """

    def __init__(self, words: str, there: tuple[str, ...]) -> None:
        super().__init__(words)
        self.there = there


@dataclass(frozen=True, slots=True)
class BeirPlace:
    """Where one data set lies: a folder, and what stands before the names in it, such as `python-`.

    `origin` is how its records name it; `split`: whose files alone are its own.
    """

    folder: Path
    origin: str
    prefix: str = ""
    split: str = ""

    def texts(self, name: str) -> list[Path]:
        """Of `queries` or `corpus`: JSON Lines, else the parts of Parquet where the first of them are."""
        return next(self._spellings(name), [])

    def _spellings(self, name: str) -> Iterator[list[Path]]:
        """The files of these texts by each name under which they are there."""
        plain = [self.folder / f"{self.prefix}{name}.jsonl{end}" for end in ("", *PACKED)]
        plain += [self.folder / "data" / f"{self.prefix}{called}.jsonl" for called in NAMES[name]]
        yield from ([path] for path in plain if path.is_file())
        for called in NAMES[name]:
            for place in self._parquet(f"{self.prefix}{called}"):
                if paths := [path for path in sorted(place) if self._has(path)]:
                    yield paths

    def why_refused(self, split: str) -> str:
        """Why nothing can be read: something is there by two names, and nobody knows which of them counts."""
        for paths in [*self._texts_twice(), *self._labels_twice(split)]:
            one, other, *_ = (path.relative_to(self.folder) for path in paths)
            return f"has {one} and {other}: leave the one that counts there, and move the other away"
        return ""

    def _texts_twice(self) -> Iterator[list[Path]]:
        """The files of texts, or this data set and a folder that is called so, where there are several."""
        for name in NAMES:
            if len(several := list(self._spellings(name))) > 1:
                yield [paths[0] for paths in several]
        called = self.prefix.removesuffix("-") or self.split
        if called and BeirPlace(self.folder / called, "").has_texts:
            first = next(path for name in NAMES for path in self.texts(name))
            yield [first, self.folder / called]

    def _labels_twice(self, split: str) -> Iterator[list[Path]]:
        """The files of labels of one split, or the places of Parquet, where there are several."""
        of_split = defaultdict[str, dict[str, Path]](dict)
        for path in self.qrels(split):
            kind = f"{path.parent}{ENDING}" if path.suffix == ENDING else path.name
            of_split[self._split(path)].setdefault(kind, path)
        yield from (list(paths.values()) for paths in of_split.values() if len(paths) > 1)
        if (read := self._qrels_parquet()) and (unread := self._other_qrels()):
            yield [read[0], unread[0]]

    def _has(self, path: Path) -> bool:
        return not self.split or split_of(path) == self.split

    def _parquet(self, called: str) -> Iterable[Iterable[Path]]:
        yield (self.folder / called).rglob(f"*{ENDING}")
        for inside in ("", "data"):
            for tail in ("", "-*"):
                yield (self.folder / inside).glob(f"{called}{tail}{ENDING}")

    def qrels(self, split: str) -> list[Path]:
        """The files of labels, those of one split or of all."""
        found = [path for path in self._in_qrels() if path.is_file() and kind_of(path) in OF_LABELS]
        found += self._qrels_parquet() or self._other_qrels()
        return [path for path in found if self._has(path) and (not split or self._split(path) == split)]

    def unread(self, split: str) -> Iterator[Path]:
        """Files that may have labels or texts, and are not read."""
        for path in self._in_qrels():
            is_read = kind_of(path) in (*OF_LABELS, *NO_LABELS, ENDING)
            if path.is_dir():
                is_read = any(path.rglob(f"*{ENDING}"))
            if not is_read and self._has(path) and (not split or self._split(path) == split):
                yield path
        read = {path for name in NAMES for path in self.texts(name)}
        for path in sorted(self.folder.glob(f"{self.prefix}*")):
            is_like = CALLED_SO.fullmatch(path.name.removeprefix(self.prefix))
            if is_like and path.is_file() and path not in read:
                yield path

    def _in_qrels(self) -> list[Path]:
        """What lies in the folder of labels, but for hidden files."""
        found = (self.folder / f"{self.prefix}{QRELS}").glob("*")
        return [path for path in sorted(found) if not path.name.startswith(".")]

    def _qrels_parquet(self) -> list[Path]:
        return sorted((self.folder / f"{self.prefix}{QRELS}").rglob(f"*{ENDING}"))

    def _other_qrels(self) -> list[Path]:
        """The default configuration, but for texts that lie in it, which one with a name has not; files."""
        if self.prefix:
            return self._beside()
        within = [path for name in DEFAULT for path in sorted((self.folder / name).rglob(f"*{ENDING}"))]
        return [path for path in within if not split_of(path).startswith(CALLED)] or self._beside()

    def _beside(self) -> list[Path]:
        """`qrels.parquet`, or the pairs of `export parquet` or `export huggingface`."""
        patterns = (f"{QRELS}*{ENDING}", f"{PAIRS}*{ENDING}", f"data/{PAIRS}-*.jsonl")
        return [path for pattern in patterns for path in sorted(self.folder.glob(f"{self.prefix}{pattern}"))]

    def _split(self, path: Path) -> str:
        if path.suffix != ENDING:
            return path.name.split(".")[0].removeprefix(f"{PAIRS}-")
        split = split_of(path).removeprefix(self.prefix)
        return split.removeprefix(f"{PAIRS}-").removeprefix(f"{QRELS}-")

    @property
    def is_data_set(self) -> bool:
        """Whether it has texts of both kinds."""
        return all(self.texts(name) for name in NAMES)

    @property
    def has_texts(self) -> bool:
        return any(self.texts(name) for name in NAMES)


def place_of(folder: Path, configuration: str = "") -> BeirPlace:
    """The data set that is called so; without a name the folder itself, or the only one in it.

    Raises NotChosen.
    """
    whole, there, inside = (
        BeirPlace(folder, folder.name),
        list_beir_configurations(folder),
        splits_inside(folder),
    )
    if configuration and configuration not in there:
        raise _not_there(configuration, there)
    if configuration in inside:
        return BeirPlace(folder, f"{folder.name}/{configuration}", split=configuration)
    if not configuration and not inside and (whole.has_texts or not there):
        return whole
    if not configuration and len(there) > 1:
        raise NotChosen(f"has a data set for each of {_listed(there)}: choose one", there)
    name = configuration or there[0]
    origin = f"{folder.name}/{name}"
    prefixed = BeirPlace(folder, origin, f"{name}-")
    return prefixed if prefixed.has_texts else BeirPlace(folder / name, origin)


def list_beir_configurations(folder: Path) -> tuple[str, ...]:
    """What the data sets in a folder are called, beside the one that the folder itself may be."""
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    parts = {path.name: name for path in entries if (name := _part_of(path))}
    prefixed = {name for name in set(parts.values()) if BeirPlace(folder, "", f"{name}-").has_texts}
    own = {*parts, *CALLED, QRELS, *DEFAULT}
    inside = {path.name for path in entries if path.name not in own and BeirPlace(path, "").has_texts}
    return tuple(sorted(prefixed | inside | splits_inside(folder)))


def splits_inside(folder: Path) -> set[str]:
    """The splits of a folder's Parquet files that are data sets: each has queries and a corpus of its own."""
    whole = BeirPlace(folder, "")
    queries, corpus = ({split_of(path) for path in whole.texts(name)} for name in NAMES)
    return queries if len(queries) > 1 and queries == corpus and not queries & OF_ONE else set()


def _part_of(path: Path) -> str:
    """The configuration of which a file or folder is a part; empty where it is none.

    A folder with a whole data set is none, such as one that is called `cosqa-queries-corpus`.
    """
    found = PART.fullmatch(_stem(path))
    return found[1] if found and not BeirPlace(path, "").is_data_set else ""


def _stem(path: Path) -> str:
    """A name without what tells the kind of a file."""
    return next((path.name.removesuffix(end) for end in ENDINGS if path.name.endswith(end)), path.name)


def _not_there(configuration: str, there: tuple[str, ...]) -> NotChosen:
    wanted = repr(configuration[:40])
    if there:
        return NotChosen(f"has no data set {wanted}: choose one of {_listed(there)}", there)
    return NotChosen(f"is a single data set, or none: there is no {wanted} to choose in it", there)


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
