"""What the help of a verb says is what the application's command takes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest
from django.core.management import get_commands, load_command_class

import manage
from cosqa.verbs import NAMED, VERBS, Verb


def find_parser(words: tuple[str, ...]) -> argparse.ArgumentParser:
    """The parser of a command, or of one of its parts."""
    name, *parts = words
    command = load_command_class(get_commands()[name], name)
    parser: argparse.ArgumentParser = command.create_parser("cosqa", name)
    for part in parts:
        if not part.startswith("-") and part in parts_of(parser):
            parser = parts_of(parser)[part]
    return parser


def parts_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return {
        name: part
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, part in action.choices.items()
    }


def options_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    return (name for action in parser._actions for name in action.option_strings)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_option_and_part_of_a_help_is_one_of_the_command(verb: Verb) -> None:
    parser = find_parser(verb.command)
    own = {name for part in (parser, *parts_of(parser).values()) for name in options_of(part)}
    assert set(verb.option_names) <= own
    assert set(verb.words) <= set(parts_of(parser))
    takes_value = {name.split()[0] for name in verb.options if name.startswith("-") and " " in name}
    flags = {name for action in parser._actions if action.nargs == 0 for name in action.option_strings}
    assert not takes_value & flags


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_the_words_of_an_example_are_understood(verb: Verb) -> None:
    for example in verb.examples:
        assert example.split()[0] == verb.name
        typed = example.partition(" > ")[0].split()[1:]
        if "--help" not in typed:
            find_parser(verb.command).parse_args(typed)


def test_verbs_that_use_the_database_find_it_up_to_date() -> None:
    prepare_themselves = {"serve", "demo"}
    ask_for_nothing = {"check"}
    starting = {verb.command[0] for verb in VERBS} - prepare_themselves - ask_for_nothing
    assert starting <= manage.STARTING


def test_the_verbs_that_were_promised_are_there() -> None:
    promised = (
        "init serve demo import build exchange status review study publish train evaluate "
        "leaderboard export check"
    )
    assert list(NAMED) == promised.split()


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_verb_and_every_part_of_it_takes_json(verb: Verb) -> None:
    parser = find_parser(verb.command)
    assert "--json" in verb.options
    for name, part in (parts_of(parser) or {verb.name: parser}).items():
        assert "--json" in options_of(part), name
