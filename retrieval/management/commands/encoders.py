"""`manage.py encoders [--json]`: the encoders that have a name, and whether this machine has them."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from retrieval.encoders import UnknownEncoder
from retrieval.encoders.base import MissingWeights
from retrieval.encoders.baselines.baselines import BaselineEncoder
from retrieval.encoders.dense.endpoint import EndpointEncoder
from retrieval.encoders.dense.spec_encoder import SpecifiedEncoder
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.management import spec_files
from retrieval.management.light import LightCommand
from retrieval.mining import known_encoders


class Command(LightCommand):
    help = "List the encoders: size, pooling, prefixes, licence, training data, and what is missing here."
    refusals = (UnknownEncoder,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("names", nargs="*", help="of these alone, such as e5 or e5:/models/mine")
        spec_files.add_argument(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON array")

    def handle(self, *args: Any, **options: Any) -> None:
        with known_encoders.use_spec_files(options["encoder_file"]):
            names = options["names"] or known_encoders.list_encoder_names()
            found = [describe_encoder(name) for name in names]
        if options["json"]:
            self.stdout.write(json.dumps(found))
            return
        for encoder in found:
            self.stdout.write("\n".join(format_encoder_lines(encoder)))


def describe_encoder(name: str) -> dict[str, Any]:
    """What is known of one encoder; `missing` is null where it can be used here. Raises `UnknownEncoder`."""
    missing = known_encoders.why_missing(name)
    try:
        encoder = known_encoders.find_encoder(name)
    except known_encoders.BadSpec as why:
        return {"name": name, "kind": "spec", "missing": str(why), "warnings": []}
    if isinstance(encoder, EndpointEncoder):
        return {"name": name, "kind": "endpoint", "missing": missing, "warnings": []}
    if isinstance(encoder, BaselineEncoder):
        return {"name": name, "kind": "baseline", "missing": missing, "warnings": []}
    if not isinstance(encoder, TransformerEncoder):
        return {"name": name, "kind": "lexical", "missing": None, "warnings": []}
    here = {
        "loaded": "" if missing else encoder.revision,
        "missing": missing,
        "warnings": [] if missing else warnings_of(encoder),
    }
    return {
        "name": name,
        **(of_spec(encoder) if isinstance(encoder, SpecifiedEncoder) else describe_registry_entry(encoder)),
        **here,
    }


def describe_registry_entry(encoder: TransformerEncoder) -> dict[str, Any]:
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


def format_encoder_lines(encoder: dict[str, Any]) -> list[str]:
    commit = f", commit {encoder['loaded']}" if encoder.get("loaded") else ""
    here = f"  here: {encoder['missing'] or 'yes'}{commit}"
    if encoder["kind"] == "lexical":
        return [encoder["name"], "  counts words; nothing to download"]
    if encoder["kind"] == "endpoint":
        return [
            encoder["name"],
            "  asks a server that speaks OpenAI's embeddings protocol: endpoint:MODEL",
            here,
        ]
    if encoder["kind"] == "baseline":
        return [encoder["name"], "  CodeSearchNet's, trained here: NAME:FOLDER (docs/training.md)", here]
    if "pooling" not in encoder:  # a spec that can't be used
        return [encoder["name"], here]
    length = encoder["lengths"]
    cut = f"cut at {length['query']} and {length['snippet']} tokens (query, function)"
    return [
        encoder["name"],
        *(lines_of_spec(encoder) if encoder["kind"] == "spec" else lines_of_known(encoder)),
        f"  pooled by {encoder['pooling']}, {cut}",
        *(f"  a {kind} begins with {text!r}" for kind, text in encoder["prefixes"].items() if text),
        *(f"  ! {warning}" for warning in encoder["warnings"]),
        here,
    ]


def lines_of_spec(encoder: dict[str, Any]) -> list[str]:
    return [f"  by its spec: {encoder['folder'] or encoder['hub_id'] + ', revision ' + encoder['revision']}"]


def lines_of_known(encoder: dict[str, Any]) -> list[str]:
    seen = " (has seen this field's queries or code)" if encoder["sees_tasks"] else ""
    size = f"{encoder['dimension']} dimensions, {encoder['parameters_millions']} million parameters"
    return [
        f"  {encoder['hub_id']}, revision {encoder['revision']}: {size}, {encoder['licence']}",
        f"  trained on: {encoder['trained_on']}{seen}",
    ]
