"""Several annotators at once over the same given pairs: a build for each, and a queue for experts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from django.db import IntegrityError, transaction

from annotation import launching
from annotation.holes import FOR_EXPERTS, open_for_review
from annotation.launching import Actor, Judge, LaunchRefused, Order, refuse_bad_name
from annotation.models import Build
from retrieval.counting import counted

EXPERTS: Final = "experts"
CHOICES: Final = (*(judge.value for judge in Judge), EXPERTS)


@dataclass(frozen=True, slots=True)
class Who:
    """Who judges: agents or models by their builds, people by plain review or a study; at least one."""

    judges: tuple[Judge, ...] = (Judge.AGENTS,)
    experts: bool = False

    @classmethod
    def named(cls, names: list[str]) -> Who:
        """Those of `CHOICES`. Raises ValueError for others, and for none."""
        judges = tuple(Judge(name) for name in dict.fromkeys(names) if name != EXPERTS)
        if not names:
            raise ValueError("nobody is named")
        return cls(judges, EXPERTS in names)

    @property
    def several(self) -> bool:
        return len(self.judges) + self.experts > 1


def orders_of(order: Order, who: Who) -> list[Order]:
    """An order for each annotator that is asked, by names of their own where there are several.

    Raises LaunchRefused where names are taken, or where a mining is to be judged by several.
    """
    if order.given is None and (who.several or who.experts):
        raise LaunchRefused(
            "Several annotators at once, and experts, judge given pairs: give pairs, or choose one annotator."
        )
    orders = [replace(order, annotator=judge, name=name_for(order, who, judge)) for judge in who.judges]
    for one in (*orders, *([queue_order(order, who)] if who.experts else [])):
        refuse_bad_name(one)
    return orders


def name_for(order: Order, who: Who, annotator: str) -> str:
    return f"{order.name.strip()} {annotator}" if who.several else order.name.strip()


def queue_order(order: Order, who: Who) -> Order:
    """What agents would do who went on with the experts' queue: answered by file, for nothing."""
    return replace(
        order,
        name=name_for(order, who, EXPERTS),
        provider=Build.Provider.EXCHANGE,
        model="any",
        recorded="",
        budget=None,
        rounds=1,
        batches=False,
        drift_check=False,
        fresh=False,
    )


def queue(order: Order, who: Who, user: Actor = None) -> Build:
    """The given pairs as a queue for experts, in Review and for studies; no agent is asked.

    Raises LaunchRefused.
    """
    wanted = queue_order(order, who)
    launching.refuse_bad(wanted)
    try:
        with transaction.atomic():
            build = launching.launched(wanted, user)
            stands = {"state": Build.State.PAUSED, "reason": FOR_EXPERTS, "opened": True, "for_experts": True}
            Build.objects.filter(pk=build.pk).update(**stands)
            open_for_review(build)
            told = counted(build.proposed.count(), "given pair")
            launching.record(build, user, "queued for experts", told)
    except IntegrityError:
        launching.refuse_bad(wanted)  # as in `launch`
        raise
    return Build.objects.get(pk=build.pk)
