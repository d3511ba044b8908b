"""Made-up functions that compile, and queries about them; words by Zipf's law, the same ones for one seed."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Final

SEED: Final = 26
WORDS: Final = 60_000
"""So many words are known; the word of rank r is drawn with a chance that goes by 1 / (r + 2.7)."""
SYLLABLES: Final = [first + vowel for first in "bcdfghklmnprstvz" for vowel in "aeiou"]
ASKED_AS: Final = ("python how to", "how to", "python", "", "in python", "what is the best way to", "get the")
STATEMENTS: Final = (
    "{a} = {b}({c})",
    "if {a} is None:\n        {a} = [{b}]",
    "for {a} in {b}:\n        {c}.append({a})",
    "{a} = [{b} for {b} in {c} if {b}]",
    "{a} = {b}.get({c!r}, {n})",
    "while {a} < {n}:\n        {a} += {b}({c})",
    "{a}, {b} = {c}.split({n})",
    "with open({a}) as {b}:\n        {c} = {b}.read()",
)
MATCH_IN: Final = 5
"""Of so many mined pairs one is labelled a match."""


class Vocabulary:
    """Words of two to four syllables, the frequent ones first."""

    def __init__(self) -> None:
        chance = random.Random(SEED)
        found = dict.fromkeys(
            "".join(chance.choices(SYLLABLES, k=chance.choice((2, 3, 3, 4)))) for _ in range(2 * WORDS)
        )
        self.words = list(found)[:WORDS]
        self.weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(self.words))))

    def draw(self, chance: random.Random, count: int) -> list[str]:
        """So many words, in which one may come twice."""
        return chance.choices(self.words, cum_weights=self.weights, k=count)

    def draw_different(self, chance: random.Random, count: int) -> list[str]:
        """So many words, each once."""
        found = dict.fromkeys(self.draw(chance, count))
        while len(found) < count:
            found |= dict.fromkeys(self.draw(chance, count - len(found)))
        return list(found)


@cache
def known_words() -> Vocabulary:
    """The one vocabulary, which takes a second to make."""
    return Vocabulary()


def generate_functions(count: int) -> Iterator[str]:
    """So many functions, no two alike: each takes an argument and returns a value."""
    chance, known = random.Random(SEED + 1), known_words()
    return draw_different(lambda: generate_function(chance, known), count)


def draw_different(draw: Callable[[], str], count: int) -> Iterator[str]:
    """So many texts, of which none comes twice."""
    seen = set[bytes]()
    while len(seen) < count:
        text = draw()
        key = hashlib.blake2b(text.encode(), digest_size=12).digest()
        if key not in seen:
            seen.add(key)
            yield text


def generate_function(chance: random.Random, known: Vocabulary) -> str:
    """A documented function of some lines."""
    name = "_".join(known.draw(chance, chance.choice((2, 3))))
    names = known.draw_different(chance, 6)
    told = " ".join(known.draw(chance, chance.randrange(5, 14)))
    lines = [
        statement.format(a=a, b=b, c=c, n=chance.randrange(100))
        for statement in chance.sample(STATEMENTS, chance.randrange(3, 7))
        for a, b, c in [chance.sample(names, 3)]
    ]
    body = "".join(f"    {line}\n" for line in lines)
    return (
        f"def {name}({names[0]}, {names[1]}=None):\n"
        f'    """{told.capitalize()} the {names[2]} of a {names[3]}."""\n'
        f"{body}    return {names[4]}({names[0]}, {chance.randrange(100)})\n"
    )


def generate_queries(count: int) -> Iterator[str]:
    """So many questions, no two alike."""
    chance, known = random.Random(SEED + 2), known_words()
    return draw_different(lambda: generate_query(chance, known), count)


def generate_query(chance: random.Random, known: Vocabulary) -> str:
    """What people ask: an opening, if any, and four to seven words."""
    return " ".join([chance.choice(ASKED_AS), *known.draw(chance, chance.randrange(4, 8))]).strip()


def write_texts(folder: Path, functions: int, queries: int) -> None:
    """`functions.jsonl` and `queries.jsonl`, each record with an id."""
    with (folder / "functions.jsonl").open("w", encoding="ascii") as file:
        for number, code in enumerate(generate_functions(functions)):
            file.write(json.dumps({"id": f"f{number}", "code": code}) + "\n")
    with (folder / "queries.jsonl").open("w", encoding="ascii") as file:
        for number, query in enumerate(generate_queries(queries)):
            file.write(json.dumps({"id": f"q{number}", "query": query}) + "\n")
