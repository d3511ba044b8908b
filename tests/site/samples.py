"""A row for every argument of every route: no test of routes compares "not there" with "not there"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from django.db.models import Model
from django.utils import timezone

from annotation.accounts.invitations import issue_invitation
from annotation.accounts.roles import Role
from annotation.agents import screener
from annotation.builds.limits.budget import without_system
from annotation.models import (
    Assignment,
    CallAnswer,
    CallRequest,
    Canary,
    Case,
    Comment,
    ConnectionTest,
    Enrolment,
    ExecutionRequest,
    Extension,
    Filling,
    Guideline,
    Invitation,
    LLMCall,
    ProgramText,
    Proposal,
    Rating,
    RequestText,
    Review,
    SavedList,
    StudyPair,
    TestProgram,
    Trial,
    WebhookDelivery,
)
from annotation.review.comments import post_comment
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.exporting.jobs.order import ExportOrder
from retrieval.models import Annotator, Benchmark, Job, Label, Pin
from retrieval.training.training_job import TrainOrder
from sandbox.expression_call import Answer, CallOutcome
from tests import factories, studies

ANSWER: Final = Answer(CallOutcome.RETURNED, "[1]", "list")
AGO: Final = timedelta(days=3)
"""How old the rows are: pages say how long ago something was, and the minute must not change meanwhile."""
WITHOUT: Final[dict[str, str]] = {
    "api:get_member": "0 is the position of a collection's first member",
}
"""Routes with a 0 among their arguments, and why that is right."""
ASKED: Final[Mapping[str, tuple[str, ...]]] = {
    "browse-build": (
        *(f"sort={sort}" for sort in ("position", "text", "matches")),
        *(f"state={state}" for state in ("open", "abandoned", "settled")),
        *(f"differs={who}" for who in ("experts", "original", "any")),
        "found=1%2B",
        "q=list",
        "tag=inverse",
        "count=exact",
    ),
    "build-cases": (
        *(f"sort={sort}" for sort in ("made", "rank", "score", "stage", "label", "time", "duration")),
        *(f"stage={stage}" for stage in ("settled", "abandoned", "screening")),
        *(f"label={label}" for label in ("1", "0", "none")),
        "outcome=passed",
        "ran=yes",
        "canary=finished",
        "canary=finished&extension=1",
        "agent=arbiter",
        "differs=experts",
        "q=list",
    ),
    "build-drift": ("moved=lower", "moved=agreed"),
    "build-abandoned": ("cause=sandbox",),
    "query": ("sort=rank", "sort=score"),
    "matches": ("view=unified", "view=columns", "view=plain"),
    "review-next": (
        *(f"show={show}" for show in ("waiting", "unsettled", "reviewed", "overridden")),
        "show=apart-{annotators}.0-{originals}.0",
        "show=assigned",
        "show=list-c29ydD1pbmZvcm1hdGlvbg",
    ),
    "review-list": (
        *(f"sort={sort}" for sort in ("query", "information", "rank", "score", "changed")),
        *(f"smart={smart}" for smart in ("untested", "weak_evidence", "experts_disagree", "sample")),
        *(f"mine={mine}" for mine in ("none", "any", "1", "unsure")),
        "assigned=others",
        "tag=inverse",
        "q=list",
    ),
    "precedents": ("q=list", "q=match", "guidelines=rules"),
    "history": ("of=ratings", "of=reviews", "pair=1"),
    "audit": ("who=ada", "verb=exported"),
    "audit-labels": ("of=ratings", "of=reviews", "who=erin"),
    "rate-pair": ("start=agents",),
    "study-plan": ("format=md", "format=json"),
    "study-ratings": ("format=csv", "format=json", "part=skips", "part=decisions&format=json"),
    "study-figures-download": tuple(
        f"table={table}&format={form}"
        for table in ("main", "confusion", "reliability", "flow", "strata")
        for form in ("csv", "svg")
    ),
    "study-figures-pairs": tuple(f"row=always+1&cell={cell}" for cell in range(4)),
    "collection-corpus": ("table=size&format=csv",),
    "build-corpus": ("table=size&format=csv",),
    "benchmark": ("metric=mrr", "pool=collection", "found=1"),
    "benchmark-corpus": ("table=size&format=csv",),
    "compare": (
        "first={builds}&second={builds}",
        "of=annotators&first={annotators}&second={originals}",
        "of=annotators&first={annotators}&second={originals}&table=labels&format=csv",
        "of=annotators&first={annotators}&first_round=1&second={annotators}",
    ),
    "build-again": ("sent_back=1", "flips={builds}"),
    "people": ("q=a", "role=expert", "state=closed"),
    "person-change": ("action=close", "action=role"),
    "studies": ("after=999999",),
    "study-new": ("build={builds}",),
    "api:list_cases": (
        *(f"sort={sort}" for sort in ("made", "rank", "score", "stage", "label", "time", "duration")),
        *(f"label={label}" for label in ("1", "0", "none")),
        "differs=experts",
        "q=list",
    ),
    "api:list_drift_pairs": ("check=0", "moved=lower&limit=1"),
    "api:compare_annotators": ("round=1&against_round=1",),
    "api:list_annotators": ("limit=1",),
    "api:list_queries": ("q=list",),
    "api:list_members": ("limit=1",),
    "api:list_collections": ("kind=queries",),
    "api:list_precedents": ("q=match",),
    "api:list_studies": ("limit=1",),
    "api:list_ratings": ("limit=1",),
    "api:list_pairs": ("filters=label%3D1", "filters=smart%3Dweak_evidence", "filters=sort%3Dinformation"),
    "api:list_people": ("q=a", "role=expert", "state=closed"),
}
"""What lists are asked for besides the plain address: each way to sort, filter and take home."""


@dataclass(frozen=True)
class Samples:
    """Numbers by the name that stands before an argument; `own` ones by (beginning of the address, name)."""

    general: Mapping[str, int]
    special: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def of(self, path: str, place: str) -> int:
        """The argument that follows `place` in the address."""
        beginnings = [key for key in self.special if key[1] == place and path.startswith(key[0])]
        if beginnings:
            return self.special[max(beginnings, key=lambda key: len(key[0]))]
        return self.general[place]

    def address(self, path: str) -> str:
        """The path with its arguments filled in."""
        return "/" + re.sub(
            r"(?P<place>\w+)/<\w+:\w+>",
            lambda found: f"{found['place']}/{self.of(path, found['place'])}",
            path,
        )

    def queries(self, name: str) -> list[str]:
        """What else the route called `name` is asked for."""
        return [asked.format(**self.general) for asked in ASKED.get(name, ())]


def samples(case: Case, rater: Enrolment | None = None) -> Samples:
    """A row of each kind around `case`; what belongs to a person is `rater`'s, by default Rita's."""
    rater = rater or enrolled(case)
    asked = StudyPair.objects.get(study=rater.study, pair=case.pair)
    given = rater.assignments.filter(study_pair=asked).first() or studies.assignment(rater, asked)
    benchmark, job = published(case), filling(case)
    table = aged(factories.import_job(format="table", state="columns"))
    exported = aged(export(benchmark))
    delivery = webhook_delivery()
    return Samples(
        {
            "docs": 1,
            "pairs": asked.number,
            "rate": rater.study_id,
            "studies": rater.study_id,
            "adjudication": rater.study_id,
            "conditions": rater.condition_id,
            "builds": case.build_id,
            "drift": factories.drift_checked(case.build, (1, 1, 0), (0, 0, 0)).number,
            "extensions": extended(case).number,
            "browse": case.build_id,
            "annotators": case.annotator_id,
            "originals": originals().pk,
            "comparison": case.build_id,
            "cases": case.pk,
            "collections": case.build.queries_id,
            "executions": number(case.execution_id),
            "programs": number(case.program_id),
            "queries": case.query_id,
            "benchmarks": benchmark.pk,
            "exports": exported,
            "train": aged(training(benchmark)),
            "pins": aged(pin(case)),
            "guidelines": Guideline.objects.earliest("pk").pk,
            "replies": aged(waiting_call(case)),
            "reviews": aged(review(case, rater)),
            "flags": aged(flagged(case)),
            "jobs": job.pk,
            "upload": table,
            "imports": table,
            "functions": aged(proposal(job, case)),
            "members": 0,
            "tests": aged(connection_test()),
            "people": rater.user_id,
            "raters": rater.pk,
            "webhooks": delivery.webhook_id,
            "deliveries": delivery.pk,
            "lists": aged(saved_list(case, rater)),
            "invitations": aged(invitation()),
            **dict.fromkeys(("join", "new", "with"), 1),
        },
        {
            ("api/benchmarks/", "comparison"): benchmark.pk,
            ("api/jobs/", "jobs"): exported,
            **plain(case, rater),
            **rated(case, given),
        },
    )


def waiting_call(case: Case) -> LLMCall:
    """A request for which an open case of the case's build waits, if it has one."""
    pair = screener.ScreenerInputs(case.pair.query.text, case.pair.snippet.text)
    request = screener.build_screener_request(pair, case.build.model)
    columns = {"digest": request.digest(), "request": RequestText.keep(without_system(request))}
    call = factories.llm_call(case, "screener", {}, status="waiting", **columns)
    parked = Case.objects.filter(build=case.build, stage="screening").exclude(pk=case.pk)[:1]
    Case.objects.filter(pk__in=list(parked.values_list("pk", flat=True))).update(waiting_for=call)
    return call


