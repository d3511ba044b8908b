"""The job: write one function a query, and give it to the test-driven path as a case of the job's build.

The case begins with its test: no screener looks at what was written, and its label is published nowhere.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotation.agents import snippet_writer
from annotation.agents.snippet_writer import SnippetInputs, WrittenSnippet
from annotation.builds.limits import budget, full_disk, rate_limit
from annotation.builds.pipeline import claims
from annotation.builds.pipeline.advance import Tools, pause_whole_build, provider_failed, try_again
from annotation.builds.pipeline.llm_calls import Parked, Unjudgeable, ask_with_repair
from annotation.llm import LLMError
from annotation.models import Case, LLMCall, LostRace, Proposal, Step
from annotation.stages import Stage
from retrieval.models import Candidate, Pair, Text
from retrieval.texts.hostile import mark_hostile_characters

log = logging.getLogger(__name__)
NEAR = 3
LONGEST_NEAR = 4000
"""So many snippets that did not match go to the writer, and so many characters of each."""
THE_SAME = "the writer gave the function again that had been denied"


def write_one(tools: Tools) -> int:
    """Write one function that waits, if any; returns how many were worked on."""
    proposal = claims.claim_proposal()
    if proposal is None:
        return 0
    write_proposed_function(proposal, tools)
    return 1


def write_proposed_function(proposal: Proposal, tools: Tools) -> None:
    """Write the function, or put the proposal back. Never raises for one proposal's sake."""
    try:
        attempt_function_writing(proposal, tools)
    except LostRace as race:
        log.info("%s", race)
    except Exception as fault:
        if full_disk.note_full_disk(fault):
            full_disk.retry_while_full(lambda: put_back_unless_lost(proposal))
            return
        log.exception("%s", proposal)
        claims.mend_connection()
        with suppress(LostRace):
            try_again(proposal, f"a fault of the workbench: {fault!r}", fail_function_writing)


def put_back_unless_lost(proposal: Proposal) -> None:
    claims.mend_connection()
    with suppress(LostRace):
        proposal.put_back()


def attempt_function_writing(proposal: Proposal, tools: Tools) -> None:
    """Ask the writer, with what is known to go wrong. Raises LostRace, and what nobody foresaw."""
    try:
        inputs = inputs_of(proposal)
        request = snippet_writer.build_snippet_request(inputs, proposal.build.model)
        reply, call = ask_with_repair(
            proposal, tools.llm_of(proposal.build), request, snippet_writer.WrittenSnippet.of_reply
        )
        store_written_function(proposal, reply, call)
    except Parked as parked:
        proposal.put_back(waiting=parked.call)
    except (budget.AlreadyAsked, budget.BudgetHeld, rate_limit.Full):
        proposal.put_back(until=timezone.now() + timedelta(seconds=1))
    except budget.OverBudget as over:
        pause_whole_build(proposal, str(over))
    except Unjudgeable as why:
        fail_function_writing(proposal, str(why))
    except LLMError as error:
        provider_failed(proposal, error, fail_function_writing)


def inputs_of(proposal: Proposal) -> SnippetInputs:
    """The query with the best of the snippets that did not match; and what the last function lacked."""
    before = find_denied_proposal(proposal)
    return SnippetInputs(
        query=proposal.query.text,
        near=find_near_misses(proposal),
        denied_code=before.snippet.text if before and before.snippet else "",
        denied_because=verdict_on(before) if before else "",
    )


def find_near_misses(proposal: Proposal) -> tuple[str, ...]:
    """The snippets that the build's annotator judged to be no match, the best ranked first."""
    cases = Case.objects.filter(build=proposal.filling.of_id, query=proposal.query_id, label=0)
    found = cases.select_related("pair__snippet__body").order_by("rank", "id")[:NEAR]
    return tuple(case.pair.snippet.text[:LONGEST_NEAR] for case in found)


def find_denied_proposal(proposal: Proposal) -> Proposal | None:
    """The function that was denied, where this is the order for another one."""
    rows = Proposal.objects.filter(filling=proposal.filling_id, query=proposal.query_id)
    return rows.filter(number=proposal.number - 1).select_related("snippet__body").first()


def verdict_on(proposal: Proposal) -> str:
    """What the arbiter said last of a checked function."""
    steps = Step.objects.filter(case=proposal.case_id, after=Stage.SETTLED).order_by("-number")
    return steps.values_list("note", flat=True).first() or ""


def store_written_function(proposal: Proposal, reply: WrittenSnippet, call: LLMCall) -> None:
    """Store what was written, and its case. Raises LostRace where the lease is another's by now."""
    snippet = Text.objects.keep(reply.code)
    pair = Pair.objects.keep_all([(proposal.query_id, snippet.pk)])[0]
    if proposal.build.proposed.filter(pair=pair).exists():
        fail_function_writing(proposal, THE_SAME)
        return
    with transaction.atomic():
        finish_function_writing(
            proposal,
            state=Proposal.State.WRITTEN,
            snippet=snippet,
            case=case_of(proposal, pair),
            call=call,
            packages=reply.packages,
            explanation=mark_hostile_characters(reply.explanation),
        )
        proposal.build.tally.change(writing_test=1)


def case_of(proposal: Proposal, pair: Pair) -> Case:
    """A case that begins with its test; the tries for one query are the ranks of its candidates."""
    build = proposal.build
    candidate = Candidate.objects.create(
        mining_id=build.mining_id,
        pair=pair,
        query_id=proposal.query_id,
        rank=proposal.number,
        score=0.0,
        scores={},
    )
    return Case.objects.create(
        build=build,
        candidate=candidate,
        pair=pair,
        query_id=proposal.query_id,
        annotator_id=build.annotator_id,
        rank=proposal.number,
        stage=Stage.WRITING_TEST,
    )


def fail_function_writing(proposal: Proposal, reason: str) -> None:
    """Could not be written: said so, and where an earlier function was denied the expert gets that one."""
    with transaction.atomic():
        finish_function_writing(
            proposal, state=Proposal.State.FAILED, failure=mark_hostile_characters(reason)
        )
        before = find_denied_proposal(proposal)
        if before is not None:
            replaced = Proposal.objects.filter(pk=before.pk, state=Proposal.State.REPLACED)
            replaced.update(state=Proposal.State.WRITTEN)
        proposal.build.tally.change()


def finish_function_writing(proposal: Proposal, **columns: object) -> None:
    """Leave the state of being written, if the lease is still ours. Raises LostRace."""
    mine = Proposal.objects.writing().filter(pk=proposal.pk, lease=proposal.lease)
    if not mine.update(lease=None, lease_until=None, **columns):
        raise LostRace(f"proposal {proposal.pk} was written by another worker meanwhile")
