"""The sample's function: written and tested for a query without a match, it waits for an expert.

What writer, tester and arbiter say is authored in `written.jsonl` and recorded like all other replies.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from annotation.derived.derivation import Decision
from annotation.derived.missing_functions.launch import plan_filling
from annotation.derived.missing_functions.orders import FillOrder
from annotation.models import Build, Filling
from cosqa_site.demo.sample import RECORDED_MODEL, read_sample_lines

AUTHORED: Final = "written.jsonl"


def authored_of(folder: Path) -> list[dict[str, Any]]:
    """A line for each function; none where the sample has no such file. Raises BadSample."""
    path = folder / AUTHORED
    return list(read_sample_lines(path)) if path.exists() else []


def launch_writing(build: Build, folder: Path, provider: str) -> Build | None:
    """The job that writes the sample's functions: an earlier one, or launched now.

    None where the sample has none, or where each query of the build has a match.
    """
    earlier = Filling.objects.filter(of=build).select_related("build").first()
    if earlier is not None:
        return earlier.build
    count = len(authored_of(folder))
    build.refresh_from_db(fields=["state"])
    if not count or build.state != Build.State.DONE:
        return None
    order = FillOrder(
        of=build,
        name=f"{build.name}: function to accept",
        provider=provider,
        model=RECORDED_MODEL,
        recorded=str((folder / "replies.jsonl").resolve()) if provider == Build.Provider.RECORDED else "",
        tries=1,
        limit=count,
    )
    plan = plan_filling(order)
    return plan.launch(Decision()) if plan.queries else None
