"""What the candidate changed of the values that the program has: a wrong result may be equal to those.

Data that the program only reads, and never gave to the candidate, change by no hand but the candidate's: that
is a sign. What it was given, or what it mentions, is the candidate's to change. But where it is then
compared with the candidate's result, the comparison has to hold too with what it was before the call.
"""

from __future__ import annotations

import _operator
import _thread
import sys

from sandbox.harness.guards.candidate_operations import CLASS, FEIGNED, NONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from sandbox.harness.instrument import Again, Site
    from sandbox.harness.trace.tracer import Tracer

    # Containers by their identity, each with what it holds.
    _Held = dict[int, tuple[object, Any]]

_is, _len, _thread_number = _operator.is_, len, _thread.get_ident
_bases = type.__dict__["__mro__"].__get__
_members = type.__dict__["__dict__"].__get__
_Function = type(lambda: 0)
_BuiltIn, _Module = type(len), type(sys)
_Method = type((lambda self: 0).__get__(0))
_PLAIN = frozenset(map(id, (bool, int, float, complex, str, bytes, type(None), range, type, _Module)))
_MOST_VALUES, _MOST_CONTAINERS, _MOST_CHANGES, _MOST_CHECKED = 3000, 500, 1000, 400_000
_MOST_BYTES, _COST_OF_CONTAINER = 1 << 20, 20
# Of a larger container nothing is kept: a copy would take memory that the program may need.
_MOST_ITEMS = 100_000
_SIGN = "changes data of the program that it was not given"


class _Slotless:
    pass


_Attributes: Any = type(vars(_Slotless)["__dict__"])


