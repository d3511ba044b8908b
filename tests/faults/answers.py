"""What the fake model says: the same to the same request, and every way through the stages."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Final

from tests.messages_protocol import Json

BEGINNINGS: Final[Mapping[str, str]] = {
    "You screen pairs": "screener",
    "You write test programs": "test_writer",
    "You look after the Python environment": "fixer",
    "You give the final verdict": "arbiter",
}
"""How each agent's rules begin."""


def agent_of(body: Json) -> str:
    """The agent that asks, known by its rules; empty for nobody's request."""
    system = body.get("system", "")
    rules = system if isinstance(system, str) else "".join(block["text"] for block in system)
    return next((agent for words, agent in BEGINNINGS.items() if rules.startswith(words)), "")


def digest_of(body: Json) -> str:
    """The same for the same request."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def answer(body: Json) -> Json:
    """A third of the pairs are unclear; a few of their programs redefine the candidate."""
    number = int(hashlib.sha256(json.dumps(body["messages"]).encode()).hexdigest()[:8], 16)
    agent = agent_of(body)
    if agent == "test_writer":
        return program(body, number)
    if agent == "fixer":
        return {"commands": ["pip install rich"] if number % 2 else []}
    verdict = 0.5 if agent == "screener" and number % 3 == 0 else number % 2
    return {"explanation": f"What the {agent} makes of number {number}.", "verdict": verdict}


def program(body: Json, number: int) -> Json:
    names = re.search(r"in scope: (\w+)", json.dumps(body["messages"]))
    name = names.group(1) if names else "print"
    taken = f"def {name}():\n    return None\n\n\n" if number % 8 == 0 else ""
    source = f"{taken}def main():\n    found = {name}\n    assert callable(found), {number}\n\n\nmain()\n"
    return {"reading": "the snippet can be called", "helpers": [], "program": source}
