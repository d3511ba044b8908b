"""Several annotators at once over the same given pairs: a build for each, and a queue for experts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from annotation.builds.launch import launcher
from annotation.builds.launch.launcher import Actor, refuse_bad_name
from annotation.builds.launch.order import Judge, LaunchRefused, Order
from annotation.derived.experts_queue import asking_nobody, queue_for_experts
from annotation.models import Build
from retrieval.texts.plurals import count_noun

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
    """The order of the queue, which has a name of its own."""
    return replace(asking_nobody(order), name=name_for(order, who, EXPERTS))


def queue_pairs_for_experts(order: Order, who: Who, user: Actor = None) -> Build:
    """The given pairs as a queue for experts, in Review and for studies; no agent is asked.

    Raises LaunchRefused.
    """
    wanted = queue_order(order, who)
    launcher.refuse_bad_order(wanted)

    def rows() -> tuple[Build, str]:
        build = launcher.create_build_rows(wanted, user)
        return build, count_noun(build.proposed.count(), "given pair")

    return queue_for_experts(wanted, user, rows)
