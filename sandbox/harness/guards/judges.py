"""The libraries' own assertion functions, as they were before the program ran: what it puts there is none."""

from __future__ import annotations

import _operator
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, TracebackType
    from typing import Any

_Function = type(lambda: 0)
_TEMPORARY = ("/tmp/", "/dev/shm/", "/var/tmp/")
_HANDED_ON = (type(lambda: 0), property, staticmethod, classmethod)
_RAISING = frozenset({"raises", "warns", "deprecated_call"})
# The harness has two of its own, and a plugin of pytest's exchanges the third while it runs.
_EXCHANGED = frozenset({"main", "testmod", "_getini_unknown_type"})
_OF_PYTEST = frozenset({"pytest", "_pytest", "pluggy"})
_frame, _is = sys._getframe, _operator.is_
# Methods of unittest, by what they judge: whether two values are equal, or one is true, or the very same.
EQUAL = {"assertEqual": True, "assertNotEqual": False}
EQUALITIES = frozenset(
    {
        *("assertEqual", "assertAlmostEqual", "assertListEqual", "assertTupleEqual", "assertDictEqual"),
        *("assertSetEqual", "assertSequenceEqual", "assertMultiLineEqual", "assertCountEqual"),
    }
)
BY_TRUTH = frozenset({"assertTrue", "assertFalse"})
BY_IDENTITY = frozenset({"assertIs", "assertIsNot", "assertIsNone", "assertIsNotNone"})


class Judges:
    """What may judge the candidate: methods of `unittest`, pytest, and functions `assert…` of any library.

    `unittest` and pytest are loaded ahead where one of the texts names them, or a runner of them is needed.
    `failed` hears of each test that unittest's runner saw fail, whoever looks at the runner's result.
    `failures` are what a failing assertion raises, `contexts` what waits for an exception in a `with` block.
    """

    def __init__(
        self, texts: tuple[str, str], candidate: str, failed: Callable[[], None], pytest: bool = False
    ) -> None:
        self._members: list[tuple[str, Any, dict[str, Any]]] = []
        self._changed = ""
        self._failing: object = None
        self.failures: tuple[type[BaseException], ...] = (AssertionError,)
        self.contexts: tuple[type, ...] = ()
        self.runner: CodeType | None = None
        self._candidate = candidate
        # Where its text has no word of it, nothing of the program leaves a test out.
        self.may_skip = "skip" in texts[1].lower()
        if any("unittest" in text for text in texts):
            self._load(any("mock" in text for text in texts), candidate, failed)
        if any("doctest" in text for text in texts):
            self._load_doctest(candidate, failed)
        if pytest or any(map(_imports_pytest, texts)):
            self._load_pytest()

    def _load(self, mocks: bool, candidate: str, failed: Callable[[], None]) -> None:
        try:
            import unittest

            if mocks:
                import unittest.mock
        except BaseException:
            return
        self.runner = unittest.main.runTests.__code__
        unittest.TestResult.addSkip = _noting_skip(unittest.TestResult.addSkip, self, failed)  # type: ignore[method-assign]
        unittest.TestResult.stopTestRun = _noting_stop(unittest.TestResult.stopTestRun, failed)  # type: ignore[method-assign]
        for name in ("addError", "addFailure", "addUnexpectedSuccess", "addSubTest"):
            setattr(unittest.TestResult, name, _noting(getattr(unittest.TestResult, name), candidate, failed))
        modules = [one for name, one in sys.modules.items() if name.partition(".")[0] == "unittest"]
        names = [name for name in sys.modules if name.partition(".")[0] == "unittest"]
        classes = {id(one): one for module in modules for one in vars(module).values() if _is_of(one, names)}
        for one in classes.values():
            self._keep("unittest", one, _HANDED_ON)
        for module in modules:
            self._keep("unittest", module, (_Function, type, type(sys)))

    def _load_doctest(self, candidate: str, failed: Callable[[], None]) -> None:
        try:
            import doctest
        except BaseException:
            return
        for name in ("report_failure", "report_unexpected_exception"):
            former = getattr(doctest.DocTestRunner, name)
            setattr(doctest.DocTestRunner, name, _noting_example(former, candidate, failed))
        for one in (doctest.DocTestRunner, doctest.OutputChecker, doctest.DocTestFinder):
            self._keep("doctest", one, _HANDED_ON)
        self._keep("doctest", doctest, (_Function, type))

    def _load_pytest(self) -> None:
        try:
            import pytest
            from _pytest.recwarn import WarningsChecker
        except BaseException:
            return
        self.failures = AssertionError, pytest.fail.Exception
        self.contexts = pytest.RaisesExc, pytest.RaisesGroup, WarningsChecker
        self._failing = pytest.fail
        names = [name for name in sys.modules if name.partition(".")[0] in _OF_PYTEST]
        modules = [sys.modules[name] for name in names]
        found = {id(one): one for module in modules for one in vars(module).values() if _is_of(one, names)}
        for one in found.values():
            self._keep("pytest", one, _HANDED_ON)
        for module in modules:
            self._keep("pytest", module, (_Function, type))

    def _keep(self, library: str, owner: Any, kinds: tuple[type, ...]) -> None:
        members = {key: value for key, value in vars(owner).items() if isinstance(value, kinds)}
        members = {key: value for key, value in members.items() if key not in _EXCHANGED}
        self._members.append((library, vars(owner), members))

    def is_judge(self, function: Any) -> bool:
        """Whether a call of it is an assertion: a function of a library, by its own name and place."""
        code_owner = function.__func__ if type(function) is _Method else function
        if type(code_owner) is not _Function:
            return function is self._failing and function is not None
        names = code_owner.__globals__
        module, file = sys.modules.get(str(names.get("__name__"))), code_owner.__code__.co_filename
        is_library = file.startswith("/") and not file.startswith(_TEMPORARY)
        is_named = code_owner.__name__.startswith("assert") or code_owner.__name__ == "fail"
        is_named |= code_owner.__name__ in _RAISING and code_owner.__module__.startswith("_pytest.")
        return is_library and is_named and module is not None and vars(module) is names

    def is_planted(self, function: Any) -> bool:
        """Whether it is the candidate's, found under the name of an assertion that is not its own."""
        if type(function) is not _Function or function.__code__.co_filename != self._candidate:
            return False
        return function.__globals__.get(function.__name__) is not function

    def look(self) -> None:
        """See whether something else stands in the place of a function or method of the libraries."""
        self._changed = self._changed or self._other()

    def changed(self) -> str:
        """The library in which something was exchanged; empty where nothing was."""
        self.look()
        return self._changed

    def _other(self) -> str:
        for library, space, members in self._members:
            if not all(map(_is, map(space.get, members), members.values())):
                return library
        return ""

    def is_of_candidate(self, traceback: TracebackType | None) -> bool:
        """Whether an exception was raised by the candidate, or went through it."""
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self._candidate:
                return True
            traceback = traceback.tb_next
        return False


