"""Options that several commands have, and their former names."""

from __future__ import annotations

import argparse
from typing import Any, Final

from django.core.management.base import CommandParser

from retrieval.models import Collection

STORED_KINDS: Final = {kind.noun: kind.value for kind in Collection.Kind}


def add_renamed_option(parser: CommandParser, name: str, former: str, **how: Any) -> None:
    """An option that is also taken by its former name, which the help does not show.

    Its value has the former name among the command's options: callers from Python keep theirs.
    """
    dest = former.lstrip("-").replace("-", "_")
    parser.add_argument(name, dest=dest, **how)
    parser.add_argument(former, dest=dest, default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def add_kind_option(parser: CommandParser, help_text: str) -> None:
    """`--kind`: a collection of queries or of functions, which is the default."""
    parser.add_argument(
        "--kind",
        type=lambda told: STORED_KINDS.get(told, told),
        choices=Collection.Kind.values,
        default=Collection.Kind.SNIPPETS.value,
        metavar="{queries,functions}",
        help=f"{help_text} (default functions)",
    )
