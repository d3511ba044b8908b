"""The sample project, a folder of queries, functions, truth and replies: how it is loaded and scored."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from annotation.builds.launch.launcher import launch_build
from annotation.builds.launch.order import Order
from annotation.builds.launch.provider_key import configured_key
from annotation.models import Build, Case, Price, Tally
from annotation.stages import Stage
from retrieval.collections.import_report import ImportCounts, Options
from retrieval.collections.importer import store_members
from retrieval.filters import Rule
from retrieval.models import Collection, Member
from retrieval.sources import Problem, Record
from retrieval.sources.code import python_source

K = 8
ENCODERS = ("bm25", "bow")
RECORDED_MODEL = "sample-recorded"
FILES = ("queries.jsonl", "functions", "truth.jsonl", "replies.jsonl")


class BadSample(ValueError):
    """The folder is no sample; the message names the file and line."""


@dataclass(frozen=True)
class Result:
    """What the sample build came to. Agreement, precision and recall are over settled pairs with a truth."""

    queries: int
    snippets: int
    pairs: int
    settled: int
    abandoned: int
    matches: int
    executed: int
    executable_rate: float | None
    agreement_with_truth: float | None
    precision: float | None
    recall: float | None
    seconds: float

    def json(self) -> str:
        return json.dumps(asdict(self))


def read_sample_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a JSON Lines file. Raises BadSample."""
    try:
        content = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSample(f"{path} can't be read: {error}") from error
    for number, line in enumerate(content, 1):
        try:
            value = json.loads(line)
        except ValueError as error:
            raise BadSample(f"{path}, line {number}: {error}") from error
        if not isinstance(value, dict):
            raise BadSample(f"{path}, line {number}: expected a JSON object")
        yield value


def refuse_bad_sample(folder: Path, wanted: tuple[str, ...] = FILES) -> None:
    """Raises BadSample unless the folder has the files of a sample."""
    missing = [name for name in wanted if not (folder / name).exists()]
    if missing:
        raise BadSample(f"{folder} is no sample: it lacks {', '.join(missing)}.")


def sample_fingerprint(folder: Path) -> str:
    """A short hash of everything that decides the sample's texts."""
    total = hashlib.sha256()
    for path in [folder / "queries.jsonl", *sorted((folder / "functions").rglob("*.py"))]:
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()[:12]


def load_sample(folder: Path) -> tuple[Collection, Collection]:
    """The sample's collections; loaded once for each state of the folder."""
    mark = sample_fingerprint(folder)
    return (
        fill_sample_collection(
            Collection.Kind.QUERIES, mark, folder, query_records(folder / "queries.jsonl")
        ),
        fill_sample_collection(
            Collection.Kind.SNIPPETS, mark, folder, python_source.read_python_functions(folder / "functions")
        ),
    )


def fill_sample_collection(
    kind: str, mark: str, folder: Path, records: Iterator[Record | Problem]
) -> Collection:
    source = f"sample {mark}"
    found = Collection.objects.filter(kind=kind, source=source).first()
    if found is not None:
        return found
    newest = Collection.objects.filter(kind=kind, name=folder.name).order_by("-version").first()
    version = newest.version + 1 if newest else 1
    made = Collection.objects.create(name=folder.name, kind=kind, source=source, version=version)
    counts = ImportCounts()
    store_members(made, records, kind, counts, Options())
    if counts.problems:
        made.delete()
        raise BadSample(str(counts.problems[0]))
    made.refresh_from_db()
    return made


def query_records(path: Path) -> Iterator[Record]:
    for line in read_sample_lines(path):
        yield Record(text=line["query"], source_id=line["id"], origin="written for this project", licence="")


def order_sample_build(folder: Path, provider: str, model: str) -> Order:
    """The sample build: top 8 by the built-in encoders, so the pairs are the same on every machine."""
    queries, snippets = load_sample(folder)
    taken = Build.objects.filter(name=folder.name).exists()
    return Order(
        name=f"{folder.name} {timezone.now():%Y-%m-%d %H:%M:%S}" if taken else folder.name,
        queries=queries,
        snippets=snippets,
        encoders=ENCODERS,
        k=K,
        # The replies were recorded for these functions; the usual rule has four generators more.
        rule=Rule.TESTABLE,
        provider=provider,
        model=model,
        # A few hundred small calls, which whoever set a key has asked for.
        unpriced=True,
        recorded=str((folder / "replies.jsonl").resolve()) if provider == Build.Provider.RECORDED else "",
    )


