"""The forked half: puts candidate and test program into one namespace, runs them, and says how they ended.

Order of a run: the program's first `prelude` statements (imports, helpers, constants), then the candidate,
compiled from its own unchanged text under its own name, then the rest of the program, then `calls`: functions
such as main that the program defines and leaves to a runner. `__name__` is "__main__" throughout.

Where the program has cases, each of them runs in a fork, in place of `calls`.
"""

from __future__ import annotations

import _ast
import builtins
import os
import sys

from sandbox.harness.cases import Cases
from sandbox.harness.ending import described
from sandbox.harness.evaluating import evaluate
from sandbox.harness.instrument import Instrumenter, linked
from sandbox.harness.recorder import Recorder
from sandbox.harness.tracer import Tracer, executable_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, ModuleType
    from typing import Any

    from sandbox.harness.channel import Channel

PROGRAM, CANDIDATE = "<program>", "<candidate>"
_ONLY_AST, _TOP_LEVEL_FUTURES = 0x400, 0x1FE0000
# Programs replace these to feed or silence the candidate.
_OFTEN_REPLACED = frozenset({"print", "input", "open", "_", "exit", "quit", "help"})


def run(request: dict[str, Any], channel: Channel, printed: Callable[[], tuple[int, int]]) -> None:
    """Run everything in `request`; what there is to know goes through `channel`, an "end" record last.

    `printed` says how many bytes were printed to each of the two outputs.
    """
    cases = Cases(channel, request["limits"]["seconds"])
    tracer = Tracer(channel, (CANDIDATE, PROGRAM), request["limits"], request)
    recorder = Recorder(channel, tracer, request["limits"]["value_chars"])
    execution = _Execution(request, recorder, tracer)
    ending = _Ending(channel, execution, printed)

    def case(number: int, steps: int) -> None:
        channel.send("base", tracer.made, *printed())
        tracer.start_anew(steps)
        recorder.start_anew()
        error: BaseException | None = None
        try:
            execution.case(*request["cases"][number])
        except BaseException as raised:
            error = raised
        ending.tell(error)

    error: BaseException | None = None
    try:
        if request["expression"]:
            execution.expression(channel)
        else:
            tracer.resume()
            execution.everything()
            if request["cases"]:
                cases.run(len(request["cases"]), tracer.book.steps, case)
    except BaseException as raised:
        error = raised
    ending.tell(error)


class _Ending:
    """Says how a run, or a case, ended. `printed` gives the bytes that went to each output."""

    def __init__(
        self, channel: Channel, execution: _Execution, printed: Callable[[], tuple[int, int]]
    ) -> None:
        self._channel, self._execution, self._printed = channel, execution, printed
        self._before = dict(vars(builtins))

    def tell(self, error: BaseException | None) -> None:
        """Wind down and send the end; `error` is what ended it."""
        sign = self._execution.tracer.finish()
        try:
            _wind_down()
        except BaseException as raised:
            error = error or raised
        self._execution.tracer.close()
        signs = [*filter(None, [sign, _changed(self._before)])]
        raised_data = described(error, self._execution.texts()) if error else None
        self._channel.send("printed", *self._printed())
        self._channel.send("end", raised_data, *self._execution.facts(signs))


