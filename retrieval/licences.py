"""What a source says of its licence, in SPDX's words, and whether that lets a snippet be passed on.

`packaging` knows SPDX's identifiers; the free words that people, GitHub and the classifiers of PyPI use for
them are here. A licence that is not in the table is taken not to allow it; where none is stated, nobody
knows. Who publishes decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, TypeAlias

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

REDISTRIBUTABLE: Final = frozenset(
    (
        "0BSD AFL-3.0 AGPL-3.0 Apache-1.1 Apache-2.0 Artistic-2.0 BSD-2-Clause BSD-3-Clause BSD-4-Clause "
        "BSL-1.0 CC-BY-3.0 CC-BY-4.0 CC-BY-SA-3.0 CC-BY-SA-4.0 CC0-1.0 EPL-2.0 GPL-2.0 GPL-3.0 ISC "
        "LGPL-2.0 LGPL-2.1 LGPL-3.0 MIT MIT-0 MPL-1.1 MPL-2.0 PSF-2.0 Python-2.0 Unlicense WTFPL Zlib"
    )
    .lower()
    .split()
)
FAMILIES: Final = {name.lower(): name for name in ("Apache", "BSD", "GPL", "LGPL", "MPL")}
"""What names no version; each version allows passing on. Of these alone the word is not SPDX's."""

SYNONYMS: Final = (
    (r"affero general public", "agpl"),
    (r"(library or lesser|lesser|library) general public", "lgpl"),
    (r"general public", "gpl"),
    (r"(and|or)( any)? (later|newer|greater)", "or later"),
    (r"mozilla public", "mpl"),
    (r"eclipse public", "epl"),
    (r"academic free", "afl"),
    (r"boost( software)?", "bsl"),
    (r"(apache software|asl|al(?= \d))", "apache"),
    (r"python software foundation", "psf"),
    (r"creative commons", "cc"),
    (r"attribution", "by"),
    (r"non ?commercial", "nc"),
    (r"share ?alike", "sa"),
    (r"no ?deriv(ative)?s?", "nd"),
    (r"do what (fuck|f ck) you want to public", "wtfpl"),
)
"""Words, without licence, version and the like, and what SPDX writes for them."""
CC0: Final = ("cc 0 1.0 universal", "cc 0 1.0 universal public domain dedication")
ALIASES: Final = {
    "0BSD": ["zero clause bsd", "bsd zero clause", "0 bsd", "0 clause bsd"],
    "BSD-2-Clause": ["simplified bsd", "freebsd", "2 clause bsd", "bsd 2", "bsd 2 clause simplified"],
    "BSD-3-Clause": [
        *("new bsd", "modified bsd", "revised bsd", "bsd new", "3 clause bsd", "bsd 3"),
        *("bsd 3 clause new or revised", "new or revised bsd", "bsd 3 clause new", "bsd 3 clause revised"),
    ],
    "CC0-1.0": ["cc 0", "cc 0 1.0", "cc zero 1.0 universal", "cc zero", *CC0],
    "ISC": ["isc iscl"],
    "MIT": ["expat", "mit expat", "mit x 11", "x 11 mit"],
    "MIT-0": ["mit no by", "mit no by 0"],
    "PSF-2.0": ["psf", "psf 2"],
    "Unlicense": ["unlicense unlicense"],
    "Zlib": ["zlib libpng"],
}
"""Of what is no identifier once its words are joined; written as `_words` leaves them."""
IGNORED: Final = frozenset(
    {"the", "gnu", "license", "licence", "licenses", "licensed", "under", "version", "v"}
)
REGION: Final = re.compile(r"(cc by[a-z ]* \d\.\d) (international|unported|generic)( public)?")
WORD = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)*|\+")  # letters of all scripts: each word may forbid it
CLASSIFIER = re.compile(r"License\s*::\s*(?:OSI Approved\s*::\s*)?", re.IGNORECASE)
OPERATORS: Final = (
    ("OR", re.compile(r"\s+(?:and/or|or)\s+", re.IGNORECASE), False),
    ("OR", re.compile(r"\s*[/|]+\s*"), True),
    ("AND", re.compile(r"\s+and\s+|\s*[,;&\n]\s*", re.IGNORECASE), False),
)
"""The operator, how it is written, and whether it is one only between two licences; the loosest first."""
UNSTATED: Final = frozenset(
    {"", "-", "n/a", "nan", "no licence", "no license", "noassertion", "none", "null", "unknown"}
)
"""What stands where there is no licence; NOASSERTION and NONE are SPDX's words."""
LONGEST = 1000
CUT_OFF: Final = " AND …"