def extended(case: Case) -> Extension:
    """An extension of the case's build whose canary had the case."""
    made = Extension.objects.create(
        build=case.build,
        number=1,
        mining=case.build.own_mining,
        state="opened",
        description="k 3 → 4",
        pairs=1,
        reason="more",
    )
    Canary.objects.create(build=case.build, extension=made, seed=7, drawn=[case.candidate_id], pairs=1)
    return made


def number(found: int | None) -> int:
    assert found is not None, "the case of the samples has been executed"
    return found


def aged(row: Model) -> int:
    """Its number, once it is as old as it should be."""
    type(row)._default_manager.filter(pk=row.pk).update(created_at=timezone.now() - AGO)
    return int(row.pk)


def enrolled(case: Case) -> Enrolment:
    """Rita, who rates the pair in a study of its own."""
    study = studies.study("a study of samples", pairs=[case.pair])
    study.pairs.update(case=case)
    return studies.rater("rita", study)


def published(case: Case) -> Benchmark:
    """A benchmark with the pair's query, whose labels are not of any build."""
    by = originals()
    Label.objects.create(pair=case.pair, annotator=by, value=1)
    queries, snippets = case.build.queries, case.build.snippets
    made = publish_benchmark(Order("apart", queries, snippets, "by hand"), Label.objects.filter(annotator=by))
    Benchmark.objects.filter(pk=made.pk).update(published_at=timezone.now() - AGO)
    return made


