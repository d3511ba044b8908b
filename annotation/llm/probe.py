"""Finds out what a server can do by asking it: a dozen requests of a few tokens each.

A way of asking counts as known only when the answer shows it: servers also ignore what they do not know.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from statistics import median
from typing import Final

from annotation.llm.batches import BatchResultEntry, BatchStatus, LiveBatches, open_batches
from annotation.llm.errors import LLMError
from annotation.llm.live import LiveLLM, strip_chat_path
from annotation.llm.profiles import GENERIC, GENERIC_CHAT, Mode, ProviderProfile, Wire
from annotation.llm.reply import Reply
from annotation.llm.request import JsonObject, Message, Request
from annotation.llm.strict_json import NotJson, parse_strict_json

SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {"answer": {"type": "integer", "enum": [0, 1]}},
    "required": ["answer"],
    "additionalProperties": False,
}
SAMPLING: Final[JsonObject] = {
    "temperature": 0,
    "top_p": 0.9,
    "top_k": 5,
    "min_p": 0.05,
    "seed": 1,
    "effort": "low",
}
MOST_TOKENS: Final = 2000
"""Enough for a model that thinks before it answers."""
BARE: Final[Mapping[Wire, ProviderProfile]] = {
    "messages": replace(GENERIC, sampling=tuple(SAMPLING)),
    "chat": replace(GENERIC_CHAT, sampling=tuple(SAMPLING)),
}
PROTOCOLS: Final[Mapping[Wire, str]] = {
    "messages": "Anthropic's Messages",
    "chat": "OpenAI's chat completions",
}
_OF_THE_MOMENT: Final = frozenset({None, 408, 429, 503, 529})
MOST_CALLS: Final = 14
"""Requests that a probe without caching and batches makes at most."""
TOKENS_A_QUESTION: Final = 300
"""More than one of the short questions has, with its schema."""
CACHING_TOKENS: Final = 13_000
"""More than the two long questions have that caching is tried with."""
BATCH_WITHIN: Final = 120.0
"""Seconds that a probe waits for a batch of one request; the provider may take a day."""
LOOKS_EVERY: Final = 5.0
NOT_MADE: Final = 501
"""What a server answers that knows of batches and has none."""
_OF_THE_ACCOUNT: Final = frozenset({401, 402, 403, 408, 429})
"""These concern the account, so a server that answers with one of them knows the protocol."""
_NO_SUCH_PATH: Final = frozenset({404, 405, NOT_MADE})
LONG_SYSTEM: Final = "Answer the question. " * 1500
"""About 6,000 tokens: below some thousand, nothing is cached."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was tried, whether it works, and what the server showed or said."""

    tried: str
    works: bool
    told: str


@dataclass(frozen=True, slots=True)
class Probed:
    """The profile that fits the server, what it rests on, and what that took.

    `latency`: seconds, the median of the replies.
    """

    profile: ProviderProfile
    findings: tuple[Finding, ...]
    replies: int
    input_tokens: int
    output_tokens: int
    latency: float

    def toml(self) -> str:
        """The profile as the text of a file for COSQA_LLM_PROFILE."""
        fields = {name: value for name, value in asdict(self.profile).items() if name != "name"}
        return "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())


