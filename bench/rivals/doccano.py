"""doccano with SQLite, one gunicorn worker and one Celery worker, as its commands start them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Final

from bench.review.server import Failed, free_port
from bench.rivals.processes import Environment, Process, end, memory_of, used_by
from bench.rivals.rows import Row
from bench.rivals.tool import FILTER, PAGE, CannotRun, Sample, Step
from bench.rivals.web import Link, answers, until

VERSION: Final = "1.8.4"
# As pip resolves it, it does not start: it was written for older ones of these two.
REQUIREMENTS: Final = (f"doccano=={VERSION}", "marshmallow<4", "numpy<2")
PASSWORD: Final = "bench-password"  # noqa: S105  # of an account that lives for minutes
PROJECT: Final = {
    "description": "rows",
    "project_type": "DocumentClassification",
    "resourcetype": "TextClassificationProject",
    "guideline": "",
    "random_order": False,
    "collaborative_annotation": False,
    "single_class_classification": True,
    "tags": [],
}
FORMAT: Final = {
    "format": "JSON",
    "task": "DocumentClassification",
    "column_data": "text",
    "column_label": "label",
}


class Doccano:
    """A project with the rows, and one for each import."""

    name = "doccano"

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.processes: list[Process] = []
        self.example = 0

    def install(self) -> str:
        self.environment.install(REQUIREMENTS)
        return VERSION

    def settings(self) -> dict[str, str]:
        """What its own command sets, in the folder that is thrown away."""
        home = self.environment.home
        return {
            "DOCCANO_HOME": str(home),
            "DATABASE_URL": f"sqlite:///{home}/db.sqlite3",
            "MEDIA_ROOT": str(home / "media"),
            "DJANGO_SETTINGS_MODULE": "config.settings.production",
            "STANDALONE": "True",
        }

    def start(self, rows: Sequence[Row]) -> None:
        environment, port = self.environment, free_port()
        doccano, settings = environment.program("doccano"), self.settings()
        environment.run([doccano, "init"], settings)
        environment.run([doccano, "createuser", "--username", "bench", "--password", PASSWORD], settings)
        # `doccano webserver` is this gunicorn, but listens on every address.
        web = [environment.program("gunicorn"), "--chdir", str(environment.packages() / "backend")]
        web += ["--bind", f"127.0.0.1:{port}", "--workers", "1", "config.wsgi"]
        self.processes.append(environment.begin(web, settings))
        self.processes.append(environment.begin([doccano, "task", "--concurrency", "1"], settings))
        try:
            until(lambda: answers(port, "/v1/me"), "its start", 120)
        except Failed as why:
            raise CannotRun(f"{why}: {environment.last_words()}") from why
        self.link = Link(port)
        self.link.send("/v1/auth/login/", {"username": "bench", "password": PASSWORD})
        self.project = self.new_project("all")
        self.label = int(self.link.send(f"{self.path}/category-types", {"text": "match"}).json()["id"])
        self.upload(self.project, [whole(row) for row in rows])
        self.middle = len(rows) // 2

    @property
    def path(self) -> str:
        return f"/v1/projects/{self.project}"

    def new_project(self, name: str) -> int:
        return int(self.link.send("/v1/projects", PROJECT | {"name": name}).json()["id"])

    def upload(self, project: int, rows: Sequence[Mapping[str, object]]) -> float:
        """The file, then a job of its worker; gives the seconds of both. Raises Failed."""
        content, began = json.dumps(rows).encode(), time.perf_counter()
        kept = self.link.upload("/v1/fp/process/", "filepond", content).body.decode()
        self.wait_for(f"/v1/projects/{project}/upload", FORMAT | {"uploadIds": [kept]})
        seconds = time.perf_counter() - began
        count = self.link.get(f"/v1/projects/{project}/examples?limit=1").json()["count"]
        if count != len(rows):
            raise Failed(f"it took {count} of {len(rows)} rows")
        return seconds

    def wait_for(self, path: str, order: Mapping[str, object]) -> str:
        """Have its worker do a job; gives the job. Raises Failed where the job fails."""
        job = str(self.link.send(path, order).json()["task_id"])
        status = f"/v1/tasks/status/{job}"
        until(lambda: bool(self.link.get(status).json()["ready"]), path)
        problems = self.link.get(status).json().get("error")
        if problems:
            raise Failed(f"{path}: {str(problems)[:300]}")
        return job

    def used(self) -> float:
        return used_by(process.pid for process in self.processes)

    def memory(self) -> float:
        return memory_of(process.pid for process in self.processes)

    def steps(self) -> Mapping[str, Step]:
        return {
            "next": self.next,
            "item": lambda: self.link.get(f"{self.path}/examples/{self.example}").seconds,
            "submit": self.submit,
            "list": lambda: self.listed("offset=0"),
            "deep": lambda: self.listed(f"offset={self.middle}"),
            "filtered": lambda: self.listed(f"search={FILTER.replace(' ', '%20')}&ordering=-updated_at"),
            "labels": lambda: self.exported(approved=True),
            "export": lambda: self.exported(approved=False),
        }

    def missing(self) -> Mapping[str, str]:
        return {}

    def next(self) -> float:
        reply = self.link.get(f"{self.path}/examples?confirmed=false&limit=1")
        self.example = int(reply.json()["results"][0]["id"])
        return reply.seconds

    def submit(self) -> float:
        """The label, and that it is final."""
        path = f"{self.path}/examples/{self.example}"
        said = self.link.send(f"{path}/categories", {"label": self.label})
        return said.seconds + self.link.send(f"{path}/states", {}).seconds

    def listed(self, query: str) -> float:
        """Raises Failed where the page is empty."""
        reply = self.link.get(f"{self.path}/examples?limit={PAGE}&{query}")
        if not reply.json()["results"]:
            raise Failed(f"the list with {query} is empty")
        return reply.seconds

    def exported(self, *, approved: bool) -> float:
        began = time.perf_counter()
        job = self.wait_for(f"{self.path}/download", {"format": "JSONL", "exportApproved": approved})
        self.link.get(f"{self.path}/download?taskId={job}")
        return time.perf_counter() - began

    def bring_in(self, rows: Sequence[Row]) -> Sample:
        project = self.new_project("part")
        before = self.used()
        seconds = self.upload(project, [{"text": shown(row), "number": row.number} for row in rows])
        return Sample(seconds, self.used() - before)

    def stop(self) -> None:
        end(self.processes)
        self.processes = []


def shown(row: Row) -> str:
    """It shows one text of a row, so that is the query and the code."""
    return f"{row.query}\n\n{row.code}"


def whole(row: Row) -> dict[str, object]:
    """The other fields become metadata."""
    rest = {name: value for name, value in row.whole.items() if name not in {"query", "code"}}
    return {"text": shown(row), **rest}