def originals() -> Annotator:
    return Annotator.objects.version(Annotator.Kind.ORIGINAL, "apart", {})


def export(of: Benchmark) -> Job:
    result = {"size": 1, "warnings": []}
    return factories.job(ExportOrder(format="release"), of.pk, state="done", result=result)


def training(of: Benchmark) -> Job:
    return factories.job(TrainOrder(system="nbow"), of.pk, state="cancelled")


def pin(case: Case) -> Pin:
    """What a build's pin would be."""
    subject = {"of": "build", "id": case.build_id, "name": "apart", "sampled": 10}
    return Pin.objects.create(
        kind=Pin.Kind.CORPUS,
        digest="f" * 64,
        subject=subject,
        ground={"code": {}},
        value={},
        created_by=factories.ada(),
    )


def filling(case: Case) -> Filling:
    build = factories.launched("writing", mining=case.build.mining)
    return Filling.objects.create(build=build, of=case.build)


def proposal(job: Filling, case: Case) -> Proposal:
    beside = Case.objects.filter(build=case.build, query=case.query).exclude(pk=case.pk)[0]
    columns: dict[str, Any] = {
        "state": Proposal.State.WRITTEN,
        "snippet": beside.pair.snippet,
        "case": beside,
    }
    return Proposal.objects.create(filling=job, query=case.query, **columns)


