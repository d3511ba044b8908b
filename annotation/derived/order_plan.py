"""A plain order as a derivation that takes nothing over: its pairs are mined, or given."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.builds.launch import launcher
from annotation.builds.launch.estimates.estimate import passing_queries
from annotation.derived.derivation import Decision, Derivation, Launch
from annotation.models import Build


@dataclass(frozen=True)
class OrderPlan(Derivation[Build]):
    """The order says everything itself, also why, and whether its canary is skipped."""

    @property
    def about(self) -> str:
        return ""

    @property
    def cases(self) -> int:
        given = self.order.given
        whole = given.size if given else passing_queries(self.order) * launcher.pairs_a_query(self.order)
        return min(whole, self.order.limit or whole) * self.order.rounds

    def refuse_bad(self) -> None:
        launcher.refuse_bad_order(self.order)

    def launch(self, decision: Decision | None = None) -> Build:
        """What is free is not estimated."""
        if self.is_live:
            return super().launch(decision)
        return launcher.launch_build(self.order, decision.user if decision else None)

    def create(self, launch: Launch) -> Build:
        build = launcher.create_build_rows(self.order, launch.user)
        launch.keep_estimate(build)
        launch.record_price(build)
        return build
