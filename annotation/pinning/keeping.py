"""Taking a pin: the figures as they are shown, what was asked for, and what they rest on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User

from annotation.agreement import RESAMPLES, SEED
from annotation.models import Study
from annotation.pinning import grounds, values
from annotation.pinning.sureness import AS_PAGES, Errors, parts
from annotation.studies.figures import NoFigures, compute
from retrieval.evaluation.leaderboard import NotMeasured, Queries, leaderboard, refuse_another
from retrieval.metrics import resampling, significance
from retrieval.models import Benchmark, Pin, Run

SHORTEST = 6


class NothingToPin(ValueError):
    """There is no figure yet; the message says what is missing."""


class NoSuchPin(LookupError):
    """No pin, or more than one, has this name."""


def pin_leaderboard(
    benchmark: Benchmark,
    pool: str = "",
    metric: str = "",
    fewest: int = 1,
    most: int | None = None,
    by: User | None = None,
    errors: Errors = AS_PAGES,
) -> Pin:
    """Pin the leaderboard that these options show; the same figures have one pin. Raises NothingToPin.

    Label noise and ranks without an encoder are parts of it where they were computed.
    """
    found = leaderboard(benchmark, pool or benchmark.pool, metric, fewest, most)
    if not found.standings:
        raise NothingToPin(f"No run on {benchmark} searched {pool or benchmark.pool}: there is no figure.")
    try:
        refuse_another(found, metric)
    except NotMeasured as why:
        raise NothingToPin(str(why)) from why
    runs = [standing.run for standing in found.standings]
    subject = {
        "benchmark": str(benchmark),
        "pool": pool or benchmark.pool,
        "metric": found.metric,
        "fewest": fewest,
        "most": most,
        "runs": [
            {"system": run.system, "text": run.text_option, "digest": run.digest, "name": values.named(run)}
            for run in runs
        ],
        "seed": resampling.SEED,
        "resamples": resampling.RESAMPLES,
        "flips": significance.FLIPS,
    }
    figures = {standing.run: standing.figures for standing in found.standings}
    value = values.board(figures, found.differences, found.queries)
    for key, asked, came_out in parts(found, Queries(fewest, most), errors):
        subject[key], value[key] = asked, came_out
    title = f"{benchmark} by {found.metric}: {len(runs)} systems"
    return keep(Pin.Kind.LEADERBOARD, title, subject, value, ground_of(benchmark, runs), by)


def ground_of(benchmark: Benchmark, runs: Iterable[Run]) -> dict[str, Any]:
    """What a leaderboard's figures rest on."""
    return {
        "benchmark": benchmark.digest,
        "labels": benchmark.size,
        "event": grounds.last_event(benchmark),
        "runs": {values.named(run): run.code_version for run in runs},
        "code": grounds.code(),
    }


def pin_study(study: Study, by: User | None = None) -> Pin:
    """Pin all figures of a study as they are now. Raises NothingToPin."""
    until = grounds.now_of(study)
    try:
        value = values.study(compute(study, until))
    except NoFigures as why:
        raise NothingToPin(str(why)) from why
    ground = {
        "plan": study.plan_hash,
        "last": {**asdict(until), "at": until.at.isoformat()},
        "code": grounds.code(),
    }
    subject = {"study": study.name, "id": study.pk, "seed": SEED, "resamples": RESAMPLES}
    title = f"{study.name}: {'all' if until.complete else 'interim'} figures"
    return keep(Pin.Kind.STUDY, title, subject, value, ground, by)


def keep(
    kind: Pin.Kind,
    title: str,
    subject: dict[str, Any],
    value: dict[str, Any],
    ground: dict[str, Any],
    by: User | None,
) -> Pin:
    """Store it, unless the same was pinned before: who was first stays."""
    timeless = {**ground, "last": {**ground.get("last", {}), "at": ""}, "event": ""}
    whole = {"kind": kind.value, "subject": subject, "value": value, "ground": timeless}
    digest = hashlib.sha256(json.dumps(whole, sort_keys=True, allow_nan=False).encode()).hexdigest()
    made, _ = Pin.objects.get_or_create(
        digest=digest,
        defaults={
            "kind": kind,
            "title": title[:300],
            "subject": subject,
            "value": value,
            "ground": ground,
            "created_by": by,
        },
    )
    return made


def pinned(name: str) -> Pin:
    """The pin whose hash begins with `name`, at least six digits. Raises NoSuchPin."""
    if len(name) < SHORTEST or not set(name) <= set("0123456789abcdef"):
        raise NoSuchPin(f"A pin is named by at least {SHORTEST} digits of its hash, not by {name[:40]!r}.")
    found = list(Pin.objects.filter(digest__startswith=name)[:2])
    if len(found) != 1:
        many = "More than one pin begins" if found else "No pin begins"
        raise NoSuchPin(f"{many} with {name[:64]}; 'manage.py pin --list' shows those that there are.")
    return found[0]
