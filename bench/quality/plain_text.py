"""The bench in plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from annotation.quality.bench import Bench
from annotation.quality.tables import Table, build_bench_tables

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


def as_text(some: Iterable[Table]) -> str:
    """The tables in columns, to be printed."""
    return "\n\n".join(in_columns(table) for table in some)


def in_columns(table: Table) -> str:
    widths = [
        max(len(row[place]) for row in (table.columns, *table.rows)) for place in range(len(table.columns))
    ]
    lines = [align_table_row(row, widths) for row in (table.columns, *table.rows)]
    rule = "-" * len(lines[0])
    return "\n".join([table.title, rule, lines[0], rule, *lines[1:], *([table.note] if table.note else [])])


def align_table_row(row: Sequence[str], widths: Sequence[int]) -> str:
    plain = (escape_terminal_text(cell).ljust(width) for cell, width in zip(row, widths, strict=True))
    return "  ".join(plain).rstrip()


def escape_terminal_text(text: str) -> str:
    """Without what a terminal would obey."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
