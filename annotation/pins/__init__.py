"""Figures that somebody will cite, with all that is needed to compute them again: `pin` and `reproduce`."""

from annotation.pins.builds import pin_build, pin_two_builds
from annotation.pins.comparisons import pin_comparison
from annotation.pins.leaderboards import Errors, pin_leaderboard
from annotation.pins.minings import pin_mining
from annotation.pins.pin_record import Change, NoSuchPin, NothingToPin, find_pin_by_hash
from annotation.pins.reproduction import Reproduced, read_too, reproduce_pin, search_too
from annotation.pins.studies import pin_study

__all__ = [
    "Change",
    "Errors",
    "NoSuchPin",
    "NothingToPin",
    "Reproduced",
    "find_pin_by_hash",
    "pin_build",
    "pin_comparison",
    "pin_leaderboard",
    "pin_mining",
    "pin_study",
    "pin_two_builds",
    "read_too",
    "reproduce_pin",
    "search_too",
]
