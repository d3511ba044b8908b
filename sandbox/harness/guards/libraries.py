"""Whether what the program uses of libraries stays what it was: another `isclose` proves nothing.

Looked at are the modules that the program imports, wherever it does so, with those that they themselves use:
functions, classes, methods, and what an object of a module might have in the place of a method. Where the
candidate's text neither has a name nor a word to make one with, it can change nothing under that name.
"""

from __future__ import annotations

import _operator
import builtins
import os
import sys

from sandbox.harness.guards.library_data import CONTAINERS, LibraryData

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType
    from typing import Any

_is, _call = _operator.is_, _operator.call
_Function, _Module = type(lambda: 0), type(sys)
_members, _bases = type.__dict__["__dict__"].__get__, type.__dict__["__mro__"].__get__
_flags, _MADE_BY_A_STATEMENT = type.__dict__["__flags__"].__get__, 1 << 9
# With one of these a candidate can change attributes whose names its text does not have.
_BY_NAME = (
    *("setattr", "__setattr__", "__dict__", "vars", "exec", "eval", "globals", "getattr", "attrgetter"),
    *("__getattribute__", "modules", "patch", "reload", "__import__", "delattr", "__delattr__"),
)
# With one of these a candidate can decide what an import finds.
_OF_IMPORTS = (*_BY_NAME, "path", "meta", "import", "builtins", "open", "write", "loader")
# Their state is there to be changed, and others look after what judges.
_CHANGING = frozenset(
    {
        *("asyncio", "builtins", "doctest", "gettext", "linecache", "locale", "logging", "mock", "os"),
        *("pluggy", "pytest", "_pytest", "socket", "ssl", "sys", "threading", "unittest", "warnings"),
        *("__main__", "atexit", "signal", "sandbox"),
    }
)
# Of these a candidate may change nothing but how much they say.
_OF_JUDGES = frozenset({"doctest", "unittest"})
_TALKATIVE = frozenset(
    {"maxDiff", "longMessage", "_diffThreshold", "__doc__", "__abstractmethods__", "_abc_impl"}
)
# By what these import they judge: `collections.Counter` decides `assertCountEqual`.
_JUDGES = (
    *("unittest.case", "unittest.util", "unittest.mock", "doctest", "_pytest.raises", "_pytest.python_api"),
    *("_pytest._code.code", "_pytest.recwarn"),
)
# To import these does something that can be seen.
_LOUD = frozenset({"__main__", "antigravity", "idlelib", "test", "this", "tkinter", "turtle", "turtledemo"})
_MOST_ENTRIES, _MOST_AT_A_CALL, _MOST_LOOKED_AT = 60_000, 1000, 4_000_000
# What an import statement, or a test that reads a file, asks the interpreter for.
_ASKED = ("__import__", "open")


def load_imported(names: Iterable[str], codes: list[CodeType], candidate: str) -> None:
    """Load what a program imports later on, as long as nobody else can say what an import finds.

    So is what a package loads when it is first asked for, such as `testing` of numpy.
    """
    if not any(word in candidate for word in _OF_IMPORTS):
        return
    used = {name for code in codes for name in code.co_names}
    for name in names:
        _load(name)
        package: Any = sys.modules.get(name)
        if type(package) is _Module and {"__getattr__", "__path__"} <= vars(package).keys():
            for part in sorted(used - vars(package).keys()):
                if any(_has_part(folder, part) for folder in package.__path__):
                    _load(f"{name}.{part}")


def _load(name: str) -> None:
    if name in sys.modules or name.partition(".")[0] in _LOUD:
        return
    try:
        __import__(name)
    except BaseException:
        return  # the program is told so itself, where it gets there


def _has_part(folder: str, name: str) -> bool:
    return any(os.path.exists(f"{folder}/{name}{end}") for end in (".py", "/__init__.py"))


