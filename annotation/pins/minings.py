"""A mining's own figures as a pin: human matches that it found again, and the recall of its index."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from django.contrib.auth.models import User

from annotation.pins.pin_record import NothingToPin, collect_code_versions, store_pin
from retrieval.evaluation.runs.stored_search import NotStored, restore_run_encoder
from retrieval.mining.measuring_again import recall_again, recovered_again
from retrieval.models import Candidate, Mining, Pin

RECALL: Final = "recall"
"""The part of the pin that needs exact search, and so vectors."""
ROWS_A_READ: Final = 5_000


def has_figures(mining: Mining) -> bool:
    """Whether there is something to pin: human matches that it could find, or the recall of an index."""
    return bool(mining.recall or (mining.recovered or {}).get("matches"))


def pin_mining(mining: Mining, by: User | None = None) -> Pin:
    """Pin what a mining's page tells of it. Raises NothingToPin, also while it is not done."""
    if mining.state != Mining.State.DONE or mining.finished_at is None:
        raise NothingToPin(f"Mining {mining.pk} is {mining.state}: its figures are pinned once it is done.")
    value = {"recovered": with_shares(mining.recovered)} if mining.recovered else {}
    if mining.recall:
        value[RECALL] = mining.recall
    if not has_figures(mining):
        raise NothingToPin(
            f"Mining {mining.pk} searched exactly, and its data came without matches: it has no figure."
        )
    subject = {
        "id": mining.pk,
        "name": str(mining),
        "k": mining.k,
        "encoders": mining.encoders,
        "identities": mining.identities,
        "approximate": mining.approximate,
        "finished": mining.finished_at.isoformat(),
    }
    ground = {**grounds_of(mining), "code": collect_code_versions()}
    return store_pin(Pin.Kind.MINING, f"mining {mining.pk}: {mining}", subject, value, ground, by)


def mining_now(pin: Pin, tick: Callable[[], None]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was recovered, counted anew, and its grounds. Of a mining that is gone or done anew, nothing."""
    mining = mining_of(pin)
    if mining is None:
        return {}, {**pin.ground, "candidates": None, "lists": None}
    value = {"recovered": with_shares(recovered_again(mining))} if "recovered" in pin.value else {}
    tick()
    return value, {**pin.ground, **grounds_of(mining)}


def recall_now(pin: Pin, vectors: Path) -> dict[str, Any]:
    """The recall measured again, by the vectors that are stored in a folder. Raises NotStored."""
    mining = mining_of(pin)
    identities = pin.subject["identities"] or {}
    if mining is None or set(pin.subject["encoders"]) - set(identities):
        gone = "it is gone, or was done again" if mining is None else "it does not say which weights it had"
        raise NotStored(gone)
    known = [restore_run_encoder(name, identities[name], vectors) for name in pin.subject["encoders"]]
    return {**pin.value[RECALL], "recall": recall_again(mining, known, vectors)}


def mining_of(pin: Pin) -> Mining | None:
    row = Mining.objects.filter(pk=pin.subject["id"], state=Mining.State.DONE).first()
    if row is None or row.finished_at is None or str(row) != pin.subject["name"]:
        return None
    return row if row.finished_at.isoformat() == pin.subject["finished"] else None


def grounds_of(mining: Mining) -> dict[str, Any]:
    """Its candidates: how many, and the hash of queries, pairs and ranks."""
    rows = Candidate.objects.filter(mining=mining).order_by("query_id", "rank")
    whole, count = hashlib.sha256(), 0
    for row in rows.values_list("query_id", "pair_id", "rank").iterator(ROWS_A_READ):
        whole.update(f"{row}\n".encode())
        count += 1
    return {"candidates": count, "lists": whole.hexdigest()}


def with_shares(found: Mapping[str, Any]) -> dict[str, Any]:
    """The counts, and by cut-off the share of the matches that is among so many candidates."""
    matches = found["matches"]
    shares = {cut: count / matches if matches else None for cut, count in found["found"].items()}
    return {**found, "shares": shares}
