"""Files and batches of the fake server of chat completions, by the paths of OpenAI's batch API.

Each line of a batch is answered as a live request would be, once the batch has been looked at so often as
`looks` says; a `Fault` goes into the file of errors. `invalid` makes the next batches fail their validation.
"""

from __future__ import annotations

import email.parser
import email.policy
import json
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

from tests.messages_protocol import Json, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.fake_chat import FakeChat
    from tests.fake_messages import Answer

FILES: Final = "/v1/files"
PATH: Final = "/v1/batches"
MOST: Final = 50_000


@dataclass
class MadeBatch:
    """One batch; `status` and the ids of its files as the API has them."""

    id: str
    lines: list[Json]
    input_file_id: str
    metadata: Json
    created_at: int
    looks: int
    status: str = "validating"
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: list[Json] = field(default_factory=list)


@dataclass
class ChatBatchServer:
    """All files and batches of the server.

    looks    how often a batch is looked at before it has ended
    ends     how the next batches end, instead of completed: failed, expired or cancelled
    invalid  what the next batches are told that fail their validation
    cuts     so many downloads of a file break in the middle
    faults   answers to the next requests of a kind: upload, create, get, list, cancel, content
    """

    fake: FakeChat
    looks: int = 1
    ends: deque[str] = field(default_factory=deque)
    invalid: deque[str] = field(default_factory=deque)
    cuts: int = 0
    faults: deque[tuple[str, Answer]] = field(default_factory=deque)
    files: dict[str, bytes] = field(default_factory=dict)
    made: dict[str, MadeBatch] = field(default_factory=dict)

    @staticmethod
    def serves(path: str) -> bool:
        return path.partition("?")[0].startswith((FILES, PATH))

    def answer(self, method: str, path: str, headers: Mapping[str, str], raw: bytes) -> Answer | Json:
        split = urlsplit(path)
        parts = split.path.removeprefix(FILES).removeprefix(PATH).strip("/").split("/")
        what = self._what(method, split.path, parts)
        if self.faults and self.faults[0][0] == what:
            return self.faults.popleft()[1]
        if what == "upload":
            return self._upload(headers["content-type"], raw)
        if what == "content":
            return self._content(parts[0])
        if what == "create":
            return self.described(self._create(json.loads(raw)))
        if what == "list":
            return self._list(parse_qs(split.query))
        if parts[0] not in self.made:
            raise Refused(f"No batch found with id '{parts[0]}'.", 404)
        batch = self.made[parts[0]]
        if what == "cancel":
            batch.status, batch.looks = "cancelling", 0
        else:
            self._look(batch)
        return self.described(batch)

    def _what(self, method: str, path: str, parts: list[str]) -> str:
        if path.startswith(FILES):
            return "upload" if method == "POST" else "content"
        if method == "POST":
            return "cancel" if parts[1:] == ["cancel"] else "create"
        return "get" if parts[0] else "list"

    def _upload(self, content_type: str, raw: bytes) -> Json:
        head = f"content-type: {content_type}\r\n\r\n".encode()
        form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + raw)
        fields = {
            part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
            for part in form.iter_parts()
        }
        content = fields.get("file")
        if fields.get("purpose") != b"batch" or not isinstance(content, bytes):
            raise Refused("'purpose' and 'file' are required")
        name = self.fake.next_id("file")
        self.files[name] = content
        return {"id": name, "object": "file", "bytes": len(raw), "purpose": "batch"}

    def _content(self, name: str) -> Answer:
        from tests.fake_messages import Raw

        if name not in self.files:
            raise Refused(f"No such File object: {name}", 404)
        self.cuts, cut = max(0, self.cuts - 1), self.cuts > 0
        return Raw(self.files[name], "application/octet-stream", cut=cut)

    def _create(self, body: Json) -> MadeBatch:
        if (body["endpoint"], body["completion_window"]) != ("/v1/chat/completions", "24h"):
            raise Refused("Invalid endpoint or window")
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        ids = [line["custom_id"] for line in lines]
        if not 1 <= len(lines) <= MOST or len(set(ids)) < len(ids):
            raise Refused("The file has to have 1 to 50,000 lines, each with an id of its own")
        made = MadeBatch(
            self.fake.next_id("batch"), lines, body["input_file_id"], body.get("metadata") or {},
            int(datetime.now(UTC).timestamp()), self.looks,
        )  # fmt: skip
        self.made[made.id] = made
        return made

    def _look(self, batch: MadeBatch) -> None:
        if batch.status in ("validating", "in_progress") and self.invalid and batch.looks <= 0:
            batch.status = "failed"
            batch.errors = [{"code": "invalid", "message": self.invalid.popleft(), "line": 1}]
        elif batch.status == "cancelling":
            batch.status = "cancelled"
        elif batch.status in ("validating", "in_progress") and batch.looks <= 0:
            self._end(batch, self.ends.popleft() if self.ends else "completed")
        elif batch.status == "validating":
            batch.status = "in_progress"
        batch.looks -= 1

    def _end(self, batch: MadeBatch, status: str) -> None:
        from tests.fake_messages import Fault

        good, bad = list[Json](), list[Json]()
        done = batch.lines if status == "completed" else batch.lines[: len(batch.lines) // 2]
        for line in done:
            try:
                said = self.fake.answered(line["url"], line["body"])
            except Refused as refused:
                said = Fault(refused.status, str(refused))
            failed = isinstance(said, Fault)
            response = {
                "status_code": said.status if isinstance(said, Fault) else 200,
                "request_id": self.fake.next_id("req"),
                "body": self.fake.shape(said) if isinstance(said, Fault) else said,
            }
            row = {"id": "batch_req", "custom_id": line["custom_id"], "response": response, "error": None}
            (bad if failed else good).append(row)
        batch.status = status
        batch.output_file_id, batch.error_file_id = self._written(good), self._written(bad)

    def _written(self, rows: list[Json]) -> str | None:
        if not rows:
            return None
        name = self.fake.next_id("file")
        self.files[name] = "".join(json.dumps(row) + "\n" for row in rows).encode()
        return name

    def _list(self, query: dict[str, list[str]]) -> Json:
        newest = list(reversed(self.made.values()))
        after, limit = query.get("after", [""])[0], int(query.get("limit", ["20"])[0])
        start = next((at + 1 for at, one in enumerate(newest) if one.id == after), 0)
        page = newest[start : start + limit]
        return {
            "object": "list",
            "data": [self.described(one) for one in page],
            "has_more": start + limit < len(newest),
        }

    def described(self, batch: MadeBatch) -> Json:
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "input_file_id": batch.input_file_id,
            "output_file_id": batch.output_file_id,
            "error_file_id": batch.error_file_id,
            "errors": {"object": "list", "data": batch.errors} if batch.errors else None,
            "status": batch.status,
            "created_at": batch.created_at,
            "metadata": batch.metadata,
            # It counts them only once they are validated.
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
        }
