"""What the candidate changed of the values that the program has: a wrong result may be equal to those.

Data that the program only reads, and never gave to the candidate, change by no hand but the candidate's: that
is a sign. What it was given, or what it mentions, is the candidate's to change. But where it is then
compared with the candidate's result, the comparison has to hold too with what it was before the call. What
the program read out of data after such a change is no better than the change.
"""

from __future__ import annotations

import _thread
import _weakref
import sys

from sandbox.harness.guards.candidate_operations import CLASS, FEIGNED, NONE
from sandbox.harness.guards.contents import (
    MOST_ITEMS,
    PLAIN,
    contents_of,
    copy_of,
    held_by,
    holds,
    is_as_it_was,
    is_left,
    restored,
    sum_of,
    with_classes,
    without_sums,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from sandbox.harness.guards.contents import Held
    from sandbox.harness.instrument import Again, Site
    from sandbox.harness.trace.tracer import Tracer

    Tell = Callable[[str, str], None]


_len, _thread_number = len, _thread.get_ident
_references, _weak_references = sys.getrefcount, _weakref.getweakrefcount
# What no name of the module is bound to.
_NOTHING = object()
_members = type.__dict__["__dict__"].__get__
_Function, _BuiltIn, _Module = type(lambda: 0), type(len), type(sys)
_MOST_CONTAINERS, _MOST_CHANGES, _MOST_CHECKED, _COST_OF_CONTAINER = 500, 1000, 400_000, 20
_MOST_COPIED, _FEW_SPOILT, _MOST_LATELY = 8_000_000, 50, 20
_SIGN = "changes data of the program that it was not given"
_EMPTY = frozenset(map(id, (tuple, bytes, int, float, str, bool, type(None), list, dict, set)))


def _count_references(holder: Any, place: int) -> int:
    return _references(holder[place])


# How many references there are to what its holder alone has: that differs between versions of Python.
_ALONE = _count_references([object()], 0)


class Changes:
    """Of one run. `names` are the module's, `candidate` is its file, `tell(who, what)` hears the sign.

    `is_shared`: there are comparisons all of whose sides the candidate gives or may have changed.
    """

    def __init__(
        self, tracer: Tracer, names: dict[str, Any], candidate: str, tell: Tell, is_shared: bool
    ) -> None:
        self._tracer = tracer
        self._names, self._file, self._tell = names, candidate, tell
        self._is_shared = is_shared
        self._mentioned: tuple[str, ...] = ()
        self._constants: dict[str, object] = {}
        self._kept: Held = {}
        self._items, self._checked, self._copies_left = 0, 0, _MOST_COPIED
        self._told = False
        # Of the outermost calls that go on, by their threads: what there was when they began.
        self._began: dict[int, list[tuple[int, Held, Held, dict[str, object]]]] = {}
        # By the number of a call: what it changed of its arguments.
        self._changes: dict[int, Held] = {}
        # What it mentions, as the program had it, and as it was after the last call.
        self._since: tuple[Held, dict[str, object]] = {}, {}
        self._after: tuple[Held, dict[str, object]] = {}, {}
        # What was empty when the candidate first changed it is a place for results.
        self._places: dict[int, object] = {}
        self._most_spoilt = self._most_places = _FEW_SPOILT
        self._last: dict[int, int] = {}
        # By the number of a call for an assertion that goes on: what is as it was, when the call has ended.
        self._lately: dict[int, Held] = {}
        # Changed by a call that gave a result, and not by taking out: container, contents since, which call.
        self._spoilt: dict[int, tuple[object, Any, int]] = {}
        # By names: of what they are parts, how many calls there were when they were bound, and to what.
        self._readings: dict[str, list[str]] = {}
        self._bound: dict[str, int] = {}
        self._own: dict[str, object] = {}
        self._declared: frozenset[str] = frozenset()
        # Constants of the program's classes that were seen to be what they were bound to.
        self._settled: set[str] = set()
        # Statements that call something for what it does, and the calls that they made.
        self.lines_of_calls, self._doings = set[int](), set[int]()

    def keep(self, name: str, value: Any) -> Any:
        """Data that the program only reads are bound to a name; handed on unchanged."""
        self._constants[name] = value
        for key, (one, contents) in held_by([value]).items():
            if _len(self._kept) < _MOST_CONTAINERS:
                is_sum = type(contents) is str
                self._kept[key] = one, sum_of(one) if is_sum else contents
                self._items += (MOST_ITEMS if is_sum else _len(contents)) + _COST_OF_CONTAINER
        return value

    def learn_mentioned(self, codes: list[CodeType], own: list[str]) -> None:
        """Which names of the program the candidate's functions have."""
        used = {name for code in codes for name in code.co_names}
        self._mentioned = tuple(sorted(used - {*own} - {*dir(sys.modules["builtins"])}))

    def learn_readings(self, readings: dict[str, list[str]], declared: list[str]) -> None:
        """Of which names `bound` tells, with those whose parts they are, and which it declares as global."""
        self._readings, self._declared = readings, frozenset(declared)

    def bound(self, names: str, value: object) -> None:
        """The program binds names. Those that the candidate declares as global it binds to this value."""
        number = self._tracer.count_calls()
        for name in names.split():
            self._bound[name] = number
            if name in self._declared:
                self._own[name] = value

    def entered(self, frame: FrameType) -> None:
        """The candidate is called from outside."""
        if not (self._constants or self._is_shared):
            return
        if _len(self._settled) < _len(self._constants):
            self._settle()
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount + sum(bool(code.co_flags & flag) for flag in (4, 8))
        space = frame.f_locals
        given = [space[name] for name in code.co_varnames[:count] if name in space]
        given = [value for value in given if id(type(value)) not in PLAIN]
        if not self._is_shared:
            if given:
                self._give(held_by(with_classes(given)))
            return
        if self._spoilt or self._since[0] or self._since[1]:
            self._forget_what_the_program_changed()
        values = {name: self._names[name] for name in self._mentioned if name in self._names}
        if self._lately and not self._tracer.checking:
            self._lately.clear()
        held: Held = self._copied(held_by(given)) if given else {}
        mentioned: Held = {}
        if values:
            mentioned = without_sums(held_by(with_classes([*values.values()])))
            mentioned.update(
                (id(one), (one, contents_of(one))) for one in values.values() if type(one) is type
            )
        if self._kept and given:
            self._give(held_by(with_classes(given)))
        number = self._tracer.count_calls()
        self._began.setdefault(_thread_number(), []).append((number, held, mentioned, values))
        lines = [caller.f_lineno for caller in self._tracer.program_frames(frame)]
        for line in lines:
            self._last[line] = number
        if lines and lines[0] in self.lines_of_calls:
            self._doings.add(number)

    def _copied(self, held: Held) -> Held:
        """With copies of what is large, or a table, as long as there are not too many of them."""
        for key in [key for key, one in held.items() if type(one[1]) is str]:
            value = held[key][0]
            copy = copy_of(value) if self._copies_left > 0 else None
            if copy is None:
                del held[key]
            else:
                held[key] = value, copy
                self._copies_left -= copy.cost
        return held

    def _forget_what_the_program_changed(self) -> None:
        held, values = self._since
        for key in [key for key, one in self._after[0].items() if not is_as_it_was(*one)]:
            held.pop(key, None)
        for key in [key for key, one in self._spoilt.items() if not is_as_it_was(*one[:2])]:
            del self._spoilt[key]
        for name in [name for name in values if self._names.get(name, _NOTHING) is not self._after[1][name]]:
            del values[name]

    def _give(self, held: Held) -> None:
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
        if not began:
            del self._began[_thread_number()]
        changed = {key: one for key, one in held.items() if not is_as_it_was(*one)} if held else held
        if changed and _len(self._changes) < _MOST_CHANGES:
            self._changes[number] = changed
            self._note_spoilt(number, changed)
        elif held and self._tracer.checking and _len(self._lately) < _MOST_LATELY:
            self._lately[number] = held
        if held or mentioned or values or any(self._since):
            self._note_mentioned(held, mentioned, values)

    def _note_spoilt(self, number: int, changed: Held) -> None:
        if number in self._doings:
            return  # it was called for what it does
        for key, (value, before) in changed.items():
            now = contents_of(value)
            if key in self._spoilt or not is_left(now, before):
                self._spoilt[key] = value, now, self._spoilt.get(key, (0, 0, number))[2]
        if _len(self._spoilt) > self._most_spoilt:
            self._forget_what_is_lost()
            self._most_spoilt = max(_FEW_SPOILT, 2 * _len(self._spoilt))

    def _forget_what_is_lost(self) -> None:
        """What nobody else has any more is not compared again: objects that were made, used and left."""
        own: dict[int, int] = {}
        for held in self._changes.values():
            for key in held:
                own[key] = own.get(key, 0) + 1
        for kept, too in ((self._spoilt, self._places), (self._places, self._spoilt)):
            for key in [*kept]:
                holder: Any = kept[key] if kept is self._spoilt else kept
                place = 0 if kept is self._spoilt else key
                others = _count_references(holder, place) - own.get(key, 0) - (key in too)
                if others <= _ALONE and not _weak_references(holder[place]):
                    del kept[key]

    def _note_mentioned(self, held: Held, mentioned: Held, values: dict[str, object]) -> None:
        since, bound = self._since
        for key, (value, before) in {**held, **mentioned}.items():
            if not before and key not in since and contents_of(value):
                self._places[key] = value
        if _len(self._places) > self._most_places:
            self._forget_what_is_lost()
            self._most_places = max(_FEW_SPOILT, 2 * _len(self._places))
        for key, one in mentioned.items():
            if key not in since and not is_as_it_was(*one):
                since[key] = one
        for name, value in values.items():
            if self._names.get(name, _NOTHING) is not value:
                bound.setdefault(name, value)
        if since or bound:
            self._after = (
                {key: (one[0], contents_of(one[0])) for key, one in since.items()},
                {name: self._names.get(name, _NOTHING) for name in bound},
            )

    def look(self) -> None:
        """See whether what the program only reads is as it was."""
        if not self._told and self._checked <= _MOST_CHECKED:
            self._checked += self._items
            self.look_closely()

    def look_closely(self) -> None:
        """The same however often it was asked for."""
        if not all(is_as_it_was(*one) for one in self._kept.values()) or self._is_rebound():
            self._told = True
            self._tell("candidate", _SIGN)

    def _is_rebound(self) -> bool:
        if _len(self._settled) < _len(self._constants):
            self._settle()
        return any(self._found(name) is not self._constants[name] for name in self._settled)

    def _settle(self) -> None:
        """What is bound by now: the class of an attribute comes later, and may make something else of it.

        A name of the module has what it is bound to at once, whoever gives it something else by then.
        """
        for name in self._constants.keys() - self._settled:
            found = self._found(name)
            if found is self._constants[name] or ("." not in name and found is not _NOTHING):
                self._settled.add(name)

    def _found(self, name: str) -> object:
        owner, _, attribute = name.partition(".")
        found = self._names.get(owner, _NOTHING)
        if not attribute:
            return found
        return _members(found).get(attribute) if type(found) is type else _NOTHING

    def has_any(self) -> bool:
        """Whether the candidate has changed anything that a comparison may have, as far as anybody knows."""
        for number, held in [*self._lately.items()]:
            if all(is_as_it_was(*one) for one in held.values()):
                del self._lately[number]
        return bool(self._changes or any(self._since) or self._own or self._began or self._lately)

    def word_of(self, site: Site, place: int, values: list[object], frame: FrameType, began: int) -> str:
        """Whether a comparison that held does so by the candidate's word: not without what it changed."""
        again = site.again.get(place)
        for running in self._began.values():
            for _, held, mentioned, bound in running:
                self._note_mentioned(held, mentioned, bound)
        for name, value in self._own.items():
            if self._names.get(name, _NOTHING) is not value:
                self._since[1].setdefault(name, value)
        if again is None or _len(values) != again.count:
            return NONE
        space = self._space_of(again.names, frame)
        if not again.sides:
            self._confirm(space)
            return NONE
        changed, renamed = {**self._changed_by_calls(site, began), **self._since[0]}, self._since[1]
        spoilt = self._spoilt_names(again.names, frame, began) if self._spoilt else {}
        for side in again.sides:
            is_changed = any(name in renamed or holds(space.get(name), changed) for name in side)
            if not (is_changed or any(map(spoilt.__contains__, side))):
                return NONE
        if type(values[0]) is not tuple and id(type(values[0])) not in PLAIN and values[0] is values[-1]:
            return CLASS  # it gave back what it was given
        if spoilt:
            return max(spoilt.values())
        return self._compared_again(again, values, space, changed, renamed)

    def _space_of(self, names: set[str], frame: FrameType) -> dict[str, Any]:
        local = frame.f_locals
        spaces = {name: local if name in local else self._names for name in names}
        return {name: found[name] for name, found in spaces.items() if name in found}

    def _spoilt_names(self, names: set[str], frame: FrameType, began: int) -> dict[str, str]:
        """The names that have, or had when they were bound, something of what was spoilt; and the word."""
        found = {}
        for name in names:
            read = self._bound.get(name, began) if name in self._readings else began
            spoilt = {key: one for key, one in self._spoilt.items() if one[2] <= read}
            sources = self._space_of({name, *self._readings.get(name, ())}, frame) if spoilt else {}
            held = held_by([*sources.values()]).keys() & spoilt.keys()
            if held:
                found[name] = CLASS if held <= self._places.keys() else FEIGNED
        return found

    def _confirm(self, space: dict[str, object]) -> None:
        """The program has itself compared some names with what it expects: they are its own again."""
        held, values = self._since
        for name, value in space.items():
            values.pop(name, None)
            if name in self._own:
                self._own[name] = value
            for key in held.keys() & held_by([value]).keys():
                del held[key]

    def _changed_by_calls(self, site: Site, began: int) -> Held:
        """What was changed by the calls whose results are compared: by the first of them."""
        last = self._tracer.count_calls()
        later = range(began + 1, last + 1)
        numbers = later if _len(later) < _len(self._changes) else self._changes
        calls = {number for number in numbers if number > began}
        if last == began:
            calls = {max((self._last.get(line, 0) for line in lines), default=0) for lines in site.origins}
        changed: Held = {}
        # What it gave may have changed them later, such as an iterator that calls one of their methods.
        for number in [number for number in self._lately if number > began]:
            changed.update((key, one) for key, one in self._lately[number].items() if not is_as_it_was(*one))
        for number in sorted(calls & self._changes.keys(), reverse=True):
            changed.update(self._changes[number])
        return changed

    def _compared_again(
        self,
        again: Again,
        values: list[object],
        space: dict[str, Any],
        changed: Held,
        renamed: dict[str, object],
    ) -> str:
        space.update((name, value) for name, value in renamed.items() if name in space)
        asked = [value for name, value in space.items() if name not in again.owners]
        if again.code is None or not all(map(self._may_be_asked, asked)):
            return CLASS
        try:
            before = {name: restored(value, changed, {}) for name, value in space.items()}
            before.update((f"{place} given", values[place]) for place in again.given)
            before["__builtins__"] = self._names["__builtins__"]
            with self._tracer.paused():
                found = eval(again.code, before)  # noqa: S307 (what the program itself has just evaluated)
                if again.judges or found:
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
        return kind in (_BuiltIn, type, _Module) or id(kind) in PLAIN or contents_of(value) is not None
