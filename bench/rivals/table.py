"""What a run found, as Markdown: a table of ratios, one of times, and what could not be measured."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench.measure.clock import median_and_p95
from bench.rivals.tool import OPERATIONS, Operation, Sample

BEGINS: Final = "<!-- written by make rivals: begins -->"
ENDS: Final = "<!-- written by make rivals: ends -->"
NOTHING: Final = "–"
Samples = Mapping[str, Mapping[str, Sequence[Sample]]]
"""By tool and operation."""


class NoMarkers(ValueError):
    """The page has no place for the table; the message names the markers."""


@dataclass(frozen=True)
class Cell:
    """One operation of one tool, in milliseconds."""

    median: float
    p95: float
    cpu: float

    @property
    def words(self) -> str:
        return f"{told(self.median)} / {told(self.p95)} · {told(self.cpu)}"


def cell_of(samples: Sequence[Sample]) -> Cell | None:
    """Median and p95 of what was waited, mean of the processor time. None where nothing was measured."""
    if not samples:
        return None
    cpu = 1000 * statistics.mean(one.cpu for one in samples)
    if len(samples) == 1:
        return Cell(1000 * samples[0].seconds, 1000 * samples[0].seconds, cpu)
    waited = median_and_p95([one.seconds for one in samples])
    return Cell(waited["median"], waited["p95"], cpu)


def told(value: float) -> str:
    """Three digits at most before the point, and no more after it than are worth reading."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def ratio(rival: float, ours: float) -> str:
    """How many times as much the rival takes."""
    if ours <= 0:
        return NOTHING
    value = rival / ours
    if value < 0.01:
        return "< 0.01 ×"
    return f"{value:,.0f} ×" if value >= 10 else f"{value:.1f} ×" if value >= 1 else f"{value:.2f} ×"


def ratios(samples: Samples, ours: str, rivals: Sequence[str]) -> str:
    """Rival ÷ ours for each operation: processor time, then the median of what was waited."""
    head = ["operation", *(f"{rival}: CPU, wait" for rival in rivals)]
    rows = ([one.words, *(ratio_in(samples, ours, rival, one) for rival in rivals)] for one in OPERATIONS)
    return markdown(head, rows)


def ratio_in(samples: Samples, ours: str, rival: str, operation: Operation) -> str:
    own = cell_of(samples.get(ours, {}).get(operation.name, ()))
    other = cell_of(samples.get(rival, {}).get(operation.of_rivals, ()))
    if own is None or other is None:
        return NOTHING
    return f"{ratio(other.cpu, own.cpu)}, {ratio(other.median, own.median)}"


def times(samples: Samples, ours: str, rivals: Sequence[str]) -> str:
    """Median / p95 · processor time of each, in milliseconds."""
    rows = (
        [
            one.words,
            words_of(samples, ours, one.name),
            *(NOTHING if one.beside else words_of(samples, rival, one.name) for rival in rivals),
        ]
        for one in OPERATIONS
    )
    return markdown(["operation", ours, *rivals], rows)


def words_of(samples: Samples, tool: str, operation: str) -> str:
    cell = cell_of(samples.get(tool, {}).get(operation, ()))
    return cell.words if cell else NOTHING


def counts(samples: Samples, ours: str) -> str:
    """How often each operation was done at each tool."""
    done = samples.get(ours, {})
    return ", ".join(f"{one.name} {len(done[one.name])}" for one in OPERATIONS if done.get(one.name))


def notes(reasons: Mapping[str, Mapping[str, str]], absent: Mapping[str, str]) -> str:
    """A line for each tool that did not run, and for each operation that has no figure."""
    words = {one.name: one.words.partition(";")[0] for one in OPERATIONS}
    lines = [f"- **{tool} did not run**: {one_line(why)}" for tool, why in absent.items()]
    for tool, whys in reasons.items():
        lines += [f"- {tool}, {words[name]}: {one_line(why)}" for name, why in whys.items()]
    return "\n".join(lines)


def one_line(text: str) -> str:
    return " ".join(text.split())[:300]


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def put_between(page: str, text: str) -> str:
    """The page with the text where the markers are. Raises NoMarkers."""
    before, begins, rest = page.partition(BEGINS)
    _, ends, after = rest.partition(ENDS)
    if not (begins and ends):
        raise NoMarkers(f"the page needs the lines {BEGINS} and {ENDS}")
    return f"{before}{BEGINS}\n\n{text}\n\n{ENDS}{after}"