class Libraries:
    """Of one run. `names` are the modules that the program imports, `named` all names that its text has."""

    def __init__(
        self, names: Iterable[str], candidate: CodeType, codes: list[CodeType], named: set[str]
    ) -> None:
        self._getters: list[Callable[[str], object]] = []
        self._names: list[str] = []
        self._used = {name for code in codes for name in code.co_names}
        self._by_name = not self._used.isdisjoint(_BY_NAME)
        self._file = candidate.co_filename
        self._left = _MOST_LOOKED_AT
        self._stores: list[dict[Any, Any]] = []
        self._was_changed = False
        for name in names:
            if self._by_name or name in self._used:
                self._add(sys.modules.get, name)
        for name in _ASKED:
            if self._by_name or name in self._used:
                self._add(vars(builtins).get, name)
        self._data = LibraryData(self._used, self._by_name, self._file)
        for module in _modules_of(names):
            self._learn(module)
        for module in _judging_modules(names):
            self._learn_judges(module)
        for name in names:
            if name.partition(".")[0] in _CHANGING and type(sys.modules.get(name)) is _Module:
                self._learn_named(sys.modules[name], named)
        self._before = self._now()

    def _add(self, getter: Callable[[str], object], name: str) -> None:
        if len(self._names) < _MOST_ENTRIES:
            self._getters.append(getter)
            self._names.append(name)

    def _learn(self, module: Any) -> None:
        space = vars(module)
        root = str(space.get("__name__")).partition(".")[0]
        members = [(name, value) for name, value in space.items() if name[:2] != "__"]
        for name, value in members:
            is_number = type(value) in (int, float, str) and name[0] != "_"
            if (self._by_name or name in self._used) and (callable(value) or is_number):
                self._add(space.get, name)
        for name, value in members:
            kind = type(value)
            if isinstance(value, type):
                if _flags(value) & _MADE_BY_A_STATEMENT and str(value.__module__).partition(".")[0] == root:
                    self._learn_class(value)
            elif kind is _Function:
                self._data.learn_function(value)
            elif kind in CONTAINERS:
                self._data.learn_container(name, value)
                if kind is dict and (self._by_name or name in self._used) and value is not space:
                    self._stores.append(value)
            elif kind is not _Module and type(kind) is type:
                self._learn_object(value)

    def _learn_class(self, kind: type) -> None:
        members = _members(kind)
        self._data.learn_class(kind, members)
        # What a class has of its bases it may get anew.
        names = {name for base in _bases(kind) for name in self._used & _members(base).keys()}
        for name in names.union(members if self._by_name else ()):
            found = members.get(name, _call)
            if callable(found) or isinstance(found, (property, staticmethod, classmethod)):
                self._add(members.get, name)

    def _learn_object(self, value: Any) -> None:
        """An object may get a function of its own in the place of a method of its class."""
        try:
            space = object.__getattribute__(value, "__dict__")
        except Exception:
            return
        if type(space) is not dict:
            return
        self._data.learn_object(value, space)
        bases = [*map(_members, _bases(type(value)))]
        names = {name for base in bases for name in base} if self._by_name else self._used
        for name in names:
            if name[:2] != "__" and any(name in base for base in bases):
                self._add(space.get, name)

    def _learn_judges(self, module: Any) -> None:
        """All that the candidate has a name for, functions and data alike."""
        space = vars(module)
        self._add_members(space, space)
        for value in [*space.values()]:
            if isinstance(value, type) and value.__module__ == module.__name__:
                self._add_members(_members(value), _members(value))
            elif str(type(value).__module__).partition(".")[0] in _OF_JUDGES:
                # What it has none of now it may be given.
                self._add_members(
                    vars(value), {name for base in _bases(type(value)) for name in _members(base)}
                )

    def _add_members(self, space: Any, names: Iterable[str]) -> None:
        for name in {*names} - _TALKATIVE if self._by_name else self._used.intersection(names) - _TALKATIVE:
            self._add(space.get, name)

    def _learn_named(self, module: Any, named: set[str]) -> None:
        """Methods that the program itself calls, of classes in a module that has a state of its own."""
        for value in [*vars(module).values()]:
            if isinstance(value, type) and _flags(value) & _MADE_BY_A_STATEMENT:
                members = _members(value)
                names = {name for name in members if name in named or name[:2] == "__"} & self._used
                for name in names | (named & members.keys() if self._by_name else set()):
                    self._add(members.get, name)

    def _now(self) -> list[object]:
        return [*map(_call, self._getters, self._names)]

    @property
    def can_change(self) -> bool:
        """Whether the candidate could change anything, as far as its text shows."""
        return bool(self._names) or self._data.has_any

    def is_changed(self) -> bool:
        """Whether anything is other than before the candidate ran."""
        if not all(map(_is, self._now(), self._before)) or self._data.is_changed():
            return True
        values = [value for store in self._stores for value in [*store.values()][:_MOST_AT_A_CALL]]
        return any(map(self._is_own, values))

    def is_changed_for_good(self, codes: Iterable[CodeType]) -> bool:
        """Whether it is so at the end, in what the program does not name: that it may have changed itself."""
        if self._data.is_changed():
            return True
        if not (self._names or self._stores):
            return False
        named = {name for code in codes for name in code.co_names}
        texts = (one for code in codes for one in code.co_consts if type(one) is str)
        named.update(text.rpartition(".")[2] for text in texts)
        pairs = zip(self._names, map(_is, self._now(), self._before), strict=True)
        if any(not is_same and name not in named for name, is_same in pairs):
            return True
        values = [value for store in self._stores for value in [*store.values()][:_MOST_AT_A_CALL]]
        return any(map(self._is_own, values))

    def entered(self) -> list[object]:
        """What there is now, of as much as can be looked at with each call."""
        self._was_changed = self._data.is_changed_now()
        if not self._names or self._left <= 0:
            return []
        self._left -= len(self._names)
        return self._now() if len(self._names) <= _MOST_AT_A_CALL else []

    def left(self, before: list[object]) -> bool:
        """Whether anything is other than it was when `entered` gave this."""
        if bool(before) and not all(map(_is, self._now(), before)):
            return True
        return not self._was_changed and self._data.is_changed_now()

    def _is_own(self, value: Any) -> bool:
        """Whether a value is a function of the candidate's, or has one for a method."""
        if type(value) is _Function:
            return bool(value.__code__.co_filename == self._file)
        found = [one for base in _bases(type(value)) for one in _members(base).values()]
        return any(type(one) is _Function and one.__code__.co_filename == self._file for one in found)


def _judging_modules(names: Iterable[str]) -> list[Any]:
    """The loaded modules of unittest and doctest, where the program imports them."""
    roots = {name.partition(".")[0] for name in names} & _OF_JUDGES
    return [sys.modules[name] for name in sorted(sys.modules) if name.partition(".")[0] in roots]


def _modules_of(names: Iterable[str]) -> list[Any]:
    """The loaded modules of the same packages, and those that they name, in the order of their names.

    So are those that the judges name which the program imports.
    """
    roots = {name.partition(".")[0] for name in names}
    judges = {name for name in _JUDGES if name.partition(".")[0].lstrip("_") in roots}
    roots -= _CHANGING
    own = [name for name in sorted(sys.modules) if name.partition(".")[0] in roots]
    found = {id(one): one for name in own if type(one := sys.modules[name]) is _Module}
    for module in [*found.values(), *filter(None, map(sys.modules.get, sorted(judges)))]:
        for one in [*vars(module).values()]:
            if type(one) is _Module and one.__name__.partition(".")[0] not in _CHANGING:
                found[id(one)] = one
    return [*found.values()]
