"""Options of commands that are made of what the API takes."""

from __future__ import annotations

import pytest
from django.core.management.base import CommandError, CommandParser

from annotation.management.schema_options import add_schema_options
from annotation.schemas.builds.builds import Order
from annotation.schemas.derived.missing_functions import FillIn

NAMES = ("k", "reader", "batches", "approximate", "seed")


def test_schema_options_left_out_have_the_usual_values() -> None:
    parser = CommandParser()
    add_schema_options(parser, Order, *NAMES)
    assert {name: getattr(parser.parse_args([]), name) for name in NAMES} == {
        "k": 20,
        "reader": True,
        "batches": False,
        "approximate": "",
        "seed": 1,
    }


def test_schema_options_take_switches_numbers_words_and_texts() -> None:
    parser = CommandParser()
    add_schema_options(parser, Order, *NAMES)
    add_schema_options(parser, FillIn, "at_once")
    told = ["-k", "3", "--no-reader", "--batches", "--approximate", "ivf", "--at-once", "it is small"]
    found = vars(parser.parse_args(told))
    assert (found["k"], found["reader"], found["batches"]) == (3, False, True)
    assert (found["approximate"], found["at_once"]) == ("ivf", "it is small")


def test_schema_options_refuse_a_word_that_there_is_not() -> None:
    parser = CommandParser(called_from_command_line=False)
    add_schema_options(parser, Order, "approximate")
    with pytest.raises(CommandError, match="invalid choice: 'flat'"):
        parser.parse_args(["--approximate", "flat"])


def test_schema_options_tell_the_usual_value_and_nothing_of_null() -> None:
    parser = CommandParser()
    add_schema_options(parser, Order, "rounds", "limit", "annotator")
    told = " ".join(parser.format_help().split())
    assert "each time asked again (default 1)" in told
    assert "at most so many pairs" in told
    assert "null" not in told
    assert "50 % criterion" in told
