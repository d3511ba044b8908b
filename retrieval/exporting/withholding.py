"""How many snippets of a benchmark each policy would withhold, before anything is exported."""

from __future__ import annotations

from retrieval.evaluation.content import snippet_members
from retrieval.evaluation.leaderboard import kept_by
from retrieval.evaluation.running import code_version
from retrieval.exporting.licences import WITHHELD, Withhold
from retrieval.filtering import standings
from retrieval.models import Benchmark, KeptFigures


def withheld_by_policy(benchmark: Benchmark) -> dict[Withhold, int]:
    """How many snippets each policy would withhold: of any size, as it is counted once and kept."""
    key = kept_by(benchmark, licences="by standing")
    found = KeptFigures.objects.once(benchmark, key, code_version(), lambda: _standings(benchmark))
    return {policy: sum(found.get(why, 0) for why in WITHHELD[policy]) for policy in Withhold}


def _standings(benchmark: Benchmark) -> dict[str, int]:
    return {says.value: count for says, count in standings(snippet_members(benchmark)).items()}
