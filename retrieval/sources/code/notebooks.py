"""The code cells of Jupyter notebooks, as source files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from retrieval.filters import Unreadable, parse_snippet
from retrieval.sources import Problem
from retrieval.sources.code.files import SourceFile

ENDING: Final = ".ipynb"
OTHER_LANGUAGE: Final = re.compile(r"\s*%%(?!time\b|timeit\b|capture\b|prun\b)")
"""A cell magic, but for those whose cell is still Python."""
MAGIC: Final = re.compile(r"^[ \t]*(?:%|!|\?).*$|^[ \t]*[\w.]+\?\??[ \t]*$", re.MULTILINE)
"""A line for IPython or the shell, or one that asks for help."""


def code_cells_of(file: SourceFile) -> Iterator[tuple[int, str] | Problem]:
    """Yield (number of the cell from 1, its Python) of a notebook, without lines that only IPython knows."""
    place = f"{file.origin}: {file.name}"
    try:
        notebook = json.loads(file.content)
        sheets = [notebook] if "cells" in notebook else notebook["worksheets"]
        cells = [cell for sheet in sheets for cell in sheet["cells"]]
        codes = [(number, _code_of(cell)) for number, cell in enumerate(cells, 1)]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        yield Problem(place, 0, "is not a readable notebook: save it again in Jupyter")
        return
    for number, code in codes:
        if not OTHER_LANGUAGE.match(code):
            yield number, _without_magic(code)


def _without_magic(code: str) -> str:
    """Code that Python reads as it is stays: what looks like a magic may stand in a string."""
    try:
        parse_snippet(code)
    except Unreadable:
        return MAGIC.sub("", code)
    return code


def _code_of(cell: dict[str, Any]) -> str:
    """A cell's code, empty for text; older notebooks call it `input`."""
    written = cell.get("source", cell.get("input", "")) if cell["cell_type"] == "code" else ""
    return written if isinstance(written, str) else "".join(written)
