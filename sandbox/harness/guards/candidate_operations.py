"""Whether a class of the candidate decided what an assertion found: a class may call itself equal to all.

An assertion holds by the candidate's *own word* where one of its classes decided the comparison, or an
operation that led to it. The word is FEIGNED where such a class stands for a value of a built-in type.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

# In their order: of two the second counts.
NONE, CLASS, FEIGNED = "", "class", "feigned"
_Function = type(lambda: 0)
_HOLDING: tuple[type, ...] = (list, tuple, dict, set, frozenset)
_WRITTEN: tuple[type, ...] = (bool, int, float, complex, str, bytes, bytearray, type(None))
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
_OPERATIONS = frozenset(
    {
        *(*_COMPARING, *_TRUTH, *_ARITHMETIC),
        *("__neg__", "__pos__", "__abs__", "__invert__", "__round__", "__trunc__", "__floor__", "__ceil__"),
        *("__int__", "__float__", "__complex__", "__index__", "__hash__", "__str__", "__repr__"),
        *("__format__", "__bytes__", "__getitem__", "__missing__", "__iter__", "__next__", "__reversed__"),
    }
)
_MOST_VALUES, _DEEPEST = 1000, 6
# Looked up in the class `type`: a metaclass may have its own idea of them.
_bases = type.__dict__["__mro__"].__get__
_members = type.__dict__["__dict__"].__get__
_FROM_C = frozenset({type(str.__eq__), type(dict.get), type(object.__dict__["__class__"])})
_TEMPORARY = ("/tmp/", "/dev/shm/", "/var/tmp/")
_VARIABLE_ARGUMENTS = 4
_compile = compile


def is_built_in(value: object) -> bool:
    """Whether it is of a type of which programs write what they expect."""
    return id(type(value)) in _EXPECTED


class Decision:
    """Of some compared values, or of a call, whether a class of the candidate decides.

    `program` and `candidate` are the files of their code. `mocks`: the candidate may have made those of
    `unittest.mock`, which are equal to what they are told.
    """

    def __init__(self, program: str, candidate: str, mocks: bool) -> None:
        self._program, self._candidate, self._mocks = program, candidate, mocks
        self._tested: dict[int, type] = {}
        self._generated: dict[int, tuple[CodeType, bool]] = {}
        self._known: dict[tuple[int, int], tuple[object, list[str], tuple[type, ...]]] = {}

    def learn_names(self, space: dict[str, Any], names: set[str], used: set[str]) -> None:
        """Of the candidate's `names`, the classes that the program uses: they are what it tests."""
        waiting = [space.get(name) for name in sorted(names & used)]
        while waiting:
            value: Any = waiting.pop()
            if _has(_bases(type(value)), type) and id(value) not in self._tested:
                self._tested.update((id(kind), kind) for kind in _bases(value) if kind is not object)
                waiting += [inner for name, inner in _members(value).items() if name in used]

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
            if self._is_own(kind, _COMPARING):
                return True
            if depth:
                waiting += [(inner, depth - 1) for inner in _inner(value, kind)]
        return False

    def of_call(self, frame: FrameType) -> str:
        """Whose word a call is that somebody else than the candidate makes: NONE unless it is an operation.

        The methods of a class that the program uses by name are what is tested. Those of another one count
        where they stand for what a built-in type would do, or hear a value that may be the expected one.
        """
        if frame.f_back is None or frame.f_back.f_code.co_filename == self._candidate:
            return NONE
        given = _given(frame)
        if not given or is_built_in(given[0]):
            return NONE
        kind, code = type(given[0]), frame.f_code
        if (id(kind), id(code)) not in self._known:
            self._known[id(kind), id(code)] = ((kind, code), *_operations_of(kind, code))
        _, names, owners = self._known[id(kind), id(code)]
        if not names or id(owners[0]) in self._tested or self._is_inside(frame):
            return NONE
        if any(_is_built_in(base, name) for base in owners[1:] for name in names):
            return FEIGNED
        if self._tested or not (_HEARING.intersection(names) and len(given) > 1 and is_built_in(given[1])):
            return NONE
        return FEIGNED if not _ARITHMETIC.issuperset(names) else CLASS

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
        if file == self._program or self._is_generated(code):
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


def _operations_of(kind: type, code: CodeType) -> tuple[list[str], tuple[type, ...]]:
    """Which operations of a class are this code, and the classes from the one on that has them."""
    bases = _bases(kind)
    for place, owner in enumerate(bases):
        names = [name for name in _OPERATIONS if _runs(_members(owner).get(name), code)]
        if names:
            return names, bases[place:]
    return [], ()


def _runs(found: Any, code: CodeType) -> bool:
    function = found.fget if type(found) is property else found
    return type(function) is _Function and function.__code__ is code


def _is_built_in(base: type, name: str) -> bool:
    """Whether a type that holds data does this by itself; any object has a class."""
    if type(_members(base).get(name)) not in _FROM_C:
        return False
    return name == "__class__" or not (base is object or _has(_bases(base), BaseException))


def _has(bases: tuple[type, ...], kind: object) -> bool:
    return any(base is kind for base in bases)


def _inner(value: Any, kind: type) -> list[object]:
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
