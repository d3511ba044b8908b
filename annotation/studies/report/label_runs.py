"""How many labels rest on a finished run of the rater's own test: what a reference by tests is worth."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Condition, Rating, Study
from annotation.studies.adjudication.latest_round import Rounds, rounds_of
from annotation.studies.rating.required_run import finished_runs
from annotation.studies.report.figure_data import Until, up_to


@dataclass(frozen=True, slots=True)
class LabelRuns:
    """A condition's labels: with a finished run before the label, and without one but with the reason why no
    test is possible. The rest has neither.
    """

    condition: str
    labels: int
    with_run: int
    with_reason: int

    @property
    def neither(self) -> int:
        return self.labels - self.with_run - self.with_reason

    @property
    def share(self) -> float | None:
        """Of labels with a run; None where there is no label."""
        return self.with_run / self.labels if self.labels else None


def count_label_runs(study: Study, until: Until | None = None) -> tuple[LabelRuns, ...]:
    """Of each condition whose raters may run tests. Unsure is no label; planted pairs never count."""
    rounds = rounds_of(study, until.at if until else None)
    conditions = [condition for condition in study.conditions.order_by("id") if condition.may_run]
    return tuple(count_condition_runs(condition, rounds, until) for condition in conditions)


def count_condition_runs(condition: Condition, rounds: Rounds, until: Until | None) -> LabelRuns:
    rows = Rating.objects.counted().filter(
        assignment__condition=condition, assignment__study_pair__planted="", phase=Rating.Phase.BLIND
    )
    columns = "assignment__study_pair", "assignment__condition", "assignment__round"
    said = up_to(rows, until.rating if until else None).order_by("id")
    last = {
        row[0]: row for row in said.values_list("assignment", *columns, "value", "withdrawn", "no_test", "pk")
    }
    standing = {
        pk: no_test
        for _, pair, where, number, value, withdrawn, no_test, pk in last.values()
        if value is not None and not withdrawn and rounds.counts(pair, where, number)
    }
    tested = find_labels_with_run(condition).intersection(standing)
    reasons = sum(bool(no_test) for pk, no_test in standing.items() if pk not in tested)
    return LabelRuns(condition.get_kind_display(), len(standing), len(tested), reasons)


def find_labels_with_run(condition: Condition) -> set[int]:
    """Ratings (ids) that came after a finished run for their pair: those that note it among their runs."""
    runs = finished_runs().filter(assignment__condition=condition)
    ended = dict(runs.values_list("pk", "execution__created_at"))
    rows = Rating.objects.filter(assignment__in=runs.order_by().values("assignment")).exclude(runs=[])
    return {
        pk
        for pk, noted, at in rows.values_list("pk", "runs", "created_at")
        if any(run in ended and ended[run] <= at for run in noted)
    }
