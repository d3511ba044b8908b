"""What a test writer may reply: readings, cases named after them, a reference."""

import json

import pytest

from annotation.agents import InvalidReply, neighbour_writer, paper, test_writer
from annotation.agents.test_writer import CaseOfTest

PROGRAM = """def r1_ordinary_three_items():
    assert reverse([1, 2, 3]) == [3, 2, 1]


def r2_edge_no_items():
    assert reverse([]) == []


def helper():
    return 1
"""
REPLY = {
    "readings": [
        {"sense": "the list is reversed", "likelihood": 80},
        {"sense": "a reversed copy is returned", "likelihood": 20},
    ],
    "helpers": [],
    "program": PROGRAM,
    "reference": "def reverse(items):\n    return items[::-1]\n",
}


def test_cases_are_the_functions_named_after_reading_and_kind() -> None:
    reply = test_writer.TestProgramReply.of_reply(json.dumps(REPLY))
    assert reply.cases == (
        CaseOfTest("r1_ordinary_three_items", 1, "ordinary", "three items"),
        CaseOfTest("r2_edge_no_items", 2, "edge", "no items"),
    )
    assert reply.reading == "the list is reversed"


@pytest.mark.parametrize(
    ("program", "complaint"),
    [
        ("def r1_edge_empty():\n    assert reverse([]) == []\n", "no function r1_ordinary_"),
        (PROGRAM.replace("three_items()", "three_items(n)"), "takes parameters"),
        (PROGRAM.replace("r2_edge", "r3_edge"), "tests reading 3 of 2"),
        (PROGRAM.replace("assert reverse([]) == []", "reverse([])"), "has no assert statement"),
        ("def r1_ordinary_x(:\n", "is not valid Python 3: line 1"),
        ("\n".join(f"def r1_ordinary_{n}():\n    assert 1" for n in range(13)), "13 cases; it may have 12"),
    ],
)
def test_a_program_whose_cases_prove_nothing_is_refused(program: str, complaint: str) -> None:
    with pytest.raises(InvalidReply, match=complaint):
        test_writer.TestProgramReply.of_reply(json.dumps(REPLY | {"program": program}))


@pytest.mark.parametrize("reference", ["", "x +", "print(1)\n"])
def test_a_reference_defines_something_that_runs(reference: str) -> None:
    with pytest.raises(InvalidReply, match="reference: "):
        test_writer.TestProgramReply.of_reply(json.dumps(REPLY | {"reference": reference}))


def test_a_neighbour_says_what_it_does_instead() -> None:
    reply = neighbour_writer.NeighbourReply.of_reply(
        json.dumps({"difference": "sorts", "code": "def reverse(x):\n    return x"})
    )
    assert reply.difference == "sorts"
    with pytest.raises(InvalidReply, match="code: defines nothing"):
        neighbour_writer.NeighbourReply.of_reply(json.dumps({"difference": "sorts", "code": "1"}))


def test_the_papers_writer_is_ordered_by_its_own_prompt() -> None:
    inputs = test_writer.WriterInputs("reverse a list", "def reverse(items): ...")
    usual, plain = test_writer.build_test_writer_request(inputs, "m"), paper.test_request(inputs, "m")
    assert usual.agent == plain.agent == "test_writer"
    assert usual.system != plain.system
    assert "reference" in usual.schema["properties"] and "reading" in plain.schema["properties"]  # type: ignore[operator]
