"""Experts accept, edit and reject: only then is there a snippet, a pair in a benchmark, a label; and undo."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from annotation.builds.pipeline.advance import Tools
from annotation.derived.missing_functions import accepted_functions, function_decisions, function_edits
from annotation.derived.missing_functions.function_decisions import (
    BadDecision,
    DecidedMeanwhile,
    ProposalChoice,
)
from annotation.models import Draft, ExecutionRequest, Filling, Proposal, ProposalDecision
from annotation.review import NothingToUndo, drafts
from retrieval.models import Collection, Label, Member, Text
from tests import factories, filling
from tests.annotation.builds.pipeline.test_advance import Make

pytestmark = pytest.mark.django_db
EDITED = "def flat(rows):\n    return [cell for row in list(rows) for cell in row]"


@pytest.fixture
def tools(tools_with: Make) -> Tools:
    return tools_with(filling.writer())[0]


@pytest.fixture
def job(tools: Tools) -> Filling:
    """Functions for three queries, all checked."""
    made = filling.job(filling.source())
    filling.work(tools)
    return made


def labels() -> list[tuple[str, int | None]]:
    rows = Label.objects.filter(source__startswith="proposal").order_by("pk")
    return [(label.pair.snippet.text, label.value) for label in rows]


def snippets() -> list[str]:
    found = Collection.objects.filter(name__endswith=accepted_functions.ENDING).first()
    rows = Member.objects.filter(collection=found).order_by("position")
    assert found is None or found.size == len(rows)
    return [member.text.text for member in rows]


def decide(job: Filling, word: str, action: str, seen: int = 0, **fields: str) -> ProposalDecision:
    return function_decisions.decide_proposal(
        factories.erin(), filling.proposal(job, word), ProposalChoice(action, **fields), seen
    )


def test_one_accepted_one_edited_one_rejected(job: Filling, tools: Tools) -> None:
    assert (labels(), snippets()) == ([], [])
    decide(job, "reverse", "accept")
    assert labels() == [(filling.CODES["reverse"], 1)]
    decide(job, "flatten", "edit", code=EDITED, reason="any iterable")
    decide(job, "parse", "reject", reason="not what is asked")
    assert labels() == [(filling.CODES["reverse"], 1), (EDITED, 1)]
    assert snippets() == [filling.CODES["reverse"], EDITED]
    assert not Proposal.objects.for_experts().exists()
    states = {word: filling.proposal(job, word).state for word in filling.CODES}
    assert states == {"reverse": "accepted", "flatten": "edited", "parse": "rejected"}


def test_what_is_accepted_says_where_it_came_from(job: Filling) -> None:
    made = decide(job, "reverse", "accept", reason="sound")
    proposal = made.proposal
    [member] = Member.objects.filter(source_id=f"proposal-{proposal.pk}")
    assert "written by small-model" in member.origin and "accepted by erin" in member.origin
    label = Label.objects.get(source__startswith="proposal")
    assert label.assisted and f"case {proposal.case_id}" in label.source
    assert label.basis == "person"
    [line] = accepted_functions.export_accepted_functions(job.of)
    assert (line["query"], line["code"], line["label"]) == (
        "reverse a list in place",
        filling.CODES["reverse"],
        1,
    )
    told = line["provenance"]
    assert isinstance(told, dict)
    assert told["decided_by"] == "erin" and told["decision"] == "accept" and told["reason"] == "sound"
    assert told["call"] == proposal.call.digest if proposal.call else False
    assert told["agents_label"] == 1 and told["written"] is True


def test_an_undo_is_appended_and_takes_snippet_and_label_back(job: Filling) -> None:
    decide(job, "reverse", "accept", reason="sound")
    proposal = filling.proposal(job, "reverse")
    function_decisions.undo_proposal_decision(factories.erin(), proposal, 1)
    assert labels() == [(filling.CODES["reverse"], 1), (filling.CODES["reverse"], None)]
    assert snippets() == [] and list(accepted_functions.export_accepted_functions(job.of)) == []
    assert filling.proposal(job, "reverse") in Proposal.objects.for_experts()
    assert list(proposal.decisions.values_list("action", flat=True)) == ["accept", "undo"]
    assert proposal.case is not None
    assert drafts.load_drafts(factories.erin(), proposal.case.pair_id)[Draft.Field.REASON].text == "sound"
    decide(job, "reverse", "accept", seen=2)
    assert labels()[-1][1] == 1 and snippets() == [filling.CODES["reverse"]]


def test_an_admins_undo_takes_back_the_label_of_who_gave_it(job: Filling) -> None:
    decide(job, "reverse", "accept")
    function_decisions.undo_proposal_decision(factories.ada(), filling.proposal(job, "reverse"), 1)
    given, taken = Label.objects.filter(source__startswith="proposal").order_by("pk")
    assert given.annotator == taken.annotator and (given.round, taken.round) == (1, 2)
    assert f"taken back by user {factories.ada().pk}" in taken.source


def test_an_edit_is_run_by_the_same_test_and_the_decision_names_the_run(job: Filling, tools: Tools) -> None:
    made = decide(job, "flatten", "edit", code=EDITED)
    assert made.check_run is not None and made.check_run.state == ExecutionRequest.State.WAITING
    filling.work(tools)
    made.check_run.refresh_from_db()
    assert made.check_run.execution is not None
    program = made.check_run.program
    assert program.pair.snippet.text == EDITED and program.source.text == filling.PROGRAM
    [line] = accepted_functions.export_accepted_functions(job.of)
    assert isinstance(line["provenance"], dict) and line["provenance"]["test_of_edit"] == "passed"


def test_an_edit_that_was_run_before_is_not_run_again(job: Filling) -> None:
    proposal, text = filling.proposal(job, "flatten"), Text.objects.keep(EDITED)
    first = function_edits.run_beside(factories.erin(), proposal, text)
    made = decide(job, "flatten", "edit", code=EDITED)
    assert made.check_run == first and ExecutionRequest.objects.count() == 1


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("def flat(rows:\n    pass", "line 1"),
        ("", "empty"),
        ("x = 1", "exactly one function"),
        ("def a():\n    pass\n\ndef b():\n    pass", "exactly one function"),
        ("def a():\n    pass\n\nprint(a())", "line 4"),
        ("def a():\n    return '" + "x" * 20_000 + "'", "longer than"),
        (filling.CODES["flatten"], "is unchanged"),
    ],
)
def test_an_edit_that_is_no_function_says_where_and_stores_nothing(
    job: Filling, code: str, word: str
) -> None:
    with pytest.raises(BadDecision, match=word):
        decide(job, "flatten", "edit", code=code)
    assert not ProposalDecision.objects.exists() and labels() == []


def test_accepting_against_the_agents_needs_a_reason(tools_with: Make) -> None:
    tools, _ = tools_with(filling.writer(lambda said: 0))
    job = filling.job(filling.source(matched=2))
    filling.work(tools)
    with pytest.raises(BadDecision, match=r"denied it\. Give a reason"):
        decide(job, "flatten", "accept")
    assert decide(job, "flatten", "accept", reason="the test expects too much").agent_label == 0


def test_what_is_not_checked_yet_is_not_decided_about() -> None:
    job = filling.job(filling.source())
    with pytest.raises(BadDecision, match="not been checked"):
        decide(job, "flatten", "reject")


def test_the_second_of_two_experts_gets_both_decisions(job: Filling) -> None:
    page = filling.proposal(job, "reverse")
    decide(job, "reverse", "accept")
    with pytest.raises(DecidedMeanwhile) as raised:
        function_decisions.decide_proposal(factories.ada(), page, ProposalChoice("reject", "no"), 0)
    assert raised.value.stored is not None and raised.value.stored.action == "accept"
    assert raised.value.mine == ProposalChoice("reject", "no")
    assert ProposalDecision.objects.count() == 1
    with pytest.raises(DecidedMeanwhile):
        function_decisions.undo_proposal_decision(factories.ada(), page, 0)


def test_a_double_click_decides_once(job: Filling) -> None:
    first = decide(job, "flatten", "edit", code=EDITED)
    assert decide(job, "flatten", "edit", code=EDITED + "\n") == first
    assert ProposalDecision.objects.count() == 1 and len(snippets()) == 1


def test_there_is_nothing_to_undo_twice(job: Filling) -> None:
    with pytest.raises(NothingToUndo):
        function_decisions.undo_proposal_decision(factories.erin(), filling.proposal(job, "reverse"), 0)
    decide(job, "reverse", "reject")
    function_decisions.undo_proposal_decision(factories.erin(), filling.proposal(job, "reverse"), 1)
    with pytest.raises(NothingToUndo):
        function_decisions.undo_proposal_decision(factories.erin(), filling.proposal(job, "reverse"), 2)


def test_a_text_that_is_a_snippet_already_is_linked_and_stays_when_it_is_taken_back(job: Filling) -> None:
    known = factories.SNIPPETS[2].strip()
    before = Member.objects.count()
    decide(job, "flatten", "edit", code=known)
    assert Member.objects.count() == before and labels() == [(known, 1)]
    function_decisions.undo_proposal_decision(factories.erin(), filling.proposal(job, "flatten"), 1)
    assert Member.objects.count() == before


def test_two_proposals_with_one_text_make_one_snippet(job: Filling) -> None:
    decide(job, "reverse", "accept")
    decide(job, "parse", "edit", code=filling.CODES["reverse"])
    assert snippets() == [filling.CODES["reverse"]] and len(labels()) == 2
    function_decisions.undo_proposal_decision(factories.erin(), filling.proposal(job, "reverse"), 1)
    assert snippets() == [filling.CODES["reverse"]], "it is still the other query's"
    function_decisions.undo_proposal_decision(factories.erin(), filling.proposal(job, "parse"), 1)
    assert snippets() == []


def test_the_undo_key_takes_back_ones_own_latest_decision(job: Filling) -> None:
    decide(job, "reverse", "accept")
    decide(job, "parse", "reject")
    function_decisions.decide_proposal(
        factories.ada(), filling.proposal(job, "flatten"), ProposalChoice("reject"), 0
    )
    assert function_decisions.latest_of(factories.erin(), job) == filling.proposal(job, "parse")
    function_decisions.undo_proposal_decision(factories.erin(), filling.proposal(job, "parse"), 1)
    assert function_decisions.latest_of(factories.erin(), job) == filling.proposal(job, "reverse")


def test_next_goes_round_through_what_waits(job: Filling) -> None:
    first, second, third = Proposal.objects.filter(filling=job).order_by("pk")
    assert function_decisions.next_of(job) == first and function_decisions.next_of(job, first.pk) == second
    assert (
        function_decisions.next_of(job, third.pk) == first
        and function_decisions.find_previous_proposal(job, first.pk) == third
    )
    decide(job, second.query.head.split()[0], "reject")
    assert function_decisions.next_of(job, first.pk) == third


def test_counts_of_a_job(job: Filling) -> None:
    decide(job, "reverse", "accept")
    told = accepted_functions.count_proposals_by_state(Filling.objects.all())[job.pk]
    assert (told["waiting"], told["accepted"], told["written"]) == (2, 1, 2)


@pytest.mark.django_db(transaction=True)
def test_two_experts_at_the_same_moment_leave_one_decision(tools_with: Make) -> None:
    tools, _ = tools_with(filling.writer())
    job = filling.job(filling.source(matched=2))
    filling.work(tools)
    people, ended = [factories.erin(), factories.ada()], list[str]()

    def go(number: int) -> None:
        try:
            function_decisions.decide_proposal(
                people[number], filling.proposal(job, "flatten"), ProposalChoice("accept"), 0
            )
            ended.append("stored")
        except DecidedMeanwhile:
            ended.append("told")
        finally:
            connection.close()

    threads = [threading.Thread(target=go, args=(number,)) for number in (0, 1)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(ended) == ["stored", "told"]
    assert ProposalDecision.objects.count() == 1 and len(labels()) == 1 and len(snippets()) == 1