# The type of a bound method, which no built-in name has.
_Method: Any = type(Judges.look.__get__(object()))


def _imports_pytest(text: str) -> bool:
    return "pytest" in text and any("pytest" in line and "import" in line for line in text.splitlines())


def _is_of(value: object, modules: list[str]) -> bool:
    return isinstance(value, type) and value.__module__ in modules


def _noting(method: Callable[..., Any], candidate: str, failed: Callable[[], None]) -> Callable[..., Any]:
    def note(self: Any, test: Any, *rest: Any) -> Any:
        # Of a subtest the error comes last, and is None when it went well.
        if (not rest or rest[-1] is not None) and not _runs(candidate):
            failed()
        return method(self, test, *rest)

    note.__name__, note.__qualname__ = method.__name__, method.__qualname__
    return note


def _noting_example(method: Callable[..., Any], candidate: str, failed: Callable[[], None]) -> Any:
    def note(*given: Any, **named: Any) -> Any:
        if not _runs(candidate):
            failed()
        return method(*given, **named)

    note.__name__, note.__qualname__ = method.__name__, method.__qualname__
    return note


def _noting_stop(method: Callable[..., Any], failed: Callable[[], None]) -> Callable[..., Any]:
    def note(self: Any) -> Any:
        if self.shouldStop:
            failed()  # not all tests were run
        return method(self)

    note.__name__, note.__qualname__ = method.__name__, method.__qualname__
    return note


def _noting_skip(method: Callable[..., Any], judges: Judges, failed: Callable[[], None]) -> Any:
    def note(self: Any, test: Any, reason: str) -> Any:
        if not judges.may_skip or judges.is_of_candidate(sys.exc_info()[2]):
            failed()
        return method(self, test, reason)

    note.__name__, note.__qualname__ = method.__name__, method.__qualname__
    return note


def _runs(candidate: str) -> bool:
    """Whether the candidate is being executed: a runner that it starts is its own."""
    frame: Any = _frame(1)
    while frame is not None:
        if frame.f_code.co_filename == candidate:
            return True
        frame = frame.f_back
    return False
