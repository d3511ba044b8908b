"""Data folders that one process of a run makes and all copy: making one takes longer than most tests."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e import workbench
from tests.packages import share


@dataclass(frozen=True)
class KeptHome:
    """A home that no server uses, and what those who made it know of it."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def copy_to(self, home: Path) -> None:
        """`home`, an empty folder, becomes a copy."""
        shutil.copytree(self.home, home, symlinks=True, dirs_exist_ok=True)

    def note(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()


def keep_once(folder: Path, make: Callable[[KeptHome], None]) -> KeptHome:
    """What `make` has made in `folder`: here, or in a process that came first, for which this one waits."""
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # let go when the process ends, too
        if not folder.exists():
            begun = KeptHome(folder.with_suffix(".begun"))
            shutil.rmtree(begun.folder, ignore_errors=True)
            begun.home.mkdir(parents=True)
            make(begun)
            begun.folder.rename(folder)
    return KeptHome(folder)


def prepare(kept: KeptHome) -> None:
    """The sample and the cast of `prepare`, and the studies of `rated`; nothing is built yet."""
    share(kept.home)
    workbench.python(kept.home, "-m", "tests.e2e.prepare")
    kept.note("rated.json", workbench.python(kept.home, "-m", "tests.e2e.rated"))


def rated_in(kept: KeptHome) -> dict[str, int]:
    """The studies of a prepared home by name."""
    ids: dict[str, int] = json.loads(kept.read("rated.json"))
    return ids


@contextmanager
def serving_copy(kept: KeptHome, home: Path) -> Iterator[workbench.Workbench]:
    """A server on a copy in `home`, until the block ends; `home` is gone then."""
    kept.copy_to(home)
    with workbench.serving(home) as running:
        yield running
    shutil.rmtree(home, ignore_errors=True)
