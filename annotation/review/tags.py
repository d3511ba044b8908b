"""What a person can say of a pair, or of its test, with one key: a closed list, stored beside a label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Self


class Tag(StrEnum):
    """A tag; those that begin with `test_` speak of the test program, all others of the pair."""

    word: str

    def __new__(cls, value: str, word: str = "") -> Self:
        made = str.__new__(cls, value)
        made._value_, made.word = value, word
        return made

    INVERSE = "inverse", "inverse"
    PARTIAL = "partial", "partial"
    EDGE_CASE = "edge_case", "wrong edge case"
    NEEDS_PROJECT = "needs_project", "needs its project"
    AMBIGUOUS = "ambiguous_query", "ambiguous query"
    LOW_QUALITY = "low_quality", "low quality"
    UNSAFE = "unsafe", "unsafe"
    TEST_EXPECTATION = "test_wrong_expectation", "wrong expectation"
    TEST_READING = "test_wrong_reading", "wrong reading"
    TEST_EMPTY = "test_tests_nothing", "tests nothing"
    TEST_ENVIRONMENT = "test_environment", "environment"

    @property
    def of_test(self) -> bool:
        return self.value.startswith("test_")


MEANINGS: Final[Mapping[Tag, str]] = MappingProxyType(
    {
        Tag.INVERSE: "The code does the opposite of what the query asks for",
        Tag.PARTIAL: "The code does part of what the query asks for",
        Tag.EDGE_CASE: "Right in general, but wrong for an edge case",
        Tag.NEEDS_PROJECT: "The code can't work without the project it comes from",
        Tag.AMBIGUOUS: "The query has several meanings, with different labels",
        Tag.LOW_QUALITY: "It answers, but nobody should copy it",
        Tag.UNSAFE: "Using the code would be dangerous",
        Tag.TEST_EXPECTATION: "The test expects something that the query does not ask for",
        Tag.TEST_READING: "The test checks a meaning that the query does not have",
        Tag.TEST_EMPTY: "The test gives the same result for any code",
        Tag.TEST_ENVIRONMENT: "The environment decided the result of the test, not the code",
    }
)


class UnknownTag(ValueError):
    """What was sent is none of the tags; the message names those that there are."""

    def __init__(self, sent: str) -> None:
        super().__init__(f"There is no tag {sent[:40]!r}. Tags are: {', '.join(Tag)}.")


def tags_of(sent: Iterable[str]) -> list[str]:
    """Known tags, each once, in the order of the list. Raises UnknownTag."""
    wanted = set(sent)
    for unknown in sorted(wanted - set(Tag)):
        raise UnknownTag(unknown)
    return [tag.value for tag in Tag if tag in wanted]


def tag_name(tag: Tag) -> str:
    """A tag where it stands alone: those of the test say so."""
    return f"test: {tag.word}" if tag.of_test else tag.word


def filter_known_tags(stored: Iterable[object]) -> list[Tag]:
    """The stored tags that this version knows; a draft or a row may be older or newer than it."""
    there = set(map(str, stored))
    return [tag for tag in Tag if tag in there]
