"""The bench over builds, annotators and files: the command, and what it reads of the database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.agents import build_repair_request, screener
from annotation.builds.pipeline.labels import annotator_of_person
from annotation.llm import Request
from annotation.models import Build, Case, LLMCall, ReplyText, RequestText, SystemText
from annotation.quality.calls import spent_by_calls
from annotation.quality.tokens import BY_PIECES, Counter, count_words_and_symbols, counter_of
from annotation.stages import Event
from retrieval.models import Annotator, Label, Pair
from sandbox.reports.report import Outcome
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    """Nine cases: the first is tested, the second and third screened, the fourth abandoned."""
    made = factories.opened()
    found = factories.cases(made)
    factories.examined(found[0], 1, factories.a_report(Outcome.FAILED))
    factories.settled(found[1], 1)
    factories.settled(found[2], 0)
    factories.abandoned(found[3])
    return made


@pytest.fixture
def folder(build: Build, tmp_path: Path) -> Path:
    """Pairs p0 to p8 in a query's order, all a match but p1 and p2; p8 has split votes."""
    pairs = [case.pair for case in factories.cases(build)]
    write(tmp_path / "pairs.jsonl", (row_of(number, pair) for number, pair in enumerate(pairs)))
    truth = [{"id": f"p{number}", "label": int(number not in {1, 2})} for number in range(8)]
    write(tmp_path / "truth.jsonl", [*truth, {"id": "p8", "votes": [0, 1]}])
    return tmp_path


def row_of(number: int, pair: Pair) -> dict[str, str]:
    """As somebody else's file has it: the same texts with other line ends and blanks."""
    code = pair.snippet.text.replace("\n", "\r\n")
    return {"id": f"p{number}", "query": f" {pair.query.text}\n", "code": f"{code}\n"}


def write(path: Path, rows: Any) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def bench(folder: Path, *who: str, **more: Any) -> str:
    files = {"pairs": folder / "pairs.jsonl", "truth": folder / "truth.jsonl"}
    call_command("bench", "quality", annotators=list(who), **{**files, **more})
    return ""


def as_json(folder: Path, capsys: pytest.CaptureFixture[str], *who: str, **more: Any) -> Any:
    bench(folder, *who, json=True, **more)
    return json.loads(capsys.readouterr().out)


