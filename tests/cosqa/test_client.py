"""`Client` against the API of this process: names, pages, errors, and where the token goes."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import django.test
import pytest
import requests
from django.core.management import call_command
from pytest_django import Settings
from requests.adapters import BaseAdapter

from annotation.accounts.roles import Role
from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.llm.exchange import ExchangeLLM
from annotation.models import Build as BuildRow
from annotation.models import CallRequest, Case, ExecutionRequest, Guideline
from annotation.models import Study as StudyRow
from cosqa import ApiError, Client, JobFailed, client
from cosqa.client import RepliesRefused, Waiting
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.models import Annotator, Label
from retrieval.models import Job as JobRow
from tests import factories, studies
from tests.annotation.conftest import fresh
from tests.annotation.web.collections.test_upload_pages import own_storage
from tests.calls import with_token
from tests.fakes import FakeSandbox
from tests.retrieval.training.test_benchmark_data import TASKS, make_benchmark

__all__ = ["fresh", "own_storage"]

pytestmark = pytest.mark.django_db
SCHEMA = Path(__file__).resolve().parents[1] / "site" / "openapi.json"


class InProcess(BaseAdapter):
    """Hands each request to Django's test client, and keeps what was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[requests.PreparedRequest] = []

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        self.asked.append(request)
        place = urlsplit(str(request.url))
        headers = {"authorization": str(request.headers["Authorization"])}
        theirs = django.test.Client(headers=headers).generic(
            str(request.method),
            f"{place.path}?{place.query}",
            request.body or b"",
            content_type=str(request.headers.get("Content-Type", "")),
        )
        answer = requests.Response()
        answer.status_code, answer.url, answer.request = theirs.status_code, str(request.url), request
        answer.headers.update(dict(theirs.items()))
        answer.raw = io.BytesIO(b"".join(theirs) if theirs.streaming else theirs.content)
        return answer

    def close(self) -> None:
        """Nothing is open."""


def client_of(user: Any) -> Client:
    """A client with a token of `user`, and its adapter as `session.adapters["http://"]`."""
    token = with_token(user).defaults["HTTP_AUTHORIZATION"].removeprefix("Bearer ")
    made = Client(token, "http://lab/")
    made.session.mount("http://", InProcess())
    return made


@pytest.fixture
def ada() -> Iterator[Client]:
    with client_of(factories.ada()) as made:
        yield made


def test_a_token_counts_as_its_account(ada: Client) -> None:
    assert ada.me() == {"name": "ada", "role": "admin"}


