"""Order cases of a build once more from a stage on: what may differ, what it will cost, and the launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max, QuerySet

from annotation import canary, launching
from annotation.agents import arbiter, fixer, neighbour_writer, test_writer, tie_breaker
from annotation.caps import checked_reason
from annotation.estimating import confirming
from annotation.estimating.figures import Estimate
from annotation.estimating.making import estimate
from annotation.estimating.tokens import Counter
from annotation.launching import Actor, LaunchRefused, Order
from annotation.models import Build, Case, Execution, Extension, Rerun
from annotation.ordered import order_of
from annotation.rerunning.taking import ENTERED_BY, able
from annotation.screening import FIRST
from annotation.stages import Stage

ROWS_A_BATCH: Final = 2000
STAGES: Final = tuple(ENTERED_BY)
AFTER_TEST: Final = (arbiter.NAME, tie_breaker.NAME)
AFTER_READING: Final = (neighbour_writer.NAME, test_writer.NAME, fixer.NAME, *AFTER_TEST)
ASKED: Final[Mapping[Stage, tuple[str, ...]]] = {
    Stage.SCREENING: (*FIRST, *AFTER_READING, "repair"),
    Stage.WRITING_TEST: (*AFTER_READING, "repair"),
    Stage.EXECUTING: (fixer.NAME, *AFTER_TEST, "repair"),
    Stage.ARBITRATING: (*AFTER_TEST, "repair"),
}
"""The prompts that are used from a stage on."""
OTHERWISE: Final = frozenset({"salt", "repeat", "again_from", "again_of", "agents"})
"""Settings that change no request, or are compared by themselves."""


@dataclass(frozen=True)
class Again:
    """What is wanted: from which stage, by which name, and what differs; None = as it was.

    `fresh` asks anew what was answered before; None = where nothing else would make an answer another one.
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
    skip_canary: str = ""


@dataclass(frozen=True)
class Plan:
    """What comes of it: `chosen` cases of `source`, of which `able` have come as far as the stage."""

    source: Build
    order: Order
    stage: Stage
    chosen: int
    able: int
    repeats: bool


def plan(source: Build, cases: QuerySet[Case], wish: Again) -> Plan:
    """What running `cases` of `source` again comes to. Raises LaunchRefused where none can begin there."""
    if wish.stage not in STAGES:
        raise LaunchRefused(f"Cases can begin at {', '.join(STAGES)}.")
    rows = cases.filter(build=source)
    count = able(rows, wish.stage).count()
    if not count:
        raise LaunchRefused(f"None of these cases has come as far as {wish.stage.replace('_', ' ')}.")
    order = order_for(source, wish, count)
    repeats = would_repeat(source, order, wish.stage)
    fresh = repeats if wish.fresh is None else wish.fresh
    return Plan(source, replace(order, fresh=fresh), wish.stage, rows.count(), count, repeats)


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
        skip_canary=wish.skip_canary,
        fresh=False,
        **changed,
    )


def would_repeat(source: Build, order: Order, stage: Stage) -> bool:
    """Whether the very requests of `source` would be asked: their replies are stored, and would come back."""
    before, now = source.annotator.config, launching.configured(order)[2]
    names = (before.keys() | now.keys()) - OTHERWISE
    prompts = [(before.get("agents", {}).get(one), now["agents"].get(one)) for one in ASKED[stage]]
    return all(before.get(name) == now.get(name) for name in names) and all(a == b for a, b in prompts)


def price(found: Plan, counter: Counter | None = None) -> Estimate:
    """What it will take, stage by stage; what is taken over costs nothing."""
    return estimate(found.order, counter, found.stage)


def about(found: Plan) -> str:
    """What a confirmation is for."""
    return f"{found.able} cases of build {found.source.pk} from {found.stage}"


def canary_of(found: Plan) -> int:
    """How many of the cases would go first as a canary; 0 where so many have none."""
    large = canary.is_large(found.able * found.order.rounds)
    return settings.CANARY_CASES if found.order.provider == Build.Provider.LIVE and large else 0


def refuse_bad(found: Plan) -> None:
    """What can be known to be wrong before any work. Raises LaunchRefused."""
    if hasattr(found.source, "filling"):
        raise LaunchRefused("The build writes functions for queries: write them again, not their tests.")
    launching.refuse_bad_name(found.order)
    launching.refuse_bad_provider(found.order)


def launch(
    source: Build,
    cases: QuerySet[Case],
    wish: Again,
    why: str,
    user: Actor = None,
    word: str = "",
    words: str = "",
) -> Build:
    """A new build that runs `cases` of `source` again; `source` stays as it is.

    `word` confirms the estimate that was seen; `words` say how the cases were chosen.
    Raises LaunchRefused, and CapRefused where no reason is given.
    """
    reason, found = checked_reason(why), plan(source, cases, wish)
    refuse_bad(found)
    figures = confirming.confirmed(found.order, word, about(found)) if word else price(found)
    try:
        with transaction.atomic():
            return launched(found, cases, figures, user, reason, words, confirmed=bool(word))
    except IntegrityError:
        launching.refuse_bad_name(found.order)  # somebody, or a second click, took the name meanwhile
        raise


def launched(
    found: Plan,
    cases: QuerySet[Case],
    figures: Estimate,
    user: Actor,
    why: str,
    words: str,
    *,
    confirmed: bool,
) -> Build:
    """The rows of the new build. Raises IntegrityError where the name is taken."""
    annotator = launching.annotator_of(found.order, more_of(found))
    build = launching.launched(replace(found.order, limit=None), user, found.source.mining, annotator)
    build.estimate = figures.to_json()
    build.save(update_fields=["estimate"])
    rerun = Rerun.objects.create(build=build, of=found.source, stage=found.stage, words=words[:400], why=why)
    through = Rerun.cases.through
    chosen = able(cases.filter(build=found.source), found.stage).values_list("pk", flat=True)
    rows = [through(rerun_id=rerun.pk, case_id=pk) for pk in chosen]
    through._default_manager.bulk_create(rows, batch_size=ROWS_A_BATCH)
    told = f"{found.able:,} cases of “{found.source.name}” from {found.stage.replace('_', ' ')} on"
    seen = "" if confirmed else ", confirmed by nobody"
    launching.record(build, user, "runs again", f"{told}; {confirming.in_words(figures)}{seen}: {why}")
    return build


def more_of(found: Plan) -> dict[str, Any]:
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
