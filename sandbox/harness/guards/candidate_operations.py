"""Whether a class of the candidate decided what an assertion found: a class may call itself equal to all.

An assertion holds by the candidate's *own word* where one of its classes decided the comparison, or an
operation that led to it. The word is FEIGNED where such a class stands for a value of a built-in type.

An operation that heard the program's own number, such as `answer() - 43`, may suit its result to that. It is
no answer but where an equality of built-in values tells one that it can't have had from there.
"""

from __future__ import annotations

from sandbox.harness.guards.class_members import (
    DEEPEST,
    EXPECTED,
    FROM_C,
    MOST_VALUES,
    PLAIN,
    Function,
    bases_of,
    has_class,
    has_code,
    has_own_methods,
    is_of_library,
    is_of_values,
    members_of,
    name_of,
    values_in,
    wrapped_by,
)
from sandbox.harness.guards.dataclass_operations import compares_all, is_of_dataclass
from sandbox.harness.guards.object_state import scalars_of, state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

# In their order: of two the second counts.
NONE, CLASS, FEIGNED = "", "class", "feigned"
_NUMBERS: tuple[type, ...] = (int, float, complex)
_COMPARING = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__class__")
_TRUTH = ("__bool__", "__len__")
_BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift")
_ARITHMETIC = frozenset(
    f"__{side}{name}__" for name in (*_BINARY, "and", "or", "xor") for side in ("", "r", "i")
)
# What they are given may be what the program expects: they can give back what suits it.
_HEARING = frozenset({*_COMPARING, *_ARITHMETIC} - {"__class__"})
# Who asks for them takes the answer for that of a type that it knows.
_POSING = frozenset(
    {
        *("__class__", "__instancecheck__", "__subclasscheck__"),
        *("__array_ufunc__", "__array_function__"),
    }
)
# By the function that asks for it by its name.
_CONVERTING = {
    "__float__": "float",
    "__int__": "int",
    "__complex__": "complex",
    "__index__": "int",
    "__array__": "array",
}
_UNARY = frozenset(
    {
        *("__neg__", "__pos__", "__abs__", "__invert__", "__round__", "__trunc__", "__floor__", "__ceil__"),
        *_CONVERTING,
    }
)
_OPERATIONS = frozenset(
    {
        *(*_COMPARING, *_TRUTH, *_ARITHMETIC, *_UNARY, *_POSING, "__hash__", "__str__", "__repr__"),
        *("__format__", "__bytes__", "__getitem__", "__missing__", "__iter__", "__next__", "__reversed__"),
        *("__getattr__", "__getattribute__"),
    }
)
# By them a class has any method, and any attribute, that it is asked for.
_ANSWERING = frozenset({"__getattr__", "__getattribute__"})
_FOLLOWED = frozenset({*_COMPARING, *_TRUTH, *_ARITHMETIC, *_UNARY} - {"__class__"})
_COMPARED = frozenset(_COMPARING) - {"__contains__", "__class__"}
_MOST_RETURNED, _DEEPEST_RETURNED = 50, 4
# What an operation gives that knows nothing: a difference of nothing, a ratio of one.
_USUAL = (0, 1, -1, "", b"", None)
_OTHER = object()


_TEMPORARY = ("/tmp/", "/dev/shm/", "/var/tmp/")
_VARIABLE_ARGUMENTS = 4
_are_plain = PLAIN.issuperset


def is_built_in(value: object) -> bool:
    """Whether it is of a type of which programs write what they expect."""
    return id(type(value)) in EXPECTED


class Told:
    """An operation's word. `heard`: an equality with something else than these is proof all the same."""

    __slots__ = ("heard", "word")

    def __init__(self, word: str, heard: tuple[object, ...] = ()) -> None:
        self.word, self.heard = word, heard

    def counts(self, compared: list[object]) -> bool:
        """Whether it does beside an equality of these values; without one there are none."""
        return bool(self.word) and not (self.heard and any(self._is_answer(one) for one in compared))

    def _is_answer(self, value: object) -> bool:
        if id(type(value)) not in PLAIN:
            return False
        if self.heard == (_OTHER,):
            return value is not True and value is not False
        return value not in self.heard and value not in _USUAL


