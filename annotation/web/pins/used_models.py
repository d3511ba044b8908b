"""Which models a pin's lists came from: weights, options and commits, as runs and minings note them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from annotation.pins.comparisons import run_of
from annotation.pins.minings import mining_of
from annotation.pins.pin_record import benchmark_with
from retrieval.evaluation.systems.second_stage import second_stage_of
from retrieval.models import Mining, Pin, Run

UPLOADED: Final = "its lists were uploaded, so the model is not known here"
GONE: Final = "gone since"
NOT_TOLD: Final = "not noted"


ModelRow = tuple[str, str, str, str]
"""What used it, an encoder, its weights' hash and options, and the hub's commit."""


def models_of(pin: Pin) -> dict[str, Any]:
    """Of runs and minings, the models; no rows of kinds of pins that rest on none.

    `unknown` is a mining that does not say what its encoders were, though that may still be found.
    """
    mining = mined_for(pin)
    rows = [row for used, run in runs_of_pin(pin) for row in of_run(used, run)]
    if mining is not None:
        name = f"mining {mining.pk}"
        rows += build_model_rows(name, mining.encoders, mining.identities, mining.revisions)
    return {"rows": rows, "unknown": mining if mining is not None and is_unknown(mining) else None}


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


def runs_of_pin(pin: Pin) -> Iterator[tuple[str, Run | None]]:
    """Each run by its name in the pin; None for one that is gone."""
    subject = pin.subject
    if pin.kind == Pin.Kind.LEADERBOARD:
        for told in subject["runs"]:
            found = {"benchmark": pin.ground["benchmark"], **told}
            yield told["name"], run_of(subject["pool"], found)
    elif pin.kind == Pin.Kind.COMPARISON:
        seen = {
            (run["benchmark"], run["digest"]): run for runs in subject["systems"].values() for run in runs
        }
        for told in seen.values():
            yield f"{told['system']} [{told['digest'][:12]}]", run_of(subject["pool"], told)


def of_run(used: str, run: Run | None) -> Iterable[ModelRow]:
    if run is None:
        return [(used, "", GONE, "")]
    if not run.encoders:
        return [(used, "", UPLOADED, "")]
    identities = dict(zip(run.encoders, run.options.get("identities", []), strict=False))
    rows = list(build_model_rows(used, run.encoders, identities, run.options.get("revisions")))
    second = second_stage_of(run)
    return [*rows, (used, second["reranker"], second["identity"], second["revision"])] if second else rows


def build_model_rows(
    used: str,
    encoders: Iterable[str],
    identities: Mapping[str, Any] | None,
    revisions: Mapping[str, Any] | None,
) -> Iterable[ModelRow]:
    for name in encoders:
        identity = str((identities or {}).get(name) or NOT_TOLD)
        yield used, name, identity, str((revisions or {}).get(name) or "")
