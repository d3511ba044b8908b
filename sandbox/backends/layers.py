"""Folders of installed packages: named by the key of their content, made once, verified, capped.

Beside each layer lies a mark with a digest of what was made. A layer without its mark is half made, one that
differs from it was changed by somebody: neither is used. This module imports only the standard library, and
its own text is what keeps the layers of the Docker volume, inside a container (see `build_layer_command`).
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

IN_USE_SECONDS = 1800.0
"""So long after its last use nothing evicts a layer: longer than a run, its queue and its preparation."""
TOUCH_SECONDS = 60.0
"""So often at most a process verifies and marks a layer that it goes on using."""
_MAKING, _MARKS, _LOCKS = ".making-", ".marks", ".locks"
TARGET = "{target}"
"""Stands for the folder to fill, in the words of a command."""
FALLBACK = Path("/var/tmp/cosqa-sandbox")


class NoRoom(Exception):
    """The layers that are in use leave too little room below the cap."""


def hash_layer_key(*parts: str) -> str:
    """The name of a layer: a hash of all that decides what is in it."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


class Layers:
    """The layers in one folder, shared by all processes that use it; together at most `most_mb`."""

    def __init__(self, folder: Path, most_mb: int) -> None:
        self.folder, self._most = folder, most_mb * 2**20
        self._touched: dict[str, float] = {}
        for name in (_MARKS, _LOCKS):
            (folder / name).mkdir(parents=True, exist_ok=True)
        _let_others_enter(folder)

    def find(self, name: str) -> Path | None:
        """The layer, when it is complete and as it was made; it counts as in use from now on."""
        layer = self.folder / name
        if time.monotonic() - self._touched.get(name, -TOUCH_SECONDS) < TOUCH_SECONDS and layer.is_dir():
            return layer
        try:
            if self._marked(name)[0] != _digest(layer):
                return None
            os.utime(self._mark(name))
        except FileNotFoundError:
            return None
        self._touched[name] = time.monotonic()
        return layer

    def ensure(self, name: str, make: Callable[[Path], None]) -> Path:
        """The layer; `make(empty_folder)` makes it when it is not there, and others that ask meanwhile wait.

        What `make` left by an exception is removed, and is never seen under its name. Raises NoRoom.
        """
        found = self.find(name)
        if found:
            return found
        with self._locked(name):
            found = self.find(name)
            return found or self._made(name, make)

    def reap(self) -> int:
        """Remove what makers that died left: unfinished folders, layers without a mark; their number."""
        left = [path for path in self.folder.iterdir() if path.is_dir()]
        return sum(self._reaped(path) for path in left if path.name not in (_MARKS, _LOCKS))

    def _reaped(self, left: Path) -> bool:
        name = left.name.removeprefix(_MAKING).partition("@")[0]
        # A maker that lives holds the lock.
        with contextlib.suppress(BlockingIOError), self._locked(name, fcntl.LOCK_NB):
            if not left.exists() or self._mark(left.name).exists():
                return False
            shutil.rmtree(left, ignore_errors=True)
            return True
        return False

    def _made(self, name: str, make: Callable[[Path], None]) -> Path:
        layer = self.folder / name
        self._remove(name)
        with self._unfinished(name) as unfinished:
            make(unfinished)
            _open_to_all(unfinished)
            digest, size = _digest(unfinished), _size(unfinished)
            with self._locked("all"):
                self._make_room(size)
                unfinished.rename(layer)
                self._write_mark(name, json.dumps([digest, size]))
        self._touched[name] = time.monotonic()
        return layer

    @contextlib.contextmanager
    def _unfinished(self, name: str) -> Iterator[Path]:
        folder = Path(tempfile.mkdtemp(prefix=f"{_MAKING}{name}@", dir=self.folder))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _write_mark(self, name: str, text: str) -> None:
        draft = self._mark(name).with_suffix(".draft")
        draft.write_text(text)
        draft.rename(self._mark(name))

    def _make_room(self, wanted: int) -> None:
        """Evict those used least recently until `wanted` bytes fit below the cap; raises NoRoom."""
        marks = sorted((one.stat().st_mtime, one) for one in (self.folder / _MARKS).iterdir())
        sizes = {one.name: self._marked(one.name)[1] for _, one in marks}
        room = self._most - sum(sizes.values())
        for used, mark in marks:
            if room >= wanted or time.time() - used < IN_USE_SECONDS:
                break
            with contextlib.suppress(BlockingIOError), self._locked(mark.name, fcntl.LOCK_NB):
                self._remove(mark.name)
                room += sizes[mark.name]
        if room < wanted:
            raise NoRoom(
                f"{wanted / 2**20:.0f} MB of packages do not fit: {max(room, 0) / 2**20:.0f} of"
                f" {self._most / 2**20:.0f} MB are free, the rest was used a moment ago"
            )

    def _remove(self, name: str) -> None:
        # The mark first: a layer that is half removed is none.
        self._mark(name).unlink(missing_ok=True)
        self._touched.pop(name, None)
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def _marked(self, name: str) -> tuple[str, int]:
        """Digest and bytes of the layer as it was made; of a mark that cannot be read, those of none."""
        try:
            digest, size = json.loads(self._mark(name).read_text())
            return str(digest), int(size)
        except (ValueError, TypeError):
            return "", 0

    def _mark(self, name: str) -> Path:
        return self.folder / _MARKS / name

    @contextlib.contextmanager
    def _locked(self, name: str, how: int = 0) -> Iterator[None]:
        with open(self.folder / _LOCKS / name, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | how)
            yield


