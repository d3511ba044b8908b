"""What a spreadsheet does with texts: it runs some cells as formulas, and cuts long ones."""

from __future__ import annotations

from typing import Final

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""
LONGEST_CELL: Final = 32_767
"""Characters of a cell that Excel keeps."""


def escape_formula_cell(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
