"""The folder of a dump: new, written under another name until it is whole, and open to its owner alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from retrieval.exporting.files import STAGE


class BadFolder(ValueError):
    """The folder can't be taken; the message says what to do."""


def find_new_folder(name: str) -> Path:
    """The folder called `name`, where nothing is yet. Raises BadFolder, or OSError."""
    folder = find_folder(name)
    if folder.exists() and not folder.is_dir():
        raise BadFolder(f"{folder} is a file: name a new folder.")
    if folder.exists() and any(folder.iterdir()):
        raise BadFolder(f"{folder} is not empty: name a new folder.")
    return folder


def find_folder(name: str) -> Path:
    """Raises BadFolder for a name that can't be shown in full."""
    if not name.strip() or not name.isprintable():
        raise BadFolder(f"{name!r} is no name for a folder: use characters that can be printed.")
    return Path(name).resolve()


@contextmanager
def stage_folder(folder: Path) -> Iterator[Path]:
    """A folder to write in, which takes the place of `folder` once the block ends well, else goes."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    stage = Path(mkdtemp(prefix=STAGE, dir=folder.parent))
    try:
        yield stage
        stage.replace(folder)
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        raise
