"""Tiny factories with a named cast: ada is an admin, erin an expert, ray a reader, nora has no role.

Each makes what it needs and nothing else; keyword arguments override single columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.files.base import File
from django.utils import timezone

from annotation.accounts.roles import Role, give_role, looked_up
from annotation.builds.drift.verdict import judge_drift_check
from annotation.builds.pipeline.labels import publish_case
from annotation.derived.derivation import Decision
from annotation.derived.extension.extension_plan import plan_extension
from annotation.models import (
    Build,
    BuildEvent,
    Case,
    DriftAnswer,
    DriftCheck,
    DriftWatch,
    Execution,
    Extension,
    LLMCall,
    ProgramText,
    ReplyText,
    ReportText,
    RequestText,
    SystemText,
    Tally,
    TestProgram,
    Webhook,
    WebhookDelivery,
)
from annotation.schemas.derived.derived_builds import ExtensionWish
from annotation.stages import Event, Stage
from annotation.webhooks import signature
from annotation.webhooks.outbox import TEST, write_delivery
from cosqa_site.accounts import log_in as log_in  # noqa: PLC0414  # it hears of log-ins before the first request
from retrieval.filters import NO_RULE, Rule, find_passed_rules
from retrieval.jobs import JobOrder, once_of, store_job_file
from retrieval.models import (
    Annotator,
    Candidate,
    Collection,
    Job,
    Member,
    Mining,
    Pair,
    QueryText,
    Text,
)
from retrieval.uploads import Format, ImportOrder
from retrieval.uploads.files import COLUMNS, place_of_upload
from sandbox.program import Limits, Program
from sandbox.reports.report import Assertion, Outcome, Rates, Report, TraceStep

PLAIN = {"prompt_set": "paper"}
"""One program that ends at its first failure, no reader: what most tests of the machinery need."""
PASSWORD = "correct horse battery staple"
QUERIES = ("reverse a list in place", "parse an iso date", "flatten nested lists")
SNIPPETS = (
    "def reverse(items):  # neither date nor lists\n    items.reverse()\n    return items\n",
    "def parse_date(text):\n    return date.fromisoformat(text)\n",
    "def flatten(rows):  # nested\n    return [cell for row in rows for cell in row]\n",
    "def nothing():\n    return None\n",
)
PROGRAM = "def main():\n    assert reverse([1, 2]) == [2, 1]\n\n\nmain()\n"


@cache
def hashed_password() -> str:
    """Hashing is slow on purpose, so it is done once for all of the cast."""
    return make_password(PASSWORD)


def person(name: str, role: Role | None = None) -> User:
    """The user called `name`, made once, with `role` or none."""
    found = User.objects.filter(username=name).first()
    user = found or User.objects.create(username=name, password=hashed_password())
    if role and looked_up(user) is not role:
        give_role(user, role)
    return user


def ada() -> User:
    return person("ada", Role.ADMIN)


def erin() -> User:
    return person("erin", Role.EXPERT)


def ray() -> User:
    return person("ray", Role.READER)


def nora() -> User:
    return person("nora")


def rules(code: str) -> Rule:
    return find_passed_rules(code) or NO_RULE


def collection(kind: str, texts: Sequence[str], name: str = "small", **columns: Any) -> Collection:
    """A collection of `texts` with rule flags as an import would set them."""
    made = Collection.objects.create(name=name, kind=kind, size=len(texts), **columns)
    snippets = kind == Collection.Kind.SNIPPETS
    kept = Text.objects.keep_all(texts)
    if not snippets:
        QueryText.objects.keep_all(kept)
    Member.objects.bulk_create(
        Member(
            collection=made,
            text=text,
            position=position,
            source_id=f"{kind}-{position}",
            origin="tests",
            licence="MIT",
            rules=int(rules(texts[position])) if snippets else 0,
        )
        for position, text in enumerate(kept)
    )
    return made


def queries(texts: Sequence[str] = QUERIES, name: str = "small") -> Collection:
    found = Collection.objects.filter(name=name, kind=Collection.Kind.QUERIES).first()
    return found or collection(Collection.Kind.QUERIES, texts, name)


def snippets(texts: Sequence[str] = SNIPPETS, name: str = "small") -> Collection:
    found = Collection.objects.filter(name=name, kind=Collection.Kind.SNIPPETS).first()
    return found or collection(Collection.Kind.SNIPPETS, texts, name)


def job(order: JobOrder, subject: int = 0, **columns: Any) -> Job:
    """Ada's order, in any state; `file` and its like are stored."""
    known = {name: columns.pop(name) for name in COLUMNS if name in columns}
    files = {
        name: store_job_file(place_of_upload(str(file.name)), file) if isinstance(file, File) else file
        for name, file in known.items()
        if file
    }
    given = {"kind": order.kind, "order": order.model_dump(mode="json"), "subject": subject, "files": files}
    return Job.objects.create(**{**given, "once": once_of(order, subject), "created_by": ada(), **columns})


