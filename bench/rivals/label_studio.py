"""Label Studio Community by its own server (Django's runserver) with SQLite: `label-studio start`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from bench.review.server import Failed, free_port
from bench.rivals.processes import Environment, Process, end, memory_of, used_by
from bench.rivals.rows import Row
from bench.rivals.tool import FILTER, PAGE, CannotRun, Sample, Step
from bench.rivals.web import Link, answers, until

VERSION: Final = "1.23.2"
EMAIL, PASSWORD = "bench@example.com", "bench-password"  # of an account that lives for minutes
QUIET: Final = {
    "COLLECT_ANALYTICS": "False",
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
    "LATEST_VERSION_CHECK": "False",
    "DATA_UPLOAD_MAX_MEMORY_SIZE": str(2**30),
}
"""It says nothing to its makers, and takes files of any size."""
FORM: Final = """<View>
<Text name="query" value="$query"/><Text name="code" value="$code"/>
<Text name="explanation" value="$explanation"/>
<Text name="test" value="$test"/><Text name="trace" value="$trace"/>
<Choices name="label" toName="code"><Choice value="match"/><Choice value="no match"/></Choices>
</View>"""
LEAN_FORM: Final = """<View><Text name="query" value="$query"/><Text name="code" value="$code"/>
<Choices name="label" toName="code"><Choice value="match"/><Choice value="no match"/></Choices></View>"""
LABEL: Final = {
    "result": [{"from_name": "label", "to_name": "code", "type": "choices", "value": {"choices": ["match"]}}],
    "lead_time": 20.0,
}


class LabelStudio:
    """A project with the rows, a view for the filtered list, and a project for each import."""

    name = "Label Studio"

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.processes: list[Process] = []
        self.task = 0

    def install(self) -> str:
        self.environment.install([f"label-studio=={VERSION}"])
        return VERSION

    def start(self, rows: Sequence[Row]) -> None:
        port = free_port()
        command = [self.environment.program("label-studio"), "start", "--no-browser", "--port", str(port)]
        command += ["--internal-host", "127.0.0.1", "--data-dir", str(self.environment.home / "data")]
        command += ["--username", EMAIL, "--password", PASSWORD]
        self.processes.append(self.environment.begin(command, QUIET))
        try:
            until(lambda: answers(port, "/user/login/"), "its start", 180)
        except Failed as why:
            raise CannotRun(f"{why}: {self.environment.last_words()}") from why
        self.link = Link(port)
        self.log_in()
        self.project = self.new_project("all", FORM)
        self.imported(self.project, [row.whole for row in rows])
        self.total = len(rows)
        self.all = self.view({})
        self.wanted = self.view(
            {
                "filters": {
                    "conjunction": "and",
                    "items": [
                        {
                            "filter": "filter:tasks:data.query",
                            "operator": "contains",
                            "type": "String",
                            "value": FILTER,
                        }
                    ],
                },
                "ordering": ["-tasks:data.score"],
            }
        )

    def log_in(self) -> None:
        self.link.get("/user/login/")
        values = {"email": EMAIL, "password": PASSWORD, "csrfmiddlewaretoken": self.link.cookies["csrftoken"]}
        self.link.form("/user/login/", values)

    def new_project(self, title: str, form: str) -> int:
        return int(self.link.send("/api/projects/", {"title": title, "label_config": form}).json()["id"])

    def view(self, data: Mapping[str, Any]) -> int:
        """A tab of its data manager."""
        made = self.link.send("/api/dm/views/", {"project": self.project, "data": data})
        return int(made.json()["id"])

    def used(self) -> float:
        return used_by(process.pid for process in self.processes)

    def memory(self) -> float:
        return memory_of(process.pid for process in self.processes)

    def steps(self) -> Mapping[str, Step]:
        middle = max(1, self.total // 2 // PAGE)
        return {
            "next": self.next,
            "item": lambda: self.link.get(f"/api/tasks/{self.task}/?project={self.project}").seconds,
            "submit": self.submit,
            "list": lambda: self.listed(self.all, 1),
            "deep": lambda: self.listed(self.all, middle),
            "filtered": lambda: self.listed(self.wanted, 1),
            "labels": lambda: self.exported("false"),
            "export": lambda: self.exported("true"),
        }

    def missing(self) -> Mapping[str, str]:
        return {}

    def next(self) -> float:
        reply = self.link.get(f"/api/projects/{self.project}/next")
        self.task = int(reply.json()["id"])
        return reply.seconds

    def submit(self) -> float:
        return self.link.send(f"/api/tasks/{self.task}/annotations/?project={self.project}", LABEL).seconds

    def listed(self, view: int, page: int) -> float:
        """Raises Failed where the page is empty."""
        path = f"/api/tasks?project={self.project}&view={view}&page={page}&page_size={PAGE}"
        reply = self.link.get(path)
        if not reply.json()["tasks"]:
            raise Failed(f"{path} is empty")
        return reply.seconds

    def exported(self, everything: str) -> float:
        path = f"/api/projects/{self.project}/export?exportType=JSON&download_all_tasks={everything}"
        return self.link.get(path).seconds

    def bring_in(self, rows: Sequence[Row]) -> Sample:
        project = self.new_project("part", LEAN_FORM)
        before = self.used()
        seconds = self.imported(project, [row.lean for row in rows])
        return Sample(seconds, self.used() - before)

    def imported(self, project: int, rows: Sequence[Mapping[str, object]]) -> float:
        """Raises Failed where it does not take all of them."""
        reply = self.link.send(f"/api/projects/{project}/import", rows)
        if reply.json()["task_count"] != len(rows):
            raise Failed(f"it took {reply.json()['task_count']} of {len(rows)} rows")
        return reply.seconds

    def stop(self) -> None:
        end(self.processes)
        self.processes = []