class Changes:
    """Of one run. `names` are the module's, `candidate` is its file, `tell(who, what)` hears the sign.

    `is_shared`: there are comparisons all of whose sides the candidate gives or may have changed.
    """

    def __init__(
        self,
        tracer: Tracer,
        names: dict[str, Any],
        candidate: str,
        tell: Callable[[str, str], None],
        is_shared: bool,
    ) -> None:
        self._tracer = tracer
        self._names, self._file, self._tell = names, candidate, tell
        self._is_shared = is_shared
        self._mentioned: tuple[str, ...] = ()
        self._constants: dict[str, object] = {}
        self._kept: _Held = {}
        self._items = self._checked = 0
        self._told = False
        # Of the outermost calls that go on, by their threads: what there was when they began.
        self._began: dict[int, list[tuple[int, _Held, _Held, dict[str, object]]]] = {}
        # By the number of a call: what it changed of its arguments.
        self._changes: dict[int, _Held] = {}
        # What it mentions, as the program had it, and as it was after the last call.
        self._since: tuple[_Held, dict[str, object]] = {}, {}
        self._after: tuple[_Held, dict[str, object]] = {}, {}
        # What was empty when the candidate first changed it is a place for results.
        self._places: dict[int, object] = {}
        self._last: dict[int, int] = {}

    def keep(self, name: str, value: Any) -> Any:
        """Data that the program only reads are bound to a name; handed on unchanged."""
        self._constants[name] = value
        for key, held in _held_by([value]).items():
            if _len(self._kept) < _MOST_CONTAINERS:
                self._kept[key] = held
                self._items += _len(held[1]) + _COST_OF_CONTAINER
        return value

    def learn_mentioned(self, codes: list[CodeType], own: list[str]) -> None:
        """Which names of the program the candidate's functions have."""
        used = {name for code in codes for name in code.co_names}
        self._mentioned = tuple(sorted(used - {*own} - {*dir(_builtins())}))

    def entered(self, frame: FrameType) -> None:
        """The candidate is called from outside."""
        if not (self._kept or self._is_shared):
            return
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount + sum(bool(code.co_flags & flag) for flag in (4, 8))
        space = frame.f_locals
        given = [space[name] for name in code.co_varnames[:count] if name in space]
        given = [value for value in given if id(type(value)) not in _PLAIN]
        if not self._is_shared:
            if given:
                self._give(_held_by(given))
            return
        self._forget_what_the_program_changed()
        values = {name: self._names[name] for name in self._mentioned if name in self._names}
        held, mentioned = _held_by(given), _held_by([*values.values()])
        if self._kept:
            self._give(held)
        number = self._tracer.count_calls()
        self._began.setdefault(_thread_number(), []).append((number, held, mentioned, values))
        for caller in self._tracer.program_frames(frame):
            self._last[caller.f_lineno] = number

    def _forget_what_the_program_changed(self) -> None:
        held, values = self._since
        for key in [key for key, one in self._after[0].items() if not _is_as_it_was(*one)]:
            held.pop(key, None)
        for name in [name for name in values if self._names.get(name, _is) is not self._after[1][name]]:
            del values[name]

    def _give(self, held: _Held) -> None:
        if not self._kept.keys().isdisjoint(held):
            self.look()
            for key in held:
                self._kept.pop(key, None)

    def left(self) -> None:
        """The candidate's call has ended."""
        began = self._began.get(_thread_number())
        if not began:
            return
        number, held, mentioned, values = began.pop()
        changed = {key: one for key, one in held.items() if not _is_as_it_was(*one)}
        if changed and _len(self._changes) < _MOST_CHANGES:
            self._changes[number] = changed
        since, bound = self._since
        for key, (value, before) in {**held, **mentioned}.items():
            if not before and key not in since and _contents(value):
                self._places[key] = value
        for key, one in mentioned.items():
            if key not in since and not _is_as_it_was(*one):
                since[key] = one
        for name, value in values.items():
            if self._names.get(name, _is) is not value:
                bound.setdefault(name, value)
        if since or bound:
            self._after = (
                {key: (one[0], _contents(one[0])) for key, one in since.items()},
                {name: self._names.get(name, _is) for name in bound},
            )

    def look(self) -> None:
        """See whether what the program only reads is as it was."""
        if not self._told and self._checked <= _MOST_CHECKED:
            self._checked += self._items
            self.look_closely()

    def look_closely(self) -> None:
        """The same however often it was asked for."""
        get = self._names.get
        if not all(_is_as_it_was(*one) for one in self._kept.values()) or any(
            get(name, value) is not value for name, value in self._constants.items()
        ):
            self._told = True
            self._tell("candidate", _SIGN)

    def word_of(self, site: Site, place: int, values: list[object], frame: FrameType, began: int) -> str:
        """Whether a comparison that held does so by the candidate's word: not without what it changed."""
        again = site.again.get(place)
        if again is None or not (self._changes or any(self._since)) or _len(values) != again.count:
            return NONE
        local = frame.f_locals
        names = {name: local if name in local else self._names for name in again.names}
        space = {name: found[name] for name, found in names.items() if name in found}
        if not again.sides:
            self._confirm(space)
            return NONE
        changed, renamed = {**self._changed_by_calls(site, began), **self._since[0]}, self._since[1]
        for side in again.sides:
            if not any(name in renamed or _holds(space.get(name), changed) for name in side):
                return NONE
        if type(values[0]) is not tuple and id(type(values[0])) not in _PLAIN and values[0] is values[-1]:
            return CLASS  # it gave back what it was given
        return self._compared_again(again, values, space, changed, renamed)

    def _confirm(self, space: dict[str, object]) -> None:
        """The program has itself compared some names with what it expects: they are its own again."""
        held, values = self._since
        for name, value in space.items():
            values.pop(name, None)
            for key in held.keys() & _held_by([value]).keys():
                del held[key]

    def _changed_by_calls(self, site: Site, began: int) -> _Held:
        """What was changed by the calls whose results are compared: by the first of them."""
        calls = {number for number in self._changes if number > began}
        if self._tracer.count_calls() == began:
            calls = {max((self._last.get(line, 0) for line in lines), default=0) for lines in site.origins}
        changed: _Held = {}
        for number in sorted(calls & self._changes.keys(), reverse=True):
            changed.update(self._changes[number])
        return changed

    def _compared_again(
        self,
        again: Again,
        values: list[object],
        space: dict[str, Any],
        changed: _Held,
        renamed: dict[str, object],
    ) -> str:
        space.update((name, value) for name, value in renamed.items() if name in space)
        if not all(self._may_be_asked(value) for value in space.values()):
            return CLASS
        try:
            before = {name: _restored(value, changed, {}) for name, value in space.items()}
            before.update((f"{place} given", values[place]) for place in again.given)
            before["__builtins__"] = self._names["__builtins__"]
            with self._tracer.paused():
                if eval(again.code, before):  # noqa: S307 (what the program itself has just evaluated)
                    return NONE
        except Exception:  # noqa: S110 (what raises does not hold)
            pass
        own = [one[1] for key, one in changed.items() if key not in self._places] + [*renamed.values()]
        return CLASS if all(id(type(one)) in _EMPTY and not one for one in own) else FEIGNED

    def _may_be_asked(self, value: Any) -> bool:
        """Whether evaluating an expression with it once more can have done nothing that counts."""
        kind = type(value)
        if kind is _Function:
            return bool(value.__code__.co_filename != self._file)
        return kind in (_BuiltIn, type, _Module) or id(kind) in _PLAIN or _contents(value) is not None


_EMPTY = frozenset(map(id, (tuple, bytes, int, float, str, bool, type(None), list, dict, set)))


def _builtins() -> Any:
    return sys.modules["builtins"]


