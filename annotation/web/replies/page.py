"""The page on which a build without a key gets its replies: what waits, the script, one request to read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from annotation.agents import screener
from annotation.builds.pipeline import file_exchange
from annotation.builds.pipeline.file_exchange import Imported
from annotation.llm import Request
from annotation.models import Build, LLMCall

PROBLEMS_SHOWN: Final = 50
SCRIPT: Final = """\
import json, time, urllib.request
BUILD, TOKEN, MODEL = "{address}", "YOUR TOKEN", "YOUR MODEL"
def call(path, body=None):
    head = {{"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"}}
    asked = urllib.request.Request(BUILD + path, body and json.dumps(body).encode(), head)
    return json.load(urllib.request.urlopen(asked))
def answer(system, schema, messages):
    raise SystemExit("Ask your model here, and return its JSON object or its text.")
while (page := call("/requests"))["open"]:
    replies = [{{"id": it["id"], "reply": answer(messages=it["messages"], **page["prompts"][it["prompt"]])}}
               for it in page["items"]]
    done = call("/replies", {{"model": MODEL, "replies": replies}}) if replies else {{}}
    print(done or "nothing waits now")
    if done.get("refused"): raise SystemExit("A reply was refused; the others are taken.")
    time.sleep(0 if replies else 5)
"""
"""Python's own library is enough for it; at most 15 lines."""


@dataclass(frozen=True, slots=True)
class Question:
    """One request as a person reads it; `left` more wait."""

    call: LLMCall
    request: Request
    left: int

    @property
    def schema(self) -> str:
        """What its reply has to fit, as indented JSON."""
        return json.dumps(dict(self.request.schema), indent=2)


def build_replies_page(build: Build, address: str, done: Imported | None = None) -> dict[str, Any]:
    """What waits by agent, where it is fetched, and what came of an upload that was just made."""
    waiting = file_exchange.count_waiting_by_agent(build)
    return {
        "build": build,
        "waiting": waiting,
        "total": sum(waiting.values()),
        "in_sheet": waiting.get(screener.NAME, 0),
        "script": SCRIPT.format(address=address),
        "done": done,
        "problems": done.problems[:PROBLEMS_SHOWN] if done else (),
        "hidden": max(0, len(done.problems) - PROBLEMS_SHOWN) if done else 0,
    }


def find_question(build: Build, pk: int | None = None) -> Question | None:
    """The request `pk` that waits, or the first one; None where there is none."""
    calls = file_exchange.find_unanswered_calls(build).select_related("system", "request")
    call = (calls if pk is None else calls.filter(pk=pk)).first()
    return None if call is None else Question(call, call.whole_request(), calls.count() - 1)
