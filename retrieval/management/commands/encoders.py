"""`manage.py encoders [--json]`: the encoders that have a name, and whether this machine has them."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from retrieval import encoders
from retrieval.encoders.base import MissingWeights
from retrieval.encoders.endpoint import EndpointEncoder
from retrieval.encoders.registry import KNOWN
from retrieval.encoders.transformer import TransformerEncoder


class Command(BaseCommand):
    help = "List the encoders: size, pooling, prefixes, licence, training data, and what is missing here."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("names", nargs="*", help="of these alone, such as e5 or e5:/models/mine")
        parser.add_argument("--json", action="store_true", help="print one JSON array")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = [about(name) for name in options["names"] or encoders.NAMES]
        except encoders.UnknownEncoder as why:
            raise CommandError(str(why)) from why
        if options["json"]:
            self.stdout.write(json.dumps(found))
            return
        for one in found:
            self.stdout.write("\n".join(lines(one)))


def about(name: str) -> dict[str, Any]:
    """What is known of one encoder; `missing` is null where it can be used here. Raises `UnknownEncoder`."""
    encoder = encoders.get(name)
    if isinstance(encoder, EndpointEncoder):
        return {"name": name, "kind": "endpoint", "missing": encoders.why_missing(name), "warnings": []}
    if not isinstance(encoder, TransformerEncoder):
        return {"name": name, "kind": "lexical", "missing": None, "warnings": []}
    known = KNOWN[encoder.kind]
    missing = encoders.why_missing(name)
    return {
        "name": name,
        "kind": "dense",
        "hub_id": known.hub_id,
        "dimension": known.dimension,
        "parameters_millions": known.parameters,
        "pooling": known.pooling,
        "prefixes": dict(known.prefixes),
        "lengths": dict(known.lengths),
        "licence": known.licence,
        "trained_on": known.trained_on,
        "sees_tasks": known.sees_tasks,
        "missing": missing,
        "warnings": [] if missing else warnings_of(encoder),
    }


def warnings_of(encoder: TransformerEncoder) -> list[str]:
    try:
        return encoder.warnings()
    except MissingWeights as why:
        return [str(why)]


def lines(one: dict[str, Any]) -> list[str]:
    if one["kind"] == "lexical":
        return [one["name"], "  counts words; nothing to download"]
    if one["kind"] == "endpoint":
        told = "  asks a server that speaks OpenAI's embeddings protocol: endpoint:MODEL"
        return [one["name"], told, f"  here: {one['missing'] or 'yes'}"]
    length = one["lengths"]
    seen = " (has seen this field's queries or code)" if one["sees_tasks"] else ""
    cut = f"cut at {length['query']} and {length['snippet']} tokens (query, snippet)"
    size = f"{one['dimension']} dimensions, {one['parameters_millions']} million parameters"
    found = [
        one["name"],
        f"  {one['hub_id']}: {size}, {one['licence']}",
        f"  pooled by {one['pooling']}, {cut}",
        f"  trained on: {one['trained_on']}{seen}",
    ]
    found += [f"  a {kind} begins with {text!r}" for kind, text in one["prefixes"].items() if text]
    found += [f"  ! {warning}" for warning in one["warnings"]]
    return [*found, f"  here: {one['missing'] or 'yes'}"]
