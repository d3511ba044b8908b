"""`--encoder-file FILE …` of the commands that use encoders."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser


def add_argument(parser: CommandParser) -> None:
    """Adds it; what came is a list of paths for `known_encoders.use_spec_files`."""
    parser.add_argument(
        "--encoder-file",
        nargs="+",
        action="extend",
        type=Path,
        default=[],
        metavar="FILE",
        help="describes an encoder, in TOML or JSON, which can then be named (docs/mining.md)",
    )
