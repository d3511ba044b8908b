"""The life of a case as a table: which stage follows which event. No I/O.

    screening --match / no match------------------------------------> settled
        +-to reader-> reading -+                                        ^
        +-spot check-> reading (a clear pair that is tested all the same)
        +-unclear--------------+-> writing_test -> executing -> arbitrating
                                   |  ^  ^  ^         |  ^        ^   +-disputed-> tie_breaking -> settled
                                   +--+  |  +rejected-+  |        | refused
                            (neighbour)  |               +-fixing-+   (a missing module)
                                         +---- tested nothing (once, where a second test is wanted)
    any working stage --gave up-> abandoned --retried-> the stage that was left

Reader and tie breaker are part of the usual design; the paper's has neither.

Abandoned means that the case could not be judged; it is never a label.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal

Queue = Literal["llm", "sandbox"]


class Stage(StrEnum):
    """Where a case is."""

    SCREENING = "screening"
    READING = "reading"
    WRITING_TEST = "writing_test"
    EXECUTING = "executing"
    FIXING = "fixing"
    ARBITRATING = "arbitrating"
    TIE_BREAKING = "tie_breaking"
    SETTLED = "settled"
    ABANDONED = "abandoned"

    @property
    def is_working(self) -> bool:
        """Whether the stage has work to do, that is, whether a worker may claim a case in it."""
        return self in QUEUE_OF


class Event(StrEnum):
    """What happened in a stage; together with the stage it decides the next one."""

    MATCH = "match"
    NO_MATCH = "no_match"
    UNCLEAR = "unclear"
    TO_READER = "to_reader"
    SPOT_CHECK = "spot_check"
    READ = "read"
    CONTRASTED = "contrasted"
    WRITTEN = "written"
    REJECTED_PROGRAM = "rejected_program"
    EXECUTED = "executed"
    MISSING_MODULE = "missing_module"
    TESTED_NOTHING = "tested_nothing"
    FIXED = "fixed"
    REFUSED = "refused"
    ACCEPTED = "accepted"
    DENIED = "denied"
    DISPUTED = "disputed"
    GAVE_UP = "gave_up"
    RETRIED = "retried"


UNCLEAR_EVENTS: Final = (Event.UNCLEAR, Event.TO_READER)
"""What the screener's "unclear" leads to: at once a test, or a reader before it."""

TO_TEST_EVENTS: Final = (*UNCLEAR_EVENTS, Event.SPOT_CHECK)
"""What leads from the screener on to a test: unclear pairs, and clear ones that are checked by one."""


class IllegalMove(Exception):
    """The event can't happen in the stage; nothing was changed."""

    def __init__(self, stage: Stage, event: Event, legal: tuple[Event, ...], left: Stage | None) -> None:
        if stage is Stage.ABANDONED and event is Event.RETRIED:
            hint = f"name the working stage that the case left (got {left.value if left else 'none'})"
        else:
            hint = f"legal events are: {', '.join(legal) or 'none, the stage is final'}"
        super().__init__(f"'{event.value}' can't happen in stage '{stage.value}'; {hint}.")
        self.stage = stage
        self.event = event


QUEUE_OF: Final[Mapping[Stage, Queue]] = MappingProxyType(
    {
        Stage.SCREENING: "llm",
        Stage.READING: "llm",
        Stage.WRITING_TEST: "llm",
        Stage.EXECUTING: "sandbox",
        Stage.FIXING: "llm",
        Stage.ARBITRATING: "llm",
        Stage.TIE_BREAKING: "llm",
    }
)

# The loops are bounded by whoever reports the events: a program is rejected once, a second one is
# asked for once, and the number of fixing rounds belongs to the annotator's configuration. What goes
# beyond the bound is evidence for the arbiter (EXECUTED or REFUSED), so it is no event of its own.
TRANSITIONS: Final[Mapping[tuple[Stage, Event], Stage]] = MappingProxyType(
    {
        (Stage.SCREENING, Event.MATCH): Stage.SETTLED,
        (Stage.SCREENING, Event.NO_MATCH): Stage.SETTLED,
        (Stage.SCREENING, Event.UNCLEAR): Stage.WRITING_TEST,
        (Stage.SCREENING, Event.TO_READER): Stage.READING,
        (Stage.SCREENING, Event.SPOT_CHECK): Stage.READING,
        (Stage.READING, Event.READ): Stage.WRITING_TEST,
        (Stage.WRITING_TEST, Event.CONTRASTED): Stage.WRITING_TEST,
        (Stage.WRITING_TEST, Event.WRITTEN): Stage.EXECUTING,
        (Stage.WRITING_TEST, Event.REJECTED_PROGRAM): Stage.WRITING_TEST,
        (Stage.EXECUTING, Event.REJECTED_PROGRAM): Stage.WRITING_TEST,
        (Stage.EXECUTING, Event.EXECUTED): Stage.ARBITRATING,
        (Stage.EXECUTING, Event.MISSING_MODULE): Stage.FIXING,
        (Stage.EXECUTING, Event.TESTED_NOTHING): Stage.WRITING_TEST,
        (Stage.FIXING, Event.FIXED): Stage.EXECUTING,
        (Stage.FIXING, Event.REFUSED): Stage.ARBITRATING,
        (Stage.ARBITRATING, Event.ACCEPTED): Stage.SETTLED,
        (Stage.ARBITRATING, Event.DENIED): Stage.SETTLED,
        (Stage.ARBITRATING, Event.DISPUTED): Stage.TIE_BREAKING,
        (Stage.TIE_BREAKING, Event.ACCEPTED): Stage.SETTLED,
        (Stage.TIE_BREAKING, Event.DENIED): Stage.SETTLED,
        **{(stage, Event.GAVE_UP): Stage.ABANDONED for stage in QUEUE_OF},
    }
)


def legal_events(stage: Stage) -> tuple[Event, ...]:
    """The events that may happen in `stage`, in the order of `Event`."""
    if stage is Stage.ABANDONED:
        return (Event.RETRIED,)
    return tuple(event for event in Event if (stage, event) in TRANSITIONS)


def next_stage(stage: Stage, event: Event, left: Stage | None = None) -> Stage:
    """The stage after `event` happened in `stage`.

    `left` is the working stage from which an abandoned case was given up; only RETRIED needs it.
    Raises IllegalMove if the event is not in the table, or if RETRIED lacks a working stage.
    """
    if stage is Stage.ABANDONED and event is Event.RETRIED and left is not None and left.is_working:
        return left
    try:
        return TRANSITIONS[stage, event]
    except KeyError:
        raise IllegalMove(stage, event, legal_events(stage), left) from None
