"""The REST API from Python: names where people use names, pages of lists followed by themselves.

Whatever has no method here is a `get`, `post` or `pages` away: `/api/docs` of a server lists all addresses.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, Final, NotRequired, Self, TypedDict, cast

import requests

DEFAULT_ADDRESS: Final = "http://127.0.0.1:8000"
SECONDS: Final = 60.0
MOST_A_PAGE: Final = 100
MOST_REPLIES: Final = 100
CHUNK_BYTES: Final = 2**16
OPEN: Final = frozenset({"waiting", "running"})
ENDED_WELL: Final = frozenset({"done", "partial", "columns"})
OVER: Final = frozenset({"done", "failed", "cancelled"})
FOR_A_PERSON: Final = frozenset({"paused", "canary"})


class Collection(TypedDict):
    """A collection of queries or of functions (`kind` is "queries" or "functions")."""

    id: int
    name: str
    version: int
    kind: str
    size: int


class Build(TypedDict):
    """A build; `pairs` counts its cases in all rounds, `abandoned` those that could not be judged."""

    id: int
    name: str
    state: str
    reason: str
    pairs: int
    settled: int
    abandoned: int
    matches_in_force: int


class Case(TypedDict):
    """A pair in one round. A label is 1, 0, or None where nobody said either."""

    id: int
    round: int
    stage: str
    label: int | None
    label_in_force: int | None
    pair: int
    query: dict[str, Any]
    function: dict[str, Any]
    reason: str


class Job(TypedDict):
    """What a worker carries out. `problems` are the refused records of an import."""

    id: int
    kind: str
    state: str
    done: int
    total: int
    message: str
    problems: list[str]
    result: dict[str, Any]


class Benchmark(TypedDict):
    """One version of a benchmark; `labels` counts its labels, `matches` those above 0."""

    id: int
    name: str
    version: int
    labels: int
    matches: int
    sha256: str


class Leaderboard(TypedDict):
    """Systems on a benchmark, the best first by `metric`; `figures` of a system are by metric."""

    benchmark: str
    metric: str
    metrics: list[str]
    queries: int
    systems: list[dict[str, Any]]
    differences: list[dict[str, Any]]


class Versions(TypedDict):
    """Two versions of a benchmark: `labels` counts changed pairs, `systems` has both means of each."""

    first: str
    second: str
    labels: dict[str, int]
    queries: dict[str, int]
    metric: str
    systems: list[dict[str, Any]]
    kendall_tau: float | None


class Quality(TypedDict):
    """Labels against a truth: `tables` as the page shows them, `report` with every figure and wrong pair."""

    report: dict[str, Any]
    tables: list[dict[str, Any]]


class Listed(TypedDict):
    """A pair of a build's list, with tags and the experts who are to review it."""

    case: int
    pair: int
    query: dict[str, Any]
    function: dict[str, Any]
    label: int | None
    label_in_force: int | None
    tags: list[str]
    assigned: list[str]


class Run(TypedDict):
    """A run of a test (`outcome`, `report`), or of a call (`answer`); they are null until it is done."""

    id: int
    state: str
    message: str
    outcome: NotRequired[str | None]
    report: NotRequired[dict[str, Any] | None]
    answer: NotRequired[dict[str, Any] | None]


class Guideline(TypedDict):
    """One version of guidelines."""

    id: int
    name: str
    version: int
    change: str
    note: str


class Person(TypedDict):
    """An account; `open` says whether the person can log in."""

    id: int
    name: str
    email: str
    role: str | None
    open: bool


class Pin(TypedDict):
    """Pinned figures; people write `name`."""

    id: int
    name: str
    kind: str
    title: str
    sha256: str


class Study(TypedDict):
    """A study; `pairs` were sampled."""

    id: int
    name: str
    state: str
    pairs: int


class Webhook(TypedDict):
    """An address that is told of `events`; `failing_since` is None where messages arrive."""

    id: int
    name: str
    address: str
    events: list[str]
    is_on: bool
    failing_since: str | None


class Waiting(TypedDict):
    """A request that waits for a reply: send `system` and `messages` to a model; its answer fits `schema`."""

    id: str
    agent: str
    system: str
    messages: list[dict[str, Any]]
    schema: dict[str, Any]