class LicenseStanding(StrEnum):
    """What a licence says of passing a snippet on."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    """Stated, and not among those known to allow it."""
    UNSTATED = "unstated"


@dataclass(frozen=True)
class _Several:
    """Licences of which one (OR) or each (AND) holds."""

    operator: str
    parts: tuple[_Licence, ...]


_Licence: TypeAlias = str | _Several
"""One licence by SPDX's identifier, or in the words that stated it."""


def classify_licence(licence: str) -> LicenseStanding:
    """What `licence` says of passing on.

    >>> [standing(licence).value for licence in ("The MIT License (MIT)", "CC-BY-NC-4.0", "")]
    ['allowed', 'forbidden', 'unstated']
    """
    if not spdx_expression(licence):
        return LicenseStanding.UNSTATED
    return LicenseStanding.ALLOWED if may_be_passed_on(licence) else LicenseStanding.FORBIDDEN


@lru_cache(4096)
def spdx_expression(licence: str) -> str:
    """A licence as SPDX's expression: empty where none is stated, as it was written where it is not known.

    >>> spdx("apache 2.0 or MIT License"), spdx("License :: OSI Approved :: BSD License"), spdx("ask us")
    ('Apache-2.0 OR MIT', 'BSD', 'ask us')
    """
    if not (stated := _stated(licence)):
        return ""
    found = _read(stated)
    return _written(found) if any(map(_is_known, _leaves(found))) else " ".join(licence.split())


@lru_cache(4096)
def may_be_passed_on(licence: str) -> bool:
    """Whether what is stated lets a snippet be passed on, as far as the table can tell.

    >>> may_be_passed_on("GPL-3.0-or-later OR Proprietary"), may_be_passed_on("MIT AND (CC-BY-NC-4.0 OR X)")
    (True, False)
    """
    return _allows(_read(_stated(licence)))


def is_licence_superset(licence: str, other: str) -> bool:
    """Whether all that `other` states is in `licence` already, by itself or as the family of what is.

    >>> covers("BSD-3-Clause OR MIT", "BSD"), covers("MIT", "MIT OR ISC"), covers("ask us", "ask us")
    (True, False, True)
    """
    stated = list(_leaves(_read(_stated(licence))))
    known = {*stated, *(family for family in FAMILIES.values() for leave in stated if _is_of(leave, family))}
    return all(leave in known for leave in _leaves(_read(_stated(other))))


def _is_of(licence: str, family: str) -> bool:
    return _identifier(licence).startswith(f"{family}-")


def shorten_licence(licence: str, most: int) -> str:
    """A licence of `most` characters: what was cut off stays one that has to hold, and nobody knows which.

    >>> shortened("MIT AND ISC AND CC-BY-NC-4.0", 17)
    'MIT AND ISC AND …'
    """
    return licence if len(licence) <= most else f"{licence[: most - len(CUT_OFF)]}{CUT_OFF}"


def _stated(licence: str) -> str:
    """Without what stands around a licence, empty where none is stated."""
    bare = CLASSIFIER.sub("", licence).strip(" \t\r\n\"'.,;")
    return "" if bare.lower() in UNSTATED else bare


