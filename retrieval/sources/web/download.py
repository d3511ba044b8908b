"""Files of the web, the Hugging Face hub and GitHub: resumed where they were cut off, checked, never run.

- `https://…`: any file.
- `hf:OWNER/NAME/FILE[@REVISION]`: a file of a data set on the Hugging Face hub.
- `github:OWNER/NAME[@REVISION]`: a repository's zip, for `import python` and `import documented`.
"""

from __future__ import annotations

import hashlib
import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

from retrieval.disk_space import is_full_disk
from retrieval.sources.web.address import SECONDS, NotPublic, build_url_opener
from retrieval.sources.web.download_parts import (
    Version,
    delete_part_note,
    find_resumable_version,
    note_part_version,
    told_by,
)

HUB = "https://huggingface.co/datasets/{0}/resolve/{2}/{1}"
GITHUB = "https://codeload.github.com/{0}/zip/{1}"
HUB_PLACE = re.compile(r"hf:([\w.-]+/[\w.-]+)/([^@]+)(?:@(.+))?")
GITHUB_PLACE = re.compile(r"github:([\w.-]+/[\w.-]+)(?:@(.+))?")
PLACES = "https://…, hf:OWNER/NAME/FILE[@REVISION], github:OWNER/NAME[@REVISION]"
PART = ".part"
CHUNK = 2**20
PATIENCE = 60
SLOWEST = 10_000
"""Bytes a second, on the average after a minute: whoever sends less would hold a worker for ever."""

Tick: TypeAlias = Callable[[int, int | None], None]
"""Called with the bytes that are there, and those of the whole file where the server says them."""


class _Changed(Exception):
    """The server has another version than the part that is here."""


class NotDownloaded(Exception):
    """A file did not come: `why`, and in the message also what to do at a command line.

    What came of it is kept for the next try; `retryable` where that may go on at once.
    """

    def __init__(self, why: str, to_do: str = "", joined: str = "; ", retryable: bool = False) -> None:
        super().__init__(f"{why}{joined}{to_do}" if to_do else why)
        self.why, self.retryable = why, retryable


class Unreached(NotDownloaded):
    """Nobody answered at its address."""


@dataclass(frozen=True, slots=True)
class Terms:
    """`most` bytes, any number where it is 0; with `strangers` the address is a person's: see `opening`."""

    most: int = 0
    strangers: bool = False


ANY = Terms()


def address_of(place: str) -> tuple[str, str]:
    """The URL of a place, and the name that its file gets. Raises `NotDownloaded` for no such place.

    >>> address_of("github:a/b@v1")
    ('https://codeload.github.com/a/b/zip/v1', 'b-v1.zip')
    """
    if hub := HUB_PLACE.fullmatch(place):
        return HUB.format(hub[1], hub[2], hub[3] or "main"), Path(hub[2]).name
    if github := GITHUB_PLACE.fullmatch(place):
        revision = github[2] or "HEAD"
        name = f"{github[1].rpartition('/')[2]}-{revision.replace('/', '-')}.zip"
        return GITHUB.format(github[1], revision), name
    if place.startswith(("https://", "http://")):
        return place, Path(place.partition("?")[0]).name or "download"
    raise NotDownloaded(f"{place} is none of {PLACES}")


def download_file(
    place: str,
    folder: Path,
    sha256: str = "",
    tick: Tick = lambda there, of: None,
    terms: Terms = ANY,
) -> Path:
    """Download a place into a folder and return the file; one that is there is not asked for again.

    Raises `NotDownloaded`: offline, refused, cut off (try again, it goes on), against the terms, or another
    sum than `sha256`, which deletes what came; a whole file that was there is left alone.
    """
    url, name = address_of(place)
    target, part = folder / name, folder / f"{name}{PART}"
    if target.is_dir():
        raise NotDownloaded(
            f"{target} is a folder", "name another one, and a place that ends in a file's name"
        )
    if target.exists():
        _check(target, sha256, "move it away to download it again")
        return target
    _make_folder(folder)
    try:
        _receive(url, part, tick, terms)
    except urllib.error.HTTPError as error:
        why = f"{url} answers {error.code} {error.reason}"
        raise NotDownloaded(why, "check the name") from error
    except (OSError, http.client.HTTPException) as error:
        if is_full_disk(error):
            raise
        raise _refused(url, error, part, target) from error
    delete_part_note(part)
    try:
        _check(part, sha256, "what came was deleted")
    except NotDownloaded:
        part.unlink()
        raise
    return part.rename(target)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if is_full_disk(error):
            raise
        raise NotDownloaded(f"{folder} cannot be made ({error.strerror})", "name another folder") from error


