import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.backends import layers as module
from sandbox.backends.layers import (
    IN_USE_SECONDS,
    Layers,
    NoRoom,
    build_layer_command,
    hash_layer_key,
    reachable_home,
)

MB = 2**20
MAKER = """
import sys, time
from pathlib import Path
from sandbox.backends.layers import Layers

def make(folder):
    time.sleep(0.2)
    (folder / "made").write_text("x")
    with open(sys.argv[2], "a") as log:
        log.write("made\\n")

Layers(Path(sys.argv[1]), 100).ensure("one", make)
"""


@pytest.fixture
def layers(tmp_path: Path) -> Layers:
    return Layers(tmp_path / "layers", 10)


def filled(megabytes: float = 0.0, text: str = "x") -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / "package").mkdir()
        (folder / "package" / "module.py").write_text(text)
        (folder / "data").write_bytes(b"x" * int(megabytes * MB))

    return make


def reopened(layers: Layers) -> Layers:
    """The same folder as another process sees it, which has verified nothing yet."""
    return Layers(layers.folder, 10)


def unused(layers: Layers, name: str, seconds: float = 2 * IN_USE_SECONDS) -> None:
    then = time.time() - seconds
    os.utime(layers.folder / ".marks" / name, (then, then))


def content(layers: Layers) -> set[str]:
    return {path.name for path in layers.folder.iterdir() if not path.name.startswith(".")}


def test_every_user_can_read_a_layer_whatever_the_makers_umask_was(layers: Layers) -> None:
    def make(folder: Path) -> None:
        filled()(folder)
        (folder / "tool").touch(mode=0o700)

    before = os.umask(0o077)
    try:
        made = layers.ensure("one", make)
    finally:
        os.umask(before)
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in (made, *made.rglob("*"))}
    assert modes == {
        "one": "0o755",
        "package": "0o755",
        "module.py": "0o644",
        "data": "0o644",
        "tool": "0o755",
    }
    assert reopened(layers).find("one") == made


def test_every_user_can_enter_the_folders_of_layers_whatever_the_makers_umask_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FALLBACK", tmp_path / "fallback")
    home = tmp_path / "home"
    before = os.umask(0o077)
    try:
        folder = reachable_home(home)
        layers = Layers(folder / "layers", 10)
    finally:
        os.umask(before)
    assert folder == (module.FALLBACK if os.geteuid() == 0 else home)
    assert layers.folder.stat().st_mode & 0o055 == 0o055
    assert os.geteuid() != 0 or folder.stat().st_mode & 0o077 == 0o055


def test_a_layer_is_made_once_however_many_threads_ask(layers: Layers) -> None:
    together = threading.Barrier(8)
    made: list[Path] = []

    def ask(_: int) -> Path:
        together.wait()
        return layers.ensure("one", made.append)

    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(ask, range(8)))
    assert len(made) == 1 and len(found) == 1


def test_a_layer_is_made_once_however_many_processes_ask(tmp_path: Path) -> None:
    log = tmp_path / "log"
    asking = [
        subprocess.Popen([sys.executable, "-c", MAKER, str(tmp_path / "layers"), str(log)]) for _ in range(4)
    ]
    assert [process.wait(timeout=60) for process in asking] == [0] * 4
    assert log.read_text() == "made\n"


def test_a_half_made_layer_is_never_seen(layers: Layers) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("done")
        raise RuntimeError("the power went")

    with pytest.raises(RuntimeError):
        layers.ensure("one", fail)
    assert layers.find("one") is None
    assert content(layers) == set()
    assert layers.reap() == 0


def test_a_layer_without_its_mark_is_made_again(layers: Layers) -> None:
    (layers.folder / "one").mkdir()
    assert layers.find("one") is None
    found = layers.ensure("one", filled(text="whole"))
    assert (found / "package" / "module.py").read_text() == "whole"


def changed(layer: Path) -> None:
    (layer / "package" / "module.py").write_text("y")


def changed_back_in_time(layer: Path) -> None:
    found = (layer / "package" / "module.py").stat()
    changed(layer)
    os.utime(layer / "package" / "module.py", ns=(found.st_atime_ns, found.st_mtime_ns))


def added(layer: Path) -> None:
    (layer / "sitecustomize.py").write_text("import os")


def removed(layer: Path) -> None:
    (layer / "data").unlink()


def replaced_by_a_link(layer: Path) -> None:
    (layer / "data").unlink()
    (layer / "data").symlink_to("/etc/passwd")


