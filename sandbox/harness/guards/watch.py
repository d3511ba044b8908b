"""Watches what programs and candidates ask the interpreter for, and says so where it leads to the record.

An audit hook can't be removed, and no object that a program holds leads to this one. What a library does for
its own ends does not count: the nearest frame must be of code that is no file of a library.
"""

from __future__ import annotations

import _thread
import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

_frame, _thread_number = sys._getframe, _thread.get_ident
_FOLDER = (sys.modules[__name__].__file__ or "").rpartition("/")[0] + "/"
_TEMPORARY = ("/tmp/", "/dev/shm/", "/var/tmp/")
_FRAMES, _CODE = "looks at stack frames", "makes code objects by hand"
_TRACING, _HEAP = "replaces the trace function", "searches the heap"
_MEMORY = "reaches native memory"
_INTERPRETER = "starts another interpreter, in which nothing is watched"
_OWN_SIGNS = {
    "sys._current_frames": _FRAMES,
    "sys._current_exceptions": _FRAMES,
    "code.__new__": _CODE,
    "sys.settrace": _TRACING,
    "gc.get_objects": _HEAP,
    "gc.get_referrers": _HEAP,
    "gc.get_referents": _HEAP,
}
_FRAME_ATTRIBUTES = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame"})
# Functions of libraries that hand out frames, or what is in them.
_OF_FRAMES = frozenset({"_task_get_stack", "getgeneratorlocals", "getcoroutinelocals", "getasyncgenlocals"})
_CODES = frozenset({"__code__", "gi_code", "cr_code", "ag_code"})
_PARTS = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
# The modes of files: in /proc nothing but memory is its owner's to read and write.
_KIND, _FOLDER_KIND, _OF_MEMORY = 0o170000, 0o040000, 0o100600
_stat = posix.stat
_NATIVE = (
    *("dlopen", "dlsym", "call_function", "string_at", "wstring_at", "cdata", "cdata/buffer", "addressof"),
    *("dlsym/handle", "PyObj_FromPtr"),
)


