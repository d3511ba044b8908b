"""The shipped sample is whole: its queries, its functions, and a decision for every pair that is mined."""

import ast
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from annotation.agents import neighbour_writer, single_llm, test_writer
from retrieval.encoders import find_encoder
from retrieval.filters import Rule, rules_of
from retrieval.index import Hit, mine_best_snippets
from sandbox.program import candidate_names, is_candidate_redefined

SAMPLE = Path(__file__).parents[2] / "sample"
K = 8

Decision = dict[str, Any]


def read_lines(name: str) -> list[Decision]:
    return [json.loads(line) for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines()]


@cache
def queries() -> list[Decision]:
    return read_lines("queries.jsonl")


@cache
def decisions() -> list[Decision]:
    return read_lines("decisions.jsonl")


@cache
def functions() -> dict[str, str]:
    """The text of every function by file and name."""
    found: dict[str, str] = {}
    for path in sorted((SAMPLE / "functions").glob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef):
                found[f"{path.name}::{node.name}"] = ast.get_source_segment(source, node) or ""
    return found


@cache
def mined() -> list[tuple[str, list[tuple[str, Hit]]]]:
    """For each query its K best testable functions and the next one."""
    names = [name for name, code in functions().items() if Rule.TESTABLE in rules_of(code)]
    snippets = [functions()[name] for name in names]
    hits = mine_best_snippets(
        [query["query"] for query in queries()], snippets, [find_encoder("bm25"), find_encoder("bow")], K + 1
    )
    return [
        (query["id"], [(names[hit.index], hit) for hit in found])
        for query, found in zip(queries(), hits, strict=True)
    ]


def unclear() -> list[Decision]:
    return [decision for decision in decisions() if decision["screener"]["verdict"] == 0.5]


def name_of(decision: Decision) -> str:
    return f"{decision['query']} {decision['function']}"


def final_label(decision: Decision) -> int:
    last_agent = "arbiter" if "arbiter" in decision else "screener"
    return int(decision[last_agent]["verdict"])


def test_there_are_24_queries_of_which_three_have_several_readings() -> None:
    assert len({query["id"] for query in queries()}) == 24
    assert len({query["query"] for query in queries()}) == 24
    assert sum(query["ambiguous"] for query in queries()) == 3
    assert all(query["ambiguous"] == (len(query.get("readings", ())) > 1) for query in queries())


def test_there_are_about_200_functions_most_of_them_testable() -> None:
    testable = [name for name, code in functions().items() if Rule.TESTABLE in rules_of(code)]
    assert 200 <= len(functions()) <= 240
    assert 0.9 <= len(testable) / len(functions()) < 1
    assert len({name.partition("::")[2] for name in functions()}) == len(functions())


def test_decisions_are_exactly_the_mined_pairs() -> None:
    pairs = [(query, name) for query, found in mined() for name, _ in found[:K]]
    assert len(pairs) == 24 * K
    assert Counter((decision["query"], decision["function"]) for decision in decisions()) == Counter(pairs)


def test_no_near_tie_decides_what_is_mined() -> None:
    assert all(found[K - 1][1].score - found[K][1].score > 1e-6 for _, found in mined())


def test_the_numbers_of_matches_differ_between_queries() -> None:
    matches = Counter({query["id"]: 0 for query in queries()})
    matches.update(decision["query"] for decision in decisions() if decision["label"] == 1)
    sizes = Counter(matches.values())
    assert sizes[0] >= 2
    assert sizes[1] >= 3
    assert sum(count for size, count in sizes.items() if size >= 4) >= 4


def test_about_a_third_of_the_pairs_is_unclear() -> None:
    assert 0.28 <= len(unclear()) / len(decisions()) <= 0.40


def test_who_answers_follows_from_the_screeners_verdict() -> None:
    for decision in decisions():
        asked = decision["screener"]["verdict"] == 0.5
        assert asked == ("test" in decision) == ("arbiter" in decision), name_of(decision)
        assert decision["label"] in (0, 1), name_of(decision)
        assert decision["note"], name_of(decision)
        assert decision["screener"]["explanation"], name_of(decision)


@pytest.mark.parametrize("decision", unclear(), ids=name_of)
def test_a_program_is_whole_and_leaves_the_candidate_alone(decision: Decision) -> None:
    candidate = functions()[decision["function"]]
    test = test_writer.TestProgramReply.of_reply(json.dumps(decision["test"]))
    called = {node.id for node in ast.walk(ast.parse(test.program)) if isinstance(node, ast.Name)}
    assert len(test.cases) >= 2
    assert set(candidate_names(candidate)) <= called
    assert not is_candidate_redefined(candidate, test.program)
    assert set(candidate_names(candidate)) <= set(candidate_names(test.reference))
    assert neighbour_writer.NeighbourReply.of_reply(json.dumps(decision["neighbour"])).code != candidate
    assert single_llm.SingleVerdict.of_reply(json.dumps(decision["reader"])).demands
    assert decision["arbiter"]["verdict"] in (0, 1)
    assert decision["arbiter"]["explanation"]


def test_reader_and_arbiter_differ_on_a_few_pairs() -> None:
    differing = [d for d in unclear() if (d["reader"]["share"] == "all") != (d["arbiter"]["verdict"] == 1)]
    assert 3 <= len(differing) <= 12
    assert differing == [decision for decision in unclear() if "tie_breaker" in decision]
    assert all(d["tie_breaker"]["verdict"] == d["label"] for d in differing)


def test_one_first_program_redefines_its_candidate() -> None:
    (decision,) = [decision for decision in decisions() if "test_first" in decision]
    assert is_candidate_redefined(functions()[decision["function"]], decision["test_first"]["program"])


def test_the_one_wrong_test_is_the_only_disagreement_with_the_truth() -> None:
    wrong = [name_of(decision) for decision in decisions() if decision.get("wrong_test")]
    disagreeing = [
        name_of(decision) for decision in decisions() if final_label(decision) != decision["label"]
    ]
    assert len(wrong) == 1
    assert disagreeing == wrong


def test_a_missing_module_has_commands_unless_it_is_the_snippets_own_project() -> None:
    commands = {name_of(d): d["fixer"]["commands"] for d in decisions() if "fixer" in d}
    assert sum(not lines for lines in commands.values()) == 1
    assert sum(bool(lines) for lines in commands.values()) >= 2
    assert all(line.startswith("pip install ") for lines in commands.values() for line in lines)
