"""Parsing from many threads gives what parsing alone gives."""

import ast
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox.candidate import syntax

SOURCE = "".join(
    f"def f{n}(x):\n    return [x + {n} for y in (1, 2, (3, [4, {{5: 6}}]))]\n\n\n" for n in range(60)
)


def test_threads_that_parse_at_once_all_get_their_tree() -> None:
    wanted = ast.dump(ast.parse(SOURCE))
    with ThreadPoolExecutor(8) as pool:
        assert all(ast.dump(tree) == wanted for tree in pool.map(syntax.parse_python_source, [SOURCE] * 64))


def test_a_failure_of_the_parser_itself_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    real, failures = ast.parse, iter([True, True, False])

    def parse(source: str) -> ast.Module:
        if next(failures):
            raise SystemError("AST constructor recursion depth mismatch (before=42, after=39)")
        return real(source)

    monkeypatch.setattr(ast, "parse", parse)
    assert ast.dump(syntax.parse_python_source("x = 1")) == ast.dump(real("x = 1"))


def test_a_wrong_source_is_still_wrong() -> None:
    with pytest.raises(SyntaxError):
        syntax.parse_python_source("def (")
