"""The snippet writer: one function for a query that no snippet answers (paper: Missing Code Generation)."""

import ast
from dataclasses import dataclass
from typing import Annotated, Final, Unpack

from pydantic import AfterValidator

from annotation import prompts
from annotation.agents.fields import Said
from annotation.agents.replies import VerdictModel
from annotation.agents.request_parts import Options, compose_agent_request, fence_material, schema_of
from annotation.llm.request import Request
from sandbox.candidate.syntax import parse_python_source
from sandbox.dependencies import DependencyRefused, parse_requirement

NAME: Final = "snippet_writer"
MAX_TOKENS: Final = 8192
LONGEST_CODE: Final = 20_000
MOST_PACKAGES: Final = 5
SCHEMA: Final = schema_of(
    explanation={"type": "string"},
    packages={"type": "array", "items": {"type": "string"}},
    code={"type": "string"},
)
_FUNCTION: Final = ast.FunctionDef | ast.AsyncFunctionDef
_IMPORT: Final = ast.Import | ast.ImportFrom


@dataclass(frozen=True, slots=True)
class SnippetInputs:
    """The query, and snippets that were judged not to answer it.

    After a function that did not do: that function, and what was found wrong with it.
    """

    query: str
    near: tuple[str, ...] = ()
    denied_code: str = ""
    denied_because: str = ""


def one_function(code: str) -> str:
    """`code`, if it is one Python 3 function with its imports. Raises ValueError, which says what it is."""
    if len(code) > LONGEST_CODE:
        raise ValueError(f"is longer than {LONGEST_CODE:,} characters")
    try:
        body = parse_python_source(code).body
    except SyntaxError as error:
        raise ValueError(f"is not valid Python 3: line {error.lineno}: {error.msg}") from None
    functions = sum(isinstance(one, _FUNCTION) for one in body)
    if functions != 1:
        raise ValueError(f"has to define exactly one function at its top level; it defines {functions}")
    other = next((one for one in body if not isinstance(one, _FUNCTION | _IMPORT)), None)
    if other is not None:
        raise ValueError(f"has more than imports and one function: see line {other.lineno}")
    return code


def _packages(names: list[str]) -> list[str]:
    if len(names) > MOST_PACKAGES:
        raise ValueError(f"names more than {MOST_PACKAGES} packages")
    try:
        return [str(parse_requirement(name)) for name in names]
    except DependencyRefused as why:
        raise ValueError(str(why)) from None


class WrittenSnippet(VerdictModel):
    """A function, what it does for the query, and the distributions that it imports from."""

    explanation: Said
    packages: Annotated[list[Said], AfterValidator(_packages)]
    code: Annotated[str, AfterValidator(one_function)]


def build_snippet_request(inputs: SnippetInputs, model: str, **options: Unpack[Options]) -> Request:
    """The order for one function, or for another one after `denied_because`."""
    prompt = prompts.load_agent_prompt(NAME)
    user = prompt.render("user", query=fence_material("query", inputs.query))
    if inputs.near:
        near = "\n\n".join(fence_material("code", code) for code in inputs.near)
        user = f"{user}\n\n{prompt.render('near', codes=near)}"
    if inputs.denied_code:
        again = prompt.render(
            "again",
            code=fence_material("code", inputs.denied_code),
            reason=fence_material("reason", inputs.denied_because),
        )
        user = f"{user}\n\n{again}"
    return compose_agent_request(NAME, model, user, SCHEMA, MAX_TOKENS, options)