class Decision:
    """Of some compared values, or of a call, whether a class of the candidate decides.

    `program` and `candidate` are the files of their code. `matchers`: parts of libraries for tests
    of which the candidate may have values: these are equal to what they are told.
    """

    def __init__(self, program: str, candidate: str, matchers: list[str]) -> None:
        self._program, self._candidate, self._matchers = program, candidate, matchers
        self._own: set[str] = set()
        self._tested: dict[int, type] = {}
        self._generated: dict[int, tuple[CodeType, bool]] = {}
        self._known: dict[tuple[int, int], tuple[object, frozenset[str], tuple[type, ...]]] = {}
        # Classes by their identity: those of what an operation gave that had heard a value; those looked at.
        self._carriers: dict[int, type] = {}
        self._looked: dict[int, type] = {}
        self._space: dict[str, Any] = {}
        self.is_opaque = False

    def learn_names(self, space: dict[str, Any], names: set[str], used: set[str]) -> None:
        """Of the candidate's `names`, the classes that the program uses: they are what it tests."""
        self._space, self._own = space, names
        waiting = [space.get(name) for name in sorted(names & used)]
        while waiting:
            value: Any = waiting.pop()
            if has_class(bases_of(type(value)), type) and id(value) not in self._tested:
                self._tested.update((id(kind), kind) for kind in bases_of(value) if kind is not object)
                waiting += [inner for name, inner in members_of(value).items() if name in used]
        for value in [space.get(name) for name in names]:
            if has_class(bases_of(type(value)), type):
                self.learn_class(value)

    def find_same_state(
        self, values: list[object], written: list[tuple[set[str], list[object]]]
    ) -> list[object]:
        """All plain values that both of two values hold, compared by built-in types alone; else nothing.

        One of them the program has to have made itself, of classes that it uses by name; and these have to
        have kept what they were given. Else anything may be equal: what has no state, or always the same.
        """
        states = [state_of(value, DEEPEST) for value in values]
        if len(states) != 2 or states[0] is None or states[0] != states[1]:
            return []
        kept = [*scalars_of(states[0])]
        is_kept = any(
            all(id(self._space.get(name)) in self._tested for name in names)
            and all(literal in kept for literal in literals)
            for names, literals in written
        )
        return kept if is_kept else []

    def has_tested_members(self, values: list[object]) -> bool:
        """Whether it is the program's question what the last one holds: of a class that it uses by name."""
        kind = type(values[-1])
        return id(kind) in self._tested and not self._is_own(kind, tuple(_COMPARED))

    def stands_for_others(self, values: list[object]) -> bool:
        """Whether one value is of a type of which programs write values, or of a class of the program's.

        A class of the candidate that the program uses by name may be compared with one of the latter.
        """
        kinds = [type(value) for value in values]
        if any(id(kind) in self._tested and self._is_own(kind, ("__eq__",)) for kind in kinds):
            return any(id(kind) in EXPECTED for kind in kinds)
        named: list[Any] = [self._space.get(name) for name in map(name_of, kinds) if name not in self._own]
        return any(is_of_values(kind) or has_class((*named,), kind) for kind in kinds)

    def of_truth(self, value: object) -> bool:
        """Whether the truth of the value was its class's to say."""
        return id(type(value)) not in PLAIN and self._is_own(type(value), _TRUTH)

    def of_comparison(self, values: list[object]) -> bool:
        """Whether one of the values, or something in them, has its own idea of being equal."""
        waiting: list[tuple[object, int]] = [(value, DEEPEST) for value in values]
        for _ in range(MOST_VALUES):
            if not waiting:
                return False
            value, depth = waiting.pop()
            kind = type(value)
            if id(kind) in PLAIN:
                continue
            if id(kind) not in EXPECTED and self._is_own(kind, _COMPARING):
                return True
            if depth:
                inner = values_in(value, kind)
                if not _are_plain(map(id, map(type, inner))):
                    waiting += [(one, depth - 1) for one in inner]
        return False

    def of_call(self, frame: FrameType) -> Told | None:
        """Whose word a call is that somebody else than the candidate makes: nobody's unless an operation's.

        The methods of a class that the program uses by name are what is tested. Those of another one count
        where they stand for what a built-in type would do. Of both those count that hear a built-in value.
        """
        caller = frame.f_back
        if caller is None or caller.f_code.co_filename == self._candidate:
            return None
        given = _given(frame)
        if not given or is_built_in(given[0]):
            return None
        kind, code = type(given[0]), frame.f_code
        if (id(kind), id(code)) not in self._known:
            self._known[id(kind), id(code)] = ((kind, code), *_operations_of(kind, code, given[0]))
        _, names, owners = self._known[id(kind), id(code)]
        if not names or self._is_inside(frame):
            return None
        return self._told(names, owners, given, caller)

    def learn_result(self, told: Told, value: object) -> None:
        """What an operation gave: one of a built-in type is compared as such, another one is asked again."""
        if told.heard and not told.word and value is not NotImplemented:
            if is_built_in(value):
                told.word = FEIGNED
            else:
                self._carriers[id(type(value))] = type(value)

    def learn_returned(self, value: object) -> None:
        """What the candidate gave: a class may have operations that no call of its own would tell of."""
        waiting: list[tuple[object, int]] = [(value, _DEEPEST_RETURNED)]
        for _ in range(_MOST_RETURNED):
            if not waiting or self.is_opaque:
                return
            one, depth = waiting.pop()
            kind = type(one)
            if id(kind) not in PLAIN and depth:
                self.learn_class(kind)
                self.is_opaque |= has_own_methods(one, kind)
                waiting += [(inner, depth - 1) for inner in values_in(one, kind)[:_MOST_RETURNED]]

    def learn_class(self, kind: type) -> None:
        """Whether an operation of it is no function of Python: then nobody hears of its calls."""
        if id(kind) not in self._looked:
            self._looked[id(kind)] = kind
            self.is_opaque |= any(_is_opaque(base, bases_of(kind)) for base in bases_of(kind))

    def _told(
        self, names: frozenset[str], owners: tuple[type, ...], given: list[object], caller: FrameType
    ) -> Told | None:
        is_tested, rest = id(owners[0]) in self._tested, given[1:]
        is_number = any(has_class(owners[1:], number) for number in _NUMBERS)
        if not _POSING.isdisjoint(names) or (is_number and not _UNARY.isdisjoint(names)):
            is_named = id(given[0]) in self._tested
            return Told(FEIGNED) if not is_named else Told(CLASS, (_OTHER,)) if _is_of_error(rest) else None
        if not is_tested and any(_is_feigned(base, name) for base in owners[1:] for name in names):
            return Told(FEIGNED)
        if rest and is_built_in(rest[0]) and not _HEARING.isdisjoint(names):
            return self._told_by_hearing(names, rest[0], is_tested)
        if is_tested and not _COMPARED.isdisjoint(names):
            return Told(CLASS, (_OTHER,))
        if not _ANSWERING.isdisjoint(names) or (not is_tested and "__bool__" in names):
            return Told(CLASS, (_OTHER,))
        is_implied = any(_CONVERTING.get(name, "") not in ("", *caller.f_code.co_names) for name in names)
        is_asked_again = id(owners[0]) in self._carriers and not _FOLLOWED.isdisjoint(names)
        return Told(CLASS, (_OTHER,)) if is_asked_again or is_implied else None

    def _told_by_hearing(self, names: frozenset[str], value: object, is_tested: bool) -> Told:
        if not _ARITHMETIC.isdisjoint(names):
            return Told(NONE, (value if id(type(value)) in PLAIN else _OTHER,))
        if "__contains__" in names:
            return Told(CLASS)
        return Told(FEIGNED) if is_tested or not self._tested else Told(CLASS, (_OTHER,))

    def _is_inside(self, frame: FrameType) -> bool:
        """Whether the candidate asked for it, by way of a library."""
        caller = frame.f_back
        while caller is not None and caller.f_code.co_filename != self._candidate:
            caller = caller.f_back
        return caller is not None

    def _is_own(self, kind: type, methods: tuple[str, ...]) -> bool:
        bases = bases_of(kind)
        for method in methods:
            for one in bases:
                found = members_of(one).get(method, values_in)
                if found is not values_in:
                    if self._is_doubtful(found, method, bases):
                        return True
                    break
        return False

    def _is_doubtful(self, found: Any, method: str, bases: tuple[type, ...]) -> bool:
        """Whether nobody but the candidate can have written it: neither the program nor a library has."""
        if found is None:
            return False
        if type(found) in FROM_C:
            return found.__name__ != method or not has_class(bases, found.__objclass__)
        if type(found) is not Function:
            return True
        code = found.__code__
        file = code.co_filename
        if file == self._program or (self._is_generated(code) and compares_all(code, bases)):
            return False
        if any(part in file for part in self._matchers):
            return True
        return not (file.startswith("<frozen ") or (file.startswith("/") and not file.startswith(_TEMPORARY)))

    def _is_generated(self, code: CodeType) -> bool:
        """Whether it is what the library's decorator `dataclass` makes."""
        if id(code) not in self._generated:
            self._generated[id(code)] = code, is_of_dataclass(code)
        return self._generated[id(code)][1]


