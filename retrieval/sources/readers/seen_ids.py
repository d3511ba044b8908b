"""Ids of one file, each with what it first stood for."""

from __future__ import annotations

from sandbox.candidate.indentation import strip_code


class Seen:
    """Hashes of ids and of their texts, some 170 bytes each, however long the texts are."""

    def __init__(self) -> None:
        self.texts: dict[int, int] = {}

    def refusal(self, name: str, text: str) -> str:
        """Why an id is refused that stood for another text before; empty for one that is not.

        The same id and text again does no harm: what is known already is counted as such.
        """
        said = hash_of_text(text)
        if self.texts.setdefault(hash(name), said) == said:
            return ""
        return f"the id {name[:40]!r} was there before with another text; the first one counts"


def hash_of_text(text: str) -> int:
    """A text's hash in this process; blanks around it and its line ends are no part of it, as where it is
    stored.
    """
    return hash(strip_code(text.replace("\r\n", "\n")))
