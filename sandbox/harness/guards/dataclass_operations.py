"""The operations that the decorator `dataclass` makes: nobody's idea but the library's."""

from __future__ import annotations

import sys

from sandbox.harness.guards.class_members import members_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_ORDERS = {"__eq__": "==", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
# Taken before the program runs.
_compile = compile


def is_of_dataclass(code: CodeType) -> bool:
    """Whether it is what the library's decorator makes."""
    texts = _dataclass_texts(code) if code.co_name in _ORDERS else []
    return any(_is_alike(code, inner) for inner in _functions_of(texts))


def compares_all(code: CodeType, bases: tuple[type, ...]) -> bool:
    """Whether what the decorator made leaves no field out, as `field(compare=False)` has it."""
    library, found = sys.modules.get("dataclasses"), [members_of(base) for base in bases]
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
        found += [one for one in inner if type(one) is type(is_of_dataclass.__code__)]
    return found


def _is_alike(one: CodeType, other: CodeType) -> bool:
    parts = ("co_code", "co_names", "co_varnames", "co_argcount")
    pairs = zip(one.co_consts, other.co_consts, strict=False)
    return (
        all(getattr(one, part) == getattr(other, part) for part in parts)
        and len(one.co_consts) == len(other.co_consts)
        and all(mine is its for mine, its in pairs)
    )
