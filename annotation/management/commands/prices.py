"""`manage.py prices …`: what models cost, and the list prices that are shipped."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.builds.launch import prices
from annotation.models import Price
from retrieval.management.light import LightCommand


class Command(LightCommand):
    help = "Show the price table, or fill in the list prices that are shipped."

    def add_arguments(self, parser: CommandParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        commands.add_parser(
            "load",
            help="fill in shipped prices that are missing",
            description="Fills in what is missing of annotation/builds/launch/prices.toml. It changes no "
            "row, and leaves a model alone whose price somebody has entered. Look at the prices before you "
            "rely on them.",
        )
        commands.add_parser("list", help="the price table, by model, the newest first")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["command"] == "load":
            self.load()
        else:
            self.list()

    def load(self) -> None:
        done = prices.fill_missing_prices()
        for word, models in (("filled in", done.new), ("there already", done.known), ("yours", done.own)):
            for model in models:
                self.stdout.write(f"{word:13} {model}")

    def list(self) -> None:
        for price in Price.objects.all():
            told = "; ".join(filter(None, (price.note, price.source or "entered by a person")))
            self.stdout.write(
                f"{price.model}  from {price.effective_from:%Y-%m-%d}  "
                f"${price.input.normalize():f} in, ${price.output.normalize():f} out, cache "
                f"${price.of_reading.normalize():f} read, ${price.of_writing.normalize():f} written  ({told})"
            )
