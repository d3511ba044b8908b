"""The tags beside a label, as boxes to tick with one key each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from annotation.review.shortcuts import tag_action
from annotation.review.tags import MEANINGS, Tag, tag_name
from annotation.web.review.keys import KeyView

TAG_WORDS: Final = tuple((tag.value, tag_name(tag)) for tag in Tag)
"""Every tag with its name where it stands alone: the menu of a filter."""


@dataclass(frozen=True, slots=True)
class TagChoice:
    """One box. `of_test`: it speaks of the test program."""

    value: str
    word: str
    meaning: str
    of_test: bool
    ticked: bool
    key: KeyView


def tag_choices(ticked: Iterable[str], keys: Mapping[str, KeyView]) -> tuple[TagChoice, ...]:
    """Every tag, ticked as asked; `keys` are a person's, by action."""
    there = set(ticked)
    return tuple(
        TagChoice(tag, tag.word, MEANINGS[tag], tag.of_test, tag in there, keys[tag_action(tag)])
        for tag in Tag
    )
