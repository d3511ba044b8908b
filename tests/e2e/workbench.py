"""A real server in a process of its own, with its own data folder; and the browser that looks at it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
STARTS_WITHIN = 60.0
STOPS_WITHIN = 20.0
CHROMIUMS = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
PLAIN = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
FOREIGN = ("COSQA_", "ANTHROPIC_", "DATABASE_URL", "REDIS_URL", "CELERY_", "DJANGO_SETTINGS_MODULE")


class ServerDied(Exception):
    """The server ended or did not answer; the message has its last lines."""


@dataclass(frozen=True)
class Workbench:
    """A running server: where it is, what it writes to, and its process."""

    url: str
    home: Path
    pid: int

    def manage(self, *arguments: str) -> str:
        """The standard output of `manage.py …` on the server's data."""
        return manage(self.home, *arguments)


def environment(home: Path) -> dict[str, str]:
    """This process's variables without those that configure a workbench, so that the defaults are tried."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return kept | {"COSQA_HOME": str(home), "PYTHONUNBUFFERED": "1"}


def manage(home: Path, *arguments: str) -> str:
    """The standard output of `manage.py …`. Raises CalledProcessError; standard error goes through."""
    return python(home, "manage.py", *arguments)


def python(home: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment(home),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=600,
    )
    return done.stdout


@contextmanager
def serving(home: Path, port: int = 0, **variables: str) -> Iterator[Workbench]:
    """`manage.py serve` on `home` and `port`, or a free one, until the block ends. Raises ServerDied.

    `variables` are of its environment.
    """
    port = port or free_port()
    log = home / "server.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", str(port)],
            cwd=ROOT,
            env=environment(home) | variables,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/login/", process, log)
        yield Workbench(f"http://127.0.0.1:{port}", home, process.pid)
    finally:
        end(process)


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when `url` answers. Raises ServerDied."""
    give_up = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < give_up and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.1)
    raise ServerDied(f"{url} never answered; the server's last words:\n{log.read_text()[-2000:]}")


def end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOPS_WITHIN)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def chromium_path() -> str | None:
    """Debian's Chromium, or what else is on the path under one of its names.

    First the shell without windows: the same engine takes a third less of the processor in it.
    """
    return next(filter(None, map(shutil.which, CHROMIUMS)), None)


@contextmanager
def chromium(path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(PLAIN))
        yield browser
        browser.close()