def ensure_sample_build(folder: Path) -> Build:
    """The build of this very sample: an earlier one, or launched now.

    Replies are recorded unless a key is configured: then the same build asks the model live.
    """
    live = bool(configured_key())
    provider = Build.Provider.LIVE if live else Build.Provider.RECORDED
    model = settings.LLM_MODEL if live else RECORDED_MODEL
    refuse_bad_sample(folder)
    price_recorded()
    wanted = order_sample_build(folder, provider, model)
    earlier = Build.objects.filter(
        queries=wanted.queries,
        snippets=wanted.snippets,
        provider=provider,
        recorded=wanted.recorded,
        filling__isnull=True,
    ).exclude(state__in=[Build.State.CANCELLED, Build.State.FAILED])
    return earlier.first() or launch_build(wanted)


def price_recorded() -> None:
    """A price for the recorded model, so that the sample shows how costs add up."""
    Price.objects.get_or_create(
        model=RECORDED_MODEL,
        effective_from=datetime(2026, 1, 1, tzinfo=UTC),
        defaults={
            "input": Decimal("0.15"),
            "output": Decimal("0.60"),
            "note": "illustrative: the sample's replies are recorded and cost nothing",
        },
    )


def measure_sample_build(build: Build, folder: Path, started: float) -> Result:
    """The build's figures; `started` is a time.monotonic() value."""
    tally = Tally.objects.get(build=build)
    agreement = Agreement.of(build, folder)
    return Result(
        queries=build.queries.size,
        snippets=build.snippets.size,
        pairs=tally.total,
        settled=tally.settled,
        abandoned=tally.abandoned,
        matches=tally.matches,
        executed=tally.programs,
        executable_rate=tally.rates.executable,
        agreement_with_truth=ratio_or_none(agreement.agreeing, agreement.pairs),
        precision=ratio_or_none(agreement.true_matches, agreement.said),
        recall=ratio_or_none(agreement.true_matches, agreement.true),
        seconds=round(time.monotonic() - started, 2),
    )


def ratio_or_none(part: int, whole: int) -> float | None:
    """part ÷ whole, or None where there is nothing to divide by."""
    return part / whole if whole else None


@dataclass(frozen=True)
class Agreement:
    """Counts over settled pairs with a truth: labels that agree, matches said, true matches, both."""

    pairs: int
    agreeing: int
    said: int
    true: int
    true_matches: int

    @classmethod
    def of(cls, build: Build, folder: Path) -> Agreement:
        labels = list(judged_pairs(build, truth_of(folder)).values())
        return cls(
            pairs=len(labels),
            agreeing=sum(label == truth for label, truth in labels),
            said=sum(label == 1 for label, _ in labels),
            true=sum(truth == 1 for _, truth in labels),
            true_matches=sum(label == truth == 1 for label, truth in labels),
        )


def truth_of(folder: Path) -> dict[tuple[str, str], int]:
    """The hand-made truth by (query id, function id)."""
    return {
        (line["query"], line["function"]): int(line["label"])
        for line in read_sample_lines(folder / "truth.jsonl")
    }


def judged_pairs(build: Build, truth: dict[tuple[str, str], int]) -> dict[int, tuple[int, int]]:
    """By pair, (label, truth) of each settled one that has a truth."""
    queries = dict(Member.objects.filter(collection=build.queries_id).values_list("text_id", "source_id"))
    snippets = dict(Member.objects.filter(collection=build.snippets_id).values_list("text_id", "source_id"))
    settled = Case.objects.filter(build=build, stage=Stage.SETTLED)
    found = {}
    for pair, label, query, snippet in settled.values_list(
        "pair_id", "label", "query_id", "pair__snippet_id"
    ):
        true = truth.get((queries[query], snippets[snippet]))
        if label is not None and true is not None:
            found[pair] = label, true
    return found