def test_lists_are_followed_to_their_end(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MOST_A_PAGE", 2)
    names = [f"build {number}" for number in range(5)]
    for name in names:
        factories.launched(name)
    assert [build["name"] for build in ada.builds()] == names[::-1]
    adapter = ada.session.adapters["http://"]
    assert isinstance(adapter, InProcess)
    assert len(adapter.asked) == 3, "five rows in pages of two"


def test_a_build_is_found_by_name_or_id(ada: Client) -> None:
    made = factories.launched("7")
    assert ada.build("7")["id"] == ada.build(made.pk)["id"] == made.pk
    with pytest.raises(LookupError, match="no build called 'x'"):
        ada.build("x")


def test_launching_takes_names_of_collections(ada: Client) -> None:
    factories.queries(name="mine")
    factories.snippets(name="ours")
    build = ada.launch("night", "mine", "ours", encoders=["bm25"], k=3)
    assert BuildRow.objects.get(pk=build["id"]).queries.name == "mine"
    with pytest.raises(ApiError, match="no collection of functions called 'mine'"):
        ada.launch("noon", "mine", "mine")


def test_cases_and_control(ada: Client) -> None:
    build = factories.opened("autumn")
    factories.settled(factories.cases(build)[0], 1)
    [case] = ada.cases(build.pk, stage="settled")
    assert case["label"] == 1
    assert ada.control(build.pk, "pause", "for the night")["state"] == "paused"
    assert ada.wait(build.pk)["state"] == "paused"


def test_a_webhook_is_made_tried_and_looked_after(ada: Client) -> None:
    webhook, secret = ada.make_webhook("chat", "https://chat.example/hook", ["build.done", "study.done"])
    assert secret.startswith("whsec_")
    assert list(ada.webhooks()) == [webhook]
    sent = ada.test_webhook(webhook["id"])
    assert [row["message"] for row in ada.deliveries(webhook["id"])] == [sent["message"]]


def test_waiting_ends_at_its_time(ada: Client) -> None:
    build = factories.opened("autumn")
    with pytest.raises(TimeoutError, match="Build 'autumn' is running after 0 s"):
        ada.wait(build.pk, seconds=0, every=0)


def test_a_refusal_has_status_type_and_what_is_wrong(ada: Client) -> None:
    with pytest.raises(ApiError) as refused:
        ada.post("builds", name="")
    assert (refused.value.status, refused.value.type) == (422, "urn:cosqa:invalid-request")
    assert "name" in str(refused.value)
    with pytest.raises(ApiError, match=r"^404: ") as missing:
        ada.build(10**6)
    assert missing.value.type == "urn:cosqa:not-found"


def test_a_wrong_token_is_refused() -> None:
    stranger = Client("wrong", "http://lab")
    stranger.session.mount("http://", InProcess())
    with pytest.raises(ApiError, match=r"^401: "):
        stranger.me()


def test_the_token_does_not_follow_a_redirection(
    ada: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def lead_away(self: InProcess, request: requests.PreparedRequest, **_: Any) -> requests.Response:
        self.asked.append(request)
        answer = requests.Response()
        answer.status_code, answer.url, answer.request = 302, str(request.url), request
        answer.headers["Location"], answer.raw = "http://elsewhere/api/me", io.BytesIO(b"")
        return answer

    monkeypatch.setattr(InProcess, "send", lead_away)
    with pytest.raises(ApiError, match="leads to http://elsewhere/api/me"):
        ada.me()
    adapter = ada.session.adapters["http://"]
    assert isinstance(adapter, InProcess)
    assert len(adapter.asked) == 1


def test_a_netrc_does_not_replace_the_token(
    ada: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("machine lab login someone password else\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert ada.me()["name"] == "ada"


def test_an_answer_of_another_server_is_told_by_its_status() -> None:
    answer = requests.Response()
    answer.status_code, answer.reason, answer.raw = 502, "Bad Gateway", io.BytesIO(b"<html>")
    assert str(client.error_of(answer)) == "502: Bad Gateway"


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> None:
    """Jobs are carried out where the client would wait for them."""
    settings.COSQA_HOME = tmp_path

    def work(_: float) -> None:
        for pk in list(JobRow.objects.open().values_list("pk", flat=True)):
            call_command("job", pk)

    monkeypatch.setattr("cosqa.client.time.sleep", work)


def test_files_are_imported_with_their_refused_records(ada: Client, worker: None, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("question,code\nsort a list,def f(x): return x\nempty,\n")
    job = ada.import_files("mine", "table", {"file": table})
    assert (job["state"], job["result"]["stored"], len(job["problems"])) == ("partial", 2, 1)
    assert {row["kind"] for row in ada.collections(name="mine")} == {"queries", "functions"}
    [functions] = ada.collections("functions")
    assert ada.filter_collection("tested", functions["id"], ["testable"])["state"] == "done"
    with pytest.raises(ApiError, match="Expected a file that ends in"):
        ada.import_files("mine", "python", {"file": table})


def test_a_job_that_fails_says_why(ada: Client, worker: None, tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def f(:")
    with pytest.raises(JobFailed, match=r"import \d+ failed: "):
        ada.import_files("bad", "python", {"file": bad})


def test_systems_are_trained_scored_and_compared(ada: Client, worker: None) -> None:
    trained_on, tested = make_benchmark(), make_benchmark([f"please {task} for me" for task in TASKS[:8]])
    options = {"seeds": [1, 2], "epochs": 1, "batch_size": 8, "without": [str(tested)]}
    found = ada.train(trained_on.pk, "nbow", **options)
    assert [result["card"]["settings"]["seed"] for result in found] == [1, 2]
    for result in found:
        ada.score(tested.pk, [result["encoder"]])
    table = ada.trained_systems(tested.pk, metric="mrr")["trained"]
    assert "1, 2" in json.dumps(table)
    with pytest.raises(ApiError, match="can't be trained here"):
        ada.train(trained_on.pk, "bm25")


def test_a_build_becomes_a_benchmark_with_a_leaderboard_and_an_export(
    ada: Client, worker: None, tmp_path: Path
) -> None:
    build = factories.said(factories.opened("night"), (1, 0, None, 1, 0, 0, 1, 1, 0))
    made = ada.publish(build.pk)
    assert (made["name"], made["version"], made["labels"]) == ("night", 1, 8)
    assert ada.benchmark("night") == ada.benchmark("night@1") == ada.benchmark(made["id"]) == made
    with pytest.raises(LookupError, match="no benchmark called 'night@2'"):
        ada.benchmark("night@2")
    run = ada.score(made["id"], ["bm25"])
    (tmp_path / "my.run").write_text("queries-0 Q0 snippets-0 1 2 x\n")
    other = ada.upload_run(made["id"], "mine", tmp_path / "my.run")
    board = ada.leaderboard(made["id"], metric="mrr@10")
    assert {system["run"] for system in board["systems"]} == {run, other}
    pin = ada.pin("leaderboard", "night", metric="mrr@10")
    assert [row["id"] for row in ada.pins()] == [pin["id"]]
    assert ada.reproduce(pin["id"])["equal"] is True
    path = ada.export(made["id"], "beir", tmp_path / "night.zip")
    with zipfile.ZipFile(path) as archive:
        assert "corpus.jsonl" in archive.namelist()


def test_requests_are_answered_until_the_build_is_over(ada: Client, fresh: Callable[[Case], Case]) -> None:
    llm = ExchangeLLM()
    tools = Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(FakeSandbox))
    build = factories.opened(model="any")
    for case in factories.cases(build):
        advance_case(fresh(case), tools)
    [first, *_] = ada.waiting(build.pk)
    assert set(Waiting.__annotations__) <= set(first)
    with pytest.raises(RepliesRefused):
        ada.answer(build.pk, "me", lambda asked: "prose")
    with pytest.raises(TimeoutError, match="after 0 s"):
        ada.answer(build.pk, "me", lambda asked: {"verdict": 1, "explanation": "yes"}, seconds=0)
    assert list(ada.waiting(build.pk)) == []
    assert ada.build(build.pk)["answered_by"] == ["me"]  # type: ignore[typeddict-item]


def test_a_study_goes_to_its_end(ada: Client) -> None:
    factories.said(factories.opened("night"), (1, 0, 1, 0, 1, 0, 1, 0, 1))
    people = {name: client_of(studies.user(name)) for name in ("ruth", "sam", "tess")}
    study = ada.make_study(
        "first",
        ["night"],
        sample={"size": 3},
        conditions=[{"kind": "own_tests"}],
        raters=[{"user": name, "condition": "own_tests", "capacity": 9} for name in people],
        comparisons=[["agents", "own_tests"]],
    )
    assert ada.control_study(study["id"], "start") == "running"
    for rater in people.values():
        [part] = rater.parts()
        assert (part["study"], part["left"]) == (study["id"], 3)
        rater.join_study(study["id"])
        while pair := rater.next_pair(study["id"]):
            rater.rate(pair, "1", notes="does it", no_test="it prints")
    assert ada.control_study(study["id"], "close", "all done") == "closed"
    assert ada.publish_study(study["id"]) == 3
    assert ada.study_figures(study["id"])
    assert [row["state"] for row in ada.studies("closed")] == ["closed"]


@pytest.mark.parametrize(
    ("row", "schema"),
    [
        ("Benchmark", "BenchmarkOut"),
        ("Build", "BuildOut"),
        ("Case", "CaseOut"),
        ("Collection", "CollectionOut"),
        ("Job", "JobOut"),
        ("Leaderboard", "LeaderboardOut"),
        ("Pin", "PinOut"),
        ("Study", "StudyOut"),
        ("Webhook", "WebhookOut"),
    ],
)
def test_typed_rows_are_those_of_the_api(row: str, schema: str) -> None:
    properties = json.loads(SCHEMA.read_text())["components"]["schemas"][schema]["properties"]
    assert set(getattr(client, row).__annotations__) <= set(properties)


def test_builds_annotators_and_versions_are_compared(ada: Client) -> None:
    first, second = factories.opened("one"), factories.opened("two")
    for build, label in ((first, 1), (second, 0)):
        factories.settled(factories.cases(build)[0], label)
    assert ada.compare_builds(first.pk, second.pk)["flips"] == 1
    same = first.annotator_id
    assert ada.compare_annotators(same, same, round=1)["first"]
    by, made = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {}), []
    for case in factories.cases(first)[:2]:
        Label.objects.create(pair=case.pair, annotator=by, value=1)
        order = Order("small", first.queries, first.snippets, "by hand")
        made.append(publish_benchmark(order, Label.objects.filter(annotator=by)))
    told = ada.compare_versions(made[1].pk, made[0].pk)
    assert (told["first"], told["second"]) == ("small@1", "small@2")


def test_statistics_of_a_corpus_come_by_table(ada: Client) -> None:
    build = factories.opened("autumn")
    assert "size" in ada.corpus("build", build.pk)
    assert "query-tokens" in ada.corpus("collection", build.queries_id)


def test_label_quality_is_measured_by_files(ada: Client, tmp_path: Path) -> None:
    build = factories.opened("autumn")
    case = factories.settled(factories.cases(build)[0], 0)
    pair = {"id": "p", "query": case.pair.query.text, "code": case.pair.snippet.text}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair))
    for name, label in (("truth", 1), ("theirs", 1)):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "p", "label": label}))
    files = (tmp_path / "pairs.jsonl", tmp_path / "truth.jsonl")
    told = ada.measure_quality(*files, builds=["autumn"], labels=[tmp_path / "theirs.jsonl"])
    assert [wrong["id"] for wrong in told["report"]["wrong"]] == ["p"]
    assert told["tables"]


