"""Runs tests as their runners do: a method of a class, and with pytest what the program leaves to it.

pytest is given the module that was executed already: it reads no file, neither rewrites nor captures, and
prints nothing. What it sees fail is told here, whatever its hooks, its options or the program make of it.
"""

from __future__ import annotations

import os
import sys

from sandbox.harness.opaque_callables import hide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType, TracebackType
    from typing import Any

    from sandbox.harness.guards.judges import Judges

_UNUSED_PLUGINS = ("cacheprovider", "faulthandler", "unraisableexception", "threadexception", "pastebin")
_OPTIONS = (
    *("--assert=plain", "--capture=no", "--tb=native"),
    # No file decides anything: the candidate could have written it.
    *("--noconftest", "--config-file=/dev/null", "--rootdir=/tmp"),
    *(part for name in _UNUSED_PLUGINS for part in ("-p", f"no:{name}")),
)
_SETTINGS = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DEBUG", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
_NO_TESTS = 5


def call_method(owner: type, name: str) -> Any:
    """Make an instance, and call its method between what the class has to set up and to take down."""
    unittest = sys.modules.get("unittest")
    if unittest is not None and issubclass(owner, unittest.TestCase):
        unittest.TestSuite([owner(name)]).debug()
        return None
    test = owner()
    _prepare(test, ("setup_class", "setup_method"), name)
    try:
        return getattr(test, name)()
    finally:
        _prepare(test, ("teardown_method", "teardown_class"), name)


def finish_call(result: Any) -> None:
    """Run what a function of tests gave, where that is a coroutine."""
    if type(result).__name__ == "coroutine":
        import asyncio

        asyncio.run(result)


def _prepare(test: object, names: tuple[str, ...], method: str) -> None:
    for name in names:
        prepare = getattr(test, name, None)
        code = getattr(getattr(prepare, "__func__", None), "__code__", None)
        if prepare is not None:
            prepare(*([getattr(test, method)] if code is not None and code.co_argcount > 1 else []))


class PytestRunner:
    """pytest for one program. `failed` is told that a test did not pass; `failure` is the first exception.

    `ran`: the program had its tests run by `pytest.main`. While `is_idle` that runs nothing: each test is run
    by itself. Tests of the program have no name in `own`, which are the candidate's.
    """

    def __init__(
        self,
        module: ModuleType,
        files: tuple[str, str],
        own: list[str],
        judges: Judges,
        failed: Callable[[], None],
    ) -> None:
        self.ran = self.is_idle = False
        self.failure: BaseException | None = None
        self.judges, self.failed = judges, failed
        self._module, self._files, self._own = module, files, frozenset(own)
        self._options = [*_OPTIONS]
        self._result: object = None
        self._main: Any = None

    def load(self, layers: list[str]) -> None:
        """Have `pytest.main` run the program's own tests, with the plugins in folders of packages."""
        pytest: Any = sys.modules.get("pytest")
        if pytest is not None:
            self._main = pytest.main
            pytest.main = sys.modules["_pytest.config"].main = hide(self._called)  # type: ignore[attr-defined]
            self._options += _plugins_in(layers) if layers else []

    def run(self, names: list[str]) -> None:
        """Run the tests of these functions and classes; raises the first exception that one ended by."""
        if self._main is None:
            raise ModuleNotFoundError("No module named 'pytest'", name="pytest")
        self._run([], [], frozenset(names))
        if self.failure is not None:
            raise self.failure

    def is_own_exit(self, error: BaseException | None) -> bool:
        """Whether a program ended itself by what `pytest.main` gave, and that tells of no failure."""
        if type(error) is not SystemExit or self._result is None or error.code is not self._result:
            return False
        return error.code in (0, _NO_TESTS)

    def chosen(self, arguments: list[str]) -> list[str] | None:
        """The ids of tests among pytest's arguments; None where they name other files than the program's."""
        file = str(self._module.__file__)
        parts = [argument.partition("::") for argument in arguments]
        own = [rest for path, _, rest in parts if os.path.abspath(path) in (file, os.path.dirname(file))]
        return own if own or not parts else None

    def collector(self, session: Any, names: frozenset[str] | None) -> Any:
        """The module as pytest knows modules, with its tests of these names, or with all."""
        import pathlib

        import pytest

        module, own = self._module, self._own

        class Tests(pytest.Module):
            def _getobj(self) -> Any:
                return module

            def collect(self) -> Iterator[Any]:
                for node in super().collect():
                    name = node.name.partition("[")[0]
                    if name not in own if names is None else name in names:
                        yield node

        return Tests.from_parent(session, path=pathlib.Path(str(module.__file__)))

    def note(self, error: BaseException) -> None:
        """A test ended by an exception."""
        self.failed()
        if self.failure is None:
            if type(error).__name__ == "FixtureLookupError":
                error = LookupError(f"fixture {getattr(error, 'argname', '')!r} not found")
            self.failure = error.with_traceback(_first_of(error.__traceback__, self._files))

    def _called(self, args: Any = None, plugins: Any = None) -> Any:
        self.ran = True
        # What stands in sys.argv was not said to pytest.
        given = [args] if isinstance(args, os.PathLike) else args or []
        self._result = self._run(given, plugins or [], None)
        return self._result

    def _run(self, given: Any, plugins: Any, names: frozenset[str] | None) -> Any:
        if self.is_idle and names is None:
            return sys.modules["pytest"].ExitCode.OK
        session = _Session(self, names)
        arguments = given if isinstance(given, str) else [*self._options, *map(str, given)]
        former = {name: os.environ.pop(name) for name in _SETTINGS if name in os.environ}
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        try:
            result = self._main(arguments, [*plugins, session.hooks()])
        finally:
            del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
            os.environ.update(former)
        self.judges.look()
        if not session.is_whole():
            self.failed()
        return result