def review(case: Case, rater: Enrolment) -> Review:
    """An earlier revision of a label of the rater's own."""
    columns = {"rater": rater.user, "pair": case.pair, "case": case, "evidence": "a" * 64}
    first = Review.objects.create(revision=1, label=1, reason="so", **columns)
    aged(Review.objects.create(revision=2, label=0, reason="no", supersedes=first, **columns))
    return first


def flagged(case: Case) -> Comment:
    """A flag that waits for an admin, and names one."""
    return post_comment(factories.erin(), case, "@ada look", flag=True).comment


def invitation() -> Invitation:
    return issue_invitation(factories.ada(), Role.EXPERT)[0]


def webhook_delivery() -> WebhookDelivery:
    """What a webhook that is on was told, and did not take."""
    webhook = factories.webhook()
    aged(webhook)
    delivery = factories.webhook_delivery(
        webhook, state="failed", tries=8, status=500, error="The answer was 500."
    )
    aged(delivery)
    return delivery


def connection_test() -> ConnectionTest:
    columns = {"base_url": "https://api.example.org", "configured": True, "model": "m", "profile": "generic"}
    return ConnectionTest.objects.create(
        user=factories.ada(), state="done", finished_at=timezone.now() - AGO, **columns
    )


def saved_list(case: Case, rater: Enrolment) -> SavedList:
    return SavedList.objects.create(build=case.build, user=rater.user, name="apart", query="label=1")


def answered(case: Case, rater: Enrolment, given: Assignment | None) -> CallRequest:
    answer = CallAnswer.objects.create(outcome=ANSWER.outcome, seconds=0, text=ANSWER.to_json())
    columns = {"expression": "reverse([1])", "state": "done", "answer": answer}
    return CallRequest.objects.create(user=rater.user, pair=case.pair, assignment=given, **columns)


def trial(program: TestProgram, rater: Enrolment, given: Assignment | None) -> Trial:
    return Trial.objects.create(
        user=rater.user, program=program, snippet=program.pair.snippet, assignment=given, state="failed"
    )


def plain(case: Case, rater: Enrolment) -> dict[tuple[str, str], int]:
    """What the rater asked for in plain review."""
    assert case.program is not None
    edited = factories.program_for(case, "assert True\n", parent=case.program, author=rater.user)
    ran = ExecutionRequest.objects.create(user=rater.user, program=edited, state="failed")
    asked = aged(answered(case, rater, None))
    return {
        ("review/", "calls"): asked,
        ("api/calls/", "calls"): asked,
        ("api/runs/", "runs"): aged(ran),
        ("api/functions/", "runs"): aged(ran),
        ("review/", "trials"): aged(trial(case.program, rater, None)),
        ("written/", "runs"): aged(ran),
        ("benchmarks/", "queries"): case.query_id,
        ("api/annotators/", "comparison"): originals().pk,
    }


def rated(case: Case, given: Assignment) -> dict[tuple[str, str], int]:
    """What the rater did on the pair in the study: it was rated, and the rating taken back."""
    columns: dict[str, Any] = {"pair": case.pair, "author": given.rater, "assignment": given}
    own = TestProgram.objects.create(source=ProgramText.keep("assert reverse([]) == []\n"), **columns)
    ran = ExecutionRequest.objects.create(user=given.rater, program=own, assignment=given, state="failed")
    said = Rating.objects.create(assignment=given, revision=1, value=1, evidence="0" * 64, seconds=9)
    back = {"withdrawn": True, "evidence": said.evidence, "supersedes": said}
    aged(Rating.objects.create(assignment=given, revision=2, **back))
    rows = {
        "calls": aged(answered(case, given.enrolment, given)),
        "trials": aged(trial(own, given.enrolment, given)),
        "runs": aged(ran),
        "programs": aged(own),
        "ratings": aged(said),
    }
    return {(f"{start}rate/", name): pk for start in ("", "api/") for name, pk in rows.items()}
