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
    "You label pairs": "single_llm",
    "You help to check the tests": "neighbour_writer",
    "You write test cases": "test_writer",
    "You look after the Python environment": "fixer",
    "You give the final verdict": "arbiter",
    "Two judges": "tie_breaker",
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
    if agent == "single_llm":
        share = ("all", "most", "little")[number % 3]
        return {"demands": ["to be called"], "evidence": f"It is number {number}.", "share": share}
    if agent == "neighbour_writer":
        return {"difference": "it does nothing", "code": f"{name_in(body)} = {number}\n"}
    if agent == "fixer":
        return {"commands": ["pip install rich"] if number % 2 else []}
    verdict = 0.5 if agent == "screener" and number % 3 == 0 else number % 2
    return {"explanation": f"What the {agent} makes of number {number}.", "verdict": verdict}


def name_in(body: Json) -> str:
    """The first name of the snippet that a request lists."""
    names = re.search(r"(?:in scope|to define): (\w+)", json.dumps(body["messages"]))
    return names.group(1) if names else "print"


def program(body: Json, number: int) -> Json:
    name = name_in(body)
    taken = f"def {name}():\n    return None\n\n\n" if number % 8 == 0 else ""
    source = f"{taken}def r1_ordinary_call():\n    found = {name}\n    assert callable(found), {number}\n"
    readings = [{"sense": "the snippet can be called", "likelihood": 100}]
    reference = f"def {name}(*given):\n    return given\n"
    return {"readings": readings, "helpers": [], "program": source, "reference": reference}