def import_job(**columns: Any) -> Job:
    known = {name: columns.pop(name) for name in ImportOrder.model_fields if name in columns}
    order = ImportOrder(**{"name": "small", "format": Format.COSQA, **known})
    return job(order, **{"file": "imports/small.json", **columns})


def annotator(**config: Any) -> Annotator:
    return Annotator.objects.version(
        Annotator.Kind.AGENTS,
        "test-driven agents",
        {**PLAIN, "fix_rounds": 2, "model": "small-model", **config},
    )


def single_llm(criterion: str = "exact", **config: Any) -> Annotator:
    return Annotator.objects.version(
        Annotator.Kind.SINGLE_LLM, "single LLM", {"model": "small-model", "criterion": criterion, **config}
    )


def mining(of: Collection | None = None, within: Collection | None = None, **columns: Any) -> Mining:
    """A finished mining without candidates."""
    defaults: dict[str, Any] = {"encoders": ["bm25"], "k": 3, "state": Mining.State.DONE}
    return Mining.objects.create(
        queries=of or queries(), snippets=within or snippets(), **{**defaults, **columns}
    )


def launched(name: str = "first", cap: int | None = None, **columns: Any) -> Build:
    """A build whose mining still waits: no candidates, no cases."""
    found = columns.pop("mining", None) or mining(state=Mining.State.WAITING)
    defaults: dict[str, Any] = {
        "queries": found.queries,
        "snippets": found.snippets,
        "mining": found,
        "annotator": annotator(),
        "provider": Build.Provider.EXCHANGE,
        "model": "small-model",
        "created_by": ada(),
    }
    made = Build.objects.create(name=name, **{**defaults, **columns})
    Tally.objects.create(build=made, cap=cap, usable_replies=1)  # its model has answered before
    BuildEvent.objects.create(build=made, user=made.created_by, event="launched", note="top 3 by bm25")
    return made


def candidate(of: Mining, query: Text, snippet: Text, rank: int) -> Candidate:
    pair = Pair.objects.keep_all([(query.pk, snippet.pk)])[0]
    made = proposal(of, pair, query, rank)
    made.save(force_insert=True)
    return made


def proposal(of: Mining, pair: Pair, query: Text, rank: int) -> Candidate:
    """A candidate that is not stored yet."""
    score = 1 / rank
    scores = {name: {"entering": score, "raw": 10 * score} for name in of.encoders}
    return Candidate(mining=of, pair=pair, query=query, rank=rank, score=score, scores=scores)


def opened(name: str = "first", k: int = 3, cap: int | None = None, **columns: Any) -> Build:
    """A running build with k cases a query and round, all in screening.

    Most tests begin with one, so its rows are stored together.
    """
    made = launched(name, cap, mining=mining(k=k), opened=True, **columns)
    pool = [member.text for member in made.snippets.members.select_related("text")][:k]
    asked = [member.text for member in made.queries.members.select_related("text")]
    ranked = [(query, snippet, rank) for query in asked for rank, snippet in enumerate(pool, start=1)]
    pairs = Pair.objects.keep_all([(query.pk, snippet.pk) for query, snippet, _ in ranked])
    proposed = Candidate.objects.bulk_create(
        proposal(made.own_mining, pair, query, rank)
        for pair, (query, _, rank) in zip(pairs, ranked, strict=True)
    )
    rounds = range(1, made.rounds + 1)
    opened = Case.objects.bulk_create(waiting(made, one, number) for one in proposed for number in rounds)
    made.tally.change(screening=len(opened))
    made.refresh_from_db()
    return made


