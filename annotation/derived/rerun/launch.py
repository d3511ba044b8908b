"""Order cases of a build once more from a stage on: what may differ, what it will cost, and the launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar, Final

import numpy as np
from django.db.models import Max, QuerySet

from annotation.agents import arbiter, fixer, neighbour_writer, single_llm, test_writer, tie_breaker
from annotation.builds.launch import launcher
from annotation.builds.launch.estimates.estimate import estimate_order
from annotation.builds.launch.estimates.figures import Estimate
from annotation.builds.launch.estimates.tokens import Counter
from annotation.builds.launch.from_build import order_of
from annotation.builds.launch.order import LaunchRefused, Order
from annotation.builds.pipeline.screening import FIRST
from annotation.derived.derivation import Derivation, Launch
from annotation.derived.rerun.case_takeover import ENTERED_BY, filter_rerunnable_cases
from annotation.models import Build, Case, Execution, Extension, Rerun
from annotation.stages import Stage

ROWS_A_BATCH: Final = 2000
STAGES: Final = tuple(ENTERED_BY)
AFTER_TEST: Final = (arbiter.NAME, tie_breaker.NAME)
AFTER_READING: Final = (neighbour_writer.NAME, test_writer.NAME, fixer.NAME, *AFTER_TEST)
ASKED: Final[Mapping[Stage, tuple[str, ...]]] = {
    Stage.SCREENING: (*FIRST, *AFTER_READING, "repair"),
    Stage.READING: (single_llm.NAME, *AFTER_READING, "repair"),
    Stage.WRITING_TEST: (*AFTER_READING, "repair"),
    Stage.EXECUTING: (fixer.NAME, *AFTER_TEST, "repair"),
    Stage.ARBITRATING: (*AFTER_TEST, "repair"),
    Stage.TIE_BREAKING: (tie_breaker.NAME, "repair"),
}
"""The prompts that are used from a stage on."""
OTHERWISE: Final = frozenset({"salt", "repeat", "again_from", "again_of", "agents"})
"""Settings that change no request, or are compared by themselves."""


@dataclass(frozen=True)
class Again:
    """What is wanted: from which stage, by which name, and what differs; None = as it was.

    `fresh` asks anew what was answered before; None = where nothing else would make an answer another one.
    `spot_check`: what the screener found clear is read and tested all the same, to see how often it errs.
    `sample`: so many of the cases, drawn by `seed`; None = all.
    """

    name: str
    stage: Stage
    provider: str | None = None
    recorded: str = ""
    model: str | None = None
    sampling: dict[str, Any] | None = None
    fix_rounds: int | None = None
    rewrites: int | None = None
    second_test: bool | None = None
    fresh: bool | None = None
    budget: Decimal | None = None
    unpriced: bool = False
    spot_check: bool = False
    sample: int | None = None
    seed: int = 1


@dataclass(frozen=True)
class RerunPlan(Derivation[Build]):
    """Of `chosen` cases of `source`, `pool` can begin at the stage; `able` of them are run.

    `words` say how the cases were chosen.
    """

    needs_reason: ClassVar[bool] = True

    source: Build
    picked: QuerySet[Case]
    wish: Again
    words: str
    chosen: int
    able: int
    pool: int
    repeats: bool

    @property
    def stage(self) -> Stage:
        return self.wish.stage

    @property
    def spot_check(self) -> bool:
        return self.wish.spot_check

    @property
    def about(self) -> str:
        words = f"{self.able} cases of build {self.source.pk} from {self.stage}"
        return f"{words}, as a spot check" if self.spot_check else words

    @property
    def cases(self) -> int:
        return self.able * self.order.rounds

    def refuse_bad(self) -> None:
        if hasattr(self.source, "filling"):
            raise LaunchRefused("The build writes functions for queries: write them again, not their tests.")
        super().refuse_bad()

    def estimate(self, counter: Counter | None = None) -> Estimate:
        """What is taken over costs nothing."""
        return estimate_order(self.order, counter, self.stage)

    def create(self, launch: Launch) -> Build:
        """A new build that runs the cases of `source` again; `source` stays as it is."""
        annotator = launcher.annotator_of_order(self.order, more_of(self))
        order = replace(self.order, limit=None, skip_canary=launch.skip_canary)
        cases = select_rerun_cases(self.source, self.picked, self.wish)
        build = launcher.create_build_rows(order, launch.user, self.source.mining, annotator)
        launch.keep_estimate(build)
        rerun = Rerun.objects.create(
            build=build,
            of=self.source,
            stage=self.stage,
            spot_check=self.spot_check,
            description=self.words[:400],
            reason=launch.reason,
        )
        through = Rerun.cases.through
        rows = [through(rerun_id=rerun.pk, case_id=pk) for pk in cases]
        through._default_manager.bulk_create(rows, batch_size=ROWS_A_BATCH)
        told = f"{self.able:,} cases of “{self.source.name}” from {self.stage.replace('_', ' ')} on"
        told += ", as a spot check of clear pairs" if self.spot_check else ""
        launcher.record_build_event(
            build, launch.user, "runs again", f"{told}; {launch.price_line}: {launch.reason}"
        )
        return build


def plan_rerun(source: Build, cases: QuerySet[Case], wish: Again, words: str = "") -> RerunPlan:
    """What running `cases` of `source` again comes to. Raises LaunchRefused where none can begin there."""
    if wish.stage not in STAGES:
        raise LaunchRefused(f"Cases can begin at {', '.join(STAGES)}.")
    if wish.spot_check:
        refuse_no_spot_check(source, wish)
    rows = cases.filter(build=source)
    pool = filter_rerunnable_cases(rows, wish.stage, spot_check=wish.spot_check).count()
    if not pool:
        raise LaunchRefused(none_able(wish))
    able = pool if wish.sample is None else min(wish.sample, pool)
    order = order_for(source, wish, able)
    repeats = not wish.spot_check and would_repeat(source, order, wish.stage)
    order = replace(order, fresh=repeats if wish.fresh is None else wish.fresh)
    return RerunPlan(
        order,
        source,
        picked=cases,
        wish=wish,
        words=words,
        chosen=rows.count(),
        able=able,
        pool=pool,
        repeats=repeats,
    )


def refuse_no_spot_check(source: Build, wish: Again) -> None:
    """Raises LaunchRefused where clear pairs of the build can't be read and tested."""
    if wish.stage is not Stage.READING:
        raise LaunchRefused("A spot check begins at reading.")
    if not source.annotator.config.get("reader", False):
        raise LaunchRefused("A spot check begins with the reader, and the agents of this build have none.")


