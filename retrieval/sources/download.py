"""Files of the web, the Hugging Face hub and GitHub: resumed where they were cut off, checked, never run.

- `https://…`: any file.
- `hf:OWNER/NAME/FILE[@REVISION]`: a file of a data set on the Hugging Face hub.
- `github:OWNER/NAME[@REVISION]`: a repository's zip, for `import python` and `import documented`.
"""

from __future__ import annotations

import hashlib
import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from retrieval.sources.resuming import Version, begin, begun, forget, told_by

HUB = "https://huggingface.co/datasets/{0}/resolve/{2}/{1}"
GITHUB = "https://codeload.github.com/{0}/zip/{1}"
HUB_PLACE = re.compile(r"hf:([\w.-]+/[\w.-]+)/([^@]+)(?:@(.+))?")
GITHUB_PLACE = re.compile(r"github:([\w.-]+/[\w.-]+)(?:@(.+))?")
PLACES = "https://…, hf:OWNER/NAME/FILE[@REVISION], github:OWNER/NAME[@REVISION]"
PART = ".part"
CHUNK = 2**20
SECONDS = 30


class _Changed(Exception):
    """The server has another version than the part that is here."""


class NotDownloaded(Exception):
    """A file did not come; the message says why and what to do. What came of it is kept for the next try."""


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
    raise NotDownloaded(
        f"{place} is none of https://…, hf:OWNER/NAME/FILE[@REVISION], github:OWNER/NAME[@REVISION]"
    )


def fetch(
    place: str, folder: Path, sha256: str = "", tick: Callable[[int], None] = lambda bytes_there: None
) -> Path:
    """Download a place into a folder and return the file; one that is there is not asked for again.

    Raises `NotDownloaded`: offline, refused, cut off (try again, it goes on), or another sum than `sha256`,
    which deletes what came; a whole file that was there is left alone.
    """
    url, name = address_of(place)
    target, part = folder / name, folder / f"{name}{PART}"
    if target.exists():
        _check(target, sha256, "move it away to download it again")
        return target
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _receive(url, part, tick)
    except urllib.error.HTTPError as error:
        raise NotDownloaded(f"{url} answers {error.code} {error.reason}; is the name right?") from error
    except (OSError, http.client.HTTPException) as error:
        raise NotDownloaded(_why(url, error, part, target)) from error
    forget(part)
    try:
        _check(part, sha256, "what came was deleted")
    except NotDownloaded:
        part.unlink()
        raise
    return part.rename(target)


def sum_of(file: Path) -> str:
    """sha256 in hex."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _receive(url: str, part: Path, tick: Callable[[int], None]) -> None:
    """The rest of a part that was begun with the version that the server has now, else the whole file."""
    kept = begun(part, url)
    try:
        _ask(url, part, kept, tick)
    except _Changed:
        _ask(url, part, None, tick)


def _ask(url: str, part: Path, kept: Version | None, tick: Callable[[int], None]) -> None:
    there = part.stat().st_size if kept else 0
    request = urllib.request.Request(url, headers=kept.wish(there) if kept else {})  # noqa: S310 -- http(s) alone
    try:
        answer = urllib.request.urlopen(request, timeout=SECONDS)  # noqa: S310 -- as above
    except urllib.error.HTTPError as error:
        if not kept or error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        if not kept.ends_at(error.headers, there):
            raise _Changed from error
        return
    with answer:
        if not kept or answer.status != http.HTTPStatus.PARTIAL_CONTENT:
            begin(part, told_by(url, answer.headers, answer.length))
            there = 0
        elif not kept.goes_on(answer.headers, there):
            raise _Changed
        _write(answer, part, there, tick)


def _write(answer: http.client.HTTPResponse, part: Path, there: int, tick: Callable[[int], None]) -> None:
    expected, received = answer.length, 0
    with part.open("ab") as file:
        while chunk := answer.read(CHUNK):
            file.write(chunk)
            received += len(chunk)
            tick(received + there)
    if expected is not None and received < expected:
        raise http.client.IncompleteRead(b"", expected - received)


def _check(file: Path, sha256: str, then: str) -> None:
    if sha256 and (found := sum_of(file)) != sha256.lower():
        raise NotDownloaded(f"{file.name} has the sha256 {found}, expected {sha256.lower()}; {then}")


def _why(url: str, error: Exception, part: Path, target: Path) -> str:
    if part.exists():
        cut = f"{url} was cut off after {part.stat().st_size:,} bytes; the same command again"
        if begun(part, url):
            return f"{cut} goes on from there"
        return f"{cut} begins anew, since nothing tells whether the file has changed"
    reason = getattr(error, "reason", None) or error
    advice = f"download it elsewhere and put it at {target}"
    return f"{url} cannot be reached ({reason}). Is this machine offline? Then {advice}"
