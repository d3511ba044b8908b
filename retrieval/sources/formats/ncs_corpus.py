"""Neural Code Search's search corpus: methods by link and commit, whose code lies in checkouts.

The published rows have no code: `id`, `filepath`, `method_name`, `start_line`, `end_line` and `url`, a link
to lines of a file at a commit. A method is cut out of `FOLDER/owner/name/path`, of
`FOLDER/owner/name/commit/path`, or of `FOLDER/name-commit/path`, as GitHub's archives are called.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

from retrieval.sources import Problem, Snippet
from retrieval.sources.code.files import FILE_LIMIT
from retrieval.sources.code.places import leads_out
from retrieval.sources.readers.lines import clip_text
from retrieval.sources.readers.read_progress import expect_file_read
from retrieval.sources.readers.records import Object, Refused, read_id, read_record_objects, text_of_record
from sandbox.candidate.indentation import strip_code

LINK = re.compile(
    r"https://github\.com/([\w.-]{1,100})/([\w.-]{1,100})/blob/([0-9a-fA-F]{7,64}|[\w.-]{1,100})/"
    r"([^#?]{1,1000})#L([0-9]{1,7})(?:-L([0-9]{1,7}))?"
)
FILES_KEPT = 64


@dataclass(frozen=True, slots=True)
class Method:
    """Where a method stands: repository, commit, path, and lines from 1, both included."""

    owner: str
    repository: str
    commit: str
    path: str
    start: int
    end: int


def parse_method_link(link: str) -> Method:
    """The place that a link to lines on GitHub names. Raises `Refused`."""
    found = LINK.fullmatch(link)
    if not found:
        raise Refused(f"expected a link to lines of a file on GitHub, found {clip_text(link)}")
    owner, repository, commit, path, start, end = found.groups()
    path = unquote(path)
    method = Method(owner, repository, commit, path, int(start), int(end or start))
    parts = (owner, repository, commit, *path.split("/"))
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
        raise Refused(f"its path leads out of the repository: {clip_text(link)}")
    if not 1 <= method.start <= method.end:
        raise Refused(f"its lines are in no order: {clip_text(link)}")
    return method


@dataclass
class Checkouts:
    """Repositories under a folder; `missing` counts the methods by repository whose file is not there."""

    folder: Path
    missing: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._lines = lru_cache(FILES_KEPT)(self._read_lines)

    def code_of(self, method: Method) -> str | None:
        """A method's code at the left margin; None where its file is not there. Raises `Refused`."""
        lines = self._lines(method.owner, method.repository, method.commit, method.path)
        if lines is None:
            self.missing[f"{method.owner}/{method.repository}"] += 1
            return None
        if method.end > len(lines):
            raise Refused(f"{method.path} has {len(lines):,} lines, not {method.end:,}: another commit?")
        return strip_code("\n".join(lines[method.start - 1 : method.end]))

    def _read_lines(self, owner: str, repository: str, commit: str, path: str) -> list[str] | None:
        places = (f"{owner}/{repository}/{commit}", f"{owner}/{repository}", f"{repository}-{commit}")
        for file in (self.folder / place / path for place in places):
            if file.is_file() and not leads_out(file, self.folder):
                if file.stat().st_size > FILE_LIMIT:
                    raise Refused(f"{path} is longer than {FILE_LIMIT:,} bytes")
                return file.read_bytes().decode("utf-8", "replace").split("\n")
        return None

    def problems(self) -> Iterator[Problem]:
        """Yield for each repository that is not there how many methods are left out."""
        for repository, count in sorted(self.missing.items()):
            told = f"{repository} at this commit is not there: methods left out: {count:,}"
            yield Problem(str(self.folder), 0, told, costs_labels=True)


def read_search_corpus(path: Path, checkouts: Checkouts) -> Iterator[Snippet | Problem]:
    """Yield the methods of a file of the search corpus whose code is there."""
    expect_file_read(path)
    for row in read_record_objects(path):
        if isinstance(row, Problem):
            yield row
            continue
        number, record = row
        try:
            link = text_of_record(record, ["url"])
            method = _with_lines(parse_method_link(link), record)
            name, key = read_id(record, ["id"])
            code = checkouts.code_of(method)
        except Refused as refused:
            yield Problem(str(path), number, str(refused))
            continue
        if code:
            yield Snippet(code, name, link, "", key)


def _with_lines(method: Method, record: Mapping[str, object] | Object) -> Method:
    """The place with the lines that the row has, where it has any: both say the same."""
    stated = (record.get("start_line", method.start), record.get("end_line", method.end))
    if stated != (method.start, method.end):
        raise Refused(
            f"its link has lines {method.start} to {method.end}, its row {stated[0]} to {stated[1]}"
        )
    return method
