"""The files of a folder of CodeSearchNet, its pickles of all functions and of licences, and what is skipped.

`python_dedupe_definitions_v2.pkl` is a list of dicts, one a function, documented or not: `nwo` (owner/name),
`sha`, `path`, `language`, `identifier`, `docstring`, `function`, `url` and tokens. `python_licenses.pkl` is a
dict from owner/name to a list of (path, text).
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from retrieval.sources import Problem
from retrieval.sources.code.files import is_licence, licence_of
from retrieval.sources.readers.compression import PACKED
from retrieval.sources.readers.lines import clip_text
from retrieval.sources.readers.parquet import ENDING
from retrieval.sources.readers.records import JSON_LINES, Object, kind_of
from retrieval.sources.readers.safe_pickle import stream_safe_pickle
from retrieval.texts.plurals import count_noun

PICKLE: Final = ".pkl"
DEFINITIONS: Final = "definitions"
LICENCES: Final = "_licenses.pkl"
DATA: Final = frozenset({PICKLE, ".pickle", ".json", ".csv", ".tsv", ".zip", ".tar", ".h5", *PACKED})
"""Files of these kinds look like data: where they are not read, that is said."""
NAMES_SHOWN: Final = 5


def list_function_files(place: Path) -> list[Path]:
    """The files of a folder that have functions or licences, in order of path; a file stands for itself."""
    if not place.is_dir():
        return [place]
    return sorted(path for path in place.rglob("*") if _is_read(path) and path.is_file())


def _is_read(path: Path) -> bool:
    is_pickle = path.suffix == PICKLE and (DEFINITIONS in path.name or is_licence_pickle(path))
    return is_pickle or kind_of(path) in (*JSON_LINES, ENDING)


def is_licence_pickle(path: Path) -> bool:
    """Whether a file is the pickle of licences, by its name."""
    return path.name.endswith(LICENCES)


def find_skipped_files(place: Path) -> list[str]:
    """The paths within a folder that look like data and are not read."""
    if not place.is_dir():
        return []
    files = (path for path in place.rglob("*") if path.is_file() and not _is_read(path))
    return [str(path.relative_to(place)) for path in files if path.suffix.lower() in DATA]


def tell_skipped_files(place: str, names: Sequence[str], instead: str) -> Problem:
    """That files of a folder or an archive were not read, and what to do instead."""
    shown = ", ".join(sorted(names)[:NAMES_SHOWN]) + (" …" if len(names) > NAMES_SHOWN else "")
    return Problem(place, 0, f"{count_noun(len(names), 'file')} not read: {shown}. {instead}")


def read_definitions(path: Path) -> Iterator[tuple[int, Object] | Problem]:
    """Yield (number from 1, record) of the pickled list of all functions; memory does not grow with it."""
    number = 0
    try:
        for number, record in enumerate(stream_safe_pickle(path), 1):
            if isinstance(record, dict):
                yield number, record
            else:
                told = f"expected a dict of a function, found {clip_text(str(record)[:80])}"
                yield Problem(str(path), number, told)
    except (OSError, pickle.UnpicklingError) as error:
        why = f"cannot be read beyond record {number:,}: {error}"
        yield Problem(str(path), 0, why, costs_labels=True)


def read_licences(path: Path, licences: dict[str, str]) -> Iterator[Problem]:
    """Add to `licences`, by owner/name, what SPDX calls the known texts at a repository's root.

    Of several all have to hold. What else is there is not told: nobody knows what it allows.
    """
    number = 0
    try:
        for number, item in enumerate(stream_safe_pickle(path), 1):
            if not (isinstance(item, tuple) and isinstance(item[0], str) and isinstance(item[1], list)):
                yield Problem(str(path), number, "expected a repository with a list of paths and texts")
            elif known := _known_licences(*item):
                licences[item[0]] = " AND ".join(known)
    except (OSError, pickle.UnpicklingError) as error:
        why = f"cannot be read beyond record {number:,}, so later licences are missing: {error}"
        yield Problem(str(path), 0, why)


def _known_licences(repository: str, texts: Sequence[object]) -> list[str]:
    """Each once; paths may begin with owner/name, as that is where archives were unpacked."""
    known = list[str]()
    for item in texts:
        if isinstance(item, tuple) and len(item) == 2 and all(isinstance(part, str) for part in item):
            path, text = item
            inside = PurePosixPath(path.removeprefix(f"{repository}/"))
            licence = licence_of(text) if len(inside.parts) == 1 and is_licence(str(inside)) else ""
            known += [licence] if licence and licence not in known else []
    return known