def open_case(build: Build, of: Candidate, number: int = 1) -> Case:
    made = waiting(build, of, number)
    made.save(force_insert=True)
    build.tally.change(screening=1)
    return made


def waiting(build: Build, of: Candidate, number: int) -> Case:
    """A case in screening that is not stored yet."""
    return Case(
        build=build,
        candidate=of,
        pair=of.pair,
        query=of.query,
        annotator=build.annotator,
        rank=of.rank,
        score=of.score,
        round=number,
    )


def cases(build: Build) -> list[Case]:
    """The build's cases by query, rank and round, ready to be moved."""
    rows = Case.objects.filter(build=build).order_by("query", "rank", "round")
    return list(rows.select_related("build__tally", "pair", "annotator"))


def said(build: Build, *rounds: Sequence[int | None]) -> Build:
    """The build with its pairs judged: a row of labels for each round, None = abandoned; it is over then."""
    for number, labels in enumerate(rounds, 1):
        own = [case for case in cases(build) if case.round == number]
        for case, label in zip(own, labels, strict=False):
            abandoned(case) if label is None else settled(case, label)
    Build.objects.filter(pk=build.pk).update(state=Build.State.DONE)
    return Build.objects.select_related("tally", "annotator").get(pk=build.pk)


def settled(case: Case, label: int, note: str = "the code does what the query asks") -> Case:
    """Settle by the screener, and publish."""
    call = llm_call(case, "screener", {"verdict": label, "explanation": note})
    case.move(Event.MATCH if label else Event.NO_MATCH, note=note, call=call, label=label)
    publish_case(case)
    return Case.objects.get(pk=case.pk)


def examined(case: Case, label: int, report: Report | None = None, source: str = PROGRAM) -> Case:
    """Settle the long way: unclear, test written, executed, arbitrated; and publish."""
    case.move(
        Event.UNCLEAR, note="depends on what is meant", call=llm_call(case, "screener", {"verdict": 0.5})
    )
    program = program_for(case, source)
    writer = llm_call(case, "test_writer", {"program": source})
    case.move(Event.WRITTEN, note=program.reading, call=writer, program=program, program_id=program.pk)
    run = execution(program, report)
    seen: dict[str, Any] = {"program": program, "execution": run, "execution_id": run.pk}
    case.move(Event.EXECUTED, note=run.outcome, tally=asdict(Rates.of([run.whole_report()])), **seen)
    event = Event.ACCEPTED if label else Event.DENIED
    case.move(event, note="the test decides", call=llm_call(case, "arbiter", {"verdict": label}), label=label)
    publish_case(case)
    return Case.objects.get(pk=case.pk)


def abandoned(case: Case, reason: str = "the sandbox could not run the test program") -> Case:
    case.move(Event.GAVE_UP, note=reason, reason=reason, left_stage=Stage(case.stage).value)
    return Case.objects.get(pk=case.pk)


def drift_checked(build: Build, *said: tuple[float | None, float | None, float | None]) -> DriftCheck:
    """The check after the baseline: of the first cases, what each answered at first, again and now."""
    drawn = cases(build)[: len(said)]
    ids = [case.pk for case in drawn]
    watch = DriftWatch.objects.create(build=build, seed=7, every=3, drawn=ids, max_checks=1)
    for number, rounds in enumerate((("at first", "again"), ("now",))):
        check = DriftCheck.objects.create(
            watch=watch, number=number, is_baseline=not number, settled=3 * number
        )
        for place, words in enumerate(rounds):
            for case, answers in zip(drawn, said, strict=True):
                columns = {"case": case, "round": place + 1, "explanation": f"said {words}"}
                DriftAnswer.objects.create(
                    check_of=check, verdict=answers[2 * number + place], answered_at=timezone.now(), **columns
                )
        judge_drift_check(check)
    return check


