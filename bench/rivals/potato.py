"""Potato by its own server (Flask's), which keeps all items in memory and answers in files.

It is under the GPL: nothing of it is imported. Its programs run in an environment of their own and are driven
over HTTP and by its commands.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bench.review.server import Failed, free_port
from bench.rivals.processes import Environment, Process, end, memory_of, of_children, used_by
from bench.rivals.rows import Row
from bench.rivals.tool import PAGE, CannotRun, Sample, Step
from bench.rivals.web import Link, answers, until

VERSION: Final = "2.12.1"
KEY: Final = "bench-key"
FIELDS: Final = {"query": "text", "code": "code", "explanation": "text", "test": "code", "trace": "text"}
MOVES: Final = {"X-Potato-Navigation": "1"}
"""What its own page says when it goes on, so as to fetch the next page by a request of its own."""
MISSING: Final = {
    "filtered": "its list of items has no filter by text",
    "export": "it exports what was labelled alone",
}


class Potato:
    """A task folder with the rows; another one for each import, which is a start of the server."""

    name = "Potato"

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.processes: list[Process] = []
        self.imported, self.item = 0, ""

    def install(self) -> str:
        self.environment.install([f"potato-annotation=={VERSION}"])
        return VERSION

    def start(self, rows: Sequence[Row]) -> None:
        self.config = self.task("all", [row.whole for row in rows], FIELDS)
        process, port = self.serve(self.config)
        self.processes.append(process)
        self.total = len(rows)
        self.link, self.admin = Link(port), Link(port, headers={"X-API-Key": KEY})
        self.link.form("/auth", {"email": "bench", "pass": ""}, 200, 302)
        self.link.get("/annotate")

    def task(self, name: str, rows: Sequence[Mapping[str, object]], fields: Mapping[str, str]) -> Path:
        """A folder with rows and configuration, which is JSON and so YAML as well."""
        folder = self.environment.home / name
        folder.mkdir()
        lines = (json.dumps({**row, "id": str(row["number"])}) + "\n" for row in rows)
        (folder / "rows.jsonl").write_text("".join(lines))
        (folder / "config.yaml").write_text(json.dumps(config_of(fields)))
        return folder / "config.yaml"

    def serve(self, config: Path) -> tuple[Process, int]:
        """A server that answers, and its port. Raises CannotRun."""
        port = free_port()
        command = [self.environment.program("potato"), "start", str(config), "--port", str(port)]
        process = self.environment.begin([*command, "--host", "127.0.0.1"], {})
        try:
            until(lambda: answers(port, "/health") or process.poll() is not None, "its start", 300)
            if process.poll() is not None:
                raise CannotRun(f"it ended: {self.environment.last_words()}")
        except (Failed, CannotRun) as why:
            end([process])
            raise CannotRun(f"{why}: {self.environment.last_words()}") from why
        return process, port

    def used(self) -> float:
        return used_by(process.pid for process in self.processes) + of_children()

    def memory(self) -> float:
        return memory_of(process.pid for process in self.processes)

    def steps(self) -> Mapping[str, Step]:
        middle = max(1, self.total // 2 // PAGE)
        return {
            "next": self.next,
            "item": lambda: self.link.get(f"/annotate?instance_id={self.item}").seconds,
            "submit": self.submit,
            "list": lambda: self.listed(1),
            "deep": lambda: self.listed(middle),
            "labels": self.labels,
        }

    def missing(self) -> Mapping[str, str]:
        return MISSING

    def next(self) -> float:
        """On to the next item, then its page, as its own page does it."""
        self.link.headers = MOVES
        moved = self.link.send("/annotate", {"action": "next_instance"})
        self.link.headers = {}
        self.item = str(moved.json()["instance_id"])
        return moved.seconds + self.link.get("/annotate").seconds

    def submit(self) -> float:
        said = {"instance_id": self.item, "annotations": {"label:::match": "match"}, "span_annotations": []}
        reply = self.link.send("/updateinstance", said)
        if reply.json()["status"] != "success":
            raise Failed(f"it does not take the label: {reply.body[:300]!r}")
        return reply.seconds

    def listed(self, page: int) -> float:
        """Raises Failed where the page is empty."""
        path = f"/admin/api/instances?page={page}&page_size={PAGE}&sort_by=id&sort_order=asc"
        reply = self.admin.get(path)
        if not reply.json()["instances"]:
            raise Failed(f"{path} is empty")
        return reply.seconds

    def labels(self) -> float:
        """Its command, as it has no address for that."""
        out = self.environment.home / "out"
        command = [self.environment.program("python"), "-m", "potato.export", "--config", str(self.config)]
        return self.environment.run([*command, "--format", "jsonl", "--output", str(out)], {}).seconds

    def bring_in(self, rows: Sequence[Row]) -> Sample:
        """What a start with the rows takes more than one with a single row."""
        many, one = self.started(rows), self.started(rows[:1])
        return Sample(max(0.0, many.seconds - one.seconds), max(0.0, many.cpu - one.cpu))

    def started(self, rows: Sequence[Row]) -> Sample:
        self.imported += 1
        config = self.task(
            f"part-{self.imported}", [row.lean for row in rows], {"query": "text", "code": "code"}
        )
        began = time.perf_counter()
        process, _ = self.serve(config)
        found = Sample(time.perf_counter() - began, used_by([process.pid]))
        end([process])
        return found

    def stop(self) -> None:
        end(self.processes)
        self.processes = []


def config_of(fields: Mapping[str, str]) -> dict[str, Any]:
    """One question about each row, with these fields on screen; nobody needs a password."""
    shown = [{"key": key, "type": kind, "label": key} for key, kind in fields.items()]
    return {
        "annotation_task_name": "rows",
        "task_dir": ".",
        "output_annotation_dir": "labels",
        "output_annotation_format": "json",
        "data_files": ["rows.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "code"},
        "instance_display": {"fields": shown},
        "annotation_schemes": [
            {
                "annotation_type": "radio",
                "name": "label",
                "description": "Does the code do all that the query asks?",
                "labels": ["match", "no match"],
            }
        ],
        "require_password": False,
        "admin_api_key": KEY,
        "user_config": {"allow_all_users": True, "users": []},
    }
