"""The buttons that act on a build, and what is said once one was pressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from annotation.builds.control.pause_resume import STATES, Action
from annotation.builds.drift.watched_pairs import has_shifted
from annotation.builds.limits import canary
from annotation.models import Build


@dataclass(frozen=True)
class Control:
    """A button: what it does, and whether the server asks once more before it does it."""

    action: Action
    word: str
    mark: str
    kind: str
    confirmed: bool = False


CONTROLS: Final = (
    Control(Action.PAUSE, "Pause", "‖", ""),
    Control(Action.RESUME, "Resume", "▶", "primary"),
    Control(Action.GO_ON, "Continue with all pairs", "▶", "primary"),
    Control(Action.LEAVE, "Leave the other pairs", "■", ""),
    Control(Action.CANCEL, "Cancel …", "■", "danger", confirmed=True),
)

WITH_A_REASON: Final = Control(Action.RESUME, "Resume …", "▶", "primary", confirmed=True)
"""Where the model has shifted, whoever goes on with it says why."""
DONE: Final = {
    Action.PAUSE: "Paused. Running steps still finish; no new ones start.",
    Action.RESUME: "Resumed.",
    Action.GO_ON: "The build continues with all its pairs.",
    Action.LEAVE: "The other new pairs are left out. The build is done.",
    Action.CANCEL: "Cancelled. Settled labels are kept; open cases stay unjudged.",
}


def list_build_controls(build: Build) -> tuple[Control, ...]:
    """The buttons that the state allows."""
    found = tuple(button for button in CONTROLS if build.state in STATES[button.action][0])
    if build.state == Build.State.CANARY and not canary.is_of_extension(build):
        found = tuple(button for button in found if button.action is not Action.LEAVE)
    if build.state == Build.State.WAITING and build.waits_for == Build.WaitsFor.REPLIES:
        found = tuple(button for button in found if button.action is not Action.RESUME)
    if build.state == Build.State.PAUSED and has_shifted(build):
        return tuple(WITH_A_REASON if button.action is Action.RESUME else button for button in found)
    return found


def describe_action_result(action: Action, touched: int) -> str:
    """What an action did, for the person who did it."""
    if action is Action.RETRY:
        return f"{touched:,} abandoned cases go back to the stage where they stopped."
    return DONE[action]
