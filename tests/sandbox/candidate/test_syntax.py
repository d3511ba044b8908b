"""Parsing from many threads gives what parsing alone gives."""

import ast
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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


def placed_nodes_of(tree: ast.AST) -> list[ast.AST]:
    """All nodes but signs and contexts, which have no attributes, and one object for all places."""
    return [node for node in ast.walk(tree) if vars(node)]


@pytest.mark.parametrize(
    "name", ["candidate/syntax", "candidate/touch_analysis", "reports/diagnosis", "harness/trace/tracer"]
)
def test_walking_gives_every_node_in_the_usual_order(name: str) -> None:
    tree = ast.parse((Path(syntax.__file__).parents[1] / f"{name}.py").read_text())
    assert syntax.walk_tree_nodes(tree) == placed_nodes_of(tree)


def test_kept_nodes_are_those_of_the_tree() -> None:
    tree = syntax.parse_python_source("def f(x):\n    return [x + 1]\n")
    nodes = syntax.walk_tree_nodes(tree)
    assert syntax.keep_tree_nodes(tree) is tree
    assert syntax.walk_tree_nodes(tree) == nodes == placed_nodes_of(tree)
    body = tree.body[-1]
    assert syntax.walk_tree_nodes(body) == placed_nodes_of(body)
    assert syntax.walk_tree_nodes(tree) is syntax.walk_tree_nodes(tree)
