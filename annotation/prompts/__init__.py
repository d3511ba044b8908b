"""The agents' prompts: one Markdown file per agent, loaded, rendered and hashed here.

A file consists of sections, each opened by a line `=== name ===`; `{{name}}` marks a variable.
The fixed rules are the section `system`, so that a provider can cache them; what changes from
pair to pair comes last, in the section `user`.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Final

TESTED: Final = ("single_llm", "neighbour_writer", "test_writer", "fixer", "arbiter", "tie_breaker")
AGENTS: Final = ("screener", *TESTED)
ALONE: Final = ("single_llm",)
MISSING: Final = ("snippet_writer", "test_writer", "fixer", "arbiter")
IN_COMPANY: Final = ("query_screener", *TESTED)
RANKING: Final = ("reranker",)
PAPER: Final = ("paper/screener", "paper/test_writer", "paper/fixer", "paper/arbiter")
CRITERION: Final = "{{criterion}}"
_SECTION: Final = re.compile(r"^=== ([a-z_]+) ===$", re.MULTILINE)
_VARIABLE: Final = re.compile(r"\{\{([a-z_]+)\}\}")


class PromptError(Exception):
    """A prompt file, one of its sections or one of its variables is missing, or one is too many."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt file. `hash` is the sha256 (hex) of its text; it is kept with every answer."""

    name: str
    sections: Mapping[str, str]
    hash: str

    def variables(self, section: str) -> frozenset[str]:
        """The names that `render` needs for the section."""
        return frozenset(_VARIABLE.findall(self._find_section(section)))

    def render(self, section: str, **values: str) -> str:
        """The section with its variables replaced once, so values are never expanded themselves.

        Raises PromptError for a missing section, a missing value and a value that no variable takes.
        """
        wanted = self.variables(section)
        if missing := sorted(wanted - values.keys()):
            raise PromptError(f"prompt '{self.name}', section '{section}': no value for {', '.join(missing)}")
        if unknown := sorted(values.keys() - wanted):
            raise PromptError(f"prompt '{self.name}', section '{section}': no variable {', '.join(unknown)}")
        return _VARIABLE.sub(lambda match: values[match.group(1)], self._find_section(section))

    def _find_section(self, section: str) -> str:
        try:
            return self.sections[section]
        except KeyError:
            raise PromptError(f"prompt '{self.name}' has no section '{section}'") from None


@cache
def load_agent_prompt(name: str) -> Prompt:
    """The prompt file `NAME.md` of this folder. Raises PromptError if it is missing or has no sections."""
    try:
        text = resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PromptError(f"there is no prompt file '{name}.md' in annotation/prompts") from None
    return parse_agent_prompt(
        name, text.replace(CRITERION, load_match_criterion()) if CRITERION in text else text
    )


@cache
def load_match_criterion() -> str:
    """What a match is, in the words that agents and people get."""
    return load_agent_prompt("criterion").sections["text"]


def parse_agent_prompt(name: str, text: str) -> Prompt:
    """The prompt that `text` describes; line ends and blank edges don't count.

    Raises PromptError for text before the first section, no section, or a section given twice.
    """
    text = text.replace("\r\n", "\n").strip()
    before, *parts = _SECTION.split(text)
    names = parts[0::2]
    if before.strip() or not names or len(set(names)) != len(names):
        raise PromptError(f"prompt '{name}' has to be sections, each once, opened by a line '=== name ==='")
    sections = {section: body.strip() for section, body in zip(names, parts[1::2], strict=True)}
    return Prompt(name, MappingProxyType(sections), hashlib.sha256(text.encode("utf-8")).hexdigest())


def hash_agent_prompts(agents: Iterable[str] = AGENTS) -> dict[str, str]:
    """Agent name to the hash of its prompt: what an annotator's version is made of, with the repair text."""
    return {name: load_agent_prompt(name).hash for name in (*agents, "repair")}
