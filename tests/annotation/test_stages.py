from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.stages import (
    QUEUE_OF,
    TRANSITIONS,
    Event,
    IllegalMove,
    Stage,
    legal_events,
    next_stage,
)

FINAL = {Stage.SETTLED, Stage.ABANDONED}


def walk(stage: Stage, events: Iterable[Event]) -> Stage:
    for event in events:
        stage = next_stage(stage, event)
    return stage


def reachable(start: Stage) -> set[Stage]:
    seen, frontier = {start}, [start]
    while frontier:
        stage = frontier.pop()
        new = {target for (source, _), target in TRANSITIONS.items() if source is stage} - seen
        seen |= new
        frontier += new
    return seen


@pytest.mark.parametrize(
    "events",
    [
        [Event.MATCH],
        [Event.NO_MATCH],
        [Event.UNCLEAR, Event.WRITTEN, Event.EXECUTED, Event.ACCEPTED],
        [Event.UNCLEAR, Event.WRITTEN, Event.EXECUTED, Event.DENIED],
        [Event.UNCLEAR, Event.WRITTEN, Event.MISSING_MODULE, Event.FIXED, Event.EXECUTED, Event.ACCEPTED],
        [Event.UNCLEAR, Event.WRITTEN, Event.MISSING_MODULE, Event.REFUSED, Event.DENIED],
        [Event.UNCLEAR, Event.REJECTED_PROGRAM, Event.WRITTEN, Event.EXECUTED, Event.ACCEPTED],
        [Event.UNCLEAR, Event.WRITTEN, Event.TESTED_NOTHING, Event.WRITTEN, Event.EXECUTED, Event.ACCEPTED],
        [Event.UNCLEAR, Event.WRITTEN, Event.REJECTED_PROGRAM, Event.WRITTEN, Event.EXECUTED, Event.DENIED],
    ],
)
def test_the_paths_of_a_judged_case_settle(events: list[Event]) -> None:
    assert walk(Stage.SCREENING, events) is Stage.SETTLED


@pytest.mark.parametrize("stage", [stage for stage in Stage if stage not in FINAL])
def test_every_working_stage_can_settle_and_can_be_abandoned(stage: Stage) -> None:
    assert reachable(stage) >= FINAL
    assert next_stage(stage, Event.GAVE_UP) is Stage.ABANDONED


def test_every_stage_is_reached_from_the_first() -> None:
    assert reachable(Stage.SCREENING) == set(Stage)


@pytest.mark.parametrize("stage", list(QUEUE_OF))
def test_a_retried_case_returns_to_the_stage_it_left(stage: Stage) -> None:
    assert next_stage(Stage.ABANDONED, Event.RETRIED, left=stage) is stage


@pytest.mark.parametrize("left", [None, Stage.SETTLED, Stage.ABANDONED])
def test_a_retry_without_a_working_stage_is_refused(left: Stage | None) -> None:
    with pytest.raises(IllegalMove, match="name the working stage"):
        next_stage(Stage.ABANDONED, Event.RETRIED, left=left)


def test_working_stages_have_a_queue_and_final_ones_have_none() -> None:
    assert {stage for stage in Stage if stage.is_working} == set(Stage) - FINAL
    assert QUEUE_OF[Stage.EXECUTING] == "sandbox"
    assert {QUEUE_OF[stage] for stage in QUEUE_OF if stage is not Stage.EXECUTING} == {"llm"}


def test_an_illegal_move_names_the_legal_events() -> None:
    with pytest.raises(
        IllegalMove, match=r"'accepted' can't happen in stage 'screening'.*match, no_match, uncl"
    ):
        next_stage(Stage.SCREENING, Event.ACCEPTED)
    with pytest.raises(IllegalMove, match="the stage is final"):
        next_stage(Stage.SETTLED, Event.RETRIED, left=Stage.SCREENING)


@given(st.sampled_from(Stage), st.sampled_from(Event), st.sampled_from([None, *Stage]))
def test_a_move_is_in_the_table_or_refused(stage: Stage, event: Event, left: Stage | None) -> None:
    if event in legal_events(stage) and (
        event is not Event.RETRIED or (left is not None and left.is_working)
    ):
        assert next_stage(stage, event, left) in Stage
    else:
        with pytest.raises(IllegalMove):
            next_stage(stage, event, left)


@given(st.data())
def test_random_legal_events_never_leave_the_table(data: st.DataObject) -> None:
    stage, left = Stage.SCREENING, Stage.SCREENING
    for _ in range(data.draw(st.integers(0, 40), label="moves")):
        legal = legal_events(stage)
        if not legal:
            assert stage is Stage.SETTLED
            return
        before = stage
        stage = next_stage(before, data.draw(st.sampled_from(legal), label="event"), left)
        left = before if before.is_working else left
        if before is Stage.ABANDONED:
            assert stage is left
