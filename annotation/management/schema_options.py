"""Options of commands that order what the API takes, too: said once, in its schema."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

from django.core.management.base import CommandError, CommandParser
from ninja import Schema
from pydantic import ValidationError

Asked = TypeVar("Asked", bound=Schema)
NULL: Final = re.compile(r"; (?:null|empty) = .*")
"""What nothing means: of an option it is what is left out."""


def add_schema_options(parser: CommandParser, schema: type[Schema], *names: str) -> None:
    """An option for each of these fields of `schema`, with its usual value and its words.

    A tick becomes a switch, `--no-…` where it is usually set; the others are a text, one of some words, or a
    whole number.
    """
    for name in names:
        field = schema.model_fields[name]
        flag, words = name.replace("_", "-"), NULL.sub("", str(field.description)).replace("%", "%%")
        if field.annotation is bool and field.default:
            parser.add_argument(
                f"--no-{flag}", dest=name, action="store_false", help=f"without this: {words}"
            )
        elif field.annotation is bool:
            parser.add_argument(f"--{flag}", action="store_true", help=words)
        else:
            kind: dict[str, Any] = {"type": str if field.annotation is str else int}
            if get_origin(field.annotation) is Literal:
                kind = {"choices": [word for word in get_args(field.annotation) if word]}
            told = words if field.default in (None, "") else f"{words} (default %(default)s)"
            parser.add_argument(
                f"-{flag}" if len(flag) == 1 else f"--{flag}", default=field.default, help=told, **kind
            )


def read_schema_options(schema: type[Asked], options: dict[str, Any]) -> Asked:
    """What options for all fields of `schema` ask. Raises CommandError for what it does not take."""
    try:
        return schema(**{name: options[name] for name in schema.model_fields})
    except ValidationError as error:
        wrong = ("--{}: {}".format("".join(map(str, each["loc"])), each["msg"]) for each in error.errors())
        raise CommandError("; ".join(wrong)) from error