class RepliesRefused(ValueError):
    """None of the replies could be used; the message says why."""


class ApiError(Exception):
    """The server refused. `status` is HTTP's, `type` is for programs, the message says what to do."""

    def __init__(self, status: int, kind: str, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status, self.type, self.detail = status, kind, detail


class JobFailed(Exception):
    """A worker could not do what was ordered, or somebody cancelled it; the message says why."""

    def __init__(self, job: Job) -> None:
        super().__init__(f"{job['kind']} {job['id']} {job['state']}: {job['message']}")
        self.job = job


class BearerToken(requests.auth.AuthBase):
    """The token of an account. As `auth` it can't be replaced by what a .netrc says."""

    def __init__(self, token: str) -> None:
        self.token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self.token}"
        return request


class Client:
    """A server, seen with the rights of a token (`cosqa admin token USER --name NAME` makes one)."""

    def __init__(self, token: str, address: str = DEFAULT_ADDRESS, seconds: float = SECONDS) -> None:
        """`seconds` bounds the wait for each answer."""
        self.address, self.seconds = address.rstrip("/"), seconds
        self.session = requests.Session()
        self.session.auth = BearerToken(token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()

    def get(self, path: str, **parameters: Any) -> Any:
        """The answer of `/api/` + path. Raises ApiError."""
        return self.ask("GET", path, params=without_none(parameters))

    def post(self, path: str, **body: Any) -> Any:
        """Likewise, with a JSON object as body. Raises ApiError."""
        return self.ask("POST", path, json=body)

    def ask(self, method: str, path: str, **given: Any) -> Any:
        """The answer's JSON, None for an empty one. Raises ApiError."""
        answer = self.request(method, path, **given)
        return answer.json() if answer.content else None

    def request(self, method: str, path: str, **given: Any) -> requests.Response:
        """Redirections are not followed, so that the token goes to this address alone. Raises ApiError."""
        url = f"{self.address}/api/{path.strip('/')}"
        answer = self.session.request(method, url, timeout=self.seconds, allow_redirects=False, **given)
        if not answer.ok or answer.is_redirect:
            raise error_of(answer)
        return answer

    def pages(self, path: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        """All rows of a list, page after page. Raises ApiError."""
        after = None
        while True:
            page = self.get(path, limit=MOST_A_PAGE, after=after, **parameters)
            yield from page["items"]
            after = page["next"]
            if after is None:
                return

    def me(self) -> dict[str, str]:
        """Name and role of the account."""
        return cast(dict[str, str], self.get("me"))

    def download(self, path: str, to: Path, **parameters: Any) -> Path:
        """Write the file at `/api/` + path to `to`. Raises ApiError."""
        asked = self.request("GET", path, params=without_none(parameters), stream=True)
        with asked as answer, to.open("wb") as file:
            file.writelines(answer.iter_content(CHUNK_BYTES))
        return to

    def collections(self, kind: str | None = None, name: str | None = None) -> Iterator[Collection]:
        """Versions of collections of a kind ("queries", "functions") and name, the oldest first."""
        return cast(Iterator[Collection], self.pages("collections", kind=kind, name=name))

    def import_files(
        self,
        name: str,
        format_name: str,
        files: Mapping[str, Path | str],
        columns: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Job:
        """Import files and wait until that is done; `files` are by field: `{"file": "mine.csv"}`.

        Of a table `columns` says which is what, `{"query": "question", "function": "code"}`; else that is
        guessed. Refused records are told in the job's `problems`, all others are stored. Raises ApiError and
        JobFailed.
        """
        named = json.dumps(columns) if columns else "guess" if format_name == "table" else None
        fields = without_none({"name": name, "format": format_name, "columns": named, **options})
        with ExitStack() as opened:
            sent = {field: opened.enter_context(Path(path).open("rb")) for field, path in files.items()}
            return self.finish(self.ask("POST", "collections/imports", data=fields, files=sent))

    def filter_collection(self, name: str, of: int, filters: Sequence[str]) -> Job:
        """Make a collection of what passes these filters, and wait for it. Raises ApiError, JobFailed."""
        return self.finish(self.post(f"collections/{of}/filters", name=name, filters=list(filters)))

    def job(self, job: int) -> Job:
        return cast(Job, self.get(f"jobs/{job}"))

    def finish(self, job: Job, seconds: float = 3600.0, every: float = 0.5) -> Job:
        """Look at a job until it is over. Raises JobFailed, and TimeoutError after `seconds`."""
        ends = time.monotonic() + seconds
        while job["state"] in OPEN:
            if time.monotonic() > ends:
                raise TimeoutError(f"{job['kind']} {job['id']} is {job['state']} after {seconds:g} s.")
            time.sleep(every)
            job = self.job(job["id"])
        if job["state"] not in ENDED_WELL:
            raise JobFailed(job)
        return job

    def builds(self, state: str | None = None) -> Iterator[Build]:
        """Builds, the newest first."""
        return cast(Iterator[Build], self.pages("builds", state=state))

    def build(self, name: str | int) -> Build:
        """The build of this name, or of this id where it is a number. Raises LookupError."""
        if isinstance(name, int):
            return cast(Build, self.get(f"builds/{name}"))
        found = next((build for build in self.builds() if build["name"] == name), None)
        if found is None:
            raise LookupError(f"There is no build called {name!r}.")
        return found

    def launch(self, name: str, queries: str | int, functions: str | int, **order: Any) -> Build:
        """Launch a build over collections: "mine" is the newest version of that name, "mine@1" its first.

        `order` has what the page of a new build asks: k=20, encoders=["bm25"], limit=100, provider="exchange"
        …; `post("builds/estimate", …)` says what it would take. Raises ApiError.
        """
        return cast(Build, self.post("builds", name=name, queries=queries, functions=functions, **order))

    def judge(self, name: str, benchmark: str | int, **order: Any) -> Build:
        """Launch a build over the pairs that a benchmark labels. Raises ApiError."""
        return cast(Build, self.post("builds", name=name, pairs={"benchmark": benchmark}, **order))

    def wait(self, build: int, seconds: float = 3600.0, every: float = 2.0) -> Build:
        """Look at a build until it is over or waits for a person. Raises TimeoutError after `seconds`."""
        ends = time.monotonic() + seconds
        while True:
            found = self.build(build)
            if found["state"] in OVER | FOR_A_PERSON:
                return found
            if time.monotonic() > ends:
                raise TimeoutError(f"Build {found['name']!r} is {found['state']} after {seconds:g} s.")
            time.sleep(every)

    def cases(self, build: int, **filters: Any) -> Iterator[Case]:
        """The cases of a build: stage="settled", label=1, q="words of the query", differs=True …"""
        return cast(Iterator[Case], self.pages(f"builds/{build}/cases", **filters))

    def waiting(self, build: int) -> Iterator[Waiting]:
        """The requests of a build that wait for a reply, the oldest first."""
        after = None
        while True:
            page = self.get(f"builds/{build}/requests", limit=MOST_A_PAGE, after=after)
            for item in page["items"]:
                yield cast(Waiting, {**page["prompts"][item["prompt"]], **item})
            after = page["next"]
            if after is None:
                return

    def reply(self, build: int, model: str, replies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Hand in replies `{"id": …, "reply": …}` that `model` gave; refused ones are told by their place."""
        return cast(dict[str, Any], self.post(f"builds/{build}/replies", model=model, replies=list(replies)))

    def answer(
        self,
        build: int,
        model: str,
        answer: Callable[[Waiting], str | Mapping[str, Any]],
        seconds: float = 3600.0,
        every: float = 1.0,
    ) -> Build:
        """Answer a build's requests until it is over or waits for a person; `answer` asks the model.

        Raises ApiError, RepliesRefused, and TimeoutError after `seconds`.
        """
        ends = time.monotonic() + seconds
        while True:
            asked = list(islice(self.waiting(build), MOST_REPLIES))
            if asked:
                replies = [{"id": each["id"], "reply": answer(each)} for each in asked]
                told = self.reply(build, model, replies)
                if not told["taken"] + told["known"]:
                    raise RepliesRefused(told["refused"][0]["reason"])
                continue
            found = self.build(build)
            if found["state"] in OVER | FOR_A_PERSON:
                return found
            if time.monotonic() > ends:
                raise TimeoutError(f"Build {found['name']!r} is {found['state']} after {seconds:g} s.")
            time.sleep(every)

    def publish(self, build: int, name: str | None = None, pool: str = "collection") -> Benchmark:
        """Publish a build's pairs as a benchmark. Raises ApiError, JobFailed."""
        job = self.finish(self.post(f"builds/{build}/benchmarks", name=name, pool=pool))
        return cast(Benchmark, self.get(f"benchmarks/{job['result']['benchmark']}"))

    def benchmarks(self, name: str | None = None) -> Iterator[Benchmark]:
        """All versions of benchmarks, the newest first."""
        return cast(Iterator[Benchmark], self.pages("benchmarks", name=name))

    def benchmark(self, name: str | int) -> Benchmark:
        """The benchmark of this id, the newest of this name, or `name@version`. Raises LookupError."""
        if isinstance(name, int):
            return cast(Benchmark, self.get(f"benchmarks/{name}"))
        plain, _, version = name.rpartition("@")
        found = next(self.benchmarks(name), None)
        if found is None and version.isdecimal():
            found = next((row for row in self.benchmarks(plain) if row["version"] == int(version)), None)
        if found is None:
            raise LookupError(f"There is no benchmark called {name!r}.")
        return found

    def score(self, benchmark: int, encoders: Sequence[str], **options: Any) -> int:
        """Have encoders search a benchmark, and wait for their scores; the run's id.

        Raises ApiError, JobFailed.
        """
        job = self.finish(self.post(f"benchmarks/{benchmark}/scores", encoders=list(encoders), **options))
        return int(job["result"]["run"])

    def train(self, benchmark: int, system: str, **options: Any) -> list[dict[str, Any]]:
        """Train a system on a benchmark's matches, once for each of `seeds`, and wait.

        Each result has the name of the `encoder`, which `score` takes, and the `card`.

        Raises ApiError, JobFailed.
        """
        jobs = self.post(f"benchmarks/{benchmark}/trainings", system=system, **options)
        return [self.finish(job)["result"] for job in jobs]

    def trained_systems(self, benchmark: int, **options: Any) -> dict[str, Any]:
        """Tables of systems before and after training, of a pool="collection", by metric="ndcg@10"."""
        return cast(dict[str, Any], self.get(f"benchmarks/{benchmark}/trained", **options))

    def compare_training_data(self, benchmark: int, collection: int | str, **options: Any) -> dict[str, Any]:
        """Which texts of a benchmark are in a collection of kind="functions"; counts and rows, once done.

        Raises ApiError, JobFailed.
        """
        job = self.post(f"benchmarks/{benchmark}/contamination", collection=collection, **options)
        result: dict[str, Any] = self.finish(job)["result"]
        return result

    def plant_distractors(self, benchmark: int, **options: Any) -> int:
        """Publish a benchmark with bugs that tests prove in its matches; its id.

        Raises ApiError, JobFailed.
        """
        job = self.finish(self.post(f"benchmarks/{benchmark}/distractors", **options))
        return int(job["result"]["benchmark"])

    def judge_similarity(self, benchmark: int, **options: Any) -> int:
        """Publish a benchmark under labels of code similarity to answers="collection"; its id.

        Raises ApiError, JobFailed.
        """
        job = self.finish(self.post(f"benchmarks/{benchmark}/similarity", **options))
        return int(job["result"]["benchmark"])

    def upload_run(self, benchmark: int, system: str, file: Path | str, **options: Any) -> int:
        """Upload ranked lists (TREC or CodeSearchNet's CSV), and wait for their scores; the run's id.

        Raises ApiError, JobFailed.
        """
        fields = without_none({"system": system, **options})
        with Path(file).open("rb") as opened:
            files = {"file": opened}
            return int(
                self.finish(self.ask("POST", f"benchmarks/{benchmark}/runs", data=fields, files=files))[
                    "result"
                ]["run"]
            )

    def leaderboard(self, benchmark: int, **options: Any) -> Leaderboard:
        """Systems by metric="ndcg@10", of a pool="collection", of queries with matches="1" …"""
        return cast(Leaderboard, self.get(f"benchmarks/{benchmark}/leaderboard", **options))

    def compare_versions(self, benchmark: int, against: int, metric: str = "") -> Versions:
        """Labels that changed from the version `against` to this one, and scores on the common queries."""
        return cast(Versions, self.get(f"benchmarks/{benchmark}/comparison/{against}", metric=metric))

    def compare_builds(self, build: int, against: int) -> dict[str, Any]:
        """Two builds over their common pairs: `pairs`, `flips`, `agreement`, what each `took` …"""
        return cast(dict[str, Any], self.get(f"builds/{build}/comparison/{against}"))

    def compare_annotators(self, annotator: int, against: int, **rounds: int) -> dict[str, Any]:
        """Two annotators over the pairs that both have labelled; round=1, against_round=1: these rounds."""
        return cast(dict[str, Any], self.get(f"annotators/{annotator}/comparison/{against}", **rounds))

    def corpus(self, of: str, subject: int) -> dict[str, Any]:
        """Statistics of what a "collection", "build" or "benchmark" holds: its tables, by key."""
        return cast(dict[str, Any], self.get(f"{of}s/{subject}/corpus"))

    def measure_quality(
        self,
        pairs: Path | str,
        truth: Path | str,
        builds: Sequence[str] = (),
        labels: Sequence[Path | str] = (),
        **options: Any,
    ) -> Quality:
        """Measure labels of builds ("mine", or "mine#2" for its second round) and of files against a truth.

        All files are JSON Lines; `options` are annotators=[ids], queries="collection" … Raises ApiError.
        """
        fields = without_none({"builds": list(builds), **options})
        with ExitStack() as opened:
            sent = [("pairs", pairs), ("truth", truth), *(("labels", path) for path in labels)]
            files = [(name, opened.enter_context(Path(path).open("rb"))) for name, path in sent]
            return cast(Quality, self.ask("POST", "quality", data=fields, files=files))

    def judge_unjudged(self, benchmark: int, run: str | int, **order: Any) -> Build:
        """Launch a build over unjudged results of a run (its id or its system), depth=10 of each query.

        Raises ApiError.
        """
        return cast(Build, self.post(f"benchmarks/{benchmark}/unjudged", run=run, **order))

    def publish_unjudged(self, benchmark: int, build: str | int) -> Benchmark:
        """Publish the next version with what such a build said. Raises ApiError, JobFailed."""
        job = self.finish(self.post(f"benchmarks/{benchmark}/unjudged/publish", build=build))
        return cast(Benchmark, self.get(f"benchmarks/{job['result']['benchmark']}"))

    def export(self, benchmark: int, format_name: str, to: Path | str, **options: Any) -> Path:
        """Have an export written and fetch its zip to `to`. Raises ApiError, JobFailed."""
        job = self.finish(self.post(f"benchmarks/{benchmark}/exports", format=format_name, **options))
        return self.download(f"benchmarks/{benchmark}/exports/{job['id']}/file", Path(to))

    def pins(self) -> Iterator[Pin]:
        """Pinned figures, the newest first."""
        return cast(Iterator[Pin], self.pages("pins"))

    def pin(self, kind: str, subject: str | int, **options: Any) -> Pin:
        """Pin figures: kind="leaderboard", "comparison", "study", "build", "mining", "builds", "corpus"."""
        return cast(Pin, self.post("pins", kind=kind, subject=subject, **options))

    def reproduce(self, pin: int, start: str = "lists") -> dict[str, Any]:
        """Compute a pin again and wait for it: `equal`, and what differs. Raises ApiError, JobFailed."""
        return self.finish(self.post(f"pins/{pin}/reproductions", start=start))["result"]

    def studies(self, state: str | None = None) -> Iterator[Study]:
        """Studies, the newest first."""
        return cast(Iterator[Study], self.pages("studies", state=state))

    def make_study(self, name: str, builds: Sequence[str | int], **order: Any) -> Study:
        """Draw a sample and keep a study as a draft; `order` as `POST /api/studies` takes it."""
        return cast(Study, self.post("studies", name=name, builds=list(builds), **order))

    def control_study(self, study: int, action: str, reason: str = "") -> str | None:
        """start, pause, resume, close, or delete a draft; the state afterwards."""
        told = self.post(f"studies/{study}/control", action=action, reason=reason)
        return cast("str | None", told["state"])

    def publish_study(self, study: int) -> int:
        """Publish what a closed study decided; how many labels."""
        return int(self.post(f"studies/{study}/publish")["labels"])

    def amend_study(self, study: int, reason: str, **parts: Any) -> Study:
        """Change what a plan may still say otherwise: question="…", margin=0.05, guideline="rules" …"""
        return cast(Study, self.post(f"studies/{study}/amendments", reason=reason, **parts))

    def raters(self, study: int) -> Iterator[dict[str, Any]]:
        """The raters of a study, with their accounts and how far they are."""
        return self.pages(f"studies/{study}/raters")

    def add_rater(self, study: int, user: str, condition: str, capacity: int, reason: str = "") -> int:
        """Enrol another rater; the rater's id."""
        wish = {"user": user, "condition": condition, "capacity": capacity, "reason": reason}
        return int(self.post(f"studies/{study}/raters", **wish)["id"])

    def repeat_pairs(self, study: int, reason: str, **choice: Any) -> int:
        """Have rated pairs asked again, blind: tag="inverse", text="…", slice="split" or every=True."""
        return int(self.post(f"studies/{study}/again", reason=reason, **choice)["pairs"])

    def score_study(self, study: int, versions: Sequence[str | int]) -> dict[str, Any]:
        """Score annotator versions on a sealed study, for ever; which are `scored`, which `waiting`."""
        return cast(dict[str, Any], self.post(f"studies/{study}/scores", versions=list(versions)))

    def guidelines(self, name: str | None = None) -> Iterator[Guideline]:
        """Versions of guidelines, the newest first."""
        return cast(Iterator[Guideline], self.pages("guidelines", name=name))

    def write_guideline(self, name: str, text: str, **version: Any) -> Guideline:
        """Write a version; of a next one say seen_version=1, change="wording" or "meaning", note="…"."""
        return cast(Guideline, self.post("guidelines", name=name, text=text, **version))

    def study_figures(self, study: int) -> dict[str, Any]:
        """The tables of a study's figures, by key."""
        return cast(dict[str, Any], self.get(f"studies/{study}/figures"))

    def parts(self) -> Iterator[dict[str, Any]]:
        """The caller's own parts in studies, the newest first, with what each still wants."""
        return self.pages("rate")

    def join_study(self, study: int, guideline: int | None = None, **profile: str) -> dict[str, Any]:
        """Say that the caller has read information and guidelines (`guideline`: their id), and takes part."""
        return cast(dict[str, Any], self.post(f"rate/{study}/join", guideline=guideline, **profile))

    def next_pair(self, study: int) -> dict[str, Any] | None:
        """The pair that the caller is to rate; None: nothing is left, or nothing is free now."""
        return cast("dict[str, Any] | None", self.post(f"rate/{study}/next")["assignment"])

    def rate(self, pair: Mapping[str, Any], choice: str, **said: Any) -> dict[str, Any]:
        """Say what a pair of `next_pair` is: one of its `choices`, with notes="…", reason="…" …"""
        told = {name: pair[name] for name in ("token", "evidence", "seen_revision")}
        path = f"rate/{pair['study']}/pairs/{pair['number']}/ratings"
        return cast(dict[str, Any], self.post(path, choice=choice, **told, **said))

    def webhooks(self) -> Iterator[Webhook]:
        """All webhooks, the newest first."""
        return cast(Iterator[Webhook], self.pages("webhooks"))

    def make_webhook(self, name: str, address: str, events: Sequence[str]) -> tuple[Webhook, str]:
        """A webhook that is told of "build.done", "study.done" …, and its secret, told here alone."""
        made = self.post("webhooks", name=name, address=address, events=list(events))
        secret = str(made.pop("secret"))
        return cast(Webhook, made), secret

    def test_webhook(self, webhook: int) -> dict[str, Any]:
        """Have a test sent; `deliveries` says later what came of it."""
        return cast(dict[str, Any], self.post(f"webhooks/{webhook}/test"))

    def deliveries(self, webhook: int) -> Iterator[dict[str, Any]]:
        """What a webhook was told, the newest first, each with its state, tries, status and answer."""
        return self.pages(f"webhooks/{webhook}/deliveries")

    def pairs(self, build: int, filters: str = "") -> Iterator[Listed]:
        """A build's pairs by filters as in the page's address: "smart=untested&tag=partial"."""
        return cast(Iterator[Listed], self.pages(f"builds/{build}/pairs", filters=filters))

    def tag(self, build: int, cases: Sequence[int], tag: str, remove: bool = False) -> int:
        """Put a tag on pairs, or take it off; how many had it not."""
        told = self.post(f"builds/{build}/pairs/tags", cases=list(cases), tag=tag, remove=remove)
        return int(told["changed"])

    def assign(self, build: int, cases: Sequence[int], expert: str, remove: bool = False) -> int:
        """Have an expert review pairs, or no more; how many assignments that changed."""
        path = f"builds/{build}/pairs/assignments"
        return int(self.post(path, cases=list(cases), expert=expert, remove=remove)["changed"])

    def comment(self, case: int, text: str, flag: bool = False) -> dict[str, Any]:
        """Comment on a case's pair; with `flag` ask an admin to look at it."""
        return cast(dict[str, Any], self.post(f"cases/{case}/comments", text=text, flag=flag))

    def run_test(self, case: int, source: str | None = None, seconds: float = 600.0) -> Run:
        """Run a test of your own beside a case's function, or the agents' test again, and wait for it.

        Raises ApiError, and TimeoutError after `seconds`.
        """
        asked = self.post(f"cases/{case}/runs", **without_none({"source": source}))
        return self.finish_run(f"runs/{asked['id']}", seconds)

    def call(self, case: int, expression: str, seconds: float = 600.0) -> Run:
        """Have an expression evaluated beside a case's function, and wait for its `answer`.

        Raises ApiError, and TimeoutError after `seconds`.
        """
        asked = self.post(f"cases/{case}/calls", expression=expression)
        return self.finish_run(f"calls/{asked['id']}", seconds)

    def finish_run(self, path: str, seconds: float, every: float = 0.5) -> Run:
        """Look at a run until it is over. Raises TimeoutError after `seconds`."""
        ends = time.monotonic() + seconds
        while True:
            found = cast(Run, self.get(path))
            if found["state"] not in OPEN:
                return found
            if time.monotonic() > ends:
                raise TimeoutError(f"/api/{path} is {found['state']} after {seconds:g} s.")
            time.sleep(every)

    def test_connection(self, seconds: float = 600.0, **wish: Any) -> dict[str, Any]:
        """Have a worker ask a server what it can do (model="…", base_url="…"), and wait for the findings.

        Raises ApiError, and TimeoutError after `seconds`.
        """
        asked = self.post("connection/tests", **wish)
        return cast(dict[str, Any], self.finish_run(f"connection/tests/{asked['id']}", seconds))

    def people(self, **filters: str) -> Iterator[Person]:
        """Accounts: q="part of the name", role="expert", state="closed"."""
        return cast(Iterator[Person], self.pages("people", **filters))

    def invite(self, role: str = "expert", **invitation: Any) -> str:
        """Invite somebody (name="…", email="…", days=7); the link, which is told this one time."""
        return str(self.post("people/invitations", role=role, **invitation)["link"])

    def control(self, build: int, action: str, reason: str = "") -> dict[str, Any]:
        """pause, resume, go_on (after its canary), cancel, or retry what could not be judged."""
        return cast(dict[str, Any], self.post(f"builds/{build}/control", action=action, reason=reason))


def without_none(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def error_of(answer: requests.Response) -> ApiError:
    """What an answer says of its refusal; other servers' pages say their status alone."""
    if answer.is_redirect:
        place = answer.headers["Location"]
        return ApiError(answer.status_code, "", f"This address leads to {place}: use that one as address.")
    try:
        told = answer.json()
        return ApiError(answer.status_code, str(told.get("type", "")), describe_refusal(told))
    except (ValueError, AttributeError):
        return ApiError(answer.status_code, "", answer.reason or "no reason given")


def describe_refusal(told: dict[str, Any]) -> str:
    """The detail, and what is wrong with each field where that is told."""
    wrong = told.get("errors") or ()
    return "; ".join([str(told.get("detail", "")), *(str(one) for one in wrong)])
