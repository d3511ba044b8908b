"""Write a sample's replies and truth from its authored decisions, by file exchange.

What the agents say of a function that is written for a query without a match is authored, too.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.builds.control.pause_resume import abandoned_reasons
from annotation.builds.launch.launcher import launch_build
from annotation.builds.pipeline import file_exchange
from annotation.llm import Request
from annotation.llm.exchange import reply_line
from annotation.llm.reply import Reply, Usage
from annotation.models import Build, Case, LLMCall, Proposal
from cosqa_site.demo import sample, written_function
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
    recorded = record_build(build, lambda: answer_waiting(build, names, decisions), work)
    job = written_function.launch_writing(build, folder, Build.Provider.EXCHANGE)
    if job is not None:
        authored = {row["query"]: row for row in written_function.authored_of(folder)}
        recorded += record_build(job, lambda: answer_writing(job, names, authored), work)
    (folder / "replies.jsonl").write_text("".join(f"{line}\n" for line in recorded), encoding="utf-8")
    write_truth(folder, decisions)
    return len(recorded)


def record_build(
    build: Build, answers_of: Callable[[], Iterator[str]], work: Callable[[], None]
) -> list[str]:
    """Answer whatever the build asks until it asks no more. Raises Undecided."""
    recorded: list[str] = []
    work()
    while answers := list(answers_of()):
        done = file_exchange.import_replies(build, io.BytesIO("\n".join(answers).encode()))
        if done.problems:
            raise Undecided("; ".join(map(str, done.problems)))
        recorded += answers
        work()
    refuse_abandoned(build)
    return recorded


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


def answer_writing(job: Build, names: Names, authored: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """A reply line for each function that is to be written, and for each request about one."""
    for proposal in Proposal.objects.filter(filling__build=job).select_related(
        "query", "waiting_for", "case"
    ):
        query = names.by_text[proposal.query_id]
        call = proposal.waiting_for or (proposal.case.waiting_for if proposal.case else None)
        if call is not None and call.status == LLMCall.Status.WAITING:
            answer = pick_answer(authored.get(query, {}), call.agent, query)
            yield format_reply_line(call.whole_request(), answer)


def find_agent_decision(
    case: Case, agent: str, names: Names, decisions: dict[tuple[str, str], Any]
) -> dict[str, Any]:
    """What the author let `agent` say about the pair. Raises Undecided."""
    decision, pair = decisions.get(names.of(case), {}), str(names.of(case))
    if agent == "test_writer" and not case.rewrites and "test_first" in decision:
        return dict(decision["test_first"])
    return pick_answer(decision, agent, pair)


def pick_answer(decision: Mapping[str, Any], agent: str, about: str) -> dict[str, Any]:
    """What a line of authored decisions has for an agent. Raises Undecided."""
    key = {"single_llm": "reader", "neighbour_writer": "neighbour", "test_writer": "test"}.get(agent, agent)
    if key in decision:
        return dict(decision[key])
    raise Undecided(f"{about}: no decision for the {agent}")


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
