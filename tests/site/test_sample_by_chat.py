"""The whole sample build, asked live by OpenAI's chat completions.

The fake server looks each question up among the recorded replies by the request's own digest. It finds all of
them only if what was asked is, to the last letter, what is asked without a protocol between.
"""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotation.builds.limits.unusable_replies import STOPPED
from annotation.llm import Message, Request
from tests.fake_chat import FakeChat
from tests.fake_messages import Answer, Fault, Say
from tests.packages import share
from tests.site.test_sample import ROOT, lines, result, run_demo, sample  # noqa: F401  # a fixture

MODEL = "sample-recorded"


class Recorded:
    """The sample's replies, by the digest of the request; who asks is not told, so all agents are tried."""

    def __init__(self) -> None:
        rows = lines(ROOT / "sample" / "replies.jsonl")
        self.replies = {row["id"]: row["reply"] for row in rows}
        self.agents = sorted({row["agent"] for row in rows})
        self.found = set[str]()
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Answer:
        turns = tuple(Message(turn["role"], turn["content"]) for turn in body["messages"])
        schema = body["output_config"]["format"]["schema"]
        asked = Request("", body["model"], body["system"], turns, schema, body["max_tokens"])
        digests = (replace(asked, agent=agent).digest() for agent in self.agents)
        digest = next((digest for digest in digests if digest in self.replies), None)
        if digest is None:
            return Fault(400, "nobody has recorded a reply to this")
        with self._lock:
            self.found.add(digest)
        reply = self.replies[digest]
        answer: Answer = json.loads(reply) if isinstance(reply, str) else reply
        return answer


def test_sample_is_judged_by_chat_completions_as_it_was_recorded(tmp_path: Path) -> None:
    share(tmp_path)
    recorded = Recorded()
    with FakeChat(answer=recorded) as fake:
        found = result(
            run_demo(
                tmp_path,
                ROOT / "sample",
                COSQA_LLM_PROFILE="openai",
                COSQA_LLM_BASE_URL=f"{fake.url}/v1",
                COSQA_LLM_MODEL=MODEL,
                OPENAI_API_KEY=fake.key,
            )
        )
        statuses = {call.status for call in fake.calls}
    assert (found["pairs"], found["settled"], found["abandoned"]) == (192, 192, 0)
    assert found["agreement_with_truth"] >= 0.95
    assert statuses == {200}
    assert len(recorded.found) > 192


def test_demo_says_that_the_build_has_stopped_at_what_no_agent_can_use(tmp_path: Path, sample: Path) -> None:  # noqa: F811
    share(tmp_path)
    with FakeChat(answer=lambda body: Say("I would say that it depends.")) as fake:
        told = run_demo(
            tmp_path / "home",
            sample,
            COSQA_LLM_PROFILE="generic-openai",
            COSQA_LLM_BASE_URL=fake.url,
            COSQA_LLM_MODEL=MODEL,
            COSQA_LLM_API_KEY=fake.key,
        )
        asked = len(fake.calls)
    assert told.returncode == 0, told.stderr
    assert f"The build is paused: {STOPPED}" in told.stderr
    assert 10 <= asked <= 12
