"""Encoders by name as this installation knows them: the registry's, and those of spec files.

A spec file lies in the folder `encoders` under COSQA_HOME, or is named on a command line. When a mining or
a run first uses it, it is stored whole; from then on its name stands for that spec, here and on every worker,
and another spec of the name is refused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from django.conf import settings
from django.db import OperationalError, ProgrammingError
from django.db.models import QuerySet

from retrieval import encoders
from retrieval.encoders import Encoder, MissingWeights, UnknownEncoder
from retrieval.encoders.dense.architectures import ARCHITECTURES
from retrieval.encoders.dense.spec_encoder import SpecifiedEncoder
from retrieval.encoders.dense.specs import (
    Spec,
    WrongSpec,
    find_spec_files,
    parse_encoder_spec,
    read_encoder_spec,
)
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.models import EncoderSpec, Mining

_given: ContextVar[Mapping[str, Spec]] = ContextVar("given", default=MappingProxyType({}))
"""Specs of files that this command was told, by name."""

RESERVED: Final = frozenset(encoders.BEFORE_A_COLON)
HUB_IDS: Final = {known.hub_id: name for name, known in list(ARCHITECTURES.items())[::-1]}
"""The registry's encoders by their ids on the hub."""
HUB_ID: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")


class BadSpec(UnknownEncoder):
    """The spec of that name can't be used; the message says why, and what to do."""


class OtherSpec(BadSpec):
    """The name stands for another spec, or for other weights, in what was made here before."""


@dataclass(frozen=True, slots=True)
class Named:
    """An encoder to choose; `missing` says what it lacks here, empty where it can be used."""

    name: str
    missing: str


@contextmanager
def use_spec_files(paths: Iterable[Path]) -> Iterator[None]:
    """Know the specs of these files as well, until it ends. Raises `BadSpec`."""
    found = dict[str, Spec]()
    for path in paths:
        spec = _read(path)
        if spec.name in found:
            raise BadSpec(f"{path}: another file describes an encoder called {spec.name!r} too")
        found[spec.name] = spec
    token = _given.set({**_given.get(), **found})
    try:
        yield
    finally:
        _given.reset(token)


def find_encoder(name: str) -> Encoder:
    """The encoder called `name`, of a spec or of the registry. Neither loads nor looks for weights.

    Raises `UnknownEncoder`; `BadSpec` where its file describes none, `OtherSpec` where the name is taken.
    """
    spec = spec_of(name) or spec_of_place(name)
    if spec is not None:
        return SpecifiedEncoder.of(spec)
    name = HUB_IDS.get(name, name)
    try:
        return encoders.find_encoder(name)
    except UnknownEncoder as why:
        raise UnknownEncoder(f"{why}, or describe it in {_folder() / 'NAME.toml'} (docs/mining.md)") from why


def spec_of(name: str) -> Spec | None:
    """The spec called `name`; None where there is none. Raises `BadSpec` and `OtherSpec`."""
    if name in RESERVED or ":" in name:
        return None
    rows, told = _rows(EncoderSpec.objects.filter(name=name)), _told(name)
    if not rows:
        return told
    stored = spec_in(rows[0])
    if told is not None and is_binding(rows[0]):
        refuse_another(stored, told)
    return told or stored


def spec_of_place(name: str) -> Spec | None:
    """The spec of a folder or a hub id that no encoder of the registry has: what its own files declare.

    None where the name is neither.
    """
    if "/" not in name or name.partition(":")[0] in RESERVED or name in HUB_IDS:
        return None
    folder = Path(name).expanduser()
    place, hub_id = (str(folder.resolve()), "") if folder.is_dir() else ("", name)
    if hub_id and not HUB_ID.fullmatch(hub_id):
        return None
    mark = hashlib.sha256((place or hub_id).encode()).hexdigest()[:8]
    plain = re.sub(r"[^a-z0-9._-]+", "-", folder.name.lower()).strip("-._") or "model"
    return Spec(name=f"{plain[:31]}-{mark}", pooling="declared", folder=place, hf_id=hub_id)


def spec_in(row: EncoderSpec) -> Spec:
    return parse_encoder_spec(row.spec, f"the stored spec of {row.name}")


def is_binding(row: EncoderSpec) -> bool:
    """Whether something was made by it, or is ordered: one that never worked may be mended."""
    if row.weights:
        return True
    open_ones = Mining.objects.filter(state__in=[Mining.State.WAITING, Mining.State.RUNNING])
    return any(row.name in names for names in open_ones.values_list("encoders", flat=True))


