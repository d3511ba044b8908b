"""What the calls took that cases rest on: requests, and tokens by one counter for all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from annotation.llm.request import InvalidRequest
from annotation.llm.token_counter import CannotCount
from annotation.models import LLMCall
from annotation.quality.answers import Spent
from annotation.quality.tokens import Counter

READ_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class CallSpent:
    """What one call took, with the call that it repairs, if there was one."""

    agent: str
    spent: Spent


@dataclass(frozen=True, slots=True)
class Words:
    """The texts of a call; `repairs` is the digest of the request whose answer it quotes, empty without."""

    agent: str
    sent: tuple[str, ...]
    answered: tuple[str, ...]
    repairs: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        return (*self.sent, *self.answered)


def spent_by_calls(calls: Iterable[int], counters: Sequence[Counter]) -> tuple[dict[int, CallSpent], str]:
    """By call (id), and what counted it: the first of the counters that can count all of them."""
    wanted, said = sorted(set(calls)), ""
    for counter in counters:
        try:
            return count_call_spending(wanted, counter), f"{counter.name}{said}"
        except CannotCount as why:
            said += f"; {counter.name} gave no count: {why}"
    raise CannotCount(said)


def count_call_spending(calls: Sequence[int], counter: Counter) -> dict[int, CallSpent]:
    """Raises CannotCount."""
    found: dict[int, CallSpent] = {}
    for start in range(0, len(calls), READ_AT_ONCE):
        read = with_repaired(calls[start : start + READ_AT_ONCE])
        texts = list(dict.fromkeys(text for asked in read.values() for one in asked for text in one.texts))
        tokens = dict(zip(texts, counter.count(texts), strict=True))
        found |= {
            call: CallSpent(asked[0].agent, sum_call_spending(asked, tokens)) for call, asked in read.items()
        }
    return found


def sum_call_spending(asked: Sequence[Words], tokens: Mapping[str, int]) -> Spent:
    """The requests and tokens of a call and of what it repairs."""
    given = sum(tokens[text] for one in asked for text in one.sent)
    taken = sum(tokens[text] for one in asked for text in one.answered)
    return Spent(len(asked), given, taken)


def with_repaired(calls: Sequence[int]) -> dict[int, list[Words]]:
    """Each call, followed by the one whose reply could not be used, where it repairs one. Two queries."""
    rows = LLMCall.objects.select_related("system", "request", "reply")
    found = {row.pk: words_of(row) for row in rows.filter(pk__in=calls)}
    firsts = {one.repairs for one in found.values() if one.repairs}
    earlier = {row.digest: words_of(row) for row in rows.filter(digest__in=firsts, reply__isnull=False)}
    return {
        call: [one, *([earlier[one.repairs]] if one.repairs in earlier else [])]
        for call, one in found.items()
    }


def words_of(call: LLMCall) -> Words:
    """Everything that was sent (rules, material, schema) and what came back."""
    reply = () if call.reply is None else (call.reply.text,)
    try:
        request = call.whole_request()
    except InvalidRequest:  # what is stored is counted as it is
        return Words(call.agent, (call.system.text, call.request.text), reply)
    turns = tuple(turn.text for turn in request.messages)
    schema = json.dumps(dict(request.schema), ensure_ascii=False)
    first = replace(request, messages=request.messages[:-2]).digest() if len(turns) > 2 else ""
    return Words(call.agent, (request.system, *turns, schema), reply, first)
