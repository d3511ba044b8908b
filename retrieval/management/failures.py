"""How a command ends that can't do what was asked: one line on standard error, and an object for programs."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from io import StringIO
from typing import Any, Final, NoReturn

from django.core.management.base import BaseCommand, CommandError, SystemCheckError

PROGRAM: Final = "cosqa"
JSON_OPTION: Final = "--json"
WRONG_COMMAND_STATUS: Final = 2


class PartlyDone(CommandError):
    """Something was refused and the rest is done; `facts` is what `--json` prints of that."""

    def __init__(self, message: str, facts: Mapping[str, Any], returncode: int) -> None:
        super().__init__(message, returncode=returncode)
        self.facts = facts


class PlainCommand(BaseCommand):
    """Its errors are one line, `cosqa: …`; with `--json` also an object on standard output."""

    is_for_programs = False
    """Whether `--json` was given: then standard output has one object and nothing else."""

    def tell_people(self, text: str) -> None:
        """What people read: on standard error where a program reads standard output."""
        if self.is_for_programs:
            self.stderr.write(text, str)
        else:
            self.stdout.write(text)

    def print_json(self, facts: Mapping[str, Any]) -> None:
        """The object for programs, if it is asked for."""
        if self.is_for_programs:
            self.stdout.write(json.dumps(facts, ensure_ascii=False, default=str))

    def run_from_argv(self, argv: list[str]) -> None:
        if JSON_OPTION in argv:
            self.refuse_wrong_command(argv)
        super().run_from_argv(argv)

    def refuse_wrong_command(self, argv: list[str]) -> None:
        """End with an object where the words can't be understood; argparse tells people alone."""
        self._called_from_command_line = True
        told = StringIO()
        try:
            with redirect_stderr(told):
                self.create_parser(argv[0], argv[1]).parse_args(argv[2:])
        except SystemExit as end:
            if end.code != WRONG_COMMAND_STATUS:
                raise
            sys.stderr.write(told.getvalue())
            message = told.getvalue().strip().rpartition("error: ")[2]
            self.stdout.write(format_failure(message, WRONG_COMMAND_STATUS))
            raise

    def execute(self, *args: Any, **options: Any) -> Any:
        self.is_for_programs = bool(options.get("json"))
        try:
            return self.execute_quietly(*args, **options)
        except SystemCheckError:
            raise  # it is a page of text
        except CommandError as why:
            if not self._called_from_command_line or options["traceback"]:
                raise
            self.stderr.write(f"{PROGRAM}: {why}", str)
            if options.get("json"):
                facts = why.facts if isinstance(why, PartlyDone) else {}
                self.stdout.write(format_failure(str(why), why.returncode, facts))
            sys.exit(why.returncode)

    def execute_quietly(self, *args: Any, **options: Any) -> Any:
        """Check and handle; raises CommandError and says nothing of it."""
        return super().execute(*args, **options)


def add_json_option(parser: ArgumentParser) -> None:
    parser.add_argument(JSON_OPTION, action="store_true", help="print the result as one JSON object")


def format_failure(message: str, status: int, facts: Mapping[str, Any] | None = None) -> str:
    """The object that `--json` prints where something failed."""
    return json.dumps({**(facts or {}), "error": message, "exit_code": status}, ensure_ascii=False)


def end_command(message: str, argv: Sequence[str], status: int) -> NoReturn:
    """End a command that could not begin."""
    sys.stderr.write(f"{PROGRAM}: {message}\n")
    if JSON_OPTION in argv:
        sys.stdout.write(f"{format_failure(message, status)}\n")
    sys.exit(status)
