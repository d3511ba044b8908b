"""Whether a class of the candidate decided what an assertion found: a class may call itself equal to all.

An assertion holds by the candidate's *own word* where one of its classes decided the comparison, or an
operation that led to it. The word is FEIGNED where such a class stands for a value of a built-in type.

An operation that heard the program's own number, such as `answer() - 43`, may suit its result to that. It is
no answer but where an equality of built-in values tells one that it can't have had from there.
"""

from __future__ import annotations

import _functools  # type: ignore[import-not-found]  # functools itself imports collections and more
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType
    from typing import Any

# In their order: of two the second counts.
NONE, CLASS, FEIGNED = "", "class", "feigned"
_Function = type(lambda: 0)
_HOLDING: tuple[type, ...] = (list, tuple, dict, set, frozenset)
_WRITTEN: tuple[type, ...] = (bool, int, float, complex, str, bytes, bytearray, type(None))
_NUMBERS: tuple[type, ...] = (int, float, complex)
# By their identity: a class of the candidate may have the hash of another one, and call itself equal to it.
PLAIN = frozenset(map(id, (*_WRITTEN, range, type(...), slice)))
"""The types whose values have no idea of their own of anything, nor hold what could have one."""
_EXPECTED = frozenset(map(id, (*_WRITTEN, *_HOLDING)))
_COMPARING = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__class__")
_TRUTH = ("__bool__", "__len__")
_ORDERS = {"__eq__": "==", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
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
_MOST_VALUES, _DEEPEST = 1000, 6
_MOST_RETURNED, _DEEPEST_RETURNED = 50, 4
# Libraries whose classes are values, in the sense of `_is_of_values`.
_OF_VALUES = frozenset(
    {
        *(
            "_decimal",
            "_io",
            "_pydecimal",
            "array",
            "collections",
            "datetime",
            "decimal",
            "enum",
            "fractions",
        ),
        *("io", "ipaddress", "numpy", "pandas", "pathlib", "statistics", "uuid"),
    }
)
# What an operation gives that knows nothing: a difference of nothing, a ratio of one.
_USUAL = (0, 1, -1, "", b"", None)
_OTHER, _PLAIN_STATE = object(), object()
# Looked up in the class `type`: a metaclass may have its own idea of them.
_bases = type.__dict__["__mro__"].__get__
_members = type.__dict__["__dict__"].__get__
_flags, _name_of = type.__dict__["__flags__"].__get__, type.__dict__["__name__"].__get__
_module_of = type.__dict__["__module__"].__get__
_MADE_BY_A_STATEMENT = 1 << 9
_FROM_C = frozenset({type(str.__eq__), type(dict.get), type(object.__dict__["__class__"])})


class _Slotted:
    __slots__ = ("slot",)


class _Slotless:
    pass


_Slot: Any = type(vars(_Slotted)["slot"])
_Attributes: Any = type(vars(_Slotless)["__dict__"])
_TEMPORARY = ("/tmp/", "/dev/shm/", "/var/tmp/")
_VARIABLE_ARGUMENTS = 4
_compile, _are_plain = compile, PLAIN.issuperset


def is_built_in(value: object) -> bool:
    """Whether it is of a type of which programs write what they expect."""
    return id(type(value)) in _EXPECTED


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

    `program` and `candidate` are the files of their code. `mocks`: the candidate may have made those of
    `unittest.mock`, which are equal to what they are told.
    """

    def __init__(self, program: str, candidate: str, mocks: bool) -> None:
        self._program, self._candidate, self._mocks = program, candidate, mocks
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
        self._space = space
        waiting = [space.get(name) for name in sorted(names & used)]
        while waiting:
            value: Any = waiting.pop()
            if _has(_bases(type(value)), type) and id(value) not in self._tested:
                self._tested.update((id(kind), kind) for kind in _bases(value) if kind is not object)
                waiting += [inner for name, inner in _members(value).items() if name in used]
        for value in [space.get(name) for name in names]:
            if _has(_bases(type(value)), type):
                self.learn_class(value)

    def find_same_state(
        self, values: list[object], written: list[tuple[set[str], list[object]]]
    ) -> list[object]:
        """All plain values that both of two values hold, compared by built-in types alone; else nothing.

        One of them the program has to have made itself, of classes that it uses by name; and these have to
        have kept what they were given. Else anything may be equal: what has no state, or always the same.
        """
        states = [_state_of(value, _DEEPEST) for value in values]
        if len(states) != 2 or states[0] is None or states[0] != states[1]:
            return []
        kept = [*_scalars_of(states[0])]
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

    def of_truth(self, value: object) -> bool:
        """Whether the truth of the value was its class's to say."""
        return id(type(value)) not in PLAIN and self._is_own(type(value), _TRUTH)

    def of_comparison(self, values: list[object]) -> bool:
        """Whether one of the values, or something in them, has its own idea of being equal."""
        waiting: list[tuple[object, int]] = [(value, _DEEPEST) for value in values]
        for _ in range(_MOST_VALUES):
            if not waiting:
                return False
            value, depth = waiting.pop()
            kind = type(value)
            if id(kind) in PLAIN:
                continue
            if id(kind) not in _EXPECTED and self._is_own(kind, _COMPARING):
                return True
            if depth:
                inner = _inner(value, kind)
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
                self.is_opaque |= _has_own_methods(one, kind)
                waiting += [(inner, depth - 1) for inner in _inner(one, kind)[:_MOST_RETURNED]]

    def learn_class(self, kind: type) -> None:
        """Whether an operation of it is no function of Python: then nobody hears of its calls."""
        if id(kind) not in self._looked:
            self._looked[id(kind)] = kind
            self.is_opaque |= any(_is_opaque(base, _bases(kind)) for base in _bases(kind))

    def _told(
        self, names: frozenset[str], owners: tuple[type, ...], given: list[object], caller: FrameType
    ) -> Told | None:
        is_tested, rest = id(owners[0]) in self._tested, given[1:]
        is_number = any(_has(owners[1:], number) for number in _NUMBERS)
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
        bases = _bases(kind)
        for method in methods:
            for one in bases:
                found = _members(one).get(method, _inner)
                if found is not _inner:
                    if self._is_doubtful(found, method, bases):
                        return True
                    break
        return False

    def _is_doubtful(self, found: Any, method: str, bases: tuple[type, ...]) -> bool:
        """Whether nobody but the candidate can have written it: neither the program nor a library has."""
        if found is None:
            return False
        if type(found) in _FROM_C:
            return found.__name__ != method or not _has(bases, found.__objclass__)
        if type(found) is not _Function:
            return True
        code = found.__code__
        file = code.co_filename
        if file == self._program or (self._is_generated(code) and _compares_all(code, bases)):
            return False
        if file.endswith("/unittest/mock.py"):
            return self._mocks
        return not (file.startswith("<frozen ") or (file.startswith("/") and not file.startswith(_TEMPORARY)))

    def _is_generated(self, code: CodeType) -> bool:
        """Whether it is what the library's decorator `dataclass` makes."""
        if id(code) not in self._generated:
            texts = _dataclass_texts(code) if code.co_name in _ORDERS else []
            self._generated[id(code)] = code, any(_is_alike(code, inner) for inner in _functions_of(texts))
        return self._generated[id(code)][1]


def _state_of(value: Any, depth: int) -> Any:
    """All that a value holds, as tuples of plain values; None where anything else is in it."""
    kind = type(value)
    if id(kind) in PLAIN:
        return (_PLAIN_STATE, value)
    if not depth:
        return None
    if kind is list or kind is tuple:
        parts = [_state_of(one, depth - 1) for one in value[:_MOST_VALUES]]
    elif kind is dict:
        parts = [_state_of(one, depth - 1) for pair in value.items() for one in pair]
    else:
        attributes = _attributes_of(value)
        parts = [None] if attributes is None else [_state_of(attributes, depth - 1)]
    return None if None in parts else (id(kind), *parts)


def _attributes_of(value: object) -> dict[str, object] | None:
    """Those of an object whose class has nothing else to hold values in, in the order of their names."""
    found: dict[str, object] = {}
    for base in _bases(type(value)):
        if base is not object and not _flags(base) & _MADE_BY_A_STATEMENT:
            return None
        for name, member in _members(base).items():
            if type(member) is _Attributes and name == "__dict__":
                found.update(member.__get__(value))
            elif type(member) is _Slot:
                try:
                    found[name] = member.__get__(value)
                except AttributeError:
                    continue
    return dict(sorted(found.items()))


def _scalars_of(state: tuple[Any, ...]) -> Iterator[object]:
    if state[0] is _PLAIN_STATE:
        yield state[1]
    else:
        for part in state[1:]:
            yield from _scalars_of(part)


def _compares_all(code: CodeType, bases: tuple[type, ...]) -> bool:
    """Whether what the decorator made leaves no field out, as `field(compare=False)` has it."""
    library, found = sys.modules.get("dataclasses"), [_members(base) for base in bases]
    fields: Any = next((one["__dataclass_fields__"] for one in found if "__dataclass_fields__" in one), None)
    if type(fields) is not dict or library is None:
        return False
    # A variable of the class is among them, and is of another kind.
    kind = vars(library).get("_FIELD")
    names = [name for name, one in fields.items() if getattr(one, "_field_type", kind) is kind]
    is_declared = bool(names) or not any(one.get("__annotations__") for one in found)
    return is_declared and all(name in code.co_names for name in names)


def _dataclass_texts(code: CodeType) -> list[str]:
    """What the decorator would write, before Python 3.13 and from then on, for the names in a function."""
    fields = [name for name in code.co_names if name not in ("__class__", "NotImplemented")]
    if not all(map(str.isidentifier, fields)):
        return []
    order = _ORDERS[code.co_name]
    left, right = ("(" + "".join(f"{side}.{name}," for name in fields) + ")" for side in ("self", "other"))
    each = " and ".join(f"self.{name}==other.{name}" for name in fields) or "True"
    head = f"def {code.co_name}(self,other):\n"
    same, end = " if other.__class__ is self.__class__:\n", " return NotImplemented"
    return [
        f"{head}{same}  return {left}{order}{right}\n{end}",
        f"{head} if self is other:\n  return True\n{same}  return {each}\n{end}",
    ]


def _functions_of(texts: list[str]) -> list[CodeType]:
    found: list[CodeType] = []
    for text in texts:
        try:
            inner = _compile(text, "", "exec", dont_inherit=True).co_consts
        except SyntaxError:
            continue  # a keyword is no name of a field
        found += [one for one in inner if type(one) is type(is_built_in.__code__)]
    return found


def _is_alike(one: CodeType, other: CodeType) -> bool:
    parts = ("co_code", "co_names", "co_varnames", "co_argcount")
    pairs = zip(one.co_consts, other.co_consts, strict=False)
    return (
        all(getattr(one, part) == getattr(other, part) for part in parts)
        and len(one.co_consts) == len(other.co_consts)
        and all(mine is its for mine, its in pairs)
    )


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
    bases = _bases(kind)
    for place, owner in enumerate(bases):
        names: frozenset[str] = frozenset(
            name
            for name, found in _members(owner).items()
            if _runs(found, code) and (name in _OPERATIONS or _is_replaced(name, bases[place + 1 :]))
        )
        if names:
            return names, bases[place:]
    if isinstance(given, type) and _runs_as_hook(given, code):
        return frozenset({"__subclasscheck__"}), bases
    return frozenset(), ()


def _runs_as_hook(kind: type, code: CodeType) -> bool:
    """Whether it is what a class answers for its metaclass when one asks for its subclasses."""
    hooks = (_members(base).get("__subclasshook__") for base in _bases(kind))
    return any(type(hook) is classmethod and _runs(hook.__func__, code) for hook in hooks)


def _is_replaced(name: str, bases: tuple[type, ...]) -> bool:
    is_method = name[:2] != "__"
    return is_method and any(_is_of_values(base) and name in _members(base) for base in bases)


def _is_of_values(kind: type) -> bool:
    """Whether programs write values of a class, or compare with them: a number, a text, a date, a table."""
    if id(kind) in _EXPECTED:
        return True
    root = str(_module_of(kind)).partition(".")[0]
    return root in _OF_VALUES and _name_of(kind)[:4] != "User" and _is_of_library(kind, _members(kind))


def _runs(found: Any, code: CodeType) -> bool:
    for _ in range(_DEEPEST):
        if type(found) is _Function:
            return bool(found.__code__ is code)
        found = _wrapped(found)
    return False


def _wrapped(found: Any) -> Any:
    """The function in a property, and in what functools makes of one; None in anything else."""
    if type(found) is property:
        return found.fget
    functools: Any = sys.modules.get("functools")
    if functools is None or type(found) not in (
        *(functools.partialmethod, functools.singledispatchmethod),
        _functools._lru_cache_wrapper,
    ):
        return None
    return vars(found).get("func") or vars(found).get("__wrapped__")


def _is_opaque(base: type, bases: tuple[type, ...]) -> bool:
    """Whether a class of the candidate has an operation that runs without a call of a function of Python."""
    members = _members(base)
    if _is_of_library(base, members) or _FOLLOWED.isdisjoint(members):
        return False
    return any(_is_unheard(name, members[name], bases) for name in _FOLLOWED.intersection(members))


def _is_of_library(base: type, members: Any) -> bool:
    module, name = members.get("__module__"), _name_of(base)
    space = vars(sys.modules[module]) if type(module) is str and module in sys.modules else {}
    return not _flags(base) & _MADE_BY_A_STATEMENT or (module != "__main__" and space.get(name) is base)


def _is_unheard(name: str, found: Any, bases: tuple[type, ...]) -> bool:
    if found is None or type(found) is _Function:
        return False
    if type(found) in _FROM_C:
        return found.__name__ != name or not _has(bases, found.__objclass__)
    return _wrapped(found) is None


def _has_own_methods(value: object, kind: type) -> bool:
    """Whether a value of a library's class has a function of its own in the place of one of its methods."""
    bases = [base for base in _bases(kind) if _is_of_values(base)]
    if not bases:
        return False
    try:
        space = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return False
    names = [name for name, one in dict.items(space) if type(one) is _Function]
    return any(name in _members(base) for base in bases for name in names)


def _is_of_error(given: list[object]) -> bool:
    """Whether it is asked of an exception, or of a class of them."""
    kinds = [one if _has(_bases(type(one)), type) else type(one) for one in given]
    return any(_has(_bases(kind), BaseException) for kind in kinds)


def _is_feigned(base: type, name: str) -> bool:
    """Whether a class that replaces this stands for a value of the base's."""
    return _is_built_in(base, name) or (name[:2] != "__" and name in _members(base) and _is_of_values(base))


def _is_built_in(base: type, name: str) -> bool:
    """Whether a type that holds data does this by itself; any object has a class."""
    if type(_members(base).get(name)) not in _FROM_C:
        return False
    return name == "__class__" or not (base is object or _has(_bases(base), BaseException))


def _has(bases: tuple[type, ...], kind: object) -> bool:
    return any(base is kind for base in bases)


def find_answers(values: list[Any]) -> list[object]:
    """The numbers, texts and so on of which compared values consist; none if there is anything else."""
    found: list[object] = []
    waiting = [*values]
    for value in waiting:
        kind = type(value)
        if id(kind) in PLAIN:
            found.append(value)
        elif _has(_HOLDING, kind):
            waiting += _inner(value, kind)
        elif _name_of(kind) == "ApproxScalar" and _members(kind).get("__module__") == "_pytest.python_api":
            waiting.append(value.expected)
        else:
            return []
        if len(waiting) > _MOST_VALUES:
            return []
    return found


def _inner(value: Any, kind: type) -> list[object]:
    if kind is list or kind is tuple:
        return [*value[:_MOST_VALUES]]
    bases = _bases(kind)
    if _has(bases, dict):
        found: list[object] = []
        for key, held in zip(dict.keys(value), dict.values(value), strict=False):
            found += (key, held)
            if len(found) > _MOST_VALUES:
                break
        return found
    for one in _HOLDING:
        if _has(bases, one):
            return [inner for inner, _ in zip(one.__iter__(value), range(_MOST_VALUES), strict=False)]  # type: ignore[attr-defined]
    return []