def none_able(wish: Again) -> str:
    """Why no case can begin there."""
    if wish.spot_check:
        return "The screener decided none of these cases."
    return f"None of these cases got as far as {wish.stage.replace('_', ' ')}."


def select_rerun_cases(source: Build, cases: QuerySet[Case], wish: Again) -> list[int]:
    """The ids of the cases to run: all that can begin there, or a sample of them drawn by the seed."""
    rows = filter_rerunnable_cases(cases.filter(build=source), wish.stage, spot_check=wish.spot_check)
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    if wish.sample is None or wish.sample >= len(ids):
        return ids
    places = np.random.default_rng(wish.seed).choice(len(ids), wish.sample, replace=False)
    return sorted(ids[place] for place in places)


def order_for(source: Build, wish: Again, count: int) -> Order:
    """The order of so many pairs like those of `source`, with what differs."""
    named = ("provider", "model", "sampling", "fix_rounds", "rewrites", "second_test")
    changed = {name: getattr(wish, name) for name in named if getattr(wish, name) is not None}
    usual = order_of(source)
    taken = source.extensions.filter(state__in=Extension.IN_BUILD)
    deepest = taken.aggregate(k=Max("mining__k"))["k"]
    if changed.get("provider") == Build.Provider.RECORDED:
        changed["recorded"] = wish.recorded or usual.recorded
    live = changed.get("provider", usual.provider) == Build.Provider.LIVE
    return replace(
        usual,
        name=wish.name,
        batches=usual.batches and live,
        k=max(usual.k, deepest or 0),
        limit=count,
        budget=wish.budget,
        unpriced=wish.unpriced,
        fresh=False,
        **changed,
    )


def would_repeat(source: Build, order: Order, stage: Stage) -> bool:
    """Whether the very requests of `source` would be asked: their replies are stored, and would come back."""
    before, now = source.annotator.config, launcher.configure_annotator(order)[2]
    names = (before.keys() | now.keys()) - OTHERWISE
    prompts = [(before.get("agents", {}).get(one), now["agents"].get(one)) for one in ASKED[stage]]
    return all(before.get(name) == now.get(name) for name in names) and all(a == b for a, b in prompts)


def more_of(found: RerunPlan) -> dict[str, Any]:
    """What makes the annotator another one: where it begins, and whose work is before that."""
    more: dict[str, Any] = {"again_from": found.stage.value, "again_of": found.source.annotator.version}
    if found.order.fresh and found.stage is Stage.EXECUTING:
        # Otherwise the report that is stored would be found, as the program is the same.
        more["repeat"] = next_run(found.source)
    return more


def next_run(source: Build) -> int:
    """The number under which tests are run again: so far no run has it, whether of a build or of a person.

    Whoever runs the same build again meanwhile waits here, until these rows are there to be counted.
    """
    Build.objects.select_for_update(no_key=True).get(pk=source.pk)
    last = Execution.objects.aggregate(last=Max("repeat"))["last"] or 1
    return 1 + max(last, 1 + Rerun.objects.filter(stage=Stage.EXECUTING).count())
