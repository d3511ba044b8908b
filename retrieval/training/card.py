"""What a trained folder says of itself: `training.json` for programs, `README.md` for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from retrieval.encoders.baselines.learned_texts import CARD, read_training

README: Final = "README.md"
LICENCES_NAMED: Final = 12
LONGEST_LICENCE: Final = 80
MARKS: Final = str.maketrans("`*_[]<>#|", " " * 9)


class NoCard(ValueError):
    """The folder has no `training.json` that can be read; the message says what to do."""


def write_card(folder: Path, told: Mapping[str, Any]) -> None:
    """Write both files; `told` is what `training.json` holds."""
    (folder / README).write_text(describe_training(told), "utf-8")
    write_whole(folder / CARD, json.dumps(told, indent=2) + "\n")


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a kill leaves the old one, or the new one."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, "utf-8")
    new.replace(path)


def read_card(folder: Path) -> dict[str, Any]:
    """What a finished training says of itself. Raises `NoCard`."""
    try:
        told = read_training(folder)
        if told is None:
            raise ValueError("no such file")
    except (OSError, ValueError) as why:
        raise NoCard(f"{folder / CARD} can't be read ({why}); train again into another folder") from why
    return told


def describe_training(told: Mapping[str, Any]) -> str:
    """The card in words."""
    data, result = told["data"], told["result"]
    lines = [
        f"# {told['system']}, trained on {data['benchmark']}",
        "",
        f"Configuration `{told['hash']}`. All settings and curves are in `{CARD}`.",
        "",
        "```",
        f"cosqa evaluate BENCHMARK --encoder {told['system']}:FOLDER",
        "```",
        "",
        "## Result",
        "",
        *result_lines(result),
        "",
        "## Data",
        "",
        *data_lines(told),
        "",
        "## Licences",
        "",
        *licence_lines(told),
    ]
    return "\n".join(lines) + "\n"


def in_one_line(text: str) -> str:
    """A text of a source without line breaks and marks of Markdown, cut."""
    return " ".join(text.translate(MARKS).split())[:LONGEST_LICENCE]


def result_lines(result: Mapping[str, Any]) -> list[str]:
    """A table of the test queries before and after, and why training ended early."""
    test = result["test"]
    lines = []
    if result["stopped"]:
        lines += [f"Training was stopped {result['stopped']} after {result['epochs']:.2f} epochs.", ""]
    if test is None:
        return [*lines, "The split has no test queries, so nothing was measured."]
    names = list(test["rows"]["after training"])
    lines += [
        f"{test['queries']:,} test queries search {test['searched']:,} functions.",
        "",
        f"| | {' | '.join(names)} |",
        f"| --- |{' --- |' * len(names)}",
    ]
    return lines + [
        f"| {label} | {' | '.join(f'{row[name]:.4f}' for name in names)} |"
        for label, row in test["rows"].items()
    ]


def data_lines(told: Mapping[str, Any]) -> list[str]:
    """The parts, and what was done to the labels."""
    data = told["data"]
    split, settings = data["split"], told["settings"]
    lines = [
        f"- {split[part]['pairs']:,} pairs of {split[part]['queries']:,} queries: {part}"
        for part in ("train", "dev", "test")
    ]
    lines.append(
        f"- Split by {split['by']}, seed {split['seed']}; text of a function: {data['text_option']}."
    )
    if data["without"]:
        out = data["left_out"]
        lines.append(
            f"- Left out for {', '.join(data['without'])}: {out['queries']:,} queries, {out['snippets']:,} "
            "functions."
        )
    if shared := data["left_out"].get("shared"):
        lines.append(f"- Not asked, as projects of several parts have them: {shared:,} queries.")
    if settings["shuffles_labels"]:
        lines.append(
            "- **The labels were shuffled.** This is a control: it shows what the texts alone teach."
        )
    lines.append(f"- Started from {told['start']}.")
    return lines


def licence_lines(told: Mapping[str, Any]) -> list[str]:
    """What the functions that were learned may be used for, and what the weights were before."""
    licences = told["data"]["licences"]
    lines = [
        "The training functions state these licences. Read them before you share the weights.",
        "",
        *(
            f"- {in_one_line(licence)}: {count:,} pairs"
            for licence, count in list(licences.items())[:LICENCES_NAMED]
        ),
    ]
    if len(licences) > LICENCES_NAMED:
        lines.append(f"- and {len(licences) - LICENCES_NAMED:,} more, in `{CARD}`")
    if told["start_licence"]:
        lines.append(f"- The weights before training: {told['start_licence']}")
    return lines
