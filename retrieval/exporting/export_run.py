"""One export from beginning to end: content, split, files of the format, provenance, manifest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from retrieval.exporting import beir, coclr, huggingface, parquet, provenance, qrels, release
from retrieval.exporting.content import Held, Subject, subject_of
from retrieval.exporting.files import FORMAT, MANIFEST, stage_export
from retrieval.exporting.labels import LabelChoice
from retrieval.exporting.parts import Parts, split_as_published, split_benchmark
from retrieval.exporting.splits import Report
from retrieval.exporting.whole_grades import round_relevances, rounding_of
from retrieval.exporting.withholding_policy import Withhold, reasons_told
from retrieval.filters import Rule
from retrieval.models import Benchmark
from retrieval.texts.plurals import count_noun

Tick = Callable[[int], None]
SPLITS: Final = "splits.json"


@dataclass(frozen=True, slots=True)
class Options:
    """Whose labels; the seed of a split (None: no split); what is withheld by its licence; whether relevances
    are rounded where the format takes whole numbers alone. `published_split`: the split of the source.

    `tick` is called with the number of records written since.
    """

    labels: LabelChoice = LabelChoice.FINAL
    split: int | None = None
    by_repository: bool = False
    withhold: Withhold = Withhold.NONE
    tick: Tick = lambda done: None
    rounds: bool = False
    published_split: bool = False


@dataclass(frozen=True, slots=True)
class Format:
    """A format: what it is called, who writes it, whether its labels can be other than 0 and 1, and whether
    they are whole numbers alone, as its readers take no others; `ids`: it can have one text under several.
    """

    title: str
    write: Callable[[Subject, Path, Parts | None, Tick], list[str]]
    grades: bool = True
    is_whole: bool = False
    ids: bool = True


FORMATS: Final[Mapping[str, Format]] = {
    "release": Format("CoSQA⁺ release: query, codebase and pairs", release.write_release_files, grades=False),
    "coclr": Format(
        "CoCLR's CoSQA: pairs and code_idx_map.txt", coclr.write_coclr_files, grades=False, ids=False
    ),
    "beir": Format("a folder of BEIR or MTEB", beir.write_beir_files, is_whole=True),
    "qrels": Format("TREC qrels, with the texts", qrels.write_qrels_files, is_whole=True),
    "parquet": Format("Parquet files (needs pyarrow)", parquet.write_parquet_files),
    "huggingface": Format(
        "a Hugging Face dataset folder with its card", huggingface.write_huggingface_folder
    ),
}


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written. `unjudged` is None where nobody knows which pairs were candidates.

    `withheld` are snippets, `withheld_for` counts them by the reason; `split` tells of the parts.
    """

    folder: Path
    files: list[str]
    queries: int
    snippets: int
    pairs: int
    withheld: int
    withheld_for: Mapping[str, int]
    withheld_queries: int
    withheld_queries_for: Mapping[str, int]
    unjudged: int | None
    by_source: Mapping[str, int]
    split: Report | None = None
    warnings: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"folder": str(self.folder)}


def export_benchmark(benchmark: Benchmark, name: str, folder: Path, options: Options) -> Exported:
    """Write `benchmark` in the format called `name`. Raises `NothingToExport`, `Fractions`, `FolderInUse`."""
    by_ids = FORMATS[name].ids
    subject = subject_of(benchmark, options.labels, options.withhold, by_ids=by_ids)
    with stage_export(folder) as stage:
        return replace(_written(subject, name, stage, options), folder=folder)


def parts_of(subject: Subject, options: Options) -> Parts | None:
    """The split that is asked for; None for none. Raises `NoPublishedSplit`."""
    if options.published_split:
        return split_as_published(subject)
    return None if options.split is None else split_benchmark(subject, options.split, options.by_repository)


def _written(subject: Subject, name: str, folder: Path, options: Options) -> Exported:
    parts = parts_of(subject, options)
    rounded = round_relevances(subject, options.rounds) if FORMATS[name].is_whole else subject
    files = FORMATS[name].write(rounded, folder, parts, options.tick)
    provenance.write_labels(subject, subject.open_pairs, folder)
    provenance.write_withheld(subject, folder)
    provenance.write_distractors(subject, folder)
    unjudged = provenance.write_candidates(subject, folder)
    aliases = provenance.write_aliases(subject, folder)
    if parts is not None:
        (folder / SPLITS).write_text(json.dumps(asdict(parts.report), indent=2) + "\n", "utf-8")
    queries, snippets = subject.held_queries, subject.held_snippets
    done = Exported(
        folder=folder,
        files=[*files, *_side_files(folder, files), MANIFEST],
        queries=len(subject.query_ids) - queries.count,
        snippets=len(subject.snippet_ids) - snippets.count,
        pairs=len(subject.open_pairs),
        withheld=snippets.count,
        withheld_for={reason.value: count for reason, count in snippets.reasons.items()},
        withheld_queries=queries.count,
        withheld_queries_for={reason.value: count for reason, count in queries.reasons.items()},
        unjudged=unjudged,
        by_source=subject.open_pairs.by_source(),
        split=None if parts is None else parts.report,
    )
    rounding = rounding_of(subject, rounded)
    done.warnings.extend(_warnings(done, subject, FORMATS[name], parts))
    if aliases and subject.benchmark.goes_by_ids:
        done.warnings.append(_of_aliases(aliases))
    done.warnings.extend([str(rounding)] if rounding else [])
    manifest = _manifest(done, subject, name, options) | {"rounded": rounding and asdict(rounding)}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
    return done


