"""What values hold, as far as built-in types alone can say."""

from __future__ import annotations

from sandbox.harness.guards.class_members import (
    HOLDING,
    MADE_BY_A_STATEMENT,
    MOST_VALUES,
    PLAIN,
    bases_of,
    flags_of,
    has_class,
    members_of,
    name_of,
    values_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_PLAIN_STATE = object()


class _Slotted:
    __slots__ = ("slot",)


class _Slotless:
    pass


_Slot: Any = type(vars(_Slotted)["slot"])
_Attributes: Any = type(vars(_Slotless)["__dict__"])


def state_of(value: Any, depth: int) -> Any:
    """All that a value holds, as tuples of plain values; None where anything else is in it."""
    kind = type(value)
    if id(kind) in PLAIN:
        return (_PLAIN_STATE, value)
    if not depth:
        return None
    if kind is list or kind is tuple:
        parts = [state_of(one, depth - 1) for one in value[:MOST_VALUES]]
    elif kind is dict:
        parts = [state_of(one, depth - 1) for pair in value.items() for one in pair]
    else:
        attributes = _attributes_of(value)
        parts = [None] if attributes is None else [state_of(attributes, depth - 1)]
    return None if None in parts else (id(kind), *parts)


def _attributes_of(value: object) -> dict[str, object] | None:
    """Those of an object whose class has nothing else to hold values in, in the order of their names."""
    found: dict[str, object] = {}
    for base in bases_of(type(value)):
        if base is not object and not flags_of(base) & MADE_BY_A_STATEMENT:
            return None
        for name, member in members_of(base).items():
            if type(member) is _Attributes and name == "__dict__":
                found.update(member.__get__(value))
            elif type(member) is _Slot:
                try:
                    found[name] = member.__get__(value)
                except AttributeError:
                    continue
    return dict(sorted(found.items()))


def scalars_of(state: tuple[Any, ...]) -> Iterator[object]:
    """The plain values in what `state_of` gives."""
    if state[0] is _PLAIN_STATE:
        yield state[1]
    else:
        for part in state[1:]:
            yield from scalars_of(part)


def find_answers(values: list[Any]) -> list[object]:
    """The numbers, texts and so on of which compared values consist; none if there is anything else."""
    found: list[object] = []
    waiting = [*values]
    for value in waiting:
        kind = type(value)
        if id(kind) in PLAIN:
            found.append(value)
        elif has_class(HOLDING, kind):
            waiting += values_in(value, kind)
        elif name_of(kind) == "ApproxScalar" and members_of(kind).get("__module__") == "_pytest.python_api":
            waiting.append(value.expected)
        else:
            return []
        if len(waiting) > MOST_VALUES:
            return []
    return found