def _given(frame: FrameType) -> list[object]:
    """The first two values that a function was called with, as it begins."""
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount
    found = [values[name] for name in code.co_varnames[: min(count, 2)] if name in values]
    if code.co_flags & _VARIABLE_ARGUMENTS:
        rest = values.get(code.co_varnames[count + code.co_kwonlyargcount])
        found += rest if type(rest) is tuple else ()
    return found[:2]


def _operations_of(kind: type, code: CodeType, given: object) -> tuple[frozenset[str], tuple[type, ...]]:
    """Which operations of a class are this code, and the classes from the one on that has them.

    So is any method that a type has of which programs write values: `startswith` of a subclass of `str`.
    """
    bases = bases_of(kind)
    for place, owner in enumerate(bases):
        names: frozenset[str] = frozenset(
            name
            for name, found in members_of(owner).items()
            if has_code(found, code) and (name in _OPERATIONS or _is_replaced(name, bases[place + 1 :]))
        )
        if names:
            return names, bases[place:]
    if isinstance(given, type) and _runs_as_hook(given, code):
        return frozenset({"__subclasscheck__"}), bases
    return frozenset(), ()


def _runs_as_hook(kind: type, code: CodeType) -> bool:
    """Whether it is what a class answers for its metaclass when one asks for its subclasses."""
    hooks = (members_of(base).get("__subclasshook__") for base in bases_of(kind))
    return any(type(hook) is classmethod and has_code(hook.__func__, code) for hook in hooks)


