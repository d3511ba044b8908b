"""Why cases were abandoned, by kind: texts that differ in a number or a name are one cause. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Cause(StrEnum):
    """The kinds that the workbench knows; any other text is a cause of its own, without what varies."""

    UNUSABLE = "unusable"
    CUT_OFF = "cut_off"
    DECLINED = "declined"
    EMPTY = "empty"
    TOO_LONG = "too_long"
    NOT_RECORDED = "not_recorded"
    INSTALLING = "installing"
    SANDBOX = "sandbox"
    FAILING = "failing"
    PROVIDER = "provider"
    FAULT = "fault"


LONGEST: Final = 120
OTHER: Final = "other: "
UNKNOWN_HELP: Final = (
    "Look at the example: its steps and calls say what happened. Retry one case before the rest."
)
PATTERNS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), cause)
    for pattern, cause in (
        (r"a fault of the workbench", Cause.FAULT),
        (r"the sandbox could not run.*\binstalling .* failed", Cause.INSTALLING),
        (r"the sandbox could not run", Cause.SANDBOX),
        (r"has no reply to request", Cause.NOT_RECORDED),
        (r"has failed \d+ times while the provider answered", Cause.FAILING),
        (r"cut off at max_tokens", Cause.CUT_OFF),
        (r"declined to answer|stop reason 'refusal'", Cause.DECLINED),
        (r"the reply is empty", Cause.EMPTY),
        (r"too long for the model|too large for the provider", Cause.TOO_LONG),
        (r"reply could not be used", Cause.UNUSABLE),
        (r"\(HTTP \d{3}", Cause.PROVIDER),
    )
)
"""The first that fits: the words are those that raise sites write, which the tests hold together."""

WORDS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        Cause.UNUSABLE: (
            "a reply could not be used, even when asked again",
            (
                "Read the example's reply: if it is near to right, change the prompt or the profile's way of "
                "asking for JSON; a retry asks once more."
            ),
        ),
        Cause.CUT_OFF: (
            "a reply was cut off",
            (
                'Run these cases again with the sampling {"max_tokens": 16384} (on the page where cases are '
                "run again, or --sampling), so that each reply may have that many tokens; a retry with the "
                "same limit is likely to end alike."
            ),
        ),
        Cause.DECLINED: (
            "the model declined to answer",
            "A retry rarely helps: label these by hand, or annotate them with another model.",
        ),
        Cause.EMPTY: (
            "a reply was empty",
            (
                "Retry a few: an empty reply is often the provider's accident. If it comes back, test the "
                "connection with cosqa admin llm probe."
            ),
        ),
        Cause.TOO_LONG: (
            "the pair and its evidence are too long for the model",
            "A retry ends alike: take a model with a longer context, or leave these functions out by a rule.",
        ),
        Cause.NOT_RECORDED: (
            "the recording has no reply",
            "Record the missing replies by file exchange, or undo what made these requests new; then retry.",
        ),
        Cause.INSTALLING: (
            "packages of a test program could not be installed",
            (
                "See that this machine reaches its package index (the example has pip's words; pip config "
                "list names the index), then retry this group: the model is not asked again for what it has "
                "written."
            ),
        ),
        Cause.SANDBOX: (
            "the sandbox could not run the test program",
            (
                "Run cosqa admin sandbox check, put right what it names, then retry: the model is not asked "
                "again for what it has written."
            ),
        ),
        Cause.FAILING: (
            "a request that always failed, while the provider answered others",
            (
                "Where there was no answer in time, raise COSQA_LLM_TIMEOUT and start again; else ask the "
                "provider what it has against the example. A retry asks again."
            ),
        ),
        Cause.PROVIDER: (
            "the provider refused the request",
            (
                "The example says what the provider answered; change that in the annotator or its profile, "
                "then retry."
            ),
        ),
        Cause.FAULT: (
            "a fault of the workbench",
            "The server's log has the traceback: report it, and retry after an update.",
        ),
    }
)
VARIES: Final = (
    (re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”|`[^`]*`"), "…"),
    (re.compile(r"\b[0-9a-f]{8,}\b"), "…"),
    (re.compile(r"\S*/\S+"), "…"),
    (re.compile(r"\d[\d.,]*"), "#"),
    (re.compile(r"\s+"), " "),
)
"""What makes each of a thousand texts its own: quotations, hashes, paths, numbers, line breaks."""


def cause_of(reason: str) -> str:
    """The kind of a reason: a Cause, or `other:` and the text without what varies, at most 127 characters."""
    for pattern, cause in PATTERNS:
        if pattern.search(reason):
            return cause.value
    for pattern, mark in VARIES:
        reason = pattern.sub(mark, reason)
    return f"{OTHER}{reason.strip()[:LONGEST]}"


def describe_abandonment_cause(cause: str) -> tuple[str, str]:
    """A cause in words, and what would help."""
    if cause in WORDS:
        return WORDS[cause]
    return cause.removeprefix(OTHER).strip() or "no cause was recorded", UNKNOWN_HELP
