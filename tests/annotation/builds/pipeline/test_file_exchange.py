"""A whole case by file exchange: export, answer, import, until nothing waits."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from annotation.builds.pipeline import file_exchange
from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.llm.exchange import ExchangeLLM
from annotation.models import Build, Case, LLMCall
from annotation.stages import Stage
from tests import factories
from tests.annotation.builds.pipeline.test_advance import UNCLEAR, WRITTEN, YES
from tests.fakes import FakeSandbox

pytestmark = pytest.mark.django_db
ANSWERS = {"screener": UNCLEAR, "test_writer": WRITTEN, "arbiter": YES}


@pytest.fixture
def tools() -> Tools:
    llm = ExchangeLLM()
    return Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(FakeSandbox))


def exported(build: Build) -> list[dict[str, object]]:
    stream = io.BytesIO()
    file_exchange.export_waiting_requests(build, stream)
    return [line for line in map(json.loads, stream.getvalue().splitlines()) if "id" in line]


def taken(build: Build, *replies: object) -> file_exchange.Imported:
    return file_exchange.import_replies(build, io.BytesIO("\n".join(json.dumps(r) for r in replies).encode()))


def test_a_case_goes_from_file_to_file_to_its_label(tools: Tools, fresh: Callable[[Case], Case]) -> None:
    build = factories.opened()
    case = factories.cases(build)[0]
    while fresh(case).stage != Stage.SETTLED:
        advance_case(fresh(case), tools)
        requests = exported(build)
        done = taken(build, *({"id": r["id"], "reply": ANSWERS[str(r["agent"])]} for r in requests))
        assert not done.problems
    assert fresh(case).label == 1


def test_exporting_again_gives_the_same_ids(tools: Tools, fresh: Callable[[Case], Case]) -> None:
    build = factories.opened()
    for case in factories.cases(build)[:3]:
        advance_case(fresh(case), tools)
    assert exported(build) == exported(build)
    assert {"id", "agent", "model", "prompt", "messages"} == set(exported(build)[0])


def test_bad_replies_are_refused_by_line_and_good_ones_move_on(
    tools: Tools, fresh: Callable[[Case], Case]
) -> None:
    build = factories.opened()
    for case in factories.cases(build)[:2]:
        advance_case(fresh(case), tools)
    first, second = exported(build)
    done = taken(
        build,
        {"id": first["id"], "reply": {"verdict": 0.7, "explanation": "nearly"}},
        {"id": "0" * 64, "reply": YES},
        {"id": second["id"], "reply": {"verdict": 1, "explanation": "yes"}},
    )
    assert [problem.line for problem in done.problems] == [1, 2]
    assert (done.taken, done.moved) == (1, 1)
    assert [r["id"] for r in exported(build)] == [first["id"]]


def test_importing_twice_changes_nothing(tools: Tools, fresh: Callable[[Case], Case]) -> None:
    build = factories.opened()
    advance_case(fresh(factories.cases(build)[0]), tools)
    reply = {"id": exported(build)[0]["id"], "reply": {"verdict": 1, "explanation": "yes"}}
    taken(build, reply)
    again = taken(build, reply)
    assert (again.taken, again.known, again.problems) == (0, 1, ())
    assert LLMCall.objects.count() == 1


def test_a_request_that_waits_is_not_claimed_again(tools: Tools, fresh: Callable[[Case], Case]) -> None:
    from django.utils import timezone

    from annotation.builds.pipeline.claims import find_claimable_cases

    build = factories.opened()
    case = factories.cases(build)[0]
    advance_case(fresh(case), tools)
    assert case.pk not in find_claimable_cases("llm", timezone.now()).values_list("pk", flat=True)


def request_lines(path: Path) -> list[str]:
    """The lines of a file that ask something; the others hold prompts."""
    return [line for line in path.read_text().splitlines() if "id" in json.loads(line)]


def asked_about(build: Build, path: Path) -> list[int]:
    """The queries of the requests in a file, in order."""
    by_digest = {case.waiting_for.digest: case.query_id for case in waiting_cases(build) if case.waiting_for}
    return [by_digest[json.loads(line)["id"]] for line in request_lines(path)]


def waiting_cases(build: Build) -> list[Case]:
    return list(Case.objects.filter(build=build, waiting_for__isnull=False).select_related("waiting_for"))


@pytest.fixture
def screened(tools: Tools, fresh: Callable[[Case], Case]) -> Build:
    """Three queries with three candidates each, whose nine requests wait."""
    build = factories.opened()
    for case in factories.cases(build):
        advance_case(fresh(case), tools)
    return build


def test_parts_hold_no_two_candidates_of_a_query_and_come_back_together(
    screened: Build, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "requests.jsonl")
    call_command("exchange", "export", screened.name, out=out, parts=4)
    paths = [tmp_path / f"requests-{number}.jsonl" for number in range(1, 5)]
    for path in paths:
        queries = asked_about(screened, path)
        assert len(queries) == len(set(queries))
    sizes = [len(request_lines(path)) for path in paths]
    assert sorted(sizes) == [2, 2, 2, 3]  # nine requests in four files
    before = [path.read_bytes() for path in paths]
    call_command("exchange", "export", screened.name, out=out, parts=4)
    assert [path.read_bytes() for path in paths] == before

    replies = []
    for path in paths:
        answered = path.with_suffix(".replies")
        ids = [json.loads(line)["id"] for line in request_lines(path)]
        answered.write_text("".join(json.dumps({"id": one, "reply": UNCLEAR}) + "\n" for one in ids))
        replies.append(str(answered))
    call_command("exchange", "import", screened.name, *replies)
    assert "9 replies taken, 0 known already, 0 refused; 9 cases continue" in capsys.readouterr().out


def test_too_few_parts_are_refused_with_how_many_it_takes(screened: Build, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="has 3 requests that wait: it takes 3 parts, not 2"):
        call_command("exchange", "export", screened.name, out=str(tmp_path / "requests.jsonl"), parts=2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("out", "parts"), [("-", 3), ("requests.jsonl", 0), ("requests.jsonl", 501)])
def test_parts_need_a_file_and_a_number(screened: Build, out: str, parts: int) -> None:
    with pytest.raises(CommandError, match="--parts takes a number of files"):
        call_command("exchange", "export", screened.name, out=out, parts=parts)


@given(st.lists(st.integers(0, 6), max_size=40), st.integers(0, 5))
def test_any_requests_are_divided_evenly_and_by_query(queries: list[int], more: int) -> None:
    about = {call: frozenset({query}) for call, query in enumerate(queries)}
    parts = max([1, *(queries.count(query) for query in queries)]) + more
    made = file_exchange.divide_calls_by_query(about, parts)
    assert sorted(call for part in made for call in part) == list(about)
    assert max(map(len, made)) - min(map(len, made)) <= 1
    assert all(len({queries[call] for call in part}) == len(part) for part in made)
    assert file_exchange.divide_calls_by_query(dict(reversed(about.items())), parts) == made


def test_a_request_about_two_queries_lies_with_no_other_of_either() -> None:
    about = {1: frozenset({1, 2}), 2: frozenset({1}), 3: frozenset({2}), 4: frozenset({3})}
    assert file_exchange.divide_calls_by_query(about, 2) == [[1, 4], [2, 3]]
    with pytest.raises(file_exchange.TooFewParts, match="several queries"):
        file_exchange.divide_calls_by_query(
            {1: frozenset({1, 2}), 2: frozenset({2, 3}), 3: frozenset({1, 3})}, 2
        )


def test_a_mistake_that_is_in_every_line_is_told_twenty_times_and_counted(
    tools: Tools, fresh: Callable[[Case], Case], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build = factories.opened()
    advance_case(fresh(factories.cases(build)[0]), tools)
    replies = tmp_path / "replies.jsonl"
    replies.write_text('{"id": "0", "reply": {}}\n' * 23)
    with pytest.raises(CommandError, match="no reply could be taken"):
        call_command("exchange", "import", build.name, str(replies))
    said = capsys.readouterr()
    assert said.err.count("line ") == 20
    assert said.err.endswith("3 more lines are refused\n")
