"""`manage.py encoders [--json]`: the encoders that have a name, and whether this machine has them."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from retrieval import known_encoders
from retrieval.encoders import UnknownEncoder
from retrieval.encoders.base import MissingWeights
from retrieval.encoders.endpoint import EndpointEncoder
from retrieval.encoders.specified import SpecifiedEncoder
from retrieval.encoders.transformer import TransformerEncoder
from retrieval.management import spec_files
from retrieval.management.light import LightCommand


class Command(LightCommand):
    help = "List the encoders: size, pooling, prefixes, licence, training data, and what is missing here."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("names", nargs="*", help="of these alone, such as e5 or e5:/models/mine")
        spec_files.add_argument(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON array")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with known_encoders.given(options["encoder_file"]):
                found = [about(name) for name in options["names"] or known_encoders.names()]
        except UnknownEncoder as why:
            raise CommandError(str(why)) from why
        if options["json"]:
            self.stdout.write(json.dumps(found))
            return
        for one in found:
            self.stdout.write("\n".join(lines(one)))


def about(name: str) -> dict[str, Any]:
    """What is known of one encoder; `missing` is null where it can be used here. Raises `UnknownEncoder`."""
    missing = known_encoders.why_missing(name)
    try:
        encoder = known_encoders.get(name)
    except known_encoders.BadSpec as why:
        return {"name": name, "kind": "spec", "missing": str(why), "warnings": []}
    if isinstance(encoder, EndpointEncoder):
        return {"name": name, "kind": "endpoint", "missing": missing, "warnings": []}
    if not isinstance(encoder, TransformerEncoder):
        return {"name": name, "kind": "lexical", "missing": None, "warnings": []}
    here = {
        "loaded": "" if missing else encoder.revision,
        "missing": missing,
        "warnings": [] if missing else warnings_of(encoder),
    }
    return {
        "name": name,
        **(of_spec(encoder) if isinstance(encoder, SpecifiedEncoder) else known(encoder)),
        **here,
    }


def known(encoder: TransformerEncoder) -> dict[str, Any]:
    """What the registry says."""
    of = encoder.known
    return {
        "kind": "dense",
        "hub_id": of.hub_id,
        "revision": of.revision,
        "dimension": of.dimension,
        "parameters_millions": of.parameters,
        "pooling": of.pooling,
        "prefixes": dict(of.prefixes),
        "lengths": dict(of.lengths),
        "licence": of.licence,
        "trained_on": of.trained_on,
        "sees_tasks": of.sees_tasks,
    }


def of_spec(encoder: SpecifiedEncoder) -> dict[str, Any]:
    """What its file says."""
    spec = encoder.told
    return {
        "kind": "spec",
        "hub_id": spec.hf_id,
        "folder": spec.folder,
        "revision": spec.decides["revision"],
        "pooling": spec.pooling,
        "prefixes": dict(spec.prefixes),
        "lengths": dict(spec.lengths),
    }


def warnings_of(encoder: TransformerEncoder) -> list[str]:
    try:
        return encoder.warnings()
    except MissingWeights as why:
        return [str(why)]


def lines(one: dict[str, Any]) -> list[str]:
    here = f"  here: {one['missing'] or 'yes'}" + (f", commit {one['loaded']}" if one.get("loaded") else "")
    if one["kind"] == "lexical":
        return [one["name"], "  counts words; nothing to download"]
    if one["kind"] == "endpoint":
        return [one["name"], "  asks a server that speaks OpenAI's embeddings protocol: endpoint:MODEL", here]
    if "pooling" not in one:  # a spec that can't be used
        return [one["name"], here]
    length = one["lengths"]
    cut = f"cut at {length['query']} and {length['snippet']} tokens (query, snippet)"
    return [
        one["name"],
        *(lines_of_spec(one) if one["kind"] == "spec" else lines_of_known(one)),
        f"  pooled by {one['pooling']}, {cut}",
        *(f"  a {kind} begins with {text!r}" for kind, text in one["prefixes"].items() if text),
        *(f"  ! {warning}" for warning in one["warnings"]),
        here,
    ]


def lines_of_spec(one: dict[str, Any]) -> list[str]:
    return [f"  by its spec: {one['folder'] or one['hub_id'] + ', revision ' + one['revision']}"]


def lines_of_known(one: dict[str, Any]) -> list[str]:
    seen = " (has seen this field's queries or code)" if one["sees_tasks"] else ""
    size = f"{one['dimension']} dimensions, {one['parameters_millions']} million parameters"
    return [
        f"  {one['hub_id']}, revision {one['revision']}: {size}, {one['licence']}",
        f"  trained on: {one['trained_on']}{seen}",
    ]
