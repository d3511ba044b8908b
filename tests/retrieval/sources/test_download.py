"""Downloads from a server of our own: whole, cut off and resumed, with the wrong sum, and offline."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from retrieval.sources import download
from retrieval.sources.download import NotDownloaded, Terms, address_of, fetch

CONTENT = bytes(range(256)) * 40
SUM = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves CONTENT with ranges; `/cut` ends the first answer in the middle; `/gone` is not there."""

    asked: list[str | None] = []

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.asked.append(wanted)
        if self.path == "/gone":
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if start >= len(CONTENT):
            self.send_error(416)
            return
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        self.wfile.write(CONTENT[start:4000] if self.path == "/cut" and not wanted else CONTENT[start:])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the standard library's name
        pass


@pytest.fixture
def server() -> Iterator[str]:
    Handler.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()
        thread.join()


def test_a_file_comes_once(server: str, tmp_path: Path) -> None:
    for _ in range(2):
        file = fetch(f"{server}/data.jsonl?x=1", tmp_path / "new", SUM)
    assert (file.name, file.read_bytes()) == ("data.jsonl", CONTENT)
    assert Handler.asked == [None]


def test_what_was_cut_off_goes_on(server: str, tmp_path: Path) -> None:
    with pytest.raises(NotDownloaded, match="cut off after 4,000 bytes; the same command again"):
        fetch(f"{server}/cut", tmp_path, SUM)
    assert fetch(f"{server}/cut", tmp_path, SUM).read_bytes() == CONTENT
    assert Handler.asked == [None, "bytes=4000-"]


def test_a_whole_part_is_taken_as_it_is(server: str, tmp_path: Path) -> None:
    (tmp_path / "data.part").write_bytes(CONTENT)
    assert fetch(f"{server}/data", tmp_path, SUM).read_bytes() == CONTENT


def test_another_sum_deletes_the_file(server: str, tmp_path: Path) -> None:
    with pytest.raises(NotDownloaded, match=f"has the sha256 {SUM}, expected 00"):
        fetch(f"{server}/data", tmp_path, "00")
    assert not list(tmp_path.iterdir())
    (tmp_path / "data").write_bytes(b"mine")
    with pytest.raises(NotDownloaded, match="move it away"):
        fetch(f"{server}/data", tmp_path, SUM)
    assert (tmp_path / "data").read_bytes() == b"mine"


def test_offline_and_refused_say_what_to_do(server: str, tmp_path: Path) -> None:
    with pytest.raises(NotDownloaded, match="Is this machine offline\\? Then download it elsewhere"):
        fetch("http://127.0.0.1:9/data", tmp_path)
    with pytest.raises(NotDownloaded, match="answers 404"):
        fetch(f"{server}/gone", tmp_path)
    with pytest.raises(CommandError, match="is none of https"):
        call_command("download", "ftp://x/y", str(tmp_path))


def test_how_much_there_is_is_told(server: str, tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    fetch(f"{server}/data", tmp_path, tick=lambda there, of: told.append((there, of)))
    assert told[-1] == (len(CONTENT), len(CONTENT))


@pytest.mark.parametrize("stated", [True, False])
def test_what_is_larger_than_the_terms_is_refused(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stated: bool
) -> None:
    def answer(self: Handler) -> None:
        self.send_response(200)
        if stated:
            self.send_header("Content-Length", str(10**9))
        self.end_headers()
        self.wfile.write(CONTENT)

    monkeypatch.setattr(Handler, "do_GET", answer)
    with pytest.raises(NotDownloaded, match="it is larger than 0 MB"):
        fetch(f"{server}/data", tmp_path, terms=Terms(most=1000))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1000


def test_who_crawls_is_left(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "PATIENCE", -1)
    monkeypatch.setattr(download, "SLOWEST", 10**12)
    monkeypatch.setattr("retrieval.sources.opening.is_public", lambda host: True)
    with pytest.raises(NotDownloaded, match="bytes a second"):
        fetch(f"{server}/data", tmp_path, terms=Terms(strangers=True))


def test_the_command_prints_the_sum(server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("download", f"{server}/data", str(tmp_path), "--sha256", SUM.upper())
    assert SUM in capsys.readouterr().out


def test_places_of_the_hub_and_of_github() -> None:
    assert address_of("hf:a/b/sub/c.json@v1") == (
        "https://huggingface.co/datasets/a/b/resolve/v1/sub/c.json",
        "c.json",
    )
    assert address_of("github:a/b") == ("https://codeload.github.com/a/b/zip/HEAD", "b-HEAD.zip")
