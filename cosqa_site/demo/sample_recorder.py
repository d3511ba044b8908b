"""Write a sample's replies and truth from its authored decisions, by file exchange."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from annotation.builds.control.pause_resume import abandoned_reasons
from annotation.builds.launch.launcher import launch_build
from annotation.builds.pipeline import file_exchange
from annotation.llm import Request
from annotation.llm.exchange import reply_line
from annotation.llm.reply import Reply, Usage
from annotation.models import Build, Case, LLMCall
from cosqa_site.demo import sample
from retrieval.models import Member

CHARACTERS_A_TOKEN = 4
DECISIONS = "decisions.jsonl"


class Undecided(ValueError):
    """A request of the sample build has no authored decision; the message names the pair and the agent."""


def record_sample_replies(folder: Path, work: Callable[[], None]) -> int:
    """Run the sample build with the authored decisions as replies; returns how many replies were written.

    `work` runs the workers until nothing is left to do. The data folder should be a fresh one.
    """
    sample.refuse_bad_sample(folder, ("queries.jsonl", "functions", DECISIONS))
    decisions = {(d["query"], d["function"]): d for d in sample.read_sample_lines(folder / DECISIONS)}
    build = launch_build(sample.order_sample_build(folder, Build.Provider.EXCHANGE, sample.RECORDED_MODEL))
    names = Names(build)
    recorded: list[str] = []
    work()
    while answers := list(answer_waiting(build, names, decisions)):
        done = file_exchange.import_replies(build, io.BytesIO("\n".join(answers).encode()))
        if done.problems:
            raise Undecided("; ".join(map(str, done.problems)))
        recorded += answers
        work()
    refuse_abandoned(build)
    (folder / "replies.jsonl").write_text("".join(f"{line}\n" for line in recorded), encoding="utf-8")
    write_truth(folder, decisions)
    return len(recorded)


def refuse_abandoned(build: Build) -> None:
    """A recording with gaps would look complete, so it is refused."""
    reasons = abandoned_reasons(build)
    if reasons:
        raise Undecided("; ".join(f"{count} abandoned: {reason}" for reason, count in reasons))


class Names:
    """Source ids of a build's texts."""

    def __init__(self, build: Build) -> None:
        members = Member.objects.filter(collection__in=[build.queries_id, build.snippets_id])
        self.by_text = dict(members.values_list("text_id", "source_id"))

    def of(self, case: Case) -> tuple[str, str]:
        return self.by_text[case.query_id], self.by_text[case.pair.snippet_id]


def answer_waiting(build: Build, names: Names, decisions: dict[tuple[str, str], Any]) -> Iterator[str]:
    """A reply line for each request that waits."""
    waiting = Case.objects.filter(build=build, waiting_for__status=LLMCall.Status.WAITING)
    rows = waiting.select_related("pair", "waiting_for__system", "waiting_for__request").order_by("pk")
    seen: set[str] = set()
    for case in rows:
        call = case.waiting_for
        assert call is not None, "the filter asks for one"
        if call.digest not in seen:
            seen.add(call.digest)
            yield format_reply_line(
                call.whole_request(), find_agent_decision(case, call.agent, names, decisions)
            )


def find_agent_decision(
    case: Case, agent: str, names: Names, decisions: dict[tuple[str, str], Any]
) -> dict[str, Any]:
    """What the author let `agent` say about the pair. Raises Undecided."""
    decision = decisions.get(names.of(case), {})
    keys = {
        "screener": ["screener"],
        "single_llm": ["reader"],
        "neighbour_writer": ["neighbour"],
        "test_writer": ["test"] if case.rewrites else ["test_first", "test"],
        "fixer": ["fixer"],
        "arbiter": ["arbiter"],
        "tie_breaker": ["tie_breaker"],
    }[agent]
    for key in keys:
        if key in decision:
            return dict(decision[key])
    raise Undecided(f"{names.of(case)}: no decision for the {agent}")


def format_reply_line(request: Request, answer: dict[str, Any]) -> str:
    """The reply line, with token counts estimated from the texts' lengths."""
    text = json.dumps(answer)
    asked = len(request.system) + sum(len(message.text) for message in request.messages)
    usage = Usage(asked // CHARACTERS_A_TOKEN, len(text) // CHARACTERS_A_TOKEN)
    return reply_line(request, Reply(text, request.model, usage, 0.0, "", "end_turn"))


def write_truth(folder: Path, decisions: dict[tuple[str, str], Any]) -> None:
    """The hand-made truth as a file of its own."""
    rows = [
        {"query": q, "function": f, "label": d["label"], "note": d["note"]} for (q, f), d in decisions.items()
    ]
    (folder / "truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
