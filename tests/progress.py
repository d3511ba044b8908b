"""A line for each file of tests when it is over, and one for each failure at once, instead of dots.

With `-v` pytest names each test itself, and this keeps quiet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or config.option.verbose > 0:  # a worker of xdist writes nothing
        return
    terminal.showfspath = False
    config.pluginmanager.register(FileProgress(terminal), "file-progress")


@dataclass
class FileTally:
    """What has come of a file's tests so far. `seconds` counts fixtures, too."""

    path: str
    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def __str__(self) -> str:
        told = ", ".join(f"{number} {outcome}" for outcome, number in sorted(self.outcomes.items()))
        return f"{self.path} {told or 'nothing'} in {self.seconds:.1f} s"


class FileProgress:
    """A worker's file is over when the worker tells of another file, or when all is over."""

    def __init__(self, terminal: TerminalReporter) -> None:
        self.terminal = terminal
        self.tallies: dict[str, FileTally] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Generator[None, tuple[Any, Any, Any], tuple[Any, str, Any]]:
        """The outcome still counts, and its word stands in the summary; its letter is not printed."""
        outcome, _, word = yield
        return outcome, "", word

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        tally = self.tally_of(getattr(report, "worker_id", ""), report.nodeid.partition("::")[0])
        hook = self.terminal.config.hook
        outcome: str = hook.pytest_report_teststatus(report=report, config=self.terminal.config)[0]
        tally.seconds += report.duration
        if outcome:
            tally.outcomes[outcome] += 1
        if report.failed:
            self.terminal.write_line(f"{outcome.upper()} {report.nodeid}", red=True)

    def tally_of(self, worker: str, path: str) -> FileTally:
        known = self.tallies.get(worker)
        if known is None or known.path != path:
            self.end_file(worker)
            self.tallies[worker] = FileTally(path)
        return self.tallies[worker]

    def end_file(self, worker: str) -> None:
        if ended := self.tallies.pop(worker, None):
            self.terminal.write_line(str(ended))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        for worker in list(self.tallies):
            self.end_file(worker)