class _Execution:
    def __init__(self, request: dict[str, Any], recorder: Recorder, tracer: Tracer) -> None:
        self._request, self._recorder, self.tracer = request, recorder, tracer
        self._module: ModuleType = type(sys)("__main__")
        self._names: dict[str, Any] = vars(self._module)
        self._names["__builtins__"] = builtins
        sys.modules["__main__"] = self._module
        self._candidate: CodeType | None = None
        self._originals: dict[str, tuple[object, ...]] = {}

    def everything(self) -> None:
        first, rest = self._program()
        exec(first, self._names)
        self._prepare_imported()
        self._candidate = compile(self._request["candidate"], CANDIDATE, "exec", dont_inherit=True)
        self._recorder.callable_candidate = _has_functions(self._candidate)
        exec(self._candidate, self._names)
        self._prepare_imported()
        if self._request["alias"]:
            expected, own = self._request["alias"]
            self._names[expected] = self._names[own]
        self._originals = {
            name: found for name in self._request["names"] if (found := self._now(name)) is not None
        }
        self._recorder.is_rebound = self._is_rebound
        exec(rest, self._names)
        self._prepare_imported()
        for name in self._request["calls"] if not self._request["cases"] else ():
            self._call(self._names[name])

    def case(self, name: str, is_defined: bool) -> None:
        """In a fork: one case. What its end would do for the whole program is not its own to do."""
        import atexit

        atexit._clear()
        if not is_defined or name not in self._names:
            raise NameError(f"name {name!r} is not defined")
        self._call(self._names[name])

    def expression(self, channel: Channel) -> None:
        """A call: the candidate, then the value of the source."""
        exec(compile(self._request["candidate"], CANDIDATE, "exec", dont_inherit=True), self._names)
        evaluate(
            self._request["source"], PROGRAM, self._names, channel, self._request["limits"]["value_chars"]
        )

    def texts(self) -> dict[str, str]:
        """The source of each pseudo file."""
        return {PROGRAM: self._request["source"], CANDIDATE: self._request["candidate"]}

    def facts(self, signs: list[str]) -> tuple[Any, ...]:
        """What an end record has, beside the exception."""
        return self._recorder.totals(), self._redefined(), signs, *self._coverage()

    def _redefined(self) -> bool:
        """Whether a function or class of the candidate was replaced, now or while an assertion was made."""
        return self._recorder.rebound or self._is_rebound()

    def _is_rebound(self) -> bool:
        return any(self._now(name) != original for name, original in self._originals.items())

    def _coverage(self) -> tuple[list[int], list[int], bool, int]:
        """Lines reached, lines missed, whether steps were left out, and the number of calls."""
        tracer = self.tracer
        if tracer.incomplete or self._candidate is None:
            return [], [], tracer.truncated, tracer.made
        lines = executable_lines(self._candidate)
        reached, missed = lines & tracer.reached, lines - tracer.reached
        return sorted(reached), sorted(missed), tracer.truncated, tracer.made

    def _program(self) -> tuple[CodeType, CodeType]:
        source, sentinel = self._request["source"], f"assertions {os.urandom(8).hex()}"
        tree: Any = compile(source, PROGRAM, "exec", _ONLY_AST, dont_inherit=True)
        instrumenter = Instrumenter(source, sentinel)
        instrumenter.rewrite(tree)
        places = {(line, column): rest for line, column, *rest in self._request["places"]}
        self._recorder.sites = sites = instrumenter.sites
        for site in sites:
            if (site.line, site.column) in places:
                site.case, site.leads_back, site.origins = places[site.line, site.column]
        split = self._request["prelude"]
        first = compile(_ast.Module(tree.body[:split], []), PROGRAM, "exec", dont_inherit=True)
        futures = first.co_flags & _TOP_LEVEL_FUTURES
        rest = compile(_ast.Module(tree.body[split:], []), PROGRAM, "exec", futures, dont_inherit=True)
        return linked(first, sentinel, self._recorder), linked(rest, sentinel, self._recorder)

    def _prepare_imported(self) -> None:
        threading, linecache = sys.modules.get("threading"), sys.modules.get("linecache")
        if threading is not None:
            threading.settrace(self.tracer.dispatch)
        if linecache is not None:
            for name, key in ((PROGRAM, "source"), (CANDIDATE, "candidate")):
                text = self._request[key]
                linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)

    def _call(self, function: Any) -> None:
        result = function()
        if type(result).__name__ == "coroutine":
            import asyncio

            asyncio.run(result)

    def _now(self, name: str) -> tuple[object, ...] | None:
        """What a name stands for, as identities; None for data, which the candidate itself may change."""
        value = self._names.get(name)
        if isinstance(value, type):
            return id(value), [(key, _identity(one)) for key, one in vars(value).items() if _is_method(one)]
        return _identity(value) if callable(value) else None


def _has_functions(code: CodeType) -> bool:
    inner = [constant for constant in code.co_consts if isinstance(constant, type(code))]
    return any(one.co_flags & 1 or _has_functions(one) for one in inner)


def _identity(value: object) -> tuple[object, ...]:
    """The object itself, and of a function the parts that can be exchanged."""
    if type(value) is not type(run):
        return (id(value),)
    return id(value), id(value.__code__), id(value.__defaults__), id(value.__kwdefaults__)


def _is_method(member: object) -> bool:
    return callable(member) or isinstance(member, (property, staticmethod, classmethod))


def _wind_down() -> None:
    # What the interpreter does at its end: wait for threads, call exit handlers, flush.
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()  # the interpreter's own way to join threads
    import atexit

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _changed(before: dict[str, object]) -> str:
    after = vars(builtins)
    changed = sorted(
        str(name)[:40] for name in before.keys() | after.keys() if before.get(name) is not after.get(name)
    )
    return ", ".join(name for name in changed if name not in _OFTEN_REPLACED) and (
        f"changed built-in names: {', '.join(changed[:20])}"
    )
