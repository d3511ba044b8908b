"""The door to magika, which names the language of a text. An extra: without it parser and grammar decide."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from retrieval.sources.code.python_or_not import Detector

SURE: Final = 0.5


def load_magika() -> Detector | None:
    """A detector that loads its model once; None where the extra `detector` is not installed."""
    if find_spec("magika") is None:
        return None
    from magika import Magika

    model = Magika()

    def detect(text: str) -> str:
        """The label of a text, empty below a score of 0.5."""
        found = model.identify_bytes(text.encode())
        return str(found.output.label) if found.score >= SURE else ""

    return detect
