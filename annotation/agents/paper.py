"""The paper's prompt set: one program for one reading, which ends at its first failure, and no reader.

Roles, inputs and outputs are those of the appendix of CoSQA+; the answers' shapes are ours.
"""

import ast
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Unpack

from pydantic import AfterValidator

from annotation import prompts
from annotation.agents import arbiter, fixer, screener, test_writer
from annotation.agents.fields import Said
from annotation.agents.fixer import FixerInputs
from annotation.agents.replies import VerdictModel
from annotation.agents.request_parts import Options, compose_agent_request, fence_material, schema_of
from annotation.agents.screener import ScreenerInputs
from annotation.agents.sources import syntax_tree
from annotation.agents.test_writer import WriterInputs
from annotation.llm.request import JsonObject, Request

PROMPT_SET: Final = "paper"
TEST_SCHEMA: Final = schema_of(
    reading={"type": "string"},
    helpers={"type": "array", "items": {"type": "string"}},
    program={"type": "string"},
)


@dataclass(frozen=True, slots=True)
class PlainArbiterInputs:
    """The pair and the evidence. `report` is the execution's `evidence_text`."""

    query: str
    code: str
    program: str
    reading: str
    report: str


def _testing(program: str) -> str:
    if not any(isinstance(node, ast.Assert) for node in ast.walk(syntax_tree(program))):
        raise ValueError("has no assert statement")
    return program


class PlainTestReply(VerdictModel):
    """A test program, the sense of the query that it tests, and the names that had to be invented."""

    __test__: ClassVar[bool] = False

    reading: Said
    helpers: list[Said]
    program: Annotated[str, AfterValidator(_testing)]


def screener_request(inputs: ScreenerInputs, model: str, **options: Unpack[Options]) -> Request:
    """The screener's question in the paper's words."""
    material = {"query": fence_material("query", inputs.query), "code": fence_material("code", inputs.code)}
    return _composed(screener.NAME, model, material, screener.SCHEMA, screener.MAX_TOKENS, options)


def test_request(inputs: WriterInputs, model: str, **options: Unpack[Options]) -> Request:
    """The order for one test program."""
    name = f"{PROMPT_SET}/{test_writer.NAME}"
    user = test_writer.format_test_order(prompts.load_agent_prompt(name), inputs)
    return compose_agent_request(
        test_writer.NAME, model, user, TEST_SCHEMA, test_writer.MAX_TOKENS, options, prompt=name
    )


def fixer_request(inputs: FixerInputs, model: str, **options: Unpack[Options]) -> Request:
    """The question about one missing module."""
    material = {
        "module": fence_material("module", inputs.module),
        "program": fence_material("program", inputs.program),
        "report": fence_material("report", inputs.report),
    }
    return _composed(fixer.NAME, model, material, fixer.SCHEMA, fixer.MAX_TOKENS, options)


def arbiter_request(inputs: PlainArbiterInputs, model: str, **options: Unpack[Options]) -> Request:
    """The question about one pair and one execution."""
    material = {
        "query": fence_material("query", inputs.query),
        "code": fence_material("code", inputs.code),
        "reading": fence_material("reading", inputs.reading),
        "program": fence_material("program", inputs.program),
        "report": fence_material("report", inputs.report),
    }
    return _composed(arbiter.NAME, model, material, arbiter.SCHEMA, arbiter.MAX_TOKENS, options)


def _composed(
    agent: str,
    model: str,
    material: dict[str, str],
    schema: JsonObject,
    max_tokens: int,
    options: Options,
) -> Request:
    name = f"{PROMPT_SET}/{agent}"
    user = prompts.load_agent_prompt(name).render("user", **material)
    return compose_agent_request(agent, model, user, schema, max_tokens, options, prompt=name)