def test_the_command_prints_tables(build: Build, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench(folder, build.name)
    told = capsys.readouterr().out
    assert "Against the truth: tested pairs" in told
    assert "9 pairs of 3 queries; 8 with a truth, 6 matches. Left out: 1 with split votes" in told
    assert "first: p1, said 1, truth 0 (screened, screening: match): reverse a list in place" in told
    assert f"Tokens were counted by {BY_PIECES}." in told


def test_a_builds_cases_become_answers(
    build: Build, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = as_json(folder, capsys, build.name)
    entry = found["entries"][0]
    scores = {row["stratum"]: row for row in entry["scores"]}
    assert scores["all"]["accuracy"]["value"] == pytest.approx(2 / 3)  # p0, p2 of p0, p1, p2
    assert (scores["all"]["judged"], scores["all"]["unjudged"], scores["all"]["open"]) == (3, 1, 4)
    assert scores["all"]["accuracy_unjudged_wrong"]["value"] == pytest.approx(2 / 4)
    assert scores["tested"]["accuracy"]["value"] == 1
    assert {row["key"] for row in entry["confusions"]["outcome"]} == {"failed", "no run"}
    assert [row["key"] for row in entry["confusions"]["cause"]] == ["sandbox"]
    assert (entry["runs"]["executed"], entry["runs"]["touching"]["value"]) == (1, 1)


def test_a_wrong_pair_has_everything_that_was_said(
    build: Build, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder / "truth.jsonl", [{"id": "p0", "label": 0}])
    (wrong,) = as_json(folder, capsys, build.name)["wrong"]
    case = factories.cases(build)[0]
    assert (wrong["id"], wrong["label"], wrong["truth"], wrong["case"]) == ("p0", 1, 0, case.pk)
    assert (wrong["stage"], wrong["outcome"]) == ("tested", "failed")
    steps = wrong["said"]
    assert [step["event"] for step in steps] == ["unclear", "written", "executed", "accepted"]
    assert steps[0] | {"note": "depends on what is meant", "agent": "screener"} == steps[0]
    assert steps[1]["program"] == factories.PROGRAM
    assert steps[2]["program"] == "" and "outcome: failed" in steps[2]["report"]
    assert steps[3]["note"] == "the test decides"


def test_labels_of_annotators_people_and_files_are_measured_too(
    build: Build, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = [case.pair for case in factories.cases(build)]
    original = Annotator.objects.version(Annotator.Kind.ORIGINAL, "data", {})
    person = annotator_of_person(factories.erin())
    for pair in pairs[:3]:
        Label.objects.create(pair=pair, annotator=original, value=1)
    Label.objects.create(pair=pairs[0], annotator=person, value=1)
    Label.objects.create(pair=pairs[1], annotator=person, value=1, assisted=True)
    Label.objects.create(pair=pairs[2], annotator=person, value=0)
    Label.objects.create(pair=pairs[2], annotator=person, round=2, value=None)
    theirs = write(
        folder / "theirs.jsonl", [{"id": "p0", "label": None}, {"id": "p1", "label": 0, "why": "no"}]
    )
    found = as_json(folder, capsys, original.version[:8], person.version, theirs, build.name)
    rows = {entry["name"]: entry["scores"][0] for entry in found["entries"]}
    assert rows[f"data ({original.version[:8]})"]["judged"] == 3
    assert (rows["erin"]["pairs"], rows["erin"]["judged"]) == (1, 1), (
        "assisted and withdrawn ones are left out"
    )
    assert (rows["theirs.jsonl"]["judged"], rows["theirs.jsonl"]["unjudged"]) == (1, 1)
    twos = {(row["first"], row["second"]) for row in found["differences"] if row["stratum"] == "all"}
    assert len(twos) == 5, "six twos, of which erin and the file have no pair in common"


def test_builds_that_differ_by_a_salt_are_answerings_of_one_annotator(
    folder: Path, build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    again = factories.opened("again", annotator=factories.annotator(salt="2"))
    for case, label in zip(factories.cases(again), (0, 1, 0), strict=False):
        factories.settled(case, label)
    found = as_json(folder, capsys, build.name, "again")
    (entry,) = found["entries"]
    assert entry["name"].startswith("test-driven agents ") and entry["answerings"] == ["first", "again"]
    equal = {row["stratum"]: (row["pairs"], row["equal"]["value"]) for row in entry["repeats"]}
    assert equal == {"all": (3, 2 / 3), "screened": (2, 1), "tested": (1, 0)}
    named = as_json(folder, capsys, "both=first,again")
    assert [one["name"] for one in named["entries"]] == ["both"]
    apart = as_json(folder, capsys, "one=first", "two=again")
    assert [one["name"] for one in apart["entries"]] == ["one", "two"]


def test_a_round_of_a_build_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rounds = factories.opened("rounds", rounds=2, annotator=factories.annotator(model="other"))
    factories.said(rounds, (1, 1, 1), (0, 0, 0))
    first, second, usual = (
        as_json(folder, capsys, name)["entries"][0]["scores"][0]["accuracy"]["value"]
        for name in ("rounds@1", "rounds@2", "rounds")
    )
    assert (first, second, usual) == (pytest.approx(1 / 3), pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert len(as_json(folder, capsys, "rounds@1", "rounds@2")["entries"][0]["repeats"]) == 3
    with pytest.raises(CommandError, match="'rounds' has 2 rounds, not 3"):
        bench(folder, "rounds@3")


def test_pairs_may_be_ids_of_members(build: Build, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": "p0", "query_id": "queries-0", "code_id": "snippets-0"}]
    write(folder / "pairs.jsonl", rows)
    write(folder / "truth.jsonl", [{"id": "p0", "label": 1}])
    found = as_json(folder, capsys, build.name, queries="small", snippets="small")
    assert found["entries"][0]["scores"][0]["accuracy"]["value"] == 1
    with pytest.raises(CommandError, match="ids need a collection"):
        bench(folder, build.name)
    with pytest.raises(CommandError, match="no collection of queries called 'large'"):
        bench(folder, build.name, queries="large", snippets="small")
    write(folder / "pairs.jsonl", [{"id": "p0", "query_id": "queries-9", "code_id": "snippets-0"}])
    with pytest.raises(CommandError, match="pair 'p0': no query 'queries-9'"):
        bench(folder, build.name, queries="small", snippets="small")


def test_what_is_wrong_with_names_and_files_is_told(build: Build, folder: Path) -> None:
    with pytest.raises(
        CommandError, match=r"'nobody' is no build, no hash of an annotator.*Builds are: first"
    ):
        bench(folder, "nobody")
    with pytest.raises(CommandError, match=r"line 1: is not JSON"):
        bench(folder, build.name, truth=Path(__file__))
    with pytest.raises(CommandError, match=r"gone\.jsonl can't be read"):
        bench(folder, build.name, pairs=folder / "gone.jsonl")
    with pytest.raises(CommandError, match="bench quality needs --annotators"):
        call_command("bench", "quality", pairs=folder / "pairs.jsonl", truth=folder / "truth.jsonl")
    with pytest.raises(CommandError, match="stands alone"):
        call_command("bench", "quality", "mining")
    other = factories.launched("empty")
    with pytest.raises(CommandError, match="“empty” has none of these pairs"):
        bench(folder, other.name)


def test_the_same_pair_twice_is_refused(build: Build, folder: Path) -> None:
    pair = factories.cases(build)[0].pair
    write(folder / "pairs.jsonl", [row_of(0, pair), row_of(1, pair)])
    with pytest.raises(CommandError, match="pair 'p1': the same query and code as pair 'p0'"):
        bench(folder, build.name)


def asked(case: Case, request: Request, reply: str) -> LLMCall:
    """A call with a whole request."""
    body = request.to_dict()
    system = body.pop("system")
    columns: dict[str, Any] = {
        "digest": request.digest(),
        "system": SystemText.keep(str(system)),
        "request": RequestText.keep(json.dumps(body)),
    }
    call = factories.llm_call(case, request.agent, {}, **columns)
    LLMCall.objects.filter(pk=call.pk).update(reply=ReplyText.keep(reply))
    return call


def test_tokens_count_what_was_sent_and_answered_also_where_it_was_repaired(build: Build) -> None:
    case = factories.cases(build)[8]
    first = screener.build_screener_request(screener.ScreenerInputs("a query", "def one(): pass"), "any")
    asked(case, first, "no JSON")
    second = build_repair_request(first, "no JSON", "is not JSON")
    call = asked(case, second, '{"verdict": 1}')
    found, by = spent_by_calls(
        [call.pk], [Counter("words", lambda texts: [len(text.split()) for text in texts])]
    )

    def words(request: Request) -> int:
        schema = json.dumps(dict(request.schema))
        return sum(
            len(text.split()) for text in (request.system, *(one.text for one in request.messages), schema)
        )

    assert (by, found[call.pk].agent) == ("words", "screener")
    spent = found[call.pk].spent
    assert (spent.requests, spent.input, spent.output) == (2, words(first) + words(second), 4)


def test_a_request_that_served_several_cases_counts_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    company = factories.opened("company", annotator=factories.annotator(screener="query"))
    cases = factories.cases(company)[:3]
    call = factories.llm_call(cases[0], "query_screener", {"verdicts": []})
    for case in cases:
        case.move(Event.MATCH, call=call, label=1)
    (entry,) = as_json(folder, capsys, "company")["entries"]
    row = entry["spending"]["agents"][0]
    assert (row["name"], row["pairs"]) == ("query_screener", 3)
    assert row["mean"]["requests"] == pytest.approx(1 / 3)
    # of the pairs of the bench one alone: it has its third, not all of it
    write(folder / "pairs.jsonl", [row_of(0, cases[0].pair)])
    write(folder / "truth.jsonl", [{"id": "p0", "label": 1}])
    (entry,) = as_json(folder, capsys, "company")["entries"]
    assert entry["spending"]["agents"][0]["mean"]["requests"] == pytest.approx(1 / 3)


def test_a_tokenizer_that_cannot_count_gives_way_to_words_for_all(
    build: Build, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "tokenizer.json"
    bad.write_text("{}")
    told = as_json(folder, capsys, build.name, tokenizer=str(bad))["tokens_counted_by"]
    assert told.startswith(BY_PIECES) and "tokenizer.json gave no count" in told
    assert [one.name for one in counter_of("", "m")] == [BY_PIECES]
    assert count_words_and_symbols(["def f(x): return x_1", ""]) == [8, 0]
