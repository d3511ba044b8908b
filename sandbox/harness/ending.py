"""Describes the exception that ended a program, with frames mapped to the two texts."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

_MESSAGE_CHARACTERS, _SOURCE_CHARACTERS, _FRAMES_AT_EACH_END = 2000, 200, 15
_OWN = sys.modules[__name__].__file__ or ""
_FOLDER = _OWN.rpartition("/")[0] or "<no folder>"


def described(error: BaseException, texts: dict[str, str]) -> dict[str, Any]:
    """Type, message, frames (outermost first), the missing module, and where the exception began.

    `texts` gives the source of each pseudo file; frames elsewhere are the library's.
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
        "clean_exit": _is_runner_exit(error),
    }


def _kind(error: BaseException) -> str:
    for kind in (AssertionError, MemoryError, SystemExit):
        if isinstance(error, kind):
            return kind.__name__
    return ""


def _is_runner_exit(error: BaseException) -> bool:
    # unittest.main() ends every program by SystemExit, also when all went well.
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    if innermost is None or not isinstance(error, SystemExit) or error.code:
        return False
    module = sys.modules.get("unittest.main")
    return module is not None and innermost.tb_frame.f_code.co_filename == module.__file__


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
