"""What an admin sees first: builds, collections, imports, and what is known of the installation's health."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from annotation.executing import SECONDS_BETWEEN_CHECKS
from annotation.models import Build, SandboxCheck, Step
from annotation.pages import notices
from annotation.pages.money import Cap, project_cap
from retrieval.models import Collection, ImportJob
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


@dataclass(frozen=True)
class SandboxView:
    """What one machine found about its own sandbox, and when."""

    machine: str
    backend: str
    made_at: datetime
    failure: str
    checks: tuple[Fact, ...]
    required: int

    @property
    def standing(self) -> Standing:
        return "bad" if self.failure else "warn" if self.is_old else "good"

    @property
    def is_old(self) -> bool:
        """Whether the next check is overdue: nobody executes there any more, or nobody knows."""
        return timezone.now() - self.made_at > OVERDUE

    @property
    def mark(self) -> str:
        return MARKS[self.standing]

    @property
    def noted(self) -> int:
        """How many checks say something that executing does not depend on."""
        return sum(check.standing == "warn" for check in self.checks)


@dataclass(frozen=True)
class Dashboard:
    """The page; builds are the newest 50."""

    builds: tuple[Build, ...]
    collections: tuple[Collection, ...]
    jobs: tuple[ImportJob, ...]
    health: tuple[Fact, ...]
    sandboxes: tuple[SandboxView, ...]
    cap: Cap
    notices: tuple[notices.ProjectNotice, ...]

    @property
    def is_live(self) -> bool:
        """Whether anything may change without anybody doing something."""
        moving = {Build.State.RUNNING, Build.State.WAITING}
        return any(build.state in moving for build in self.builds)

    @property
    def can_launch(self) -> bool:
        return {collection.kind for collection in self.collections} == set(Collection.Kind)


def dashboard(visible: QuerySet[Build]) -> Dashboard:
    """Three bounded lists and the health card."""
    cap = project_cap()
    return Dashboard(
        builds=tuple(visible.select_related("tally", "mining", "given", "queries", "snippets")[:BUILDS]),
        collections=tuple(Collection.objects.order_by("-created_at")[:COLLECTIONS]),
        jobs=tuple(ImportJob.objects.select_related("created_by")[:JOBS]),
        health=health(),
        sandboxes=tuple(map(sandbox_view, SandboxCheck.objects.all())),
        cap=cap,
        notices=(*notices.of_project(), *(notices.uncounted(visible) if cap.cap is not None else ())),
    )


def sandbox_view(row: SandboxCheck) -> SandboxView:
    """A stored check as the page shows it: what fails first."""
    checks = [Check(**check) for check in row.checks]
    checks.sort(key=lambda check: (check.ok, not check.required))
    return SandboxView(
        machine=row.machine,
        backend=row.backend,
        made_at=row.made_at,
        failure=row.failure,
        checks=tuple(map(check_fact, checks)),
        required=sum(check.required for check in checks),
    )


def check_fact(check: Check) -> Fact:
    standing: Standing = "good" if check.ok else "bad" if check.required else "warn"
    return Fact(check.name, standing, check.found, check.advice)


def health() -> tuple[Fact, ...]:
    """What can be known from the settings and the last step, without starting anything.

    Whether the sandbox holds is told by the machines that execute: see `SandboxView`.
    """
    return (sandbox_fact(), model_fact(), work_fact(), notices_fact())


def sandbox_fact() -> Fact:
    backend = settings.SANDBOX_BACKEND
    found = shutil.which("bwrap")
    if backend == "none":
        return Fact("Sandbox", "bad", "Switched off (COSQA_SANDBOX=none): test programs are not executed.")
    if backend == "docker" or not found:
        host = settings.DOCKER_HOST or "the default socket"
        standing: Standing = "info" if backend != "bubblewrap" else "bad"
        absent = "bubblewrap is not installed." if backend != "docker" else ""
        return Fact("Sandbox", standing, f"{absent} Docker through {host}; not tried from here.".strip())
    return Fact("Sandbox", "info", f"bubblewrap ({found}); not tried from here.")


def model_fact() -> Fact:
    if settings.ANTHROPIC_API_KEY:
        return Fact("Language model", "good", f"A key is set for {settings.LLM_BASE_URL}.")
    return Fact("Language model", "info", "No key: recorded replies and file exchange work, live does not.")


def notices_fact() -> Fact:
    works, words = notices.standing()
    return Fact("Notifications", "info" if works else "bad", words)


def work_fact() -> Fact:
    """The last step that any worker made: the only sign of life that is stored."""
    last = Step.objects.order_by("-pk").values_list("at", flat=True).first()
    if last is None:
        return Fact("Workers", "info", "No case has moved yet; workers leave no other sign.")
    return Fact("Workers", "info", f"Last step of a case: {last:%Y-%m-%d %H:%M:%S} UTC.")
