"""Figures that somebody will cite, with all that is needed to compute them again: `pin` and `reproduce`."""

from annotation.pinning.comparing import Change
from annotation.pinning.keeping import NoSuchPin, NothingToPin, pin_leaderboard, pin_study, pinned
from annotation.pinning.reproducing import Reproduced, reproduce

__all__ = [
    "Change",
    "NoSuchPin",
    "NothingToPin",
    "Reproduced",
    "pin_leaderboard",
    "pin_study",
    "pinned",
    "reproduce",
]
