"""The kinds of fields that verdicts are made of."""

from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator


def from_menu(*menu: float) -> Callable[[object], float]:
    """A validator that takes exactly the numbers of the menu: no text, no truth values, nothing between."""
    choices = ", ".join(f"{choice:g}" for choice in menu)

    def choose(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or value not in menu:
            raise ValueError(f"has to be one of the numbers {choices}")
        return menu[menu.index(value)]

    return choose


def as_label(value: object) -> int:
    """A validator that takes exactly the numbers 0 and 1."""
    return int(from_menu(0.0, 1.0)(value))


def _validate_text(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text.strip()


Said = Annotated[str, AfterValidator(_validate_text)]
"""A text that says something; blank edges are cut."""