def ask_probe(
    base_url: str,
    api_key: str,
    model: str,
    *,
    caching: bool = False,
    batches: bool = False,
    timeout: float,
    replies: list[Reply] | None = None,
    before: Callable[[], None] = lambda: None,
    judged: Sequence[str] = (),
) -> Probed:
    """What the server can do. Raises LLMError where it does not even answer in words.

    `base_url` may end with the `/v1` of chat completions. `caching` costs two requests of about 6,000 tokens;
    `batches` one short request, at half the price where there are batches, and up to `BATCH_WITHIN` seconds.
    What was answered is in `replies`, also where the probe fails. `before` is called before each question,
    which may take LONGEST times the `timeout`. With `judged` these numeric addresses alone are connected to.
    """
    base_url = strip_chat_path(base_url)
    probing = _Probing(base_url, api_key, model, timeout, [] if replies is None else replies, before, judged)
    profile = probing.profile(caching)
    if batches:
        profile = replace(profile, batches=probing.batches(profile))
    usages = [reply.usage for reply in probing.replies]
    return Probed(
        replace(
            profile, name="probed", about=f"{base_url}, probed with {model}", tested=True, address=base_url
        ),
        tuple(probing.findings),
        replies=len(usages),
        input_tokens=sum(usage.total_tokens - usage.output_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        latency=median(reply.latency for reply in probing.replies if reply.latency),
    )


class _Probing:
    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        timeout: float,
        replies: list[Reply],
        before: Callable[[], None],
        judged: Sequence[str],
    ) -> None:
        self._judged = judged
        self._base_url, self._key, self._model, self._timeout = base_url, api_key, model, timeout
        self.findings: list[Finding] = []
        self.replies, self._before = replies, before

    def profile(self, caching: bool) -> ProviderProfile:
        # How the key goes out makes no difference to the client: as a bearer token.
        bare, answered = self._bare()
        same_model = self._note("the model that was asked for answers", answered == self._model, answered)
        found = replace(bare, needs_key=self._needs_key(bare), same_model=same_model)
        found = replace(found, json_schema=self._answers(found, "json_schema"))
        found = self._with_tools(found)
        if found.protocol == "chat":
            found = replace(found, json_object=self._answers(found, "json_object"))
        found = replace(found, sampling=tuple(self._sampling(found)))
        if found.protocol == "chat":  # it counts no tokens, and caches by itself
            return found
        found = replace(found, token_counting=self._counts(found))
        return replace(found, prompt_caching=caching and self._caches(found))

    def _bare(self) -> tuple[ProviderProfile, str]:
        """The least profile of the protocol that the server speaks, and the model that answered.

        Raises LLMError where it speaks neither.
        """
        try:
            return self._speaks(BARE["messages"])
        except LLMError as error:
            if error.status not in _NO_SUCH_PATH and not _is_foreign(error):
                raise
            self._refused(PROTOCOLS["messages"], error)
            first = error
        try:
            return self._speaks(BARE["chat"])
        except LLMError as error:
            if error.status in _OF_THE_ACCOUNT or (error.status or 0) >= 500:
                raise
            raise first from error

    def _speaks(self, profile: ProviderProfile) -> tuple[ProviderProfile, str]:
        """The profile and the model that answered by it.

        Where a server of chats wants another name for the limit, the profile gets that name.
        """
        name = PROTOCOLS[profile.protocol]
        try:
            reply = self._ask(profile, "prompt")
        except LLMError as error:
            if "max_completion_tokens" not in error.message or profile.protocol != "chat":
                raise
            profile = replace(profile, length_name="max_completion_tokens")
            reply = self._ask(profile, "prompt")
        self._note(name, True, reply.text[:200])
        return profile, reply.model

    def batches(self, profile: ProviderProfile) -> bool:
        """Whether a batch is taken in and can be looked after; one that takes too long is cancelled."""
        with closing(self._llm(profile)) as llm:
            batches = open_batches(llm)
            try:
                pk = batches.create([("probe", _question(self._model))]).id
            except LLMError as error:
                if error.retryable and error.status != NOT_MADE:
                    raise
                return self._note("batches", False, error.message)
            try:
                return self._note("batches", *self._awaited(batches, pk))
            except LLMError as error:
                return self._note("batches", False, f"{pk} was taken in, then: {error.message}")

    def _awaited(self, batches: LiveBatches, pk: str) -> tuple[bool, str]:
        """Whether the batch `pk` comes to something, and what the server showed. Raises LLMError."""
        until = time.monotonic() + BATCH_WITHIN
        while not self._look(batches, pk).ended:
            if time.monotonic() >= until:
                batches.cancel(pk)
                return True, f"{pk} was taken in, had not ended after {BATCH_WITHIN:.0f} s and was cancelled"
            time.sleep(LOOKS_EVERY)
        return self._came(list(batches.results(pk)), pk)

    def _look(self, batches: LiveBatches, pk: str) -> BatchStatus:
        self._before()
        return batches.look(pk)

    def _came(self, entries: list[BatchResultEntry], pk: str) -> tuple[bool, str]:
        [entry] = entries if len(entries) == 1 else [BatchResultEntry("")]
        if entry.reply is None:
            return False, entry.error.message if entry.error else f"{pk} has {len(entries)} results, not one"
        self.replies.append(entry.reply)
        return entry.id == "probe", f"{pk}: {entry.reply.text[:200]}"

    def _needs_key(self, profile: ProviderProfile) -> bool:
        if not self._key:
            return False
        return not self._works("no key", partial(self._ask, profile, "prompt", key=""))

    def _with_tools(self, profile: ProviderProfile) -> ProviderProfile:
        """A forced tool, with thinking switched off where it works only so."""
        for thinking in ("as_is", "disabled"):
            trial = replace(profile, thinking=thinking)
            if self._answers(trial, "forced_tool"):
                strict = self._answers(replace(trial, strict_tool=True), "forced_tool", "strict ")
                return replace(trial, forced_tool=True, strict_tool=strict)
        return profile

    def _sampling(self, profile: ProviderProfile) -> Iterator[str]:
        mode = profile.ladder[0]
        for name, value in SAMPLING.items():
            if self._works(f"sampling {name}", partial(self._ask, profile, mode, sampling={name: value})):
                yield name

    def _caches(self, profile: ProviderProfile) -> bool:
        trial = replace(profile, prompt_caching=True)
        try:
            first, second = (self._ask(trial, trial.ladder[0], system=LONG_SYSTEM).usage for _ in range(2))
        except LLMError as error:
            return self._refused("cache_control", error)
        told = f"{first.cache_write_tokens} tokens written, {second.cache_read_tokens} read"
        return self._note("cache_control", second.cache_read_tokens > 0, told)

    def _counts(self, profile: ProviderProfile) -> bool:
        with closing(self._llm(profile)) as llm:
            try:
                counted = llm.count(_question(self._model))
            except LLMError as error:
                return self._refused("counting tokens", error)
        return self._note("counting tokens", counted > 0, f"{counted} tokens")

    def _answers(self, profile: ProviderProfile, mode: Mode, kind: str = "") -> bool:
        """Whether the answer has the schema's form, which the question does not speak of."""
        tried = f"{kind}{mode.replace('_', ' ')}" + (
            ", no thinking" if profile.thinking == "disabled" else ""
        )
        try:
            reply = self._ask(profile, mode)
        except LLMError as error:
            return self._refused(tried, error)
        return self._note(tried, _fits(reply.text) and not reply.defect, reply.defect or reply.text[:200])

    def _works(self, tried: str, ask: Callable[[], Reply]) -> bool:
        try:
            return self._note(tried, True, ask().text[:200])
        except LLMError as error:
            return self._refused(tried, error)

    def _refused(self, tried: str, error: LLMError) -> bool:
        """An error says no, unless it is one of the moment: that says nothing of what the server can do."""
        if error.status in _OF_THE_MOMENT:
            raise error
        return self._note(tried, False, error.message)

    def _ask(
        self,
        profile: ProviderProfile,
        mode: Mode,
        *,
        key: str | None = None,
        sampling: JsonObject | None = None,
        system: str = "Answer the question.",
    ) -> Reply:
        request = _question(self._model, system, sampling or {})
        with closing(self._llm(profile, key)) as llm:
            reply = llm.call(request, mode)
        self.replies.append(reply)
        return reply

    def _llm(self, profile: ProviderProfile, key: str | None = None) -> LiveLLM:
        chosen = self._key if key is None else key
        self._before()
        return LiveLLM(chosen, profile, base_url=self._base_url, timeout=self._timeout, judged=self._judged)

    def _note(self, tried: str, works: bool, told: str) -> bool:
        self.findings.append(Finding(tried, works, told))
        return works


def _is_foreign(error: LLMError) -> bool:
    """Whether what came back is none of the protocol, though it came with status 200."""
    return error.status is None and error.provider and not error.retryable


def _question(
    model: str, system: str = "Answer the question.", sampling: JsonObject | None = None
) -> Request:
    question = (Message("user", "Is 2 + 2 = 4?"),)
    return Request("probe", model, system, question, SCHEMA, MOST_TOKENS, sampling or {})


def _fits(text: str) -> bool:
    try:
        value = parse_strict_json(text)
    except NotJson:
        return False
    return isinstance(value, dict) and value.keys() == {"answer"} and value["answer"] in (0, 1)