def test_a_study_is_changed_and_guidelines_are_written(ada: Client) -> None:
    study = studies.study()
    factories.person("sam", Role.EXPERT)
    rater = ada.add_rater(study.pk, "sam", "own_tests", 5)
    assert [row["id"] for row in ada.raters(study.pk)] == [rater]
    ada.write_guideline("rules", "More.", seen_version=1, change="wording", note="more")
    assert [row["version"] for row in ada.guidelines("rules")] == [2, 1]
    assert ada.amend_study(study.pk, "the pilot", guideline="rules")["name"] == study.name
    assert StudyRow.objects.get().guideline_id == Guideline.objects.get(version=2).pk
    with pytest.raises(ApiError, match="No rated pair matches"):
        ada.repeat_pairs(study.pk, "new rules", every=True)


def test_pairs_are_listed_tagged_assigned_and_commented(ada: Client) -> None:
    build = factories.opened("autumn")
    factories.erin()
    case = factories.cases(build)[0].pk
    assert (ada.tag(build.pk, [case], "partial"), ada.assign(build.pk, [case], "erin")) == (1, 1)
    [row] = ada.pairs(build.pk, "tag=partial")
    assert (row["case"], row["assigned"]) == (case, ["erin"])
    assert ada.comment(case, "look", flag=True)["kind"] == "flag"


def test_a_test_and_a_call_are_waited_for(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    case = factories.examined(factories.cases(factories.opened("autumn"))[0], 1)

    def work(_: float) -> None:
        for asked in ExecutionRequest.objects.filter(state="waiting").select_related("program__source"):
            done = factories.execution(asked.program)
            ExecutionRequest.objects.filter(pk=asked.pk).update(state="done", execution=done)
        CallRequest.objects.filter(state="waiting").update(state="failed", message="away")

    monkeypatch.setattr("cosqa.client.time.sleep", work)
    told = ada.run_test(case.pk, "assert reverse([1]) == [1]")
    assert (told["state"], told["outcome"]) == ("done", "passed")
    assert ada.call(case.pk, "reverse([1])")["message"] == "away"
    with pytest.raises(TimeoutError, match="is waiting after 0 s"):
        ada.run_test(case.pk, "assert reverse([2]) == [2]", seconds=0)


def test_people_are_listed_and_invited(ada: Client) -> None:
    factories.erin()
    assert [person["name"] for person in ada.people(role="expert")] == ["erin"]
    assert "/join/" in ada.invite("reader", name="Ray")
