"""Pages whose blocks are typed, one after the other, in an empty folder with an empty home.

- a block `file NAME` is written to that file;
- of a block `console` each line after `$ ` is a command, and the lines below it are what it prints, in this
  order or another, among other lines; `…` stands for anything;
- a block `sh` is for the reader's machine: what it may have is in `NOT_TYPED`.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.packages import share
from tests.ports import free_port

ROOT: Final = Path(__file__).resolve().parents[2]
BLOCK: Final = re.compile(r"^```(file|console|sh) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_TYPED: Final = {
    "pipx install": "scripts/try-wheel installs the wheel, in CI",
    "apt-get install bubblewrap": "CI installs it before the tests",
    "cosqa demo": "scripts/try-wheel runs it, in CI",
    "make demo": "scripts/demo-smoke runs it, in CI",
    "make test": "CI is this command",
    "export ANTHROPIC_API_KEY=": "the tests set it to the key of a fake server",
}
PATIENCE_SECONDS: Final = 300


@dataclass(frozen=True)
class Typed:
    """A command and what the page says that it prints."""

    words: tuple[str, ...]
    wanted: tuple[str, ...]


def commands_of(console: str) -> Iterator[Typed]:
    for block in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, *wanted = block.splitlines()
        yield Typed(tuple(shlex.split(command, comments=True)), tuple(line for line in wanted if line))


def is_printed(wanted: str, printed: str) -> bool:
    parts = map(re.escape, wanted.split("…"))
    return re.search("^" + ".*".join(parts) + "$", printed, re.MULTILINE) is not None


class Reader:
    """Somebody who follows a page in `folder`."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        home = folder / "home"
        home.mkdir()
        share(home)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("COSQA", "DJANGO"))}
        self.settings = kept | {"COSQA_HOME": str(home), "PYTHONPATH": str(ROOT)} | dict(settings)
        self.typed: list[str] = []

    def follow(self, page: Path) -> None:
        for kind, name, content in BLOCK.findall(page.read_text("utf-8")):
            if kind == "file":
                self.write(name, content)
            elif kind == "console":
                for typed in commands_of(content):
                    self.type(typed)
            else:
                refuse_other_lines(content)

    def write(self, name: str, content: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")

    def type(self, typed: Typed) -> None:
        command = shlex.join(typed.words)
        self.typed.append(command)
        if typed.words[:2] == ("cosqa", "serve"):
            self.serve(typed.words)
            return
        done = subprocess.run(
            self.program(typed.words),
            cwd=self.folder,
            env=self.settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        missing = [line for line in typed.wanted if not is_printed(line, done.stdout)]
        assert not missing, f"{command}\nprints\n{done.stdout}\nwithout\n{missing}"

    def program(self, words: tuple[str, ...]) -> list[str]:
        programs = {"cosqa": [sys.executable, "-m", "cosqa"], "python3": [sys.executable]}
        return [*programs[words[0]], *words[1:]]

    def serve(self, words: tuple[str, ...]) -> None:
        """Serve on a free port until there is a page, then press Ctrl-C."""
        port = free_port()
        command = [*self.program(words), "--port", str(port)]
        with subprocess.Popen(command, cwd=self.folder, env=self.settings) as server:
            try:
                wait_for_page(f"http://127.0.0.1:{port}/login/", server)
            finally:
                server.send_signal(signal.SIGINT)


def wait_for_page(address: str, server: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + PATIENCE_SECONDS
    while True:
        assert server.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(address, timeout=30) as page:
                assert b"Log in" in page.read()
            return
        except urllib.error.URLError:
            assert time.monotonic() < ends, "no page came"
            time.sleep(0.2)


def refuse_other_lines(content: str) -> None:
    """No line may be one that nothing proves."""
    lines = [line for line in content.splitlines() if line and not line.startswith("#")]
    for command in (part.strip() for line in lines for part in line.partition("  #")[0].split("&&")):
        assert any(command.startswith(known) for known in NOT_TYPED), f"no test types {command!r}"
