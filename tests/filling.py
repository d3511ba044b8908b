"""A build whose queries nothing matches, a job that writes for them, and agents that answer by the query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.db import transaction

from annotation.agents.snippet_writer import WrittenSnippet
from annotation.builds.pipeline.advance import Tools
from annotation.builds.pipeline.labels import settle_case_label
from annotation.derived.derivation import Decision
from annotation.derived.missing_functions import writer_job
from annotation.derived.missing_functions.launch import plan_filling
from annotation.derived.missing_functions.orders import FillOrder
from annotation.jobs import worker
from annotation.llm import Request
from annotation.models import Basis, Build, Case, Filling, Proposal
from annotation.stages import Event
from sandbox.reports.report import Outcome
from tests import factories

CODES = {
    "reverse": "def reversed_in_place(items):\n    items[:] = items[::-1]\n    return items",
    "parse": "import datetime\n\ndef to_date(text):\n    return datetime.date.fromisoformat(text)",
    "flatten": "def flat(rows):\n    return [cell for row in rows for cell in row]",
}
PROGRAM = "def r1_ordinary_true():\n    assert True\n"
TEST = {
    "readings": [{"sense": "the usual one", "likelihood": 100}],
    "helpers": [],
    "program": PROGRAM,
    "reference": "def anything():\n    return None\n",
}
Verdict = Callable[[str], int]


def source(name: str = "source", matched: int = 0) -> Build:
    """A finished build of three queries; the first `matched` of them have a match."""
    build = factories.opened(name)
    rows = factories.cases(build)
    lucky = list(dict.fromkeys(case.query_id for case in rows))[:matched]
    for case in rows:
        factories.settled(case, int(case.query_id in lucky and case.rank == 1))
    Build.objects.filter(pk=build.pk).update(state=Build.State.DONE)
    return Build.objects.get(pk=build.pk)


def order(of: Build, **columns: Any) -> FillOrder:
    defaults: dict[str, Any] = {
        "name": "written",
        "provider": Build.Provider.EXCHANGE,
        "model": "small-model",
    }
    return FillOrder(of=of, **{**defaults, **columns})


def job(of: Build | None = None, user: User | None = None, **columns: Any) -> Filling:
    plan = plan_filling(order(of or source(), **columns))
    build = plan.launch(Decision(user or factories.ada()))
    return Filling.objects.get(build=build)


def writer(verdict: Verdict = lambda said: 1, codes: Mapping[str, str] = CODES) -> Callable[[Request], Any]:
    """Answers for every agent of the job; `verdict` is told what the arbiter was asked."""

    def answer(request: Request) -> Mapping[str, object]:
        said = request.messages[0].text
        if request.agent == "snippet_writer":
            word = next(word for word in codes if word in said.split("<code-")[0])
            again = "  # again" if "and judged not to answer the query. The reason" in said else ""
            explanation = f"It does what “{word}” asks for."
            return {"explanation": explanation, "packages": [], "code": codes[word] + again}
        if request.agent == "test_writer":
            return TEST
        return {"verdict": verdict(said), "explanation": "the test says so"}

    return answer


def work(tools: Tools, most: int = 60) -> None:
    """All that workers would do, in this thread."""
    for _ in range(most):
        if not sum(worker.drain_queue(queue, tools) for queue in ("llm", "sandbox", "interactive")):
            worker.perform_worker_chores(tools)
            return
    raise AssertionError("the work never ends")


def proposal(filling: Filling, word: str) -> Proposal:
    """The last function written for the query with `word` in it."""
    rows = Proposal.objects.filter(filling=filling, query__head__contains=word).select_related(
        "filling__of", "filling__build__tally", "filling__build__annotator", "query", "snippet__body", "call"
    )
    found = rows.select_related("case__program").order_by("-number").first()
    assert found is not None
    return found


def checked(name: str = "queue", matched: int = 0) -> Filling:
    """A job that is done: its first function passed its test, the second was denied, the third abandoned.

    All of it in one transaction: workers of a server beside this one never see it unfinished.
    """
    with transaction.atomic():
        made = job(source(f"{name}: source", matched), name=name)
        rows = Proposal.objects.filter(filling=made).select_related("filling__build__tally", "query")
        for row, ending, code in zip(rows.order_by("pk"), (1, 0, None), CHECKED, strict=False):
            end(row, ending, code)
        Build.objects.filter(pk=made.build_id).update(state=Build.State.DONE)
    return made


CHECKED = (
    "def reverse(items):\n    return list(reversed(items))",
    "def reverse(items):\n    return sorted(items)",
    "def reverse(items):\n    return items[::-1]",
)


def end(row: Proposal, label: int | None, code: str) -> None:
    """Write `code` for the proposal, and settle its case after a test, or abandon it."""
    Proposal.objects.filter(pk=row.pk).update(lease=uuid4())
    row.refresh_from_db(fields=["lease"])
    said = WrittenSnippet(explanation="It turns the list round.", packages=[], code=code)
    call = factories.llm_call(SimpleNamespace(build=row.build), "snippet_writer", {"code": code})  # type: ignore[arg-type]
    writer_job.store_written_function(row, said, call)
    case = Case.objects.select_related("build__tally", "annotator", "pair").get(proposal=row)
    program = factories.program_for(case)
    case.move(Event.WRITTEN, note=program.reading, program=program, program_id=program.pk)
    if label is None:
        factories.abandoned(case)
        return
    report = None if label else factories.a_report(Outcome.FAILED)
    run = factories.execution(program, report)
    case.move(Event.EXECUTED, note=run.outcome, program=program, execution=run, execution_id=run.pk)
    settle_case_label(
        case, Event.ACCEPTED if label else Event.DENIED, label, "the test decides", call, basis=Basis.TESTED
    )
    Proposal.objects.filter(filling=row.filling_id, query=row.query_id, number=2).delete()
    Proposal.objects.filter(pk=row.pk).update(state=Proposal.State.WRITTEN)