class _Session:
    """One run of pytest: which tests there are, and which of them came to an end."""

    def __init__(self, runner: PytestRunner, names: frozenset[str] | None) -> None:
        self._runner, self._names = runner, names
        self._items: list[Any] = []
        self._over: set[int] = set()
        self._failing: set[int] = set()
        self._marks: list[tuple[dict[str, Any], object]] = []

    def hooks(self) -> type:
        """What pytest asks and tells."""
        import pytest

        run = self

        class Hooks:
            @staticmethod
            @pytest.hookimpl(trylast=True)
            def pytest_configure(config: Any) -> None:
                config.pluginmanager.unregister(name="terminalreporter")

            @staticmethod
            @pytest.hookimpl(tryfirst=True)
            def pytest_collection(session: Any) -> bool | None:
                return run.collect(session)

            @staticmethod
            def pytest_sessionfinish() -> None:
                for space, marks in run._marks:
                    space["pytestmark"] = marks

            @staticmethod
            def pytest_collectreport(report: Any) -> None:
                if report.failed:
                    run._runner.failed()

            @staticmethod
            @pytest.hookimpl(tryfirst=True)
            def pytest_pyfunc_call(pyfuncitem: Any) -> bool:
                run.call(pyfuncitem)
                return True

            @staticmethod
            @pytest.hookimpl(wrapper=True, tryfirst=True)
            def pytest_runtest_makereport(item: Any, call: Any) -> Any:
                before = call.excinfo
                report = yield
                run.report(item, call.when, before or call.excinfo, report)
                return report

        return Hooks

    def collect(self, session: Any) -> bool | None:
        """Hand over the program's tests; None where pytest is to look for other files."""
        config = session.config
        is_given = config.args_source is type(config).ArgsSource.ARGS
        chosen = self._runner.chosen(config.args if is_given else [])
        if chosen is None:
            return None
        module = self._runner.collector(session, self._names)
        items = [item for item in session.genitems(module) if _is_chosen(item.nodeid, chosen)]
        for number, item in enumerate(items):
            _hide_parameters(item, str(number))
            space = vars(getattr(item.obj, "__func__", item.obj))
            if "pytestmark" in space:
                # A test's function would tell the candidate what the test expects.
                self._marks.append((space, space.pop("pytestmark")))
        session.items = items
        config.hook.pytest_collection_modifyitems(session=session, config=config, items=items)
        config.hook.pytest_collection_finish(session=session)
        session.testscollected = len(items)
        if not config.option.collectonly:
            self._items = [*items]
        self._failing = {id(item) for item in items if item.get_closest_marker("xfail")}
        return True

    def call(self, item: Any) -> None:
        """Run a test that is a function or a method, a coroutine too."""
        self._runner.judges.look()
        finish_call(item.obj(**{name: item.funcargs[name] for name in item._fixtureinfo.argnames}))
        self._over.add(id(item))

    def report(self, item: Any, when: str, raised: Any, report: Any) -> None:
        """A test was prepared, called or cleared up after; `raised` is what pytest has of an exception."""
        if raised is not None:
            self._over.add(id(item))
            if id(item) not in self._failing and not self._is_skip(raised.value):
                self._runner.note(raised.value)
        elif report.failed:
            self._runner.failed()  # it was to fail, and did not
        elif when == "call" and type(item).__name__ == "TestCaseFunction":
            self._over.add(id(item))

    def is_whole(self) -> bool:
        """Whether each test came to its end or was skipped."""
        return all(id(item) in self._over for item in self._items)

    def _is_skip(self, error: BaseException) -> bool:
        """Whether the program leaves a test out; what the candidate raises is none."""
        from unittest import SkipTest

        import pytest

        skips = pytest.skip.Exception, pytest.xfail.Exception, SkipTest
        return isinstance(error, skips) and not self._runner.judges.is_of_candidate(error.__traceback__)


def _is_chosen(identity: str, chosen: list[str]) -> bool:
    own = identity.partition("::")[2]
    return not any(chosen) or any(own == one or own.startswith((f"{one}::", f"{one}[")) for one in chosen)


def _hide_parameters(item: Any, number: str) -> None:
    """PYTEST_CURRENT_TEST would tell the candidate what a test expects."""
    identity = item._id
    if identity.params is not None:
        item._id = type(identity)(path=identity.path, names=identity.names, params=number)


def _first_of(traceback: TracebackType | None, files: tuple[str, str]) -> TracebackType | None:
    """From the first frame of candidate or program on: those of the runner tell nothing."""
    found = traceback
    while found is not None and found.tb_frame.f_code.co_filename not in files:
        found = found.tb_next
    return found


def _plugins_in(folders: list[str]) -> list[str]:
    """Options of pytest for the plugins among packages that were installed for the program."""
    from importlib.metadata import distributions

    entries = (entry for found in distributions(path=folders) for entry in found.entry_points)
    return [part for entry in entries if entry.group == "pytest11" for part in ("-p", entry.value)]
