"""`manage.py llm …`: which providers are known, and what an unknown one can do."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from annotation.builds.launch.provider_key import configured_key
from annotation.builds.limits.connection_budget import NoMoney, meter_connection_test, price_of
from annotation.llm import LLMError
from annotation.llm.probe import Finding, Probed, ask_probe
from annotation.llm.profiles import PROFILES
from annotation.llm.token_counter import CannotCount, count_tokens_locally, file_of
from annotation.models.builds.build import NANO
from retrieval.management.failures import PlainCommand

TRIED: Final = "def add(a, b): return a + b  # what a tokenizer is tried with"


class Command(PlainCommand):
    help = "Provider profiles: list those that are shipped, or find out what a server can do."
    requires_system_checks = ()  # a profile that can't be read is what a probe mends

    def add_arguments(self, parser: CommandParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        commands.add_parser("profiles", help="the profiles that COSQA_LLM_PROFILE can name")
        asks = commands.add_parser(
            "probe",
            help="ask a server what it can do",
            description="Asks a server a dozen small questions and prints the profile that fits it."
            " The key is that of COSQA_LLM_API_KEY, or of the variable that the profile names.",
        )
        asks.add_argument(
            "--base-url", default=settings.LLM_BASE_URL, help="without /v1 (default: %(default)s)"
        )
        asks.add_argument("--model", default=settings.LLM_MODEL, help="(default: %(default)s)")
        asks.add_argument(
            "--save", type=Path, metavar="FILE.toml", help="write the profile for COSQA_LLM_PROFILE"
        )
        asks.add_argument(
            "--tokenizer",
            type=Path,
            metavar="PATH",
            help="a tokenizer.json, or a folder with MODEL/tokenizer.json: the profile counts tokens by it",
        )
        asks.add_argument(
            "--caching", action="store_true", help="also try prompt caching: about 12,000 tokens"
        )
        asks.add_argument(
            "--batches",
            action="store_true",
            help="also try a batch: one question, waited for up to 2 minutes",
        )
        asks.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["command"] == "profiles":
            self.list_profiles()
        else:
            self.probe(options)

    def list_profiles(self) -> None:
        for name, profile in PROFILES.items():
            mark = "tested" if profile.tested else "untested"
            self.stdout.write(f"{name:11} {mark:9} {' → '.join(profile.ladder):40} {profile.about}")

    def probe(self, options: dict[str, Any]) -> None:
        if options["save"] and options["save"].suffix != ".toml":
            raise CommandError(f"--save {options['save']}: the name has to end with .toml")
        tokenizer = self.tokenizer(options)
        try:
            wishes = options["caching"], options["batches"]
            found = self.counted(options["base_url"], options["model"], *wishes)
        except LLMError as error:
            raise CommandError(f"{error.message}") from error
        except NoMoney as why:
            raise CommandError(str(why)) from why
        found = replace(found, profile=replace(found.profile, tokenizer=tokenizer))
        self.show(found, as_json=options["json"])
        if options["save"]:
            self.save(found, options["save"])

    def counted(self, base_url: str, model: str, caching: bool, batches: bool) -> Probed:
        """Ask the server; what that costs is the project's money. Raises LLMError and NoMoney."""
        key, timeout = configured_key(), settings.LLM_TIMEOUT
        ask = partial(ask_probe, base_url, key, model, caching=caching, batches=batches, timeout=timeout)
        try:
            known = price_of(model) is not None
        except DatabaseError as error:
            self.stderr.write(f"There is no database yet ({error}): what this costs is counted nowhere.", str)
            return ask()
        if not known:
            self.stderr.write(f"No price is known for {model}: what this costs is counted nowhere.", str)
        with meter_connection_test(model, caching=caching, batches=batches) as meter:
            found = ask(replies=meter.replies)
        if meter.cost is not None:
            told = f"It cost ${meter.cost / NANO:.6f}, which counts in the project's total."
            self.stderr.write(told, str)
        return found

    def tokenizer(self, options: dict[str, Any]) -> str:
        """The tokenizer's path for the profile, once it has counted something; empty where none was named."""
        place = options["tokenizer"]
        if place is None:
            return ""
        try:
            count_tokens_locally(file_of(str(place), options["model"]), [TRIED])
        except CannotCount as why:
            raise CommandError(f"--tokenizer {place}: {why}") from why
        return str(place.resolve())

    def show(self, found: Probed, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(asdict(found)))
            return
        for finding in found.findings:
            self.stdout.write(format_finding(finding))
        self.stdout.write(f"\n{found.toml()}")

    def save(self, found: Probed, path: Path) -> None:
        try:
            path.write_text(found.toml())
        except OSError as error:
            raise CommandError(f"{path} can't be written: {error}") from error
        self.stderr.write(f"Written: start with COSQA_LLM_PROFILE={path.resolve()}", str)


def format_finding(finding: Finding) -> str:
    """One finding on one line; what a server says is shown without its line breaks and control characters."""
    told = "".join(letter if letter.isprintable() else " " for letter in finding.told)
    return f"{'yes' if finding.works else 'no ':3} {finding.tried:38} {told[:120]}"