def build_layer_command(name: str, most_mb: int, program: list[str]) -> list[str]:
    """The process that, in a container, keeps one layer of /layers: verifies it, or has `program` make it."""
    text = Path(__file__).read_text()
    return ["python3", "-I", "-c", text, "/layers", name, str(most_mb), *program]


def _main(folder: str, name: str, most_mb: str, *program: str) -> int:
    layers = Layers(Path(folder), int(most_mb))
    layers.reap()

    def make(target: Path) -> None:
        subprocess.run([str(target) if word == TARGET else word for word in program], check=True)

    try:
        layers.ensure(name, make)
    except NoRoom as error:
        sys.stderr.write(f"ERROR: {error}\n")
        return 1
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


def _open_to_all(layer: Path) -> None:
    """Let every user read the layer, whatever the maker's umask was: programs run as users of their own."""
    layer.chmod(0o755)
    for path, found in _walk(layer):
        wanted = found.st_mode | (0o055 if found.st_mode & stat.S_IXUSR else 0o044)
        if wanted != found.st_mode and not stat.S_ISLNK(found.st_mode):
            os.chmod(path, stat.S_IMODE(wanted))


def _digest(layer: Path) -> str:
    """What `lstat` tells of every file: its change time is the kernel's, which no program can set."""
    digest = hashlib.sha256()
    for path, found in _walk(layer):
        times = (found.st_mtime_ns, found.st_ctime_ns, found.st_size) if stat.S_ISREG(found.st_mode) else ()
        link = os.readlink(path) if stat.S_ISLNK(found.st_mode) else ""
        digest.update(repr((os.path.relpath(path, layer), found.st_mode, times, link)).encode())
    return digest.hexdigest()


def _size(layer: Path) -> int:
    return sum(found.st_blocks * 512 for _, found in _walk(layer))


def _walk(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below, in an order that does not change."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        yield entry.path, entry.stat(follow_symlinks=False)
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path))


def reachable_home(home: Path) -> Path:
    """`home` itself, or FALLBACK when other users must read it and cannot get there.

    Only root runs programs as others, and root's own folders are often closed to everybody else. All such
    homes share that one folder: a layer's name says everything that is in it.
    """
    home = home.resolve()
    home.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0 or all(folder.stat().st_mode & stat.S_IXOTH for folder in (home, *home.parents)):
        return home
    FALLBACK.mkdir(mode=0o755, exist_ok=True)
    found = FALLBACK.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != 0 or found.st_mode & 0o022:
        raise PermissionError(f"{FALLBACK} is not a folder that only root may write to: remove it")
    _let_others_enter(FALLBACK)
    return FALLBACK


def _let_others_enter(folder: Path) -> None:
    """Programs run as users of their own, whom the umask of whoever made the folder may have shut out."""
    found = folder.stat()
    if found.st_uid == os.geteuid() and found.st_mode & 0o055 != 0o055:
        folder.chmod(stat.S_IMODE(found.st_mode) | 0o055)


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
