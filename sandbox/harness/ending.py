"""Describes the exception that ended a program, with frames mapped to the two texts."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, TracebackType
    from typing import Any

_MESSAGE_CHARACTERS, _SOURCE_CHARACTERS, _FRAMES_AT_EACH_END = 2000, 200, 15
# The instruction's number in 3.11 and 3.12.
_RAISE = 130
_OWN = sys.modules[__name__].__file__ or ""
_FOLDER = _OWN.rpartition("/")[0] or "<no folder>"


def described(error: BaseException, texts: dict[str, str], is_clean: bool) -> dict[str, Any]:
    """Type, message, frames (outermost first), the missing module, and where the exception began.

    `texts` gives the source of each pseudo file; frames elsewhere are the library's. `is_clean`: it is an end
    like any other, see `is_clean_exit`.
    """
    frames = _frames(error.__traceback__, texts)
    missing = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
    if isinstance(error, SyntaxError) and error.filename in texts:
        line = error.lineno or 0
        frames.append([_place(error.filename), line, "<module>", _line(texts[error.filename], line)])
    return {
        "type": _type_name(type(error)),
        "message": _message(error),
        "frames": _shortened(frames),
        "missing": missing if isinstance(missing, str) else None,
        "kind": _kind(error),
        "clean_exit": is_clean,
    }


def _kind(error: BaseException) -> str:
    for kind in (AssertionError, MemoryError, SystemExit):
        if isinstance(error, kind):
            is_own = kind is MemoryError and _is_raised_by_statement(error.__traceback__)
            return "" if is_own else kind.__name__
    # By this pytest says that a test failed.
    failed = getattr(sys.modules.get("_pytest.outcomes"), "Failed", None)
    return "AssertionError" if failed is not None and type(error) is failed else ""


def _is_raised_by_statement(traceback: TracebackType | None) -> bool:
    """Whether a `raise` made the exception: where memory ran out, another instruction did."""
    if traceback is None:
        return False
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame.f_code.co_code[traceback.tb_lasti] == _RAISE


def is_clean_exit(
    error: BaseException, program: str, runner: CodeType | None, lines: list[int] | None
) -> bool:
    """Whether a program left by SystemExit at its end, without an error.

    `runner` is the code by which `unittest.main()` ends, also when all went well; `lines` are the first and
    the last one of the program's last statement where that is `sys.exit(…)`.
    """
    if not isinstance(error, SystemExit) or error.code:
        return False
    frames, traceback = [], error.__traceback__
    while traceback is not None:
        frames.append((traceback.tb_frame.f_code, traceback.tb_lineno))
        traceback = traceback.tb_next
    if frames and frames[-1][0] is runner:
        return True
    if frames and frames[-1][0].co_filename.endswith("_sitebuiltins.py>"):
        frames.pop()  # exit() is a function of the library
    if not frames or lines is None:
        return False
    code, line = frames[-1]
    return code.co_filename == program and code.co_name == "<module>" and lines[0] <= line <= lines[1]


def _frames(traceback: TracebackType | None, texts: dict[str, str]) -> list[list[Any]]:
    frames = []
    while traceback is not None:
        code, line = traceback.tb_frame.f_code, traceback.tb_lineno
        if code.co_filename in texts:
            frames.append(
                [_place(code.co_filename), line, code.co_qualname, _line(texts[code.co_filename], line)]
            )
        elif not code.co_filename.startswith(_FOLDER):
            frames.append(["library", line, code.co_qualname, ""])
        traceback = traceback.tb_next
    return frames


def _shortened(frames: list[list[Any]]) -> list[list[Any]]:
    if len(frames) <= 2 * _FRAMES_AT_EACH_END:
        return frames
    return frames[:_FRAMES_AT_EACH_END] + frames[-_FRAMES_AT_EACH_END:]


def _place(filename: str) -> str:
    return filename.strip("<>")


def _line(text: str, line: int) -> str:
    lines = text.splitlines()
    return lines[line - 1].strip()[:_SOURCE_CHARACTERS] if 0 < line <= len(lines) else ""


def _type_name(kind: type) -> str:
    module = getattr(kind, "__module__", "")
    return kind.__qualname__ if module in ("builtins", "__main__") else f"{module}.{kind.__qualname__}"


def _message(error: BaseException) -> str:
    try:
        if isinstance(error, SyntaxError):
            return str(error.msg)
        return str(error)[:_MESSAGE_CHARACTERS]
    except BaseException as broken:
        return f"<its message raised {type(broken).__name__}>"
