"""Which queries are worth candidates: in English, more than a bare identifier, the first of near-same ones.

A rule chooses queries for a mining; every query is kept. All three are decided by the texts and their
order alone, so two machines choose alike.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from enum import IntFlag
from typing import Final


class QueryRule(IntFlag):
    """What a query has to be; the flags of a mining are what it asks for."""

    ENGLISH = 1
    """Latin letters, and not the small words of another language."""
    NO_IDENTIFIER = 2
    """More than the name of a function, such as `tf.gather_nd` (CodeSearchNet, section 3)."""
    DISTINCT = 4
    """The first, by position, of those that are the same but for case, punctuation and filler words."""


NO_QUERY_RULE: Final = QueryRule(0)
NAMES: Final[Mapping[QueryRule, str]] = {
    QueryRule.ENGLISH: "not English",
    QueryRule.NO_IDENTIFIER: "bare identifier",
    QueryRule.DISTINCT: "near-same as an earlier one",
}
"""What is said of a query that breaks a rule, in the order in which they are asked."""

WORD = re.compile(r"\w+")
WORDS_OF_LETTERS = re.compile(r"[^\W\d_]+")
FOREIGN_LETTERS: Final = 0.2
IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(\))?")
MARKS = re.compile(r"[._]|\(\)|[a-z][A-Z]")
LANGUAGE_NAMES: Final = frozenset(
    {"python", "python2", "python3", "py", "py3", "java", "in", "function", "method"}
)
FILLER_WORDS: Final = """
a an and are can code do does for function how i in is it my of on or program python python2 python3 script
the there this to use used using way ways what with you"""
ENGLISH_WORDS: Final = """
a all an and are as at be between by can do does each every first for from get given has have how i if in
into is it last list make my not number of on one or out over python return set string that the this to two
using value what when where which with without you"""
OTHER_WORDS: Final = """
alle auf aus bei das dem den der durch ein eine einem einen einer es für ist kann mit nach nicht oder und
von wenn werden wie zu zum zur al como cómo con cual cuál da del dei della di dos el em en está fazer gli
hacer il la las lo los lista mas não nella nel para per por que qué se sin são su um uma un una uno usar aux
avec ce cette comment dans des du est et faire les leur leurs mais ou où par pas pour quand qui sans sur une
een het hoe jak maar met niet nie voor ve ile için"""
"""Small words of German, Spanish, Portuguese, Italian, French, Dutch, Polish and Turkish."""
FILLERS: Final = frozenset(FILLER_WORDS.split())
ENGLISH: Final = frozenset(ENGLISH_WORDS.split())
OTHERS: Final = frozenset(OTHER_WORDS.split())


def query_rule(names: Iterable[str]) -> QueryRule:
    """The rule of these names, as in `english`; KeyError for another one.

    >>> query_rule(["english", "distinct"])
    <QueryRule.ENGLISH|DISTINCT: 5>
    """
    rule = NO_QUERY_RULE
    for name in names:
        rule |= QueryRule[name.upper()]
    return rule


def is_english(query: str) -> bool:
    """Whether a query may be English: a guess by letters and small words, as queries are too short for more.

    Not English are queries with a fifth of their letters outside Latin's first 128, and those with at least
    two small words of another European language and more of these than of English ones.
    """
    letters = [letter for letter in query if letter.isalpha()]
    if letters and sum(not letter.isascii() for letter in letters) >= FOREIGN_LETTERS * len(letters):
        return False
    words = [word.casefold() for word in WORDS_OF_LETTERS.findall(query)]
    others = len({word for word in words if word in OTHERS})
    return others < 2 or others <= len({word for word in words if word in ENGLISH})


def is_identifier(query: str) -> bool:
    """Whether nothing but the name of something is asked, the name of the language aside.

    >>> is_identifier("python tf.gather_nd"), is_identifier("sort list")
    (True, False)
    """
    words = [word for word in query.split() if word.casefold().strip(",:?") not in LANGUAGE_NAMES]
    if len(words) != 1 or not IDENTIFIER.fullmatch(words[0].rstrip("?,;:")):
        return False
    return len(query.split()) == 1 or MARKS.search(words[0]) is not None


def near_duplicate_key(query: str) -> tuple[str, ...]:
    """What near-same queries have in common: their words in order, without fillers and plural's s.

    The order stays: converting an int to a string is not converting a string to an int.
    """
    words = words_of_query(query)
    kept = [stem_word(word) for word in words if word not in FILLERS]
    return tuple(kept or words)


def words_of_query(query: str) -> list[str]:
    """The words of a query in order, in lower case, whatever its Unicode form, blanks and punctuation."""
    return WORD.findall(fold_query(unicodedata.normalize("NFKC", query)))


def fold_query(query: str) -> str:
    """A query as it is compared: upper and lower case, and composed and decomposed letters, are alike."""
    return unicodedata.normalize("NFC", query.casefold())


def stem_word(word: str) -> str:
    """Without a plural's s: `lists` and `list` are one word."""
    return (
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
    )


def find_broken_rules(queries: Iterable[str]) -> Iterator[QueryRule]:
    """Yield for each query the rules that it breaks; of near-same ones all but the first break DISTINCT."""
    seen: set[tuple[str, ...]] = set()
    for query in queries:
        rules = NO_QUERY_RULE
        if not is_english(query):
            rules |= QueryRule.ENGLISH
        if is_identifier(query):
            rules |= QueryRule.NO_IDENTIFIER
        same = near_duplicate_key(query)
        if same in seen:
            rules |= QueryRule.DISTINCT
        seen.add(same)
        yield rules


def flag_passing_queries(queries: Iterable[str], rule: QueryRule) -> Iterator[bool]:
    """Yield for each query whether it passes `rule`.

    Near-same ones are compared among those that pass the rest: a query that is refused for another reason
    does not stand for its group.
    """
    seen: set[tuple[str, ...]] = set()
    for query in queries:
        passes = not (QueryRule.ENGLISH in rule and not is_english(query))
        passes = passes and not (QueryRule.NO_IDENTIFIER in rule and is_identifier(query))
        if passes and QueryRule.DISTINCT in rule:
            same = near_duplicate_key(query)
            passes = same not in seen
            seen.add(same)
        yield passes
