"""Which models a pin's lists came from: weights, options and commits, as runs and minings note them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from annotation.pinning.comparisons import run_of
from annotation.pinning.grounds import benchmark_with
from annotation.pinning.minings import mining_of
from retrieval.models import Mining, Pin, Run

UPLOADED: Final = "its lists were uploaded: what made them is not known here"
GONE: Final = "gone since"
NOT_TOLD: Final = "not noted"


@dataclass(frozen=True, slots=True)
class ModelRow:
    """An encoder of what `used` it; `identity` has its weights' hash and options, `commit` is the hub's."""

    used: str
    encoder: str
    identity: str
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Models:
    """`unknown` is a mining that does not say what its encoders were, though that may still be found."""

    rows: tuple[ModelRow, ...]
    unknown: Mining | None = None


def models_of(pin: Pin) -> Models:
    """Of runs and minings, the models; nothing of kinds of pins that rest on none."""
    mining = mined_for(pin)
    rows = [*(row for used, run in runs_of(pin) for row in of_run(used, run))]
    if mining is not None:
        rows += of_mining(mining)
    return Models(tuple(rows), mining if mining is not None and is_unknown(mining) else None)


def is_unknown(mining: Mining) -> bool:
    """Whether it is done and does not say what its encoders were: `mine --identify` may prove it."""
    return mining.state == Mining.State.DONE and bool(mining.encoders) and not mining.identities


def mined_for(pin: Pin) -> Mining | None:
    """The mining that was pinned, or that gave a leaderboard's ranks without an encoder."""
    if pin.kind == Pin.Kind.MINING:
        return mining_of(pin)
    if pin.kind != Pin.Kind.LEADERBOARD or "without" not in pin.value:
        return None
    same = benchmark_with(pin.ground["benchmark"], pin.subject["benchmark"])
    return same.mining if same else None


def runs_of(pin: Pin) -> Iterator[tuple[str, Run | None]]:
    """Each run by its name in the pin; None for one that is gone."""
    subject = pin.subject
    if pin.kind == Pin.Kind.LEADERBOARD:
        for told in subject["runs"]:
            found = {"benchmark": pin.ground["benchmark"], **told}
            yield told["name"], run_of(subject["pool"], found)
    elif pin.kind == Pin.Kind.COMPARISON:
        seen = {(one["benchmark"], one["digest"]): one for of in subject["systems"].values() for one in of}
        for told in seen.values():
            yield f"{told['system']} [{told['digest'][:12]}]", run_of(subject["pool"], told)


def of_run(used: str, run: Run | None) -> Iterable[ModelRow]:
    if run is None:
        return [ModelRow(used, "", GONE)]
    if not run.encoders:
        return [ModelRow(used, "", UPLOADED)]
    identities = dict(zip(run.encoders, run.options.get("identities", []), strict=False))
    return told(used, run.encoders, identities, run.options.get("revisions"))


def of_mining(mining: Mining) -> Iterable[ModelRow]:
    return told(f"mining {mining.pk}", mining.encoders, mining.identities, mining.revisions)


def told(
    used: str,
    encoders: Iterable[str],
    identities: Mapping[str, Any] | None,
    revisions: Mapping[str, Any] | None,
) -> Iterable[ModelRow]:
    for name in encoders:
        identity = str((identities or {}).get(name) or NOT_TOLD)
        yield ModelRow(used, name, identity, str((revisions or {}).get(name) or ""))
