"""Whose labels an export has: by the merge rule, of people, or of the agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.evaluation.merge_rule import agents_told
from retrieval.exporting.content import NothingToExport
from retrieval.exporting.export_run import Options, export_benchmark
from retrieval.exporting.labels import LabelChoice
from tests.retrieval.exporting.conftest import annotator, benchmark, loaded

pytestmark = pytest.mark.django_db


def test_labels_of_people_or_of_agents(tmp_path: Path) -> None:
    agents, person = annotator(), annotator("person", user=1)
    made = benchmark(said={agents: {(0, 0): 0, (1, 1): 1}, person: {(0, 0): 1}})
    for choice, labels in (
        (LabelChoice.FINAL, [1, 1]),
        (LabelChoice.EXPERTS, [1]),
        (LabelChoice.AGENTS, [0, 1]),
    ):
        export_benchmark(made, "release", tmp_path / choice, Options(labels=choice))
        assert [row["label"] for row in loaded(tmp_path / choice, "pairs.json")] == labels
    only = benchmark(said={annotator("original"): {(0, 0): 1}})
    with pytest.raises(NothingToExport, match="no label of experts; its labels are of: original"):
        export_benchmark(only, "release", tmp_path / "none", Options(labels=LabelChoice.EXPERTS))


@pytest.mark.parametrize(("told", "labels"), [(True, [0, 1]), (False, [1, 1])])
def test_agents_who_were_overruled_in_all_they_said_are_exported(
    tmp_path: Path, told: bool, labels: list[int]
) -> None:
    """The merge rule tells whose labels were the benchmark's; others judged a pair of it later."""
    person, agents, others = annotator("person", user=1), annotator(number=1), annotator(number=2)
    rule = f"people; else agents. {agents_told(agents)}, in build small" if told else "people"
    said = {agents: {(0, 0): 0, (0, 1): 1}, others: {(0, 0): 1}, person: {(0, 0): 1, (0, 1): 0}}
    export_benchmark(benchmark(said=said, rule=rule), "release", tmp_path, Options(labels=LabelChoice.AGENTS))
    assert [row["label"] for row in loaded(tmp_path, "pairs.json")] == labels