def refuse_another(stored: Spec, told: Spec) -> None:
    """Raises `OtherSpec` where two specs of a name would not give the same vectors of the same weights."""
    before, now = stored.decides, told.decides
    differ = [key for key in before if before[key] != now[key]]
    if parts := [f"{key} was {before[key]!r} and is {now[key]!r}" for key in differ]:
        raise OtherSpec(
            f"An encoder called {told.name!r} was used here by another spec: {', '.join(parts)}. "
            "Give this one a name of its own."
        )


def why_missing(name: str) -> str | None:
    """What an encoder lacks on this machine and how to get it; None if it can be used.

    Imports no torch, asks no server. Raises `UnknownEncoder` for a name that nothing has.
    """
    try:
        encoder = find_encoder(name)
    except BadSpec as why:
        return str(why)
    if not isinstance(encoder, SpecifiedEncoder):
        return encoders.why_missing(name)
    try:
        encoder.locate()
    except MissingWeights as missing:
        return str(missing)
    return None


def list_encoder_names() -> list[str]:
    """The names to choose from: the registry's, then those of specs."""
    stored = {row.name for row in _rows(EncoderSpec.objects.all())}
    return [*encoders.NAMES, *sorted({*stored, *_given.get(), *_files()} - RESERVED)]


def to_choose() -> list[Named]:
    """All that have a name, with what each lacks."""
    return [Named(name, why_missing(name) or "") for name in list_encoder_names()]


def store_encoder_specs(used: Iterable[Encoder]) -> None:
    """Store the specs of those that have one: a mining or a run is made by them. Raises `OtherSpec`."""
    for encoder in used:
        if isinstance(encoder, SpecifiedEncoder):
            told = encoder.told.model_dump()
            row, _ = EncoderSpec.objects.get_or_create(name=encoder.name, defaults={"spec": told})
            if is_binding(row):
                refuse_another(spec_in(row), encoder.told)
            else:
                EncoderSpec.objects.filter(pk=row.pk, weights="").update(spec=told)


def keep_weights(used: Iterable[Encoder]) -> None:
    """The same, with what their weights are known by, of those that work. Raises `MissingWeights`.

    Raises `OtherSpec` where the weights were others before.
    """
    for encoder in used:
        if not isinstance(encoder, SpecifiedEncoder):
            continue
        if not EncoderSpec.objects.filter(name=encoder.name).exclude(weights="").exists():
            encoder.encode(["a word"], "query")  # what can't be loaded must not take the name
        store_encoder_specs([encoder])
        EncoderSpec.objects.filter(name=encoder.name, weights="").update(weights=encoder.weights)
        weights = EncoderSpec.objects.get(name=encoder.name).weights
        if weights != encoder.weights:
            raise OtherSpec(
                f"{encoder.name}: its weights are not those that were used here by this name "
                f"({encoder.weights}, not {weights}). Give a spec of these weights a name of its own, or "
                "bring the others back."
            )


def revisions_of(used: Iterable[Encoder]) -> dict[str, str]:
    """By name, which commit of the hub was loaded, of those that came from it. Raises `MissingWeights`."""
    of_the_hub = {
        encoder.name: encoder.revision for encoder in used if isinstance(encoder, TransformerEncoder)
    }
    return {name: commit for name, commit in of_the_hub.items() if commit}


def _folder() -> Path:
    return Path(settings.COSQA_HOME) / "encoders"


def _files() -> dict[str, Path]:
    return find_spec_files(_folder())


def _read(path: Path) -> Spec:
    try:
        spec = read_encoder_spec(path)
    except WrongSpec as why:
        raise BadSpec(str(why)) from why
    if spec.name in RESERVED:
        raise BadSpec(f"{path}: {spec.name!r} is the name of an encoder of the registry; choose another")
    return spec


def _told(name: str) -> Spec | None:
    """What a file says. Raises `BadSpec`, also where one in the folder is called otherwise than it says."""
    if name in _given.get():
        return _given.get()[name]
    path = _files().get(name)
    if path is None:
        return None
    spec = _read(path)
    if spec.name != name:
        raise BadSpec(f"{path}: says the name {spec.name!r}; call the file so, or leave the name out")
    return spec


def _rows(wanted: QuerySet[EncoderSpec]) -> list[EncoderSpec]:
    """What is stored; nothing before the first `manage.py migrate`, as encoders are listed without it."""
    try:
        return list(wanted)
    except (OperationalError, ProgrammingError) as why:
        if "no such table" in str(why) or "does not exist" in str(why):
            return []
        raise
