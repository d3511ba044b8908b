"""Downloads from a server of our own: whole, resumed, changed since, with the wrong sum, offline."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from retrieval.sources.web import download
from retrieval.sources.web.download import NotDownloaded, Terms, address_of, download_file

CONTENT = bytes(range(256)) * 40
SUM = hashlib.sha256(CONTENT).hexdigest()
LATER = CONTENT[::-1]
"""What a changed file holds: as long, and other bytes."""


class Handler(BaseHTTPRequestHandler):
    """Serves `content` with ranges; `/cut…` ends the first answer in the middle; `/gone` is not there.

    `named` are the headers that name the version; a server that is `deaf` gives ranges of whatever it has.
    """

    asked: list[tuple[str | None, str | None]] = []
    content = CONTENT
    named: dict[str, str] = {}
    deaf = False

    def do_GET(self) -> None:
        wanted, condition = self.headers.get("Range"), self.headers.get("If-Range")
        self.asked.append((wanted, condition))
        if self.path == "/gone":
            self.send_error(404)
            return
        if condition and condition not in self.named.values() and not self.deaf:
            wanted = None
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        whole = len(self.content)
        if start >= whole:
            self.answer(416, {"Content-Range": f"bytes */{whole}", "Content-Length": "0"})
            return
        ranged = {"Content-Range": f"bytes {start}-{whole - 1}/{whole}"} if wanted else {}
        self.answer(206 if wanted else 200, {"Content-Length": str(whole - start), **ranged})
        ends = 4000 if self.path.startswith("/cut") and len(self.asked) == 1 else whole
        self.wfile.write(self.content[start:ends])

    def answer(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in (headers | self.named).items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the standard library's name
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    Handler.asked.clear()
    for name, value in (("content", CONTENT), ("named", {"ETag": '"one"'}), ("deaf", False)):
        monkeypatch.setattr(Handler, name, value)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()
        thread.join()


def test_a_file_comes_once(server: str, tmp_path: Path) -> None:
    for _ in range(2):
        file = download_file(f"{server}/data.jsonl?x=1", tmp_path / "new", SUM)
    assert (file.name, file.read_bytes()) == ("data.jsonl", CONTENT)
    assert Handler.asked == [(None, None)]


def cut(server: str, folder: Path, **named: str) -> None:
    """A download that ended in the middle, of a version with those names."""
    Handler.named = {name.replace("_", "-"): value for name, value in named.items()}
    with pytest.raises(NotDownloaded, match="cut off after 4,000 bytes; the same command again"):
        download_file(f"{server}/cut", folder)


WEAK, DATE = 'W/"one"', "Wed, 25 Nov 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    ("named", "condition"),
    [
        ({"ETag": '"one"'}, '"one"'),
        ({"Last_Modified": DATE}, DATE),
        ({"ETag": WEAK, "Last_Modified": DATE}, None),
    ],
)
def test_what_was_cut_off_goes_on(
    server: str, tmp_path: Path, named: dict[str, str], condition: str | None
) -> None:
    cut(server, tmp_path, **named)
    assert download_file(f"{server}/cut", tmp_path, SUM).read_bytes() == CONTENT
    assert Handler.asked == [(None, None), ("bytes=4000-", condition)]
    assert [file.name for file in tmp_path.iterdir()] == ["cut"]


@pytest.mark.parametrize("deaf", [False, True])
@pytest.mark.parametrize("etag", ['"one"', WEAK])
def test_what_changed_since_begins_anew(server: str, tmp_path: Path, etag: str, deaf: bool) -> None:
    cut(server, tmp_path, ETag=etag)
    Handler.content, Handler.named, Handler.deaf = LATER, {"ETag": etag.replace("one", "two")}, deaf
    assert download_file(f"{server}/cut", tmp_path).read_bytes() == LATER


def test_what_shrank_to_less_than_came_begins_anew(server: str, tmp_path: Path) -> None:
    cut(server, tmp_path, ETag='"one"')
    Handler.content, Handler.deaf = CONTENT[:3000], True
    assert download_file(f"{server}/cut", tmp_path).read_bytes() == CONTENT[:3000]


def test_the_part_of_another_url_is_not_gone_on_with(server: str, tmp_path: Path) -> None:
    cut(server, tmp_path, ETag='"one"')
    Handler.content = LATER
    assert download_file(f"{server}/cut?version=2", tmp_path).read_bytes() == LATER
    assert Handler.asked[1:] == [(None, None)]


def test_without_a_named_version_all_is_asked_for_again(server: str, tmp_path: Path) -> None:
    Handler.named = {}
    with pytest.raises(
        NotDownloaded, match="starts again, because nothing shows whether the file has changed"
    ):
        download_file(f"{server}/cut", tmp_path)
    assert download_file(f"{server}/cut", tmp_path, SUM).read_bytes() == CONTENT
    (tmp_path / "data.part").write_bytes(b"of who knows what")
    assert download_file(f"{server}/data", tmp_path, SUM).read_bytes() == CONTENT
    assert [wanted for wanted, _ in Handler.asked] == [None, None, None]


def test_a_whole_part_is_taken_as_it_is(server: str, tmp_path: Path) -> None:
    cut(server, tmp_path, ETag='"one"')
    (tmp_path / "cut.part").write_bytes(CONTENT)
    assert download_file(f"{server}/cut", tmp_path, SUM).read_bytes() == CONTENT
    assert Handler.asked[1:] == [(f"bytes={len(CONTENT)}-", '"one"')]


def test_another_sum_deletes_the_file(server: str, tmp_path: Path) -> None:
    with pytest.raises(NotDownloaded, match=f"has the sha256 {SUM}, expected 00"):
        download_file(f"{server}/data", tmp_path, "00")
    assert not list(tmp_path.iterdir())
    (tmp_path / "data").write_bytes(b"mine")
    with pytest.raises(NotDownloaded, match="move it away"):
        download_file(f"{server}/data", tmp_path, SUM)
    assert (tmp_path / "data").read_bytes() == b"mine"


def test_offline_and_refused_say_what_to_do(server: str, tmp_path: Path) -> None:
    with pytest.raises(NotDownloaded, match="Is this machine offline\\? Then download it elsewhere"):
        download_file("http://127.0.0.1:9/data", tmp_path)
    with pytest.raises(NotDownloaded, match="answers 404 Not Found; check the name"):
        download_file(f"{server}/gone", tmp_path)
    with pytest.raises(CommandError, match="is none of https"):
        call_command("download", "ftp://x/y", str(tmp_path))


def test_how_much_there_is_is_told(server: str, tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    download_file(f"{server}/data", tmp_path, tick=lambda there, of: told.append((there, of)))
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
        download_file(f"{server}/data", tmp_path, terms=Terms(most=1000))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1000


def test_who_crawls_is_left(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "PATIENCE", -1)
    monkeypatch.setattr(download, "SLOWEST", 10**12)
    monkeypatch.setattr("retrieval.sources.web.address.is_public", lambda host: True)
    with pytest.raises(NotDownloaded, match="bytes a second"):
        download_file(f"{server}/data", tmp_path, terms=Terms(strangers=True))


def test_a_folder_that_can_not_be_made_is_told(server: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match=r"file cannot be made \(File exists\); name another folder"):
        call_command("download", f"{server}/data", str(tmp_path / "file"))


@pytest.mark.parametrize("place", ["hf:a/b/..", "https://example.org/data"])
def test_a_folder_is_no_file_that_was_there(tmp_path: Path, place: str) -> None:
    (tmp_path / "data").mkdir()
    with pytest.raises(CommandError, match="is a folder; name another one"):
        call_command("download", place, str(tmp_path))


def test_the_command_prints_the_sum(server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("download", f"{server}/data", str(tmp_path), "--sha256", SUM.upper())
    said = capsys.readouterr()
    assert SUM in said.out and "was there" not in said.err
    call_command("download", f"{server}/data?another=revision", str(tmp_path))
    assert "data was there and was not asked for again; move it away" in capsys.readouterr().err


def test_places_of_the_hub_and_of_github() -> None:
    assert address_of("hf:a/b/sub/c.json@v1") == (
        "https://huggingface.co/datasets/a/b/resolve/v1/sub/c.json",
        "c.json",
    )
    assert address_of("github:a/b") == ("https://codeload.github.com/a/b/zip/HEAD", "b-HEAD.zip")
