"""CoSQA Workbench for people who type or write notebooks; `cosqa --help` lists the verbs.

`Client` speaks to a running server. `score`, `Sandbox` and `Encoder` work by themselves: they load
two packages of the application, and raise `ForeignPackage` where others of the same names are loaded.
Importing `cosqa` alone loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosqa.application import ForeignPackage
    from cosqa.client import ApiError, Client, JobFailed
    from cosqa.encoding import Encoder
    from cosqa.execution import Sandbox
    from cosqa.scoring import Scores, score

__all__ = ["ApiError", "Client", "Encoder", "ForeignPackage", "JobFailed", "Sandbox", "Scores", "score"]

PLACES = {
    "ApiError": "client",
    "Client": "client",
    "Encoder": "encoding",
    "ForeignPackage": "application",
    "JobFailed": "client",
    "Sandbox": "execution",
    "Scores": "scoring",
    "score": "scoring",
}
"""The module of each name, loaded when the name is asked for first."""


def __getattr__(name: str) -> Any:
    if name not in PLACES:
        raise AttributeError(f"module 'cosqa' has no attribute {name!r}")
    return getattr(import_module(f"cosqa.{PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
