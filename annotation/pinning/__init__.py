"""Figures that somebody will cite, with all that is needed to compute them again: `pin` and `reproduce`."""

from annotation.pinning.builds import pin_build
from annotation.pinning.comparing import Change
from annotation.pinning.comparisons import pin_comparison
from annotation.pinning.keeping import NoSuchPin, NothingToPin, pin_leaderboard, pin_study, pinned
from annotation.pinning.minings import pin_mining
from annotation.pinning.reproducing import Reproduced, read_too, reproduce, search_too
from annotation.pinning.sureness import Errors
from annotation.pinning.two_builds import pin_two_builds

__all__ = [
    "Change",
    "Errors",
    "NoSuchPin",
    "NothingToPin",
    "Reproduced",
    "pin_build",
    "pin_comparison",
    "pin_leaderboard",
    "pin_mining",
    "pin_study",
    "pin_two_builds",
    "pinned",
    "read_too",
    "reproduce",
    "search_too",
]
