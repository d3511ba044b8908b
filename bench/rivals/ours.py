"""The workbench itself: plain review and a study on the seeded build, in a scratch database of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote_plus

from django.conf import settings
from django.contrib.auth.models import User

from annotation.accounts.roles import Role
from annotation.models import Build
from bench.measure.scratch_database import Scratch
from bench.pipeline.processes import Process
from bench.review.desks import case_of, first_choice, form_of, hidden_of
from bench.review.lists import row_at
from bench.review.server import TOKEN, Answer, path_of, run_server_with_workers, session_of
from bench.rivals.processes import memory_of, of_children, used_by
from bench.rivals.rows import Row, plan_of
from bench.rivals.tool import FILTER, CannotRun, Sample, Step
from bench.rivals.web import Link
from bench.seed import database, studies

LARGEST_PAGE: Final = 200


class Workbench:
    """Our side. Its data folder is the process's COSQA_HOME, which the caller makes and removes."""

    name = "CoSQA Workbench"

    def __init__(self) -> None:
        self.scratch = Scratch(f"rivals_{os.getpid()}")
        self.stack = ExitStack()
        self.process: Process | None = None
        self.case, self.pair, self.imported = 0, "", 0

    def install(self) -> str:
        command = [shutil.which("git") or "git", "rev-parse", "--short", "HEAD"]
        told = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, check=False)
        return told.stdout.decode().strip() or "this checkout"

    def start(self, rows: Sequence[Row]) -> None:
        self.scratch.make(lambda: database.fill_seeded_database(plan_of(len(rows))))
        self.stack.callback(self.scratch.drop)
        with self.scratch.entered():
            admin, reviewer, rater, caller = self.people()
            build = Build.objects.select_related("tally").get(name=database.FINISHED)
            self.build = build.pk
            boss = User.objects.get(username=database.ADMIN)
            self.study = studies.at_work(build.pk, boss, [rater, caller]).pk
            self.middle = row_at(build, "made", len(rows) // 2)
            sessions = [session_of(user) for user in (admin, reviewer, rater, caller)]
        try:
            self.process, port = self.stack.enter_context(run_server_with_workers(self.scratch))
        except RuntimeError as why:
            raise CannotRun(str(why)) from why
        self.admin, self.reviewer, self.rater, self.caller = (
            Link(port, {"sessionid": session, "csrftoken": TOKEN}) for session in sessions
        )

    def people(self) -> tuple[User, ...]:
        """Who looks at lists, who reviews, who rates on pages and who by the API.

        They are not the same: a rater may not see what agents said.
        """
        return (
            database.create_seeded_user("rivals-admin", Role.ADMIN),
            database.create_seeded_user("rivals-reviewer", Role.EXPERT),
            database.create_seeded_user("rivals-rater", Role.EXPERT),
            database.create_seeded_user("rivals-caller", Role.EXPERT),
        )

    def used(self) -> float:
        return used_by(self.roots()) + of_children()

    def memory(self) -> float:
        return memory_of(self.roots())

    def roots(self) -> list[int]:
        return [self.process.pid] if self.process else []

    def steps(self) -> Mapping[str, Step]:
        return {
            "next": self.next,
            "next_page": self.next_page,
            "next_review": self.next_review,
            "item": lambda: self.reviewer.get(f"/api/cases/{self.case}").seconds,
            "item_page": self.item_page,
            "submit": self.submit,
            "submit_page": self.submit_page,
            "submit_review": self.submit_review,
            **self.lists(f"/api/builds/{self.build}/cases", ""),
            **self.lists(f"/builds/{self.build}/cases/", "_page"),
            "labels": lambda: self.admin.get(f"/studies/{self.study}/ratings/?format=json").seconds,
            "export": self.export,
        }

    def missing(self) -> Mapping[str, str]:
        return {}

    def next(self) -> float:
        reply = self.caller.send(f"/api/rate/{self.study}/next", {})
        self.assigned: dict[str, Any] = reply.json()["assignment"]
        return reply.seconds

    def submit(self) -> float:
        held = self.assigned
        said = {name: held[name] for name in ("token", "evidence", "seen_revision")}
        said |= {"choice": held["choices"][0], "seconds": 20.0}
        return self.caller.send(f"/api/rate/{self.study}/pairs/{held['number']}/ratings", said, 201).seconds

    def next_review(self) -> float:
        """Which case is next, and its page."""
        found = self.reviewer.get(f"/review/builds/{self.build}/?after={self.case}", 302)
        self.case = case_of(path_of(found.place))
        return found.seconds + self.item_page()

    def item_page(self) -> float:
        reply = self.reviewer.get(f"/review/cases/{self.case}/")
        self.page: Answer = reply.page()
        return reply.seconds

    def submit_review(self) -> float:
        return self.reviewer.form(f"/review/cases/{self.case}/label/", form_of(self.page)).seconds

    def next_page(self) -> float:
        found = self.rater.get(f"/rate/{self.study}/next/", 302)
        self.pair = path_of(found.place)
        reply = self.rater.get(self.pair)
        self.rated: Answer = reply.page()
        return found.seconds + reply.seconds

    def submit_page(self) -> float:
        form = hidden_of(self.rated) | {"label": first_choice(self.rated)}
        return self.rater.form(f"{self.pair}submit/", form).seconds

    def lists(self, path: str, kind: str) -> dict[str, Step]:
        """The three lists, by the API or as pages, which both have 50 rows."""
        words = quote_plus(FILTER)
        return {
            f"list{kind}": lambda: self.admin.get(path).seconds,
            f"deep{kind}": lambda: self.admin.get(f"{path}?after={self.middle}").seconds,
            f"filtered{kind}": lambda: self.admin.get(f"{path}?q={words}&sort=score").seconds,
        }

    def export(self) -> float:
        """All pages of the API, one after another."""
        seconds, after = 0.0, 0
        while True:
            path = f"/api/builds/{self.build}/cases?limit={LARGEST_PAGE}&after={after}"
            reply = self.admin.get(path)
            seconds += reply.seconds
            after = reply.json()["next"]
            if after is None:
                return seconds

    def bring_in(self, rows: Sequence[Row]) -> Sample:
        """`manage.py import`, its start included."""
        self.imported += 1
        file = Path(self.scratch.home) / f"part-{self.imported}.json"
        file.write_text(json.dumps([row.lean for row in rows]))
        given = [str(file), "--codebase", str(file), "--name", f"part {self.imported}"]
        began, before = time.perf_counter(), of_children()
        ended = subprocess.run(
            [sys.executable, str(settings.BASE_DIR / "manage.py"), "import", "cosqa", *given],
            env=self.scratch.environment(),
            capture_output=True,
            check=False,
        )
        if ended.returncode:
            raise CannotRun(ended.stderr.decode()[-300:])
        return Sample(time.perf_counter() - began, of_children() - before)

    def stop(self) -> None:
        self.process = None
        self.stack.close()
