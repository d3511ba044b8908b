"""What a test program leaves to a runner, and how it may end itself, read off its text."""

import ast
from collections.abc import Iterator

from sandbox.candidate.tree_nodes import names_in, nodes_of_kind

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# A program that names one of these has a runner of its own for its classes.
_RUNNERS = frozenset({"TestLoader", "TestSuite", "TextTestRunner", "defaultTestLoader", "main", "makeSuite"})
# What pytest hands to a test by name: whoever asks for one of these leaves the test to pytest.
_FIXTURES = frozenset(
    {
        *("cache", "caplog", "capfd", "capfdbinary", "capsys", "capsysbinary", "doctest_namespace"),
        *("monkeypatch", "pytestconfig", "record_property", "recwarn", "request", "subtests", "tmp_path"),
        *("tmp_path_factory", "tmpdir", "tmpdir_factory"),
    }
)
_EXITS = frozenset({"SystemExit", "exit", "quit"})


def find_calls(tree: ast.Module) -> tuple[str, ...]:
    """`main`, or without one the tests: functions `test…`, and methods `test…` of test classes.

    Only what needs no argument and nothing names. A method is given as `Class.method`.
    """
    named = {node.id for node in names_in(tree) if isinstance(node.ctx, ast.Load)}
    functions = [node for node in tree.body if isinstance(node, _FUNCTIONS) and not _required(node)]
    uncalled = list(dict.fromkeys(node.name for node in functions if node.name not in named))
    if "main" in uncalled:
        return ("main",)
    if "main" in named:
        return ()
    tests = [name for name in uncalled if name.startswith("test")]
    return (*tests, *(() if _has_runner(tree) else _methods(tree, named)))


def find_pytest_tests(tree: ast.Module) -> tuple[str, ...]:
    """The functions and classes of tests that a program leaves to pytest: none where it calls its tests.

    It does where it imports pytest, or where a test asks for one of pytest's fixtures.
    """
    bases = {id(base) for node in tree.body if isinstance(node, ast.ClassDef) for base in node.bases}
    named = {node.id for node in names_in(tree) if isinstance(node.ctx, ast.Load) and id(node) not in bases}
    functions = [node for node in tree.body if isinstance(node, _FUNCTIONS) and node.name not in named]
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name not in named]
    tests = [node for node in functions if node.name.startswith("test")]
    is_imported = _imports_pytest(tree)
    methods = [inner for owner in classes for inner in owner.body if _is_test(inner)]
    if any(node.name == "main" and not _required(node) for node in functions):
        return ()
    if not is_imported and not any(_asks_for_fixture(node) for node in (*tests, *methods)):
        return ()
    has_runner = _runs_unittest(tree)
    found = (node.name for node in classes if _is_test_class(node) and not (has_runner and _is_case(node)))
    return tuple(dict.fromkeys((*(node.name for node in tests), *found)))


def find_final_exit(tree: ast.Module) -> tuple[int, int] | None:
    """First and last line of the program's last statement, where that is `sys.exit(…)` or its like.

    Nothing is left undone by it: ending so without an error is an end like any other.
    """
    body = tree.body
    while body and isinstance(body[-1], ast.If) and not body[-1].orelse:
        body = body[-1].body
    last = body[-1] if body else None
    left = last.value if isinstance(last, ast.Expr) else last.exc if isinstance(last, ast.Raise) else None
    called = left.func if isinstance(left, ast.Call) else left
    name = getattr(called, "attr", "") or getattr(called, "id", "")
    if last is not None and name in _EXITS:
        return last.lineno, last.end_lineno or last.lineno
    return None


def _methods(tree: ast.Module, named: set[str]) -> Iterator[str]:
    for owner in tree.body:
        if isinstance(owner, ast.ClassDef) and owner.name not in named and _is_test_class(owner):
            methods = (node for node in owner.body if isinstance(node, _FUNCTIONS))
            tests = (node.name for node in methods if node.name.startswith("test") and _required(node) == 1)
            yield from (f"{owner.name}.{name}" for name in dict.fromkeys(tests))


def _is_test_class(owner: ast.ClassDef) -> bool:
    bases = {getattr(base, "attr", "") or getattr(base, "id", "") for base in owner.bases}
    is_made = any(isinstance(node, _FUNCTIONS) and node.name == "__init__" for node in owner.body)
    return not is_made and (owner.name.startswith("Test") or any(name.endswith("TestCase") for name in bases))


def _is_case(owner: ast.ClassDef) -> bool:
    return any(
        (getattr(base, "attr", "") or getattr(base, "id", "")).endswith("Case") for base in owner.bases
    )


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, _FUNCTIONS) and node.name.startswith("test")


def _asks_for_fixture(test: ast.stmt) -> bool:
    return isinstance(test, _FUNCTIONS) and any(one.arg in _FIXTURES for one in test.args.args)


def _imports_pytest(tree: ast.Module) -> bool:
    """By whatever statement at its top level, in a `try` as well."""
    imported = {
        alias.name.partition(".")[0] for node in nodes_of_kind(tree, ast.Import) for alias in node.names
    }
    sources = {(node.module or "").partition(".")[0] for node in nodes_of_kind(tree, ast.ImportFrom)}
    return "pytest" in imported or not sources.isdisjoint(("pytest", "_pytest"))


def _runs_unittest(tree: ast.Module) -> bool:
    """Whether it names a runner of unittest's; `pytest.main` is none."""
    return any(node.id in _RUNNERS for node in names_in(tree)) or any(
        node.attr in _RUNNERS and getattr(node.value, "id", "") in ("", "unittest")
        for node in nodes_of_kind(tree, ast.Attribute)
    )


def _has_runner(tree: ast.Module) -> bool:
    attributes = nodes_of_kind(tree, ast.Attribute)
    return any(node.id in _RUNNERS for node in names_in(tree)) or any(
        node.attr in _RUNNERS for node in attributes
    )


def _required(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many arguments it can't do without; many where one of them can only be named."""
    arguments = function.args
    required = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return required + 2 * sum(default is None for default in arguments.kw_defaults)
