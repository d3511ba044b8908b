"""The encoders in a system's name: `bm25+minilm` and `bm25+codebert:/models/mine` are means of two.

A reranker follows them: `bm25+minilm >100> cross-encoder:/models/mine`.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Final

from retrieval.encoders import BEFORE_A_COLON, UnknownEncoder
from retrieval.mining import known_encoders

BEFORE_A_NAME: Final = re.compile(rf"\+(?=(?:{'|'.join(map(re.escape, BEFORE_A_COLON))})(?:[:+]|\Z))")
"""A + before a name of the registry, alone or with a folder, hub id or model after it."""

SECOND_STAGE: Final = re.compile(r" >([1-9]\d{0,3})> ")
"""Between the first stage and the second, as in `bm25 >100> cross-encoder:/models/mine`."""


def join_second_stage(first: str, depth: int, reranker: str) -> str:
    """The name of a system whose first `depth` results a reranker ranks again."""
    return f"{first} >{depth}> {reranker}"


def split_second_stage(system: str) -> tuple[str, int, str]:
    """The first stage, how many of its results are ranked again, and by what; 0 and nothing without one."""
    found = SECOND_STAGE.search(system)
    if found is None:
        return system, 0, ""
    return system[: found.start()], int(found[1]), system[found.end() :]


def list_models_of(system: str) -> list[str]:
    """The encoders of a system's name, then its reranker if it has one."""
    first, _, reranker = split_second_stage(system)
    return [*split_system_name(first), *([reranker] if reranker else [])]


def split_system_name(system: str) -> list[str]:
    """The encoders that a system's name joins by +, each as it is written; joined again they give the name.

    A folder may have a + in its path, so after a colon only one before a name of the registry parts two.
    """
    return [one for part in BEFORE_A_NAME.split(system) for one in _plain_first(part)]


def encoders_of(system: str) -> list[str]:
    """As `split_system_name`, of a system that is to search. Raises `UnknownEncoder` where a + may mean
    otherwise."""
    names = split_system_name(system)
    for name in names:
        _refuse_specs_behind_a_colon(system, name)
    for name, following in pairwise(names):
        whole = f"{name}+{following}"
        if _source(name) and _is_folder(whole):
            raise UnknownEncoder(
                f"{system!r} may mean the folder {_source(whole)!r}, or {name!r} and {following!r}: give "
                "that folder a name without + before the name of an encoder"
            )
    return names


def _refuse_specs_behind_a_colon(system: str, name: str) -> None:
    """Behind a colon all belongs to a folder, hub id or model, which an encoder's spec file may not mean."""
    head, *behind = name.split("+")
    specs = [one for one in behind if known_encoders.spec_of(one) is not None]
    if specs and not _is_folder(name):
        first = "+".join([*specs, *(one for one in [head, *behind] if one not in specs)])
        raise UnknownEncoder(
            f"in {system!r} what follows a colon is one folder, hub id or model, {_source(name)!r}: write "
            f"{first!r}, with {', '.join(specs)} first"
        )


def _source(name: str) -> str:
    return name.partition(":")[2]


def _is_folder(name: str) -> bool:
    """Whether what follows the colon lies on this machine, as it is written."""
    try:
        return bool(_source(name)) and Path(_source(name)).expanduser().is_dir()
    except (OSError, RuntimeError, ValueError):  # too long, of nobody's home, or with a NUL
        return False


def _plain_first(part: str) -> list[str]:
    """The plain names before the first colon, which have no +; the last one keeps what comes after it."""
    head, colon, source = part.partition(":")
    *plain, last = head.split("+")
    return [*plain, f"{last}{colon}{source}"]
