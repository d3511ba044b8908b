"""The test writer: readings of the query, cases that test them, and a reference that must pass its own test.

The candidate is never part of the program: the harness puts the unchanged snippet in scope, and runs each
case by itself (paper: Test Program Generator, which writes one program for one reading).
"""

import ast
import re
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Self, Unpack

from pydantic import AfterValidator, Field, model_validator

from annotation import prompts
from annotation.agents.fields import Said
from annotation.agents.replies import VerdictModel
from annotation.agents.request_parts import (
    Options,
    add_note,
    compose_agent_request,
    fence_material,
    schema_of,
)
from annotation.agents.sources import names_of, require_runnable_source, syntax_tree, top_level_functions
from annotation.llm.request import Request

NAME: Final = "test_writer"
MAX_TOKENS: Final = 8192
MAX_CASES: Final = 12
MAX_READINGS: Final = 4
CASE_NAME: Final = re.compile(r"r(?P<reading>[1-9])_(?P<kind>ordinary|edge)_(?P<checks>\w+)", re.ASCII)
SCHEMA: Final = schema_of(
    readings={
        "type": "array",
        "items": schema_of(sense={"type": "string"}, likelihood={"type": "integer"}),
    },
    helpers={"type": "array", "items": {"type": "string"}},
    program={"type": "string"},
    reference={"type": "string"},
)


@dataclass(frozen=True, slots=True)
class WriterInputs:
    """The pair; after a refused program also that program and why it was refused.

    `tested_nothing`: what was seen of an earlier, independent program that came to no assertion. `note` says
    of the code what its text does not.
    """

    query: str
    code: str
    refused_program: str = ""
    refused_because: str = ""
    tested_nothing: str = ""
    note: str = ""


class Reading(VerdictModel):
    """A sense of the query, and how many of a hundred searchers mean it."""

    sense: Said
    likelihood: Annotated[int, Field(ge=0, le=100)]


@dataclass(frozen=True, slots=True)
class CaseOfTest:
    """One case: a function of the program, the number of its reading, its kind, and what it tries."""

    name: str
    reading: int
    kind: str
    checks: str


class TestProgramReply(VerdictModel):
    """Readings of the query, the program with its cases, a reference, and the names that were invented."""

    __test__: ClassVar[bool] = False

    readings: Annotated[list[Reading], Field(min_length=1, max_length=MAX_READINGS)]
    helpers: list[Said]
    program: str
    reference: Annotated[str, AfterValidator(require_runnable_source)]

    @model_validator(mode="after")
    def _check_cases(self) -> Self:
        refuse_bad_cases(syntax_tree(self.program), len(self.readings))
        return self

    @property
    def cases(self) -> tuple[CaseOfTest, ...]:
        """The functions of the program that are run by themselves, in its order."""
        return cases_of(syntax_tree(self.program))

    @property
    def reading(self) -> str:
        """What the query most likely means."""
        return self.readings[0].sense


def cases_of(tree: ast.Module) -> tuple[CaseOfTest, ...]:
    """The cases of a program: its functions named `r1_ordinary_WHAT`, in its order."""
    named = ((name, CASE_NAME.fullmatch(name)) for name in top_level_functions(tree))
    return tuple(
        CaseOfTest(name, int(found["reading"]), found["kind"], found["checks"].replace("_", " "))
        for name, found in named
        if found
    )


def refuse_bad_cases(tree: ast.Module, readings: int) -> None:
    """Raises ValueError for too few or too many cases, and for one that takes parameters or tests nothing."""
    functions, cases = top_level_functions(tree), cases_of(tree)
    if not any(case.kind == "ordinary" and case.reading == 1 for case in cases):
        raise ValueError("no function r1_ordinary_… at the program's top level tests the first reading")
    if len(cases) > MAX_CASES:
        raise ValueError(f"the program has {len(cases)} cases; it may have {MAX_CASES}")
    for case in cases:
        if functions[case.name].args.args:
            raise ValueError(f"the case {case.name} takes parameters")
        if case.reading > readings:
            raise ValueError(f"the case {case.name} tests reading {case.reading} of {readings}")
        if not any(isinstance(node, ast.Assert) for node in ast.walk(functions[case.name])):
            raise ValueError(f"the case {case.name} has no assert statement")


def build_test_writer_request(inputs: WriterInputs, model: str, **options: Unpack[Options]) -> Request:
    """The order for one test program, or for another one after `refused_because`."""
    user = add_note(format_test_order(prompts.load_agent_prompt(NAME), inputs), inputs.note)
    return compose_agent_request(NAME, model, user, SCHEMA, MAX_TOKENS, options)


def format_test_order(prompt: prompts.Prompt, inputs: WriterInputs) -> str:
    """The order's material by the sections of a prompt: the pair, and what became of an earlier program."""
    parts = [
        prompt.render(
            "user",
            names=", ".join(names_of(inputs.code)) or "(see the definition in the code)",
            query=fence_material("query", inputs.query),
            code=fence_material("code", inputs.code),
        )
    ]
    if inputs.tested_nothing:
        parts.append(prompt.render("second", reason=fence_material("seen", inputs.tested_nothing)))
    if inputs.refused_because:
        reason = fence_material("reason", inputs.refused_because)
        parts.append(
            prompt.render("rewrite", reason=reason, program=fence_material("program", inputs.refused_program))
        )
    return "\n\n".join(parts)
