"""What is run: a candidate, a test program, and the limits they run under, as frozen text and numbers."""

import ast
import hashlib
import json
from dataclasses import asdict, dataclass

from sandbox.candidate.blocks import code_that_runs
from sandbox.candidate.indentation import take_off_indent
from sandbox.candidate.name_rebinding import has_rebound_names
from sandbox.candidate.syntax import UNREADABLE, parse_python_source
from sandbox.candidate.tree_nodes import walk_tree_nodes


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use. `value_chars` bounds each recorded value, `trace_steps` the line trace."""

    seconds: float = 10.0
    memory_mb: int = 512
    processes: int = 64
    output_bytes: int = 65536
    file_mb: int = 16
    tmp_mb: int = 64
    trace_steps: int = 2000
    value_chars: int = 200

    def digest(self) -> str:
        """sha256 hex of the limits: two runs compare only under the same ones."""
        return _sha256(json.dumps(asdict(self), sort_keys=True))


@dataclass(frozen=True, slots=True)
class Program:
    """A candidate (the unchanged snippet), the source of the test program, and what both need installed.

    `dependencies` are requirements, `name==1.2` or `name`. Candidate and source are never concatenated.
    `name`: the one under which the program expects the candidate, where it was written for another one.
    `cases`: functions without parameters that the program defines at its top level. After that has run, each
    runs in a fork of its own, one after another, so that what one does or leaves undone is not the others'.
    """

    candidate: str
    source: str
    dependencies: tuple[str, ...] = ()
    trace: bool = True
    name: str = ""
    cases: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """The candidate as it runs: without the indent that all of it has, as a method's in its class.

        A block of code is a function, where the program calls that.
        """
        return code_that_runs(take_off_indent(self.candidate), self.source)

    @property
    def candidate_hash(self) -> str:
        """sha256 hex of the candidate's text."""
        return _sha256(self.candidate)

    @property
    def source_hash(self) -> str:
        """sha256 hex of the test program's text, and of its cases where it has any."""
        if not self.cases:
            return _sha256(self.source)
        told = json.dumps([self.source, *self.cases]).encode()
        # No text begins with this byte, so none has the same hash.
        return hashlib.sha256(b"\xff" + told).hexdigest()

    @property
    def dependencies_hash(self) -> str:
        """sha256 hex of the requirements, whatever their order."""
        return _sha256("\n".join(sorted(set(self.dependencies))))


def candidate_names(candidate: str) -> tuple[str, ...]:
    """What the candidate defines at its top level, in order: functions, classes, variables; no imports.

    A candidate that does not parse (Python 2, a fragment) defines nothing.
    """
    return names_defined_in(_parse(candidate))


def names_defined_in(tree: ast.Module | None) -> tuple[str, ...]:
    """The same of a candidate's tree; None: it does not parse."""
    names: dict[str, None] = {}
    for statement in tree.body if tree else ():
        names.update(dict.fromkeys(_defined(statement)))
    return tuple(names)


def subject_of(candidate: str) -> str | None:
    """The function or class that a candidate is about: the first one that nothing else in it mentions."""
    tree = _parse(candidate)
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = [node for node in tree.body if isinstance(node, definitions)] if tree else []
    for node in found:
        others = (other for other in found if other is not node)
        if not any(_mentions(other, node.name) for other in others):
            return node.name
    return found[0].name if found else None


def is_candidate_redefined(candidate: str, source: str) -> bool:
    """Whether the test program binds a name of the candidate where that hides or replaces the candidate.

    Module-level definitions, assignments, deletions and imports count, also under `global`; so does a local
    binding that the same function then reads. Attributes, class members and plain parameters do not.
    """
    tree = _parse(source)
    return tree is not None and has_rebound_names(
        tree, frozenset(candidate_names(code_that_runs(candidate, source)))
    )


def count_assertions(source: str) -> int:
    """How many assert statements a test program has, evaluated or not; 0 for one that can't be read."""
    tree = _parse(source)
    return sum(isinstance(node, ast.Assert) for node in ast.walk(tree)) if tree else 0


def list_test_functions(source: str) -> tuple[str, ...]:
    """The functions at the top level of a test program, in order; of one that can't be read, none."""
    tree = _parse(source)
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node.name for node in tree.body if isinstance(node, definitions)] if tree else []
    return tuple(dict.fromkeys(found))


def list_test_helpers(source: str) -> tuple[str, ...]:
    """Top-level functions and classes of a test program, except `main`: what its writer invented."""
    tree = _parse(source)
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = [node.name for node in tree.body if isinstance(node, definitions)] if tree else []
    return tuple(name for name in dict.fromkeys(names) if name != "main")


def _defined(statement: ast.stmt) -> tuple[str, ...]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return (statement.name,)
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    # In `os.environ["A"] = "1"` the name is read: the module stays what it is.
    stored = (node for target in targets for node in walk_tree_nodes(target) if isinstance(node, ast.Name))
    return tuple(node.id for node in stored if isinstance(node.ctx, ast.Store))


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(node))


def _parse(source: str) -> ast.Module | None:
    # ValueError: a null byte; RecursionError and MemoryError: nested deeper than the parser goes.
    try:
        return parse_python_source(source)
    except UNREADABLE:
        return None


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