def llm_call(case: Case, agent: str, reply: dict[str, Any], **columns: Any) -> LLMCall:
    """A call that succeeded, with made-up tokens."""
    number = LLMCall.objects.count()
    defaults: dict[str, Any] = {
        "digest": f"{number:064x}",
        "status": LLMCall.Status.SUCCEEDED,
        "model": case.build.model,
        "provider": "exchange",
        "system": SystemText.keep(f"You are the {agent}."),
        "request": RequestText.keep(f'{{"agent": "{agent}", "number": {number}}}'),
        "reply": ReplyText.keep(str(reply)),
        "input_tokens": 500,
        "output_tokens": 60,
    }
    return LLMCall.objects.create(agent=agent, build=case.build, **{**defaults, **columns})


def program_for(case: Case, source: str = PROGRAM, **columns: Any) -> TestProgram:
    defaults: dict[str, Any] = {"reading": "reverses the list that it is given", "annotator": case.annotator}
    return TestProgram.objects.create(
        pair=case.pair, source=ProgramText.keep(source), **{**defaults, **columns}
    )


def a_report(outcome: Outcome = Outcome.PASSED, **fields: Any) -> Report:
    """A report with one assertion that touches the candidate and a short trace."""
    passed = outcome is Outcome.PASSED
    found = Assertion(
        2, "assert reverse([1, 2]) == [2, 1]", passed, "[2, 1]" if passed else "[1, 2]", "[2, 1]", True
    )
    trace = (
        TraceStep(2, "reverse", 1, (("items", "[1, 2]"),)),
        TraceStep(3, "reverse", 1, (("items", "[2, 1]"),)),
    )
    defaults: dict[str, Any] = {
        "assertions": (found,),
        "stdout": "done\n",
        "trace": trace,
        "lines_reached": (2, 3),
        "seconds": 0.04,
        "backend": "fake",
    }
    return Report(outcome=outcome, **{**defaults, **fields})


def execution(program: TestProgram, report: Report | None = None, **columns: Any) -> Execution:
    """One stored run of `program`; another repeat where it ran before."""
    report = report or a_report()
    inputs = Program(candidate=program.pair.snippet.text, source=program.source.text)
    key = {
        "program_hash": inputs.source_hash,
        "candidate_hash": inputs.candidate_hash,
        "dependencies_hash": inputs.dependencies_hash,
        "image": "fake",
        "limits": Limits().digest(),
    }
    told: dict[str, Any] = {
        "repeat": Execution.objects.filter(**key).count() + 1,
        "backend": report.backend,
        "outcome": report.outcome.value,
        "ran": report.ran,
        "asserted": report.asserted,
        "touched": report.touched,
        "touching_lines": report.touching_lines,
        "seconds": report.seconds,
        "report": ReportText.keep(report.to_json()),
    }
    return Execution.objects.create(**key, **{**told, **columns})


def webhook(name: str = "chat", **columns: Any) -> Webhook:
    """A webhook that is told of everything."""
    salt = signature.draw_salt()
    defaults: dict[str, Any] = {
        "address": "https://chat.example/hook",
        "events": Webhook.Event.values,
        "salt": salt,
        "digest": signature.hash_secret(signature.derive_secret(salt)),
        "created_by": ada(),
    }
    return Webhook.objects.create(name=name, **{**defaults, **columns})


def webhook_delivery(webhook: Webhook, **columns: Any) -> WebhookDelivery:
    """A test to a webhook, due now."""
    delivery = write_delivery(webhook, TEST, {})
    if columns:
        WebhookDelivery.objects.filter(pk=delivery.pk).update(**columns)
    return WebhookDelivery.objects.select_related("webhook").get(pk=delivery.pk)


def extended(
    build: Build, wish: ExtensionWish, why: str, user: User | None = None, skip_canary: str = ""
) -> Extension:
    """An extension of `build` that was decided; nobody has seen what it costs."""
    return plan_extension(build, wish).launch(Decision(user, why, skip_canary=skip_canary))
