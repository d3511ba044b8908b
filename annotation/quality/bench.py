"""The whole bench: annotators are read and measured, and their wrong pairs told with what was said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings

from annotation.llm.profiles import UnknownProfile, load_provider_profile
from annotation.quality.evidence import StepEvidence, said_of
from annotation.quality.inputs.entrants import Group, OfBuild, entries_of, merge_entry_groups
from annotation.quality.inputs.files import Truth
from annotation.quality.inputs.pair_lookup import PlacedPair
from annotation.quality.report import Report, WrongPair, build_bench_report
from annotation.quality.tokens import Counter, counter_of


@dataclass(frozen=True)
class Bench:
    """The figures, with the texts of the pairs and what was said of the wrong ones (by case)."""

    report: Report
    places: Mapping[str, PlacedPair]
    said: Mapping[int, tuple[StepEvidence, ...]]
    counted_by: str

    @property
    def rows(self) -> list[int]:
        """The pairs (ids) whose labels the bench tells: one that is not listed as wrong is as the truth."""
        return [place.row for place in self.places.values() if place.row is not None]

    def as_json(self) -> dict[str, Any]:
        """Everything, as plain values."""
        found = asdict(self.report)
        return {
            **found,
            "tokens_counted_by": self.counted_by,
            "intervals": "95 %, from draws of whole queries; exact or Tango\u2019s where few queries differ",
            "wrong": [self.wrong_as_json(wrong) for wrong in self.report.wrong],
        }

    def wrong_as_json(self, wrong: WrongPair) -> dict[str, Any]:
        """A wrong pair with everything that was said of it."""
        place, answer = self.places[wrong.pair], wrong.answer
        return {
            "annotator": wrong.entry,
            "answering": wrong.answering,
            "id": wrong.pair,
            "query": place.query,
            "code": place.code,
            "truth": wrong.truth,
            "label": answer.label,
            "stage": answer.stage,
            "decided": answer.decided,
            "outcome": answer.outcome,
            "case": answer.case,
            "why": answer.why,
            "said": [asdict(one) for one in self.said_of(wrong)],
        }

    def said_of(self, wrong: WrongPair) -> tuple[StepEvidence, ...]:
        return self.said.get(wrong.answer.case, ()) if wrong.answer.case is not None else ()


def measure_bench(
    places: Sequence[PlacedPair], truth: Truth, groups: Sequence[Group], tokenizer: str = ""
) -> Bench:
    """Raises NothingToMeasure, with what to change."""
    joined = merge_entry_groups(groups)
    entries, counted_by = entries_of(joined, places, select_token_counters(joined, tokenizer))
    found = build_bench_report([place.pair for place in places], truth, entries)
    cases = {wrong.answer.case for wrong in found.wrong} - {None}
    return Bench(found, {place.pair.id: place for place in places}, said_of(filter(None, cases)), counted_by)


def select_token_counters(groups: Sequence[Group], tokenizer: str) -> tuple[Counter, ...]:
    """The tokenizer that was named, or the installation's, for the first build's model; then words."""
    builds = (source.build for group in groups for source in group.sources if isinstance(source, OfBuild))
    model = next((build.model for build in builds), "")
    return counter_of(tokenizer or settings.LLM_TOKENIZER or of_profile(), model)


def of_profile() -> str:
    """The tokenizer of the provider's profile, if it has one."""
    try:
        return load_provider_profile(settings.LLM_PROFILE).tokenizer
    except UnknownProfile:
        return ""
