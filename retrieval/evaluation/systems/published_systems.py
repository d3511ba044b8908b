"""What systems are known to have been trained on, and by whose models they are related.

What encoders of this workbench were trained on stands in `retrieval.encoders.registry` alone; here are the
systems that only others run. From their papers and cards; what they leave open is "not known", never "no".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from retrieval.encoders.registry import KNOWN, NOT_KNOWN
from retrieval.evaluation.systems.names import list_models_of

ON_A_SERVER: Final = "endpoint:"
NOTHING: Final = "nothing: it counts words"
UNRELATED: Final = ("nothing", "no")
"""What is said of a system that shares nothing with the annotator, or no family."""


@dataclass(frozen=True, slots=True)
class Known:
    """`trained_on` in words; `family`: whose models it belongs to, `base`: of which family it was made.

    Both are empty where that is not known. `sees_tasks`: its training data have this field's queries or code.
    """

    trained_on: str
    family: str = ""
    sees_tasks: bool = False
    base: str = ""

    @property
    def is_told(self) -> bool:
        """Whether it is known what it was made of, so that anything else can be told to be another family."""
        return bool(self.base) or self.trained_on == NOTHING


def _named(name: str) -> str:
    """A name as the table has it: without server, folder, organisation and what many begin with."""
    plain = name.casefold().removeprefix(ON_A_SERVER).partition(":")[0].rpartition("/")[2]
    return plain.replace("_", "-").removeprefix("all-")


def _ours() -> Iterator[tuple[str, Known]]:
    """The encoders of the registry, by their name here and by their name on the hub."""
    for name, one in KNOWN.items():
        told = Known(one.trained_on, one.family, one.sees_tasks, one.base)
        yield name, told
        if not one.folder_only:  # the hub's model is another one
            yield _named(one.hub_id), told


UNKNOWN: Final = Known(NOT_KNOWN)
"""A system that stands in no table."""

OTHERS: Final[Mapping[str, Known]] = {
    "bow": Known(NOTHING),
    "bm25": Known(NOTHING),
    "bm25-fields": Known(NOTHING),
    "nightowl": Known("training parts of these tasks", sees_tasks=True),
    "lateon-code": Known("training parts of CoSQA and CodeSearchNet", sees_tasks=True),
    "text-embedding": Known(NOT_KNOWN, "OpenAI", base="OpenAI"),
    "gemini-embedding": Known(NOT_KNOWN, "Google", base="Google"),
    "voyage-code": Known(NOT_KNOWN, "Voyage"),
}
"""Systems that no encoder of the registry is."""

HUB_NAMES: Final = frozenset(_named(one.hub_id) for one in KNOWN.values())

SYSTEMS: Final[Mapping[str, Known]] = {**OTHERS, **dict(_ours())}
"""By the beginning of a system's name; the longest that fits counts."""

FAMILIES: Final[Mapping[str, str]] = {
    "claude": "Anthropic",
    "codestral": "Mistral",
    "deepseek": "DeepSeek",
    "gemini": "Google",
    "gemma": "Google",
    "gpt": "OpenAI",
    "llama": "Meta",
    "mistral": "Mistral",
    "mixtral": "Mistral",
    "o1": "OpenAI",
    "o3": "OpenAI",
    "o4": "OpenAI",
    "qwen": "Qwen",
    "qwq": "Qwen",
}
"""By the beginning of a word in a model's name: `deepseek-r1-distill-qwen-7b` is of two families."""

WORDS: Final = re.compile(r"[^a-z0-9]+")


def find_known_parts(system: str) -> list[Known]:
    """What is known of each part of a system such as `bm25+minilm`; a part that nobody knows is so."""
    return [_part(name) for name in list_models_of(system)]


def _part(name: str) -> Known:
    plain = _named(name)
    fitting = [start for start in SYSTEMS if plain == start or plain.startswith(f"{start}-")]
    return SYSTEMS[max(fitting, key=len)] if fitting else UNKNOWN


def _is_told(name: str, part: Known) -> bool:
    """Whether what is known of a name holds of the weights behind it: a folder may have anybody's."""
    source = name.casefold().partition(":")[2].partition("@")[0]
    ours = name.casefold().startswith(ON_A_SERVER) or not source or _named(source) in HUB_NAMES
    return ours and part.is_told


def families_of(model: str) -> frozenset[str]:
    """Whose model an annotator asks, or a system is called by; empty where that is not known."""
    words = WORDS.split(model.casefold())
    return frozenset(
        family for start, family in FAMILIES.items() if any(word.startswith(start) for word in words)
    )


def trained_on(system: str) -> str:
    """In words, for each part of the system once."""
    parts = dict.fromkeys(part.trained_on for part in find_known_parts(system))
    return "; ".join(parts)


def shared_with(system: str, models: Sequence[str]) -> str:
    """What a system has in common with those who labelled, in words; empty where that is not known.

    `models`: what the annotators ask, an empty text where that is not known; none where people labelled.
    """
    names, parts = list_models_of(system), find_known_parts(system)
    if all(part.trained_on == NOTHING for part in parts):
        return UNRELATED[0]
    theirs = [families_of(model) for model in models]
    ours = {family for part in parts for family in (part.family, part.base)}.union(*map(families_of, names))
    common = sorted(ours & frozenset().union(*theirs) - {""})
    if common:
        return f"of the family of the annotator’s model ({', '.join(common)})"
    # Of people it is certain, and where it is known what every model was made of.
    told = all(theirs) and all(_is_told(name, part) for name, part in zip(names, parts, strict=True))
    return UNRELATED[1] if not models or told else ""


def sees_tasks(system: str) -> bool:
    """Whether any part of it is known to be trained on queries or code of this field's benchmarks."""
    return any(part.sees_tasks for part in find_known_parts(system))