def sum_of(file: Path) -> str:
    """sha256 in hex."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _receive(url: str, part: Path, tick: Tick, terms: Terms) -> None:
    """The rest of a part that was begun with the version that the server has now, else the whole file."""
    kept = find_resumable_version(part, url)
    try:
        _ask(url, part, kept, tick, terms)
    except _Changed:
        _ask(url, part, None, tick, terms)


def _ask(url: str, part: Path, kept: Version | None, tick: Tick, terms: Terms) -> None:
    there = part.stat().st_size if kept else 0
    request = urllib.request.Request(url, headers=kept.wish(there) if kept else {})  # noqa: S310 -- http(s) alone
    try:
        answer = build_url_opener(terms.strangers).open(request, timeout=SECONDS)
    except urllib.error.HTTPError as error:
        if not kept or error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        if not kept.ends_at(error.headers, there):
            raise _Changed from error
        return
    with answer:
        _take(answer, url, part, kept, tick, terms)


def _take(
    answer: http.client.HTTPResponse, url: str, part: Path, kept: Version | None, tick: Tick, terms: Terms
) -> None:
    """Append what comes to what is there, or start again where the server can't resume."""
    resumed = kept is not None and answer.status == http.HTTPStatus.PARTIAL_CONTENT
    there = part.stat().st_size if resumed else 0
    if kept and resumed and not kept.goes_on(answer.headers, there):
        raise _Changed
    whole = None if answer.length is None else there + answer.length
    _refuse_large(whole or 0, terms)
    if not resumed:
        note_part_version(part, told_by(url, answer.headers, answer.length))
    with part.open("ab") as file:
        _write(answer, file, Progress(there, whole, tick), terms)


@dataclass
class Progress:
    """How much of a file is there, of how much, and how fast it comes."""

    there: int
    whole: int | None
    tick: Tick

    def __post_init__(self) -> None:
        self.began, self.before = time.monotonic(), self.there

    def add(self, received: int) -> None:
        self.there += received
        self.tick(self.there, self.whole)

    @property
    def crawls(self) -> bool:
        seconds = time.monotonic() - self.began
        return seconds > PATIENCE and (self.there - self.before) / seconds < SLOWEST


def _write(answer: http.client.HTTPResponse, file: BinaryIO, progress: Progress, terms: Terms) -> None:
    """Whatever has come, whenever it comes: `read` would wait for a whole chunk of it."""
    while chunk := answer.read1(CHUNK):
        _refuse_large(progress.there + len(chunk), terms)
        file.write(chunk)
        progress.add(len(chunk))
        if terms.strangers and progress.crawls:
            raise NotDownloaded(f"it comes at less than {SLOWEST:,} bytes a second")
    if progress.whole is not None and progress.there < progress.whole:
        raise http.client.IncompleteRead(b"", progress.whole - progress.there)


def _refuse_large(size: int, terms: Terms) -> None:
    if terms.most and size > terms.most:
        raise NotDownloaded(f"it is larger than {terms.most // 2**20:,} MB")


def _check(file: Path, sha256: str, then: str) -> None:
    if sha256 and (found := sum_of(file)) != sha256.lower():
        raise NotDownloaded(f"{file.name} has the sha256 {found}, expected {sha256.lower()}", then)


def _refused(url: str, error: Exception, part: Path, target: Path) -> NotDownloaded:
    reason = getattr(error, "reason", None) or error
    if isinstance(reason, NotPublic):
        return NotDownloaded(str(reason))
    if part.exists():
        why = f"{url} was cut off after {part.stat().st_size:,} bytes"
        resumes, restarts = (
            "continues from there",
            "starts again, because nothing shows whether the file has changed",
        )
        to_do = f"the same command again {resumes if find_resumable_version(part, url) else restarts}"
        return NotDownloaded(why, to_do, retryable=True)
    offline = f"Is this machine offline? Then download it elsewhere and put it at {target}"
    return Unreached(f"{url} cannot be reached ({reason})", offline, ". ")
