"""What a part of a file that was cut off is a part of: so that no other file is ever continued with its rest.

Beside the part lies a small JSON file with the URL, the version that the server named (ETag, Last-Modified)
and the size. `If-Range` asks for the rest of that version alone; what the answer names is compared as well,
since a weak ETag may not be asked for, and some servers give a range of whatever they have.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from email.message import Message
from pathlib import Path

CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")
ENDING = ".origin"


@dataclass(frozen=True)
class Version:
    """Of a file at a URL: what the server named, empty or None where it named nothing."""

    url: str
    etag: str = ""
    modified: str = ""
    size: int | None = None

    @property
    def is_named(self) -> bool:
        """Whether it can be told from another of the same URL."""
        return bool(self.etag or self.modified)

    def wish(self, there: int) -> dict[str, str]:
        """Headers that ask for what follows `there` bytes of this version, else for the whole of another."""
        # RFC 9110, 13.1.5: never a weak ETag, and the date only of what has no ETag.
        validator = self.modified if not self.etag else "" if self.etag.startswith("W/") else self.etag
        return {"Range": f"bytes={there}-"} | ({"If-Range": validator} if validator else {})

    def goes_on(self, headers: Message, there: int) -> bool:
        """Whether a partial answer is this version's rest after `there` bytes."""
        start, size = _range(headers)
        told = told_by(self.url, headers, size)
        return start == there and self._may_be(told) and (told.is_named or "If-Range" in self.wish(there))

    def ends_at(self, headers: Message, there: int) -> bool:
        """Whether an answer that nothing follows `there` bytes (416) may be of this version and that size."""
        told = told_by(self.url, headers, _range(headers)[1] or self.size)
        return there == told.size and self._may_be(told)

    def _may_be(self, told: Version) -> bool:
        pairs = ((self.etag, told.etag), (self.modified, told.modified), (self.size, told.size))
        return all(ours == theirs for ours, theirs in pairs if ours and theirs)


def told_by(url: str, headers: Message, size: int | None) -> Version:
    return Version(url, headers.get("ETag", ""), headers.get("Last-Modified", ""), size)


def find_resumable_version(part: Path, url: str) -> Version | None:
    """What a part is of, if it can be gone on with from `url`: of that URL, of a named version, not empty."""
    try:
        kept = Version(**json.loads(_beside(part).read_text("utf-8")))
        there = part.stat().st_size
    except (OSError, ValueError, TypeError):
        return None
    return kept if there and kept.url == url and kept.is_named else None


def note_part_version(part: Path, version: Version) -> None:
    """Note what the part will be of. What was there goes first: it must never lie beside another's note."""
    part.unlink(missing_ok=True)
    _beside(part).write_text(json.dumps(asdict(version)), "utf-8")


def delete_part_note(part: Path) -> None:
    """The note of a part that became a file, or was deleted."""
    _beside(part).unlink(missing_ok=True)


def _beside(part: Path) -> Path:
    return part.with_name(f"{part.name}{ENDING}")


def _range(headers: Message) -> tuple[int | None, int | None]:
    """Where a partial answer starts, and the size of the whole."""
    found = CONTENT_RANGE.fullmatch(headers.get("Content-Range", "").strip())
    if not found:
        return None, None
    return (int(found[1]) if found[1] else None), (int(found[2]) if found[2] != "*" else None)
