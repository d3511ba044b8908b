"""One source file, wherever it lies, and what it says of its licence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from retrieval.licences import is_licence_superset, spdx_expression
from retrieval.sources import Problem

FILE_LIMIT = 4 * 2**20
"""Bytes in one source file; longer ones are generated tables."""

SPDX = re.compile(r"SPDX-License-Identifier:[ \t]*([\w.+() -]+)")
METADATA_FIELD = re.compile(
    r"^(License-Expression|License|Classifier):[ \t]*(\S[^\r\n]{0,999})", re.MULTILINE
)
LICENCE_FIELDS = ("License-Expression", "License", "Classifier")
"""Of a wheel's METADATA or an sdist's PKG-INFO, from what counts most to what counts least (PEP 639)."""
CLASSIFIED = "License ::"
OF_MANY = frozenset({"License :: OSI Approved", "License :: DFSG approved"})
"""Classifiers that stand above others and name no licence."""
DESCRIPTION = re.compile(r"\r?\n\r?\n")
"""What stands between the fields of a wheel's METADATA or an sdist's PKG-INFO and its description."""
LICENCE_FILES = frozenset({"LICENSE", "LICENCE", "COPYING", "UNLICENSE"})
LICENCE_TEXTS = (
    ("GNU AFFERO GENERAL PUBLIC LICENSE Version 3", "AGPL-3.0"),
    ("GNU LESSER GENERAL PUBLIC LICENSE Version 3", "LGPL-3.0"),
    ("GNU LESSER GENERAL PUBLIC LICENSE Version 2.1", "LGPL-2.1"),
    ("GNU GENERAL PUBLIC LICENSE Version 3", "GPL-3.0"),
    ("GNU GENERAL PUBLIC LICENSE Version 2", "GPL-2.0"),
    ("Apache License Version 2.0", "Apache-2.0"),
    ("Mozilla Public License Version 2.0", "MPL-2.0"),
    ("Neither the name of", "BSD-3-Clause"),
    ("Redistribution and use in source and binary forms", "BSD-2-Clause"),
    ("Permission is hereby granted, free of charge, to any person", "MIT"),
    ("Permission to use, copy, modify, and/or distribute this software for any purpose", "ISC"),
    ("This is free and unencumbered software released into the public domain", "Unlicense"),
)
"""A phrase of each text, the narrower before the wider."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One source file as bytes; `name` is its path inside the source, with forward slashes.

    `link` is where people can read it on the web, empty where nobody knows.
    """

    name: str
    content: bytes
    origin: str
    licence: str
    link: str = ""


def within_limit(file: SourceFile) -> SourceFile | Problem:
    """The file, or why it is skipped."""
    if len(file.content) > FILE_LIMIT:
        message = f"is longer than {FILE_LIMIT:,} bytes and is skipped"
        return Problem(f"{file.origin}: {file.name}", 0, message)
    return file


def is_licence(name: str) -> bool:
    """Whether a path is that of a whole source's licence: at its root, or in an archive's one folder."""
    path = PurePosixPath(name)
    return len(path.parts) <= 2 and path.name.split(".")[0].upper() in LICENCE_FILES


def licence_of(text: str) -> str:
    """The SPDX identifier of a licence's text, empty for one that is not known.

    >>> licence_of("Apache License\\n   Version 2.0, January 2004")
    'Apache-2.0'
    """
    flat = " ".join(text.split()).lower()
    return next((name for phrase, name in LICENCE_TEXTS if phrase.lower() in flat), "")


def licence_in_metadata(text: str) -> str:
    """What a wheel or sdist states in its fields; empty for nothing, or what says nothing, as UNKNOWN does.

    An expression stands before a licence in words, and that before classifiers. What they say besides has to
    hold as well: of a package that contradicts itself nobody knows which is meant.

    >>> licence_in_metadata("License: UNKNOWN\\nLicense-Expression: MIT\\n\\nLicense: ISC")
    'MIT'
    >>> licence_in_metadata("License: MIT\\nClassifier: License :: Other/Proprietary License")
    '(MIT) AND (License :: Other/Proprietary License)'
    """
    kept = list[str]()
    for said in _licences_told(METADATA_FIELD.findall(DESCRIPTION.split(text, maxsplit=1)[0])):
        if not any(is_licence_superset(other, said) for other in kept):
            kept.append(said)
    return kept[0] if len(kept) == 1 else " AND ".join(f"({said})" for said in kept)


def _licences_told(fields: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield what fields state of licences, from what counts most to what counts least."""
    for wanted in LICENCE_FIELDS:
        for field, text in fields:
            said = text.strip()
            about = field != "Classifier" or (said.startswith(CLASSIFIED) and said not in OF_MANY)
            if field == wanted and about and spdx_expression(said):
                yield said


def find_first_group(pattern: re.Pattern[str], text: str) -> str:
    """What a pattern's first group finds, empty for nothing."""
    match = pattern.search(text)
    return match[1].strip() if match else ""
