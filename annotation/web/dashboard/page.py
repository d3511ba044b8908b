"""What an admin sees first: builds, collections, imports, and what is known of the installation's health."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from annotation.builds.launch.provider_key import configured_key
from annotation.builds.pipeline.execution import SECONDS_BETWEEN_CHECKS
from annotation.models import Build, SandboxCheck, Step
from annotation.review.comments import find_open_flags
from annotation.web.builds import notices
from annotation.web.money.page import project_cap
from retrieval.models import Collection, Job
from sandbox.protocol import Check

BUILDS = 50
COLLECTIONS = 8
JOBS = 5
OVERDUE = timedelta(seconds=2 * SECONDS_BETWEEN_CHECKS)
Standing = Literal["good", "warn", "bad", "info"]
MARKS: Mapping[Standing, str] = {"good": "✓", "warn": "!", "bad": "✗", "info": "i"}


@dataclass(frozen=True)
class Fact:
    """One line of the health card: how it stands, by word and sign, and how one knows."""

    name: str
    standing: Standing
    found: str
    advice: str = ""

    @property
    def mark(self) -> str:
        return MARKS[self.standing]


def build_dashboard_page(visible: QuerySet[Build]) -> dict[str, Any]:
    """Three bounded lists, the newest 50 builds among them, and the health card."""
    cap = project_cap()
    sandboxes = [sandbox_view(row) for row in SandboxCheck.objects.all()]
    builds = list(visible.select_related("tally", "mining", "pair_list", "queries", "snippets")[:BUILDS])
    collections = list(Collection.objects.order_by("-created_at")[:COLLECTIONS])
    return {
        "builds": builds,
        # Whether anything may change without anybody doing something.
        "is_live": any(build.state in {Build.State.RUNNING, Build.State.WAITING} for build in builds),
        "collections": collections,
        "can_launch": {collection.kind for collection in collections} == set(Collection.Kind),
        "jobs": Job.objects.filter(kind=Job.Kind.IMPORT)[:JOBS],
        "health": (sandbox_fact([sandbox["standing"] for sandbox in sandboxes]), *other_facts()),
        "sandboxes": sandboxes,
        "cap": cap,
        "flags": find_open_flags(visible).count(),
        "notices": [
            *notices.of_project(),
            *(notices.build_unpriced_notices(visible) if cap.cap is not None else ()),
        ],
    }


def sandbox_view(row: SandboxCheck) -> dict[str, Any]:
    """A stored check as the page shows it: what fails first; executing can do without what is `noted`.

    It is old where the next one is overdue: nobody executes there any more, or nobody knows.
    """
    checks = sorted(
        (Check(**check) for check in row.checks), key=lambda check: (check.ok, not check.required)
    )
    facts = [
        Fact(
            check.name, "good" if check.ok else "bad" if check.required else "warn", check.found, check.advice
        )
        for check in checks
    ]
    is_old = timezone.now() - row.made_at > OVERDUE
    standing: Standing = "bad" if row.failure else "warn" if is_old else "good"
    return {
        "row": row,
        "is_old": is_old,
        "standing": standing,
        "mark": MARKS[standing],
        "checks": facts,
        "noted": sum(fact.standing == "warn" for fact in facts),
        "required": sum(check.required for check in checks),
    }


def other_facts() -> tuple[Fact, ...]:
    """What the health card tells after the sandbox."""
    return model_fact(), work_fact(), notices_fact()


def sandbox_fact(checked: Sequence[Standing] = ()) -> Fact:
    """Which sandbox is configured, as good as the worst of its checks on any machine."""
    backend = settings.SANDBOX_BACKEND
    found = shutil.which("bwrap")
    if backend == "none":
        return Fact("Sandbox", "bad", "Switched off (COSQA_SANDBOX=none): test programs are not executed.")
    if backend == "docker" or not found:
        host = settings.DOCKER_HOST or "the default socket"
        standing = find_worst_standing(checked) if backend != "bubblewrap" else "bad"
        absent = "bubblewrap is not installed." if backend != "docker" else ""
        return Fact("Sandbox", standing, f"{absent} Docker through {host}.".strip())
    return Fact("Sandbox", find_worst_standing(checked), f"bubblewrap ({found}).")


def find_worst_standing(checked: Sequence[Standing]) -> Standing:
    """Nothing good or bad is known of a sandbox that no machine has checked."""
    return max(checked, key=("info", "good", "warn", "bad").index, default="info")


def model_fact() -> Fact:
    if configured_key():
        return Fact("Language model", "good", f"A key is set for {settings.LLM_BASE_URL}.")
    return Fact("Language model", "info", "No key: recorded replies and file exchange work, live does not.")


def notices_fact() -> Fact:
    works, words = notices.describe_notification_status()
    return Fact("Notifications", "info" if works else "bad", words)


def work_fact() -> Fact:
    """The last step that any worker made: the only sign of life that is stored."""
    last = Step.objects.order_by("-pk").values_list("at", flat=True).first()
    if last is None:
        return Fact("Workers", "info", "No work was done yet, so there is no sign of a worker.")
    return Fact("Workers", "info", f"Last step: {last:%Y-%m-%d %H:%M:%S} UTC.")