def _contents(value: Any) -> Any:
    """What a container holds, one after another; None of anything else. No code of its class is run."""
    bases = _bases(type(value))
    for base in bases:
        reader = _READERS.get(id(base))
        if reader is not None:
            return reader(value)
        members = _members(base)
        if type(members.get("__dict__")) is _Attributes and members.get("__module__") == "__main__":
            return _of_dict(members["__dict__"].__get__(value))
    return _contents_of_library(value, bases)


def _of_dict(value: Any) -> tuple[Any, ...] | None:
    return (*dict.keys(value), *dict.values(value)) if dict.__len__(value) <= _MOST_ITEMS else None


def _reader(kind: Any) -> Any:
    return lambda value: (*kind.__iter__(value),) if kind.__len__(value) <= _MOST_ITEMS else None


def _of_bytes(value: Any) -> bytes | None:
    return bytes(memoryview(value)) if bytearray.__len__(value) <= _MOST_BYTES else None


_READERS: dict[int, Any] = {id(kind): _reader(kind) for kind in (list, tuple, set, frozenset)}
_READERS.update({id(dict): _of_dict, id(bytearray): _of_bytes})


def _contents_of_library(value: Any, bases: tuple[type, ...]) -> Any:
    for module, name in (("_collections", "deque"), ("array", "array"), ("numpy", "ndarray")):
        kind: Any = vars(sys.modules[module]).get(name) if module in sys.modules else None
        if kind is None or not any(base is kind for base in bases):
            continue
        if name == "deque":
            return (*kind.__iter__(value),) if kind.__len__(value) <= _MOST_ITEMS else None
        is_array = name == "ndarray"
        if is_array and value.dtype.hasobject:
            return None
        size = value.nbytes if is_array else kind.__len__(value) * value.itemsize
        return kind.tobytes(value) if size <= _MOST_BYTES else None
    return None


def _parts(value: Any, contents: Any) -> tuple[Any, ...]:
    """What can be reached by way of a value."""
    if contents is not None:
        return contents if type(contents) is tuple else ()
    kind = type(value)
    if kind is _Method or kind is _BuiltIn:
        return (value.__self__,)
    if kind is not _Function:
        return ()
    cells = []
    for cell in value.__closure__ or ():
        try:
            cells.append(cell.cell_contents)
        except ValueError:
            continue  # nothing was put there yet
    return (*cells, *(value.__defaults__ or ()))


def _held_by(values: list[Any]) -> _Held:
    """The containers that can be reached from some values, each with what it holds, by their identity."""
    found: _Held = {}
    waiting, seen, left = [*values], set[int](), _MOST_VALUES
    while waiting and left:
        value = waiting.pop()
        if id(type(value)) in _PLAIN or id(value) in seen:
            continue
        left -= 1
        seen.add(id(value))
        contents = _contents(value)
        if contents is not None and type(value) not in (tuple, frozenset):
            found[id(value)] = value, contents
        parts = _parts(value, contents)[:_MOST_VALUES]
        waiting += [one for one in parts if id(type(one)) not in _PLAIN]
    return found


def _is_as_it_was(value: object, before: Any) -> bool:
    now = _contents(value)
    if type(before) is not tuple:
        return bool(now == before)
    if _len(now) != _len(before):
        return False
    return all(map(_is, now, before)) or (_is_set(value) and {*map(id, now)} == {*map(id, before)})


def _is_set(value: object) -> bool:
    return any(base is set for base in _bases(type(value)))


def _holds(value: object, changed: _Held) -> bool:
    return bool(changed) and not changed.keys().isdisjoint(_held_by([value]))


def _restored(value: Any, changed: _Held, made: dict[int, Any]) -> Any:
    """A copy of a value that holds what it held before; TypeError of a kind that can't be copied so."""
    kind = type(value)
    if id(value) in made:
        return made[id(value)]
    contents = changed[id(value)][1] if id(value) in changed else _contents(value)
    if contents is None or kind in (_Module, _Function):
        return value
    if type(contents) is bytes:
        return _array_of(value, contents) if id(value) in changed else value
    if kind is list or kind is dict or kind is set:
        new: Any = kind()
        made[id(value)] = new
    elif kind is tuple or kind is frozenset:
        return kind([_restored(one, changed, made) for one in contents])
    elif id(value) not in changed:
        return value
    else:
        raise TypeError
    parts = [_restored(one, changed, made) for one in contents]
    if kind is list:
        new.extend(parts)
    elif kind is set:
        new.update(parts)
    else:
        middle = _len(parts) // 2
        new.update(zip(parts[:middle], parts[middle:], strict=True))
    return new


def _array_of(value: Any, contents: bytes) -> Any:
    if type(value) is bytearray:
        return bytearray(contents)
    if type(value).__name__ == "array":
        return type(value)(value.typecode, contents)
    new = value.copy()
    new.reshape(-1).view("u1")[:] = memoryview(contents)
    return new
