"""How many queries and snippets of a benchmark each policy would withhold, before anything is exported."""

from __future__ import annotations

from collections.abc import Callable

from retrieval.collections.filter_steps import count_licence_standings
from retrieval.evaluation.content import query_members, snippet_members
from retrieval.evaluation.leaderboard import kept_by
from retrieval.evaluation.runs.system_run import code_version
from retrieval.exporting.withholding_policy import WITHHELD, Withhold
from retrieval.models import Benchmark, KeptFigures
from retrieval.models.collections import MemberQuerySet


def withheld_by_policy(benchmark: Benchmark) -> dict[Withhold, int]:
    """How many snippets each policy would withhold: of any size, as it is counted once and kept."""
    return _withheld(benchmark, "by standing", lambda: snippet_members(benchmark))


def queries_withheld_by_policy(benchmark: Benchmark) -> dict[Withhold, int]:
    """The same of queries."""
    return _withheld(benchmark, "of queries, by standing", lambda: query_members(benchmark))


def _withheld(benchmark: Benchmark, what: str, members: Callable[[], MemberQuerySet]) -> dict[Withhold, int]:
    def count() -> dict[str, int]:
        return {says.value: count for says, count in count_licence_standings(members()).items()}

    # Of the same content another benchmark may state other licences.
    key = kept_by(benchmark, licences=what, of=benchmark.pk)
    found = KeptFigures.objects.once(benchmark, key, code_version(), count)
    return {policy: sum(found.get(why, 0) for why in WITHHELD[policy]) for policy in Withhold}
