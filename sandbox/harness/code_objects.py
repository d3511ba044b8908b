"""What a program is compiled to: a code object, and those within it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType


def linked(code: CodeType, sentinel: str, recorder: object) -> CodeType:
    """The same code with the recorder itself where the sentinel stood."""
    constants = tuple(
        linked(constant, sentinel, recorder)
        if isinstance(constant, type(code))
        else recorder
        if type(constant) is str and constant == sentinel
        else constant
        for constant in code.co_consts
    )
    return code.replace(co_consts=constants)


def codes_in(code: CodeType) -> list[CodeType]:
    """A code object and all within it."""
    found = [code]
    for one in found:
        found += [constant for constant in one.co_consts if isinstance(constant, type(code))]
    return found
