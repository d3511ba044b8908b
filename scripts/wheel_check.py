"""What try-wheel looks at in an installed `cosqa`, with nothing but the standard library: help and pages."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

HELP_SECONDS = 0.4
START_SECONDS = 60


def main() -> None:
    command = sys.argv[1]
    check_help(command)
    check_pages(command)


def check_help(command: str) -> None:
    """The quickest of five, in processor time, as the machine may be busy."""
    took = min(time_help(command) for _ in range(5))
    sys.stdout.write(f"        cosqa --help takes {took:.2f} s of a processor\n")
    assert took <= HELP_SECONDS, "cosqa --help is too slow"


def time_help(command: str) -> float:
    before = os.times()
    subprocess.run([command, "--help"], check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def check_pages(command: str) -> None:
    """A new home is served: its first page, each style and script that it names, and the documentation."""
    port = find_free_port()
    with subprocess.Popen([command, "serve", "--port", str(port)]) as server:
        try:
            page = wait_for_page(f"http://127.0.0.1:{port}/login/")
            files = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
            assert len(files) >= 3, page
            for file in files:
                assert read_page(f"http://127.0.0.1:{port}{file}"), file
            assert "Documentation" in read_page(f"http://127.0.0.1:{port}/docs/")
        finally:
            server.send_signal(signal.SIGINT)
    assert server.returncode in (0, 130), f"serve ended with {server.returncode}"


def find_free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for_page(address: str) -> str:
    ends = time.monotonic() + START_SECONDS
    while True:
        try:
            return read_page(address)
        except OSError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.5)


def read_page(address: str) -> str:
    with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 (our own server)
        text: str = answer.read().decode()
    return text


if __name__ == "__main__":
    main()