def _is_replaced(name: str, bases: tuple[type, ...]) -> bool:
    is_method = name[:2] != "__"
    return is_method and any(is_of_values(base) and name in members_of(base) for base in bases)


def _is_opaque(base: type, bases: tuple[type, ...]) -> bool:
    """Whether a class of the candidate has an operation that runs without a call of a function of Python."""
    members = members_of(base)
    if is_of_library(base, members) or _FOLLOWED.isdisjoint(members):
        return False
    return any(_is_unheard(name, members[name], bases) for name in _FOLLOWED.intersection(members))


def _is_unheard(name: str, found: Any, bases: tuple[type, ...]) -> bool:
    if found is None or type(found) is Function:
        return False
    if type(found) in FROM_C:
        return found.__name__ != name or not has_class(bases, found.__objclass__)
    return wrapped_by(found) is None


def _is_of_error(given: list[object]) -> bool:
    """Whether it is asked of an exception, or of a class of them."""
    kinds = [one if has_class(bases_of(type(one)), type) else type(one) for one in given]
    return any(has_class(bases_of(kind), BaseException) for kind in kinds)


def _is_feigned(base: type, name: str) -> bool:
    """Whether a class that replaces this stands for a value of the base's."""
    if _is_built_in(base, name):
        return True
    # What is abstract has comparisons for others to write.
    is_method = name[:2] != "__" or (name in _COMPARED and type(base) is type)
    return is_method and name in members_of(base) and is_of_values(base)


def _is_built_in(base: type, name: str) -> bool:
    """Whether a type that holds data does this by itself; any object has a class."""
    if type(members_of(base).get(name)) not in FROM_C:
        return False
    return name == "__class__" or not (base is object or has_class(bases_of(base), BaseException))
