"""The sandbox in a notebook: a candidate and a test program in, a report out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from cosqa.application import application_first, find_data_folder

with application_first():
    from sandbox.expression_call import CALL_LIMITS, Answer, Call
    from sandbox.pip_install import machine_settings
    from sandbox.program import Limits, Program
    from sandbox.reports.canonical import canonical_text
    from sandbox.reports.report import Report
    from sandbox.runner import Backend, open_sandbox

__all__ = ["Limits", "Sandbox", "canonical_text"]


class Sandbox:
    """Runs Python that nobody has read, contained: `with Sandbox() as sandbox: sandbox.run(code, test)`.

    Opening one takes seconds, and minutes the first time, as the packages of test programs are installed into
    `home`. It raises SandboxUnavailable where neither bubblewrap nor Docker works, and says what to install.
    """

    def __init__(self, backend: Backend = "auto", home: Path | None = None) -> None:
        environment, files = machine_settings(os.environ)
        self.opened = open_sandbox(
            backend,
            home or find_data_folder() / "sandbox",
            pip_environment=environment,
            pip_files=files,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.opened.close()

    def run(
        self,
        candidate: str,
        test: str,
        *,
        dependencies: Sequence[str] = (),
        limits: Limits | None = None,
    ) -> Report:
        """What `test` showed of `candidate`. Never raises for what they do: `report.outcome` says it."""
        return self.opened.run(Program(candidate, test, tuple(dependencies)), limits or Limits())

    def call(self, candidate: str, expression: str) -> Answer:
        """What an expression gives after the candidate has been defined."""
        return self.opened.call(Call(candidate, expression), CALL_LIMITS)