class Watch:
    """Knows whose a frame is. `tell(who, what)` hears each sign once; `exchanged` that a function changed,
    and `recoded` that any one gets other code.

    `is_test` says of a code object whether it is one of the program's with assertions. `by_name`: the sources
    look up attributes by names that they make, so that a frame of `inspect` is as good as their own.
    `profiles`: the candidate has a profiler of the library, and no word for what that has of its own. `calm`
    holds whether the harness itself asks just now.
    """

    def __init__(
        self,
        files: tuple[str, str],
        by_name: bool,
        profiles: bool,
        tell: Callable[[str, str], None],
        exchanged: Callable[[str], None],
        recoded: Callable[[], None],
        is_test: Callable[[Any], bool],
        calm: list[bool],
    ) -> None:
        self._calm = calm
        self._candidate, self._program = files
        self._by_name, self._profiles, self._is_test = by_name, profiles, is_test
        self._tell_of, self._exchanged, self._recoded = tell, exchanged, recoded
        self._told: set[tuple[str, str]] = set()
        # Not empty once another one listens: in the midst of what the harness asks, too.
        self._heard: list[str] = []
        self._proc = _stat("/proc").st_dev

    def begin(self) -> None:
        """From now on, until the process ends."""
        looks: dict[str, Callable[[tuple[Any, ...], FrameType], None]] = {
            "sys._getframe": self._got_frame,
            "sys.setprofile": self._set_profile,
            "sys.addaudithook": self._listens,
            "cpython.PyInterpreterState_New": self._noting(_INTERPRETER),
            "import": self._imported,
            "object.__getattr__": self._got_attribute,
            "object.__setattr__": self._set_attribute,
            "compile": self._compiled,
            "open": self._opened,
            **{f"ctypes.{name}": self._native for name in _NATIVE},
        }
        for event, sign in _OWN_SIGNS.items():
            looks[event] = self._noting(sign)
        busy: set[int] = set()
        find, thread, frame, calm, heard = looks.get, _thread_number, _frame, self._calm, self._heard
        asked, attributes = "object.__getattr__", _FRAME_ATTRIBUTES | _CODES

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            look = find(event)
            if look is None or (calm[0] and not heard) or (event == asked and arguments[1] not in attributes):
                return
            own = thread()
            if own in busy:
                return
            busy.add(own)
            try:
                look(arguments, frame(1))
            finally:
                busy.discard(own)

        sys.addaudithook(hook)

    def who(self, frame: FrameType | None) -> str:
        """Whose the code of a frame is: candidate, program, or nobody's of them."""
        file = frame.f_code.co_filename if frame is not None else "/"
        if file == self._candidate:
            return "candidate"
        if file.startswith("<frozen ") or (file.startswith("/") and not file.startswith(_TEMPORARY)):
            return ""
        return "program"

    def find_owner(self, frame: FrameType | None) -> str:
        """Whose the nearest frame is that is of no library."""
        while frame is not None and not self.who(frame):
            frame = frame.f_back
        return self.who(frame)

    def _tell(self, who: str, what: str) -> None:
        if who and (who, what) not in self._told:
            self._told.add((who, what))
            self._tell_of(who, what)

    def _noting(self, sign: str) -> Callable[[tuple[Any, ...], FrameType], None]:
        return lambda _, caller: self._tell(self.who(caller), sign)

    def _got_frame(self, _: tuple[Any, ...], caller: FrameType) -> None:
        while self._by_name and _hands_out_frames(caller.f_code) and caller.f_back:
            caller = caller.f_back
        self._tell(self.who(caller), _FRAMES)

    def _set_profile(self, _: tuple[Any, ...], caller: FrameType) -> None:
        # Each thread takes over what somebody has given to `threading`.
        threading = sys.modules.get("threading")
        given = getattr(threading, "_profile_hook", None) if threading is not None else None
        file = getattr(getattr(given, "__code__", None), "co_filename", "/")
        who = {self._candidate: "candidate", self._program: "program"}.get(file, "")
        who = self.who(caller) or who
        if who != "candidate" or file == self._candidate or not self._profiles:
            self._tell(who, _TRACING)

    def _listens(self, _: tuple[Any, ...], caller: FrameType) -> None:
        self._heard.append("")
        # Before the program runs, or in a thread: it would be handed the code of the program.
        frame: FrameType | None = caller
        while frame is not None and frame.f_code.co_filename != self._program:
            frame = frame.f_back
        if frame is None and self.who(caller) == "candidate":
            self._tell("candidate", "listens to what the interpreter is asked for")

    def _got_attribute(self, arguments: tuple[Any, ...], caller: FrameType) -> None:
        name, code = arguments[1], caller.f_code
        if name in _FRAME_ATTRIBUTES:
            is_own = _reads(code, name) and code.co_name not in _OF_FRAMES
            self._tell(self._asker(caller, is_own), _FRAMES)
        elif name in _CODES and self._is_test(getattr(arguments[0], name)):
            is_own = _reads(code, name) and not code.co_filename.endswith("/dis.py")
            self._tell(self._asker(caller, is_own), "looks into the code of a test")

    def _asker(self, caller: FrameType, is_own: bool) -> str:
        """For whom an attribute is read: a library that names it and keeps the value does so for itself."""
        return self.who(caller) if is_own else self.find_owner(caller)

    def _set_attribute(self, arguments: tuple[Any, ...], caller: FrameType) -> None:
        function, part = arguments[:2]
        if part not in _PARTS or type(function) is not type(_is_file):
            return
        if part == "__code__":
            self._recoded()
        who, code = self.who(caller), function.__code__
        if code.co_filename == self._candidate:
            if not caller.f_code.co_filename.startswith(_FOLDER):
                self._exchanged(who)
        elif who == "candidate" or (part == "__code__" and code.co_filename != self._program):
            self._tell(who, "changes the code of a function that is not its own")

    def _compiled(self, arguments: tuple[Any, ...], caller: FrameType) -> None:
        name = arguments[1]
        if isinstance(name, bytes):
            name = name.decode("utf-8", "replace")
        if not isinstance(name, str) or caller.f_code.co_filename.startswith(_FOLDER):
            return
        if name in (self._candidate, self._program):
            self._tell(self.who(caller) or "program", "gives its own code the candidate's file name")
        elif _is_file(name) or name.startswith("<frozen "):
            self._tell(self.who(caller), "gives its own code a library's file name")

    def _opened(self, arguments: tuple[Any, ...], caller: FrameType) -> None:
        path, who = arguments[0], self.who(caller)
        if type(path) not in (str, bytes) or not (who or path[-3:] in ("mem", b"mem")):
            return
        try:
            found = _stat(path)
        except (OSError, ValueError):
            return
        # By a folder that is open there are names for what is in it.
        if found.st_dev == self._proc and (
            found.st_mode == _OF_MEMORY or found.st_mode & _KIND == _FOLDER_KIND
        ):
            self._tell(who or "program", _MEMORY)

    def _imported(self, arguments: tuple[Any, ...], caller: FrameType) -> None:
        # Only of a compiled module is the file told.
        file = arguments[1]
        if type(file) is str and not _is_file(file):
            self._tell(self.find_owner(caller), _MEMORY)

    def _native(self, _: tuple[Any, ...], caller: FrameType) -> None:
        while "/ctypes/" in caller.f_code.co_filename and caller.f_back:
            caller = caller.f_back
        self._tell(self.who(caller), _MEMORY)


def _hands_out_frames(code: Any) -> bool:
    """Whether a function of a library gives frames to its caller, as those of `inspect` do."""
    file = code.co_filename
    return bool(
        file.endswith("/inspect.py") or (file.endswith("/logging/__init__.py") and code.co_name == "<lambda>")
    )


def _reads(code: Any, name: str) -> bool:
    """Whether a function itself has this name: `Counter(map(attrgetter(name), …))` reads what others name."""
    return name in code.co_names or name in code.co_consts


def _is_file(name: str) -> bool:
    return name.startswith("/") and not name.startswith(_TEMPORARY)