@pytest.mark.parametrize(
    "tamper",
    [changed, changed_back_in_time, added, removed, replaced_by_a_link],
    ids=lambda one: one.__name__,
)
def test_a_layer_that_somebody_changed_is_thrown_away(layers: Layers, tamper: Callable[[Path], None]) -> None:
    tamper(layers.ensure("one", filled()))
    other = reopened(layers)
    assert other.find("one") is None
    again = other.ensure("one", filled(text="clean"))
    assert sorted(path.name for path in again.rglob("*")) == ["data", "module.py", "package"]
    assert (again / "package" / "module.py").read_text() == "clean"
    assert reopened(layers).find("one") == again


def test_a_process_that_goes_on_using_a_layer_verifies_it_again(
    layers: Layers, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(layers.ensure("one", filled()))
    assert layers.find("one")
    monkeypatch.setattr(module, "TOUCH_SECONDS", 0.0)
    assert layers.find("one") is None


@pytest.mark.parametrize("mark", ["", "{}", "[1]", "nonsense"])
def test_a_layer_whose_mark_cannot_be_read_is_made_again(layers: Layers, mark: str) -> None:
    layers.ensure("one", filled())
    (layers.folder / ".marks" / "one").write_text(mark)
    other = reopened(layers)
    assert other.find("one") is None
    assert other.ensure("one", filled()).is_dir()


def test_those_used_least_recently_make_room(layers: Layers) -> None:
    for age, name in ((3, "old"), (4, "older"), (2, "young")):
        layers.ensure(name, filled(3))
        unused(layers, name, age * IN_USE_SECONDS)
    layers.ensure("new", filled(5))
    assert content(layers) == {"young", "new"}


def test_finding_a_layer_counts_as_using_it(layers: Layers) -> None:
    for name in ("first", "second"):
        layers.ensure(name, filled(4))
        unused(layers, name)
    assert reopened(layers).find("first")
    layers.ensure("third", filled(4))
    assert content(layers) == {"first", "third"}


def test_a_layer_in_use_is_never_evicted(layers: Layers) -> None:
    for name in ("first", "second"):
        layers.ensure(name, filled(4))
    with pytest.raises(NoRoom, match="8 MB of packages do not fit: 2 of 10 MB are free"):
        layers.ensure("third", filled(8))
    assert content(layers) == {"first", "second"}
    assert all(reopened(layers).find(name) for name in ("first", "second"))


def test_reaping_removes_what_a_dead_maker_left(layers: Layers) -> None:
    (layers.folder / ".making-one@abc").mkdir()
    (layers.folder / "three").mkdir()
    kept = layers.ensure("two", filled())
    assert layers.reap() == 2 and layers.reap() == 0
    assert kept.is_dir()


def test_reaping_leaves_a_maker_that_lives_alone(layers: Layers) -> None:
    reaped = []
    layers.ensure("one", lambda folder: reaped.append(layers.reap()))
    assert reaped == [0] and layers.find("one")


def test_keys_tell_their_parts_apart() -> None:
    assert hash_layer_key("a", "bc") != hash_layer_key("ab", "c")


def kept(folder: Path, *program: str, most_mb: int = 10) -> subprocess.CompletedProcess[str]:
    """What the maintenance container of the Docker volume executes, on a folder of this machine."""
    words = [
        str(folder) if word == "/layers" else word
        for word in build_layer_command("one", most_mb, list(program))
    ]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, cwd="/")


def test_the_text_of_this_module_keeps_layers_by_itself(tmp_path: Path) -> None:
    write = ("python3", "-c", "import sys; open(sys.argv[1] + '/made', 'a').write('x')", "{target}")
    assert [kept(tmp_path, *write).returncode for _ in range(2)] == [0, 0]
    assert (tmp_path / "one" / "made").read_text() == "x"
    assert Layers(tmp_path, 10).find("one")


def test_its_failures_are_the_programs_and_the_caps(tmp_path: Path) -> None:
    failed = kept(tmp_path, "python3", "-c", "import sys; sys.exit('ERROR: no such distribution')")
    assert failed.returncode == 1 and "no such distribution" in failed.stderr
    write = (
        "python3",
        "-c",
        "import sys; open(sys.argv[1] + '/made', 'wb').write(bytes(3 << 20))",
        "{target}",
    )
    full = kept(tmp_path, *write, most_mb=2)
    assert full.returncode == 1 and "do not fit" in full.stderr
    assert json.dumps(sorted(path.name for path in tmp_path.iterdir())) == '[".locks", ".marks"]'
