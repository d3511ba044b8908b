"""MiniLM's vectors of the real functions: they take minutes, so the processes of the tests make them once."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def kept(config: pytest.Config) -> Iterator[Path]:
    """The folder of the vectors, under pytest's cache; nobody else has it inside the block."""
    folder = Path(config.cache.mkdir("vectors"))
    with (folder.parent / "vectors.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
