"""The nodes of a tree are the same whether it is kept or not."""

import ast
from pathlib import Path

import pytest

from sandbox.candidate import tree_nodes
from sandbox.candidate.syntax import parse_python_source

FOLDER = Path(tree_nodes.__file__).parents[1]
MODULES = ("candidate/syntax", "candidate/touch_analysis", "reports/diagnosis", "harness/trace/tracer")
KINDS = (ast.Name, ast.Attribute, ast.Call, ast.Assert, ast.arg, ast.Constant, ast.Match)


def parse_module(name: str) -> ast.Module:
    return ast.parse((FOLDER / f"{name}.py").read_text())


def placed_nodes_of(tree: ast.AST) -> list[ast.AST]:
    """All nodes but signs and contexts, which have no attributes, and one object for all places."""
    return [node for node in ast.walk(tree) if vars(node)]


@pytest.mark.parametrize("name", MODULES)
def test_walking_gives_every_node_in_the_usual_order(name: str) -> None:
    tree = parse_module(name)
    assert tree_nodes.walk_tree_nodes(tree) == placed_nodes_of(tree)


def test_a_walk_leaves_out_names_that_are_text_and_keys_that_are_missing() -> None:
    tree = ast.parse("global a\nimport b as c\nmatch {**d}:\n    case {'e': f, **g}: h(*i, j=k)\n")
    assert tree_nodes.walk_tree_nodes(tree) == placed_nodes_of(tree)


@pytest.mark.parametrize("name", MODULES)
def test_a_kept_tree_has_the_same_nodes_in_each_of_its_parts(name: str) -> None:
    kept = tree_nodes.keep_tree_nodes(parse_module(name))
    for node in placed_nodes_of(kept):
        nodes = placed_nodes_of(node)
        assert tree_nodes.walk_tree_nodes(node) == nodes
        assert set(tree_nodes.list_tree_nodes(node)) == set(nodes)
        assert tree_nodes.count_nodes(node) == len(nodes)
        for kind in KINDS:
            assert set(tree_nodes.nodes_of_kind(node, kind)) == {one for one in nodes if type(one) is kind}


@pytest.mark.parametrize("name", MODULES)
def test_statements_and_own_nodes_are_those_of_a_tree_that_is_not_kept(name: str) -> None:
    tree = parse_module(name)
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    own = [set(tree_nodes.own_nodes(node)) for node in (tree, *statements)]
    assert tree_nodes.statements_of(tree) == statements
    tree_nodes.keep_tree_nodes(tree)
    assert tree_nodes.statements_of(tree) == statements
    assert [set(tree_nodes.own_nodes(node)) for node in (tree, *statements)] == own


def test_own_nodes_leave_out_what_is_inside_of_functions_and_classes() -> None:
    tree = ast.parse("a = 1\ndef b(): c = 1\nif a:\n    class d: e = 1\nf = lambda: g\n")
    names = {node.id for node in tree_nodes.own_nodes(tree) if isinstance(node, ast.Name)}
    assert names == {"a", "f"}


def test_a_kept_tree_is_asked_once_and_another_one_each_time() -> None:
    asked: list[str] = []

    @tree_nodes.answer_once
    def find(tree: ast.Module, name: str) -> int:
        asked.append(name)
        return len(tree.body)

    tree = parse_python_source("a = 1\nb = 2\n")
    assert [find(tree, "a"), find(tree, "a")] == [2, 2]
    assert asked == ["a", "a"]
    tree_nodes.keep_tree_nodes(tree)
    assert [find(tree, "b"), find(tree, "b"), find(tree, "c")] == [2, 2, 2]
    assert asked == ["a", "a", "b", "c"]
