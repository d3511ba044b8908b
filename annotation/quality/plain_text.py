"""The bench in plain text."""

from __future__ import annotations

from typing import Final

from annotation.quality.bench import Bench
from annotation.quality.tables import as_text, build_bench_tables, escape_terminal_text

LONGEST: Final = 160
MOST_WRONG: Final = 200


def as_told(bench: Bench) -> str:
    """Tables, and the wrong pairs in a line or two each; `as_json` has everything that was said."""
    parts = [
        as_text(build_bench_tables(bench.report)),
        f"Tokens were counted by {bench.counted_by}.",
        "Intervals are 95 % and resample whole queries; exact, or Tango's, where few queries differ.",
    ]
    return "\n\n".join([*parts, wrong_pairs(bench)])


def wrong_pairs(bench: Bench) -> str:
    """Each wrong pair with what decided it, and the last thing that was said."""
    wrong = bench.report.wrong
    if not wrong:
        return "No pair was labelled wrong."
    lines = ["Wrong pairs (--json has everything that was said)"]
    for one in wrong[:MOST_WRONG]:
        said = bench.said_of(one)
        why = one.answer.why or (said[-1].note if said else "")
        told = (
            f"{escape_terminal_text(one.answering)}: {escape_terminal_text(one.pair)}, said "
            f"{one.answer.label}, truth {one.truth}"
        )
        how = ", ".join(filter(None, [one.answer.stage, one.answer.decided, one.answer.outcome]))
        lines.append(f"{told}{f' ({how})' if how else ''}: {shorten_to_line(bench.places[one.pair].query)}")
        if why:
            lines.append(f"    {shorten_to_line(why)}")
    more = len(wrong) - MOST_WRONG
    return "\n".join([*lines, *([f"and {more:,} more"] if more > 0 else [])])


def shorten_to_line(text: str) -> str:
    """In one line, without what a terminal would obey."""
    plain = escape_terminal_text(" ".join(text.split()))
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"
