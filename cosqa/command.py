"""The command `cosqa`. It loads the application, and Django with it, only to carry a verb out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

import click
from click.shell_completion import CompletionItem

from cosqa.application import ForeignPackage, enter_application
from cosqa.verbs import VERBS, Verb

INTERRUPTED: Final = 130
"""The exit status of what was stopped with Ctrl-C."""
HELP: Final = ("-h", "--help")
FOOT: Final = """'cosqa VERB --help' has options and examples.
Exit codes: 0 done, 1 not done, 2 wrong command, 3 lines refused, 75 disk full.
Completion by Tab: eval "$(_COSQA_COMPLETE=bash_source cosqa)", or zsh_source."""


class VerbCommand(click.Command):
    """A verb: its help is ours, and the application reads what else is typed."""

    def __init__(self, verb: Verb) -> None:
        super().__init__(verb.name, short_help=verb.summary, add_help_option=False)
        self.verb = verb

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.args = args
        return []

    def invoke(self, ctx: click.Context) -> None:
        if ctx.args[:1] and ctx.args[0] in HELP:
            click.echo(self.verb.help)
            return
        is_alike = self.verb.command == (self.verb.name,)
        run_application([*self.verb.command, *ctx.args], "cosqa" if is_alike else "cosqa admin")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        known = self.verb.option_names if incomplete.startswith("-") else self.verb.words
        found = [CompletionItem(word) for word in known if word.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]


class AdminCommand(click.Command):
    """`cosqa admin …`: every command of the application, and Celery with its settings."""

    def __init__(self) -> None:
        super().__init__("admin", short_help="Every other command: cosqa admin help", add_help_option=False)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.args = args
        return []

    def invoke(self, ctx: click.Context) -> None:
        if ctx.args[:1] == ["celery"]:
            run_celery(ctx.args[1:])
        else:
            is_alone = not ctx.args or ctx.args[0] in HELP
            run_application(["help"] if is_alone else ctx.args, "cosqa admin")


class Verbs(click.Group):
    """The verbs, in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not ctx.resilient_parsing:
            ctx.fail(f"There is no verb {args[0]!r}. 'cosqa admin help' lists the other commands.")
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        lines = [f"  {name:13}{command.short_help}" for name, command in self.commands.items()]
        return "\n".join(
            ["cosqa VERB …: build, review and evaluate benchmarks for code search", *lines, FOOT]
        )


def run_application(words: Sequence[str], name: str) -> None:
    """Carry a command of manage.py out in this process, and end with its exit status."""
    enter()
    sys.argv = [name, *words]
    import manage

    try:
        manage.main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def run_celery(words: Sequence[str]) -> None:
    """Celery's own command, for the application's tasks."""
    enter()
    if find_spec("celery") is None:
        sys.exit("Celery is not installed: pip install 'cosqa-workbench[servers]'")
    sys.argv = ["celery", "--app", "cosqa_site.celery", *words]
    from celery.__main__ import main as run

    run()


def enter() -> None:
    try:
        enter_application()
    except ForeignPackage as why:
        sys.exit(str(why))


def make_group() -> click.Command:
    """`cosqa` with its verbs; nothing of the application is loaded."""
    commands = [*(VerbCommand(verb) for verb in VERBS), AdminCommand()]
    group = Verbs("cosqa", commands=commands, context_settings={"help_option_names": HELP})
    version = click.version_option(package_name="cosqa-workbench", prog_name="cosqa")
    return version(group)


def main() -> None:
    make_group()(prog_name="cosqa")