def _side_files(folder: Path, files: list[str]) -> list[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if str(path) not in {*files, MANIFEST})


def _of_split(parts: Parts) -> list[str]:
    """Where the parts are not as far apart as somebody may think."""
    told, report = [], parts.report
    if report.shared:
        told.append(
            f"{count_noun(report.shared, 'function')} in pairs of more than one part, "
            f"{report.shared_matches:,} as matches: training on one part has seen code of another"
        )
    if parts.nameless:
        whole = "so it changed nothing" if parts.nameless == parts.matching else "so it left those out"
        told.append(
            f"by repository: {parts.nameless:,} of {count_noun(parts.matching, 'function')} that "
            "match name no "
            f"repository, as their origin is no link to one, {whole}"
        )
    return told


def _of_aliases(aliases: int) -> str:
    return (
        f"{count_noun(aliases, 'id')} left out, as this format has each text once: {provenance.ALIASES} has "
        "them; labels of one text under several ids are one label"
    )


def _warnings(done: Exported, subject: Subject, kind: Format, parts: Parts | None) -> list[str]:
    """What the format can't say, with counts."""
    told = []
    if done.unjudged is None:
        told.append(
            f"number of unjudged pairs: {provenance.NOT_KNOWN}, as {provenance.WHY_NOT_KNOWN}; a pair that "
            "is not listed is unjudged, which is not 0"
        )
    if done.unjudged:
        told.append(
            f"{count_noun(done.unjudged, 'candidate pair')} unjudged, which is not 0: in "
            f"{provenance.UNJUDGED} and in no other file"
        )
    told += _of_licences(subject.held_snippets, subject.policy, "function", "functions")
    told += _of_licences(subject.held_queries, subject.policy, "query", "queries")
    relevances = subject.open_pairs.relevances
    graded = 0 if kind.grades else int(((relevances > 0) & (relevances != 1)).sum())
    if graded:
        told.append(
            f"{count_noun(graded, 'label')} between 0 and 1 or above written as 1: "
            f"{provenance.LABELS} has the "
            "relevance of each"
        )
    return told if parts is None else [*told, *_of_split(parts)]


def _of_licences(held: Held, policy: Withhold, one: str, many: str) -> list[str]:
    """What a policy withholds of queries or snippets, and what it lets pass."""
    told = []
    if held.passed_on:
        told.append(
            f"{count_noun(held.passed_on, one, many)} passed on whose stated licence is not known to "
            "allow it: "
            f"policy {Withhold.FORBIDDEN} (--withhold {Withhold.FORBIDDEN}) leaves such ones out"
        )
    if held.count:
        told.append(
            f"{count_noun(held.count, one, many)} withheld by policy {policy}: {reasons_told(held.reasons)}; "
            f"{provenance.WITHHELD} has origins and hashes, {provenance.WITHHELD_PAIRS} their labels"
        )
    return told


def _version_before(benchmark: Benchmark) -> dict[str, Any] | None:
    """The version whose labels this one corrects or adds to; None where it goes on from none."""
    before = benchmark.previous_version
    if before is None:
        return None
    told = {"benchmark": before.name, "version": before.version, "digest": before.digest}
    return {**told, "corrects": benchmark.pair_list_id is not None}


def _manifest(done: Exported, subject: Subject, name: str, options: Options) -> dict[str, Any]:
    benchmark = subject.benchmark
    mining = benchmark.mining
    return {
        "format": FORMAT,
        "written_as": name,
        "benchmark": benchmark.name,
        "version": benchmark.version,
        "digest": benchmark.digest,
        "pool": benchmark.pool,
        "by_ids": subject.by_ids,
        "merge_rule": benchmark.merge_rule,
        "notes": benchmark.notes,
        "scale": benchmark.scale,
        "labels": options.labels.value,
        "published_at": benchmark.published_at.isoformat(),
        "queries": done.queries,
        "snippets": done.snippets,
        "pairs": done.pairs,
        "matches": int((subject.open_pairs.relevances > 0).sum()),
        "unjudged": done.unjudged,
        "withhold": options.withhold.value,
        "withheld": done.withheld,
        "withheld_for": done.withheld_for,
        "withheld_queries": done.withheld_queries,
        "withheld_queries_for": done.withheld_queries_for,
        "by_source": done.by_source,
        "by_basis": subject.open_pairs.by_basis(),
        "annotators": [giver.as_json() for giver in subject.pairs.known],
        "mining": mining and {"encoders": mining.encoders, "k": mining.k, "fusion": mining.fusion},
        "further_minings": [
            {"encoders": one.encoders, "k": one.k, "fusion": one.fusion} for one in benchmark.minings[1:]
        ],
        "goes_on_from": _version_before(benchmark),
        "rules": [str(rule.name) for rule in Rule],
        "split": done.split and asdict(done.split),
        "warnings": done.warnings,
        "files": done.files,
    }
