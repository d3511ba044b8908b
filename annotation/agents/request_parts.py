"""From an agent's inputs to a Request: fenced material, rendered prompt, schema, repair."""

import hashlib
import json
from dataclasses import replace
from typing import Final, TypedDict

from annotation import prompts
from annotation.llm.request import JsonObject, Message, Request, escape_surrogates

_QUOTED: Final = 20_000
_COMPLAINT: Final = 2_000
_NOTHING: Final = "(an empty answer)"


class Options(TypedDict, total=False):
    """What an annotator may set on every request; see Request for the meaning of each."""

    max_tokens: int
    sampling: JsonObject
    salt: str
    round: int
    base_url: str


def fence_material(kind: str, text: str) -> str:
    """`text` between two tags that it can't close, because they carry a hash that it doesn't contain.

    The same text always gets the same tags, so requests stay repeatable. Lone surrogates, which can't
    be sent as UTF-8, become visible escapes.
    """
    text = escape_surrogates(text)
    tag = f"{kind}-{_tag(kind, text)}"
    return f"<{tag}>\n{text}\n</{tag}>"


def add_note(user: str, note: str) -> str:
    """A user message with a sentence of ours behind the material; as it is where there is none."""
    return f"{user}\n\n{note}" if note else user


def _tag(kind: str, text: str) -> str:
    salt = 0
    while (tag := hashlib.sha256(f"{kind}\n{salt}\n{text}".encode()).hexdigest()[:16]) in text:
        salt += 1
    return tag


def schema_of(**properties: JsonObject) -> JsonObject:
    """A closed object schema in which every property is required, in the order given."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def compose_agent_request(
    agent: str,
    model: str,
    user: str,
    schema: JsonObject,
    max_tokens: int,
    options: Options,
    *,
    prompt: str = "",
) -> Request:
    """The request of one agent; `max_tokens` is its default, which the options may replace.

    `prompt` names the prompt file of another set; the agent's own otherwise.
    """
    return Request(
        agent=agent,
        model=model,
        system=prompts.load_agent_prompt(prompt or agent).render("system"),
        messages=(Message("user", user),),
        schema=schema,
        max_tokens=options.get("max_tokens", max_tokens),
        salt=options.get("salt", ""),
        round=options.get("round", 1),
        base_url=options.get("base_url", ""),
    ).sampled(options.get("sampling", {}))


def build_repair_request(request: Request, bad_reply: str, problem: str) -> Request:
    """The one follow-up after an InvalidReply: the same conversation, the bad answer, what was wrong.

    `problem` is the InvalidReply's message. A very long answer is quoted up to 20,000 characters.
    """
    answer = escape_surrogates(bad_reply).strip()[:_QUOTED] or _NOTHING
    schema = json.dumps(dict(request.schema), ensure_ascii=False)
    complaint = prompts.load_agent_prompt("repair").render(
        "request", problem=escape_surrogates(problem)[:_COMPLAINT], schema=schema
    )
    turns = (Message("assistant", answer), Message("user", complaint))
    return replace(request, messages=(*request.messages, *turns))
