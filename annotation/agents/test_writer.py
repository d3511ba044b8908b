"""The test writer: a program that asserts one reading of the query (paper: Test Program Generator).

The candidate is never part of the program: the harness puts the unchanged snippet in scope.
"""

import ast
import re
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Unpack

from pydantic import AfterValidator

from annotation import prompts
from annotation.agents.asking import Options, compose, fence, schema_of
from annotation.agents.fields import Said
from annotation.agents.replies import VerdictModel, validated
from annotation.llm.request import Request
from sandbox.program import candidate_names
from sandbox.syntax import parsed

NAME: Final = "test_writer"
MAX_TOKENS: Final = 8192
LONGEST_PROGRAM: Final = 100_000
SCHEMA: Final = schema_of(
    reading={"type": "string"},
    helpers={"type": "array", "items": {"type": "string"}},
    program={"type": "string"},
)
_DEFINITION: Final = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class WriterInputs:
    """The pair; after a refused program also that program and why it was refused.

    `tested_nothing`: what was seen of an earlier, independent program that came to no assertion.
    """

    query: str
    code: str
    refused_program: str = ""
    refused_because: str = ""
    tested_nothing: str = ""


def _testing(program: str) -> str:
    if len(program) > LONGEST_PROGRAM:
        raise ValueError(f"is longer than {LONGEST_PROGRAM:,} characters")
    try:
        nodes = list(ast.walk(parsed(program)))
    except SyntaxError as error:
        raise ValueError(f"is not valid Python 3: line {error.lineno}: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise ValueError("is nested too deeply") from None
    if not any(isinstance(node, ast.Assert) for node in nodes):
        raise ValueError("has no assert statement")
    return program


class TestProgramReply(VerdictModel):
    """A test program, the sense of the query that it tests, and the names that had to be invented."""

    __test__: ClassVar[bool] = False

    reading: Said
    helpers: list[Said]
    program: Annotated[str, AfterValidator(_testing)]


def request(inputs: WriterInputs, model: str, **options: Unpack[Options]) -> Request:
    """The order for one test program, or for another one after `refused_because`."""
    prompt = prompts.load(NAME)
    user = prompt.render(
        "user",
        names=", ".join(names_of(inputs.code)) or "(see the definition in the code)",
        query=fence("query", inputs.query),
        code=fence("code", inputs.code),
    )
    if inputs.tested_nothing:
        second = prompt.render("second", reason=fence("seen", inputs.tested_nothing))
        user = f"{user}\n\n{second}"
    if inputs.refused_because:
        again = prompt.render(
            "rewrite",
            reason=fence("reason", inputs.refused_because),
            program=fence("program", inputs.refused_program),
        )
        user = f"{user}\n\n{again}"
    return compose(NAME, model, user, SCHEMA, MAX_TOKENS, options)


def parse(text: str) -> TestProgramReply:
    """The program in a reply: Python that parses and asserts something. Raises InvalidReply."""
    return validated(TestProgramReply, text)


def names_of(code: str) -> tuple[str, ...]:
    """The names that a snippet puts in scope, in order, each once: those that a program may not redefine.

    Code that Python 3 can't parse is searched line by line, so its functions are known all the same.
    """
    return candidate_names(code) or tuple(dict.fromkeys(_DEFINITION.findall(code)))