def _allows(licence: _Licence) -> bool:
    if isinstance(licence, _Several):
        return (any if licence.operator == "OR" else all)(map(_allows, licence.parts))
    if not _identifier(licence):  # of a known one alone what stands behind WITH is known to allow more
        return False
    plain = licence.split(" WITH ")[0].lower().removesuffix("+")
    plain = plain.removesuffix("-only").removesuffix("-or-later")
    return plain in REDISTRIBUTABLE or plain in FAMILIES


def _read(stated: str) -> _Licence:
    """The licences of an expression, also of one in free words; a text that is none stays one."""
    if len(stated) > LONGEST:
        return stated
    if known := _identifier(stated):
        return known
    if stated.startswith("(") and _closes(stated) == len(stated) - 1:
        return _read(stated[1:-1].strip())
    for operator, written, between_known in OPERATORS:
        apart = list(_split(stated, written))
        parts = tuple(map(_read, apart)) if len(apart) > 1 else ()
        if parts and (not between_known or all(map(_is_known, parts))):
            return _Several(operator, parts)
    return stated


def _split(text: str, operator: re.Pattern[str]) -> Iterator[str]:
    """Yield what stands between operators outside parentheses; the whole of a text with unbalanced ones."""
    start = 0
    for found in operator.finditer(text):
        part = text[start : found.start()]
        if part.strip() and part.count("(") == part.count(")"):
            yield part.strip()
            start = found.end()
    if text[start:].strip():
        yield text[start:].strip()


def _closes(text: str) -> int:
    """Where the parenthesis that opens a text closes, -1 for nowhere."""
    depth = 0
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not depth:
            return place
    return -1


def _is_known(licence: _Licence) -> bool:
    if isinstance(licence, _Several):
        return all(map(_is_known, licence.parts))
    return bool(_identifier(licence))


def _leaves(licence: _Licence) -> Iterator[str]:
    if isinstance(licence, _Several):
        for part in licence.parts:
            yield from _leaves(part)
    else:
        yield licence


def _written(licence: _Licence) -> str:
    if isinstance(licence, str):
        return licence
    parts = map(_written, licence.parts)
    within = (
        f"({part})" if licence.operator == "AND" and isinstance(one, _Several) else part
        for one, part in zip(licence.parts, parts, strict=True)
    )
    return f" {licence.operator} ".join(within)


@lru_cache(4096)
def _identifier(stated: str) -> str:
    """SPDX's identifier of one licence, also WITH an exception, or a family's name; empty for none."""
    words = _words(stated)
    joined = "-".join(words.split())
    whole = re.sub(r"(?<=-)(\d)(?=-|$)", r"\1.0", joined)
    for name in (" ".join(stated.split()), BY_WORDS.get(words, ""), joined, whole):
        if found := _canonical(name):
            return found
    return FAMILIES.get(joined, "")


def _canonical(name: str) -> str:
    """Of one licence; expressions are read here, since they may hold free words."""
    if re.search(r"[()]|\s(and|or)\s", name, re.IGNORECASE):
        return ""
    try:
        return canonicalize_license_expression(name)
    except InvalidLicenseExpression:
        return ""


def _words(stated: str) -> str:
    """The words that tell one licence from another, each once, and SPDX's for longer ones.

    >>> _words("GNU Lesser General Public License v3 or later (LGPLv3+)")
    'lgpl 3 or later'
    """
    found = WORD.findall(re.sub(r"v\.? ?(?=\d)", " ", stated.lower()))
    text = " ".join("or later" if word == "+" else word for word in found if word not in IGNORED)
    for longer, shorter in SYNONYMS:
        text = re.sub(rf"\b{longer}\b", shorter, text)
    return REGION.sub(r"\1", " ".join(dict.fromkeys(text.split())))


BY_WORDS: Final = {words: name for name, aliases in ALIASES.items() for words in aliases}
