"""Options that were renamed are taken by both names, and shown by the new one."""

from __future__ import annotations

import pytest
from django.core.management.base import CommandError, CommandParser

from retrieval.management.options import add_kind_option, add_renamed_option


@pytest.fixture
def parser() -> CommandParser:
    made = CommandParser(called_from_command_line=False)
    add_renamed_option(made, "--functions", "--snippets", default="", help="name of the collection")
    add_kind_option(made, "of which kind")
    return made


@pytest.mark.parametrize("name", ["--functions", "--snippets"])
def test_both_names_of_an_option_mean_the_same(parser: CommandParser, name: str) -> None:
    assert parser.parse_args([name, "ours"]).snippets == "ours"
    assert parser.parse_args([]).snippets == ""


def test_the_help_shows_the_new_name_alone(parser: CommandParser) -> None:
    told = parser.format_help()
    assert "--functions" in told and "snippets" not in told


def test_a_kind_is_told_by_the_new_word_or_the_old_one(parser: CommandParser) -> None:
    kinds = [parser.parse_args(told).kind for told in ([], ["--kind", "functions"], ["--kind", "snippets"])]
    assert kinds == ["snippets"] * 3
    assert parser.parse_args(["--kind", "queries"]).kind == "queries"
    with pytest.raises(CommandError, match="invalid choice"):
        parser.parse_args(["--kind", "pairs"])
