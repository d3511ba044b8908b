"""The forked half: puts candidate and test program into one namespace, runs them, and says how they ended.

Order of a run: the statements of the program's `prelude` (imports, stand-ins), then the candidate, compiled
from its own unchanged text under its own name, then the rest of the program, then `calls`: functions such as
main, and methods of test classes, that it defines and leaves to a runner. `__name__` is always "__main__".

Where the program has cases, each of them runs in a fork, in place of `calls`.
"""

from __future__ import annotations

import _ast
import builtins
import os
import sys

from sandbox.harness.cases import Cases
from sandbox.harness.code_objects import codes_in, linked
from sandbox.harness.doors import Doors, leave_astray
from sandbox.harness.ending import described, is_clean_exit
from sandbox.harness.evaluating import evaluate
from sandbox.harness.guards.candidate_operations import Decision
from sandbox.harness.guards.changes import Changes
from sandbox.harness.guards.integrity import Integrity
from sandbox.harness.guards.judges import Judges
from sandbox.harness.guards.libraries import load_imported
from sandbox.harness.guards.watch import Watch
from sandbox.harness.instrument import Instrumenter
from sandbox.harness.opaque_callables import hide
from sandbox.harness.program_lines import lines_of_calls, untested_lines
from sandbox.harness.recorder import Recorder
from sandbox.harness.runners import PytestRunner, call_method, finish_call
from sandbox.harness.trace.pages import page
from sandbox.harness.trace.tracer import Tracer, executable_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType, ModuleType
    from typing import Any

    from sandbox.harness.channel import Channel

PROGRAM, CANDIDATE = "<program>", "<candidate>"
_PROGRAM_FILE = "/tmp/program.py"
_ONLY_AST, _TOP_LEVEL_FUTURES = 0x400, 0x1FE0000
# With one of these a program can look up attributes whose names its text does not have.
_BY_NAME = ("getattr", "attrgetter", "__getattribute__", "exec", "eval")

# Parts of libraries whose values are equal to what they are told. Without one of these words, or of those
# that belong to all, a candidate has no such value but those that it is given.
_MATCHERS = {
    "/unittest/mock.py": ("mock", "Mock", "ANY"),
    "/_pytest/": ("approx", "pytest"),
    "/test/support/": ("support",),
}
_OF_MATCHERS = ("import_module", "__import__", "modules", "exec(", "eval(")
# What the runners of tests look for in a module.
_OF_RUNNERS = ("pytestmark", "pytest_generate_tests", "pytest_plugins", "load_tests", "__test__")
# With a profiler of the library, and without one of these, a candidate learns no more than times.
_OF_PROFILES = ("getstats", "vars", "__dict__", "modules", "import_module", "__import__", *_BY_NAME)
# Without one of these no function of the candidate becomes an operation of a class.
_OF_CLASSES = ("class", "type", "__", "attr", "exec", "eval", "namedtuple", "enum", "Enum")


def run(request: dict[str, Any], channel: Channel, printed: Callable[[], tuple[int, int]]) -> None:
    """Run everything in `request`; what there is to know goes through `channel`, an "end" record last.

    `printed` says how many bytes were printed to each of the two outputs.
    """
    cases = Cases(channel, request["limits"]["seconds"]) if request["cases"] else None
    for text in ("candidate", "source"):
        request[text] = request[text].removeprefix("\ufeff")
    execution = _Execution(request, channel)
    tracer, recorder = execution.tracer, execution.recorder
    ending = _Ending(channel, execution, printed)

    def case(number: int, steps: int) -> None:
        channel.send("base", tracer.count_made(), *printed())
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
            execution.top_level()
            if cases:
                cases.run(len(request["cases"]), tracer.book.steps, case)
    except BaseException as raised:
        error = raised
    ending.tell(execution.blamed(error))


class _Ending:
    """Says how a run, or a case, ended. `printed` gives the bytes that went to each output."""

    def __init__(
        self, channel: Channel, execution: _Execution, printed: Callable[[], tuple[int, int]]
    ) -> None:
        self._channel, self._execution, self._printed = channel, execution, printed

    def tell(self, error: BaseException | None) -> None:
        """Wind down and send the end; `error` is what ended it."""
        if self._execution.recorder.is_astray:
            leave_astray()
        sign = self._execution.tracer.finish()
        try:
            _wind_down()
        except BaseException as raised:
            error = error or raised
        self._execution.tracer.close()
        self._execution.finish()
        raised_data = self._execution.described(error) if error else None
        self._channel.send("printed", *self._printed())
        self._channel.send("end", raised_data, *self._execution.facts([*filter(None, [sign])]))


class _Execution:
    def __init__(self, request: dict[str, Any], channel: Channel) -> None:
        self._request, self._channel = request, channel
        self._module: ModuleType = type(sys)("__main__")
        self._names: dict[str, Any] = vars(self._module)
        self._names["__builtins__"] = builtins
        self._names["__file__"] = _PROGRAM_FILE
        sys.modules["__main__"] = self._module
        self._candidate: CodeType | None = None
        limits = request["limits"]
        self.tracer = Tracer(channel, (CANDIDATE, PROGRAM), limits, request, self._names)
        self.tracer.floor = globals()
        self._integrity = Integrity(self._names, CANDIDATE, self._tell, self.tracer.count_calls)
        self.tracer.entered, self.tracer.left = self._integrity.entered, self._integrity.left
        self._open_runner()
        has_classes = self._weigh_operations()
        self._calm = [False]
        self._changes = Changes(self.tracer, self._names, CANDIDATE, self._tell, bool(request["shared"]))
        self._watches_changes = bool(request["shared"] or request["constants"])
        if self._watches_changes:
            self.tracer.entered, self.tracer.left = self._entered, self._left
        self.recorder = Recorder(
            channel,
            self.tracer,
            limits["value_chars"],
            self._judges,
            self._decision,
            self._changes,
            self._calm,
        )
        self.recorder.has_classes = has_classes
        doctest: Any = sys.modules.get("doctest")
        if doctest is not None:
            doctest.testmod = hide(self.recorder.examples(doctest.testmod, PROGRAM))
        self._told: set[tuple[str, str]] = set()
        self._imports: list[str] = []
        self._pages: dict[str, Any] = {}
        self._shown: set[int] = set()

    def _open_runner(self) -> None:
        request, unmet = self._request, lambda: self._channel.send("unmet")
        texts, files = (request["candidate"], request["source"]), (CANDIDATE, PROGRAM)
        self._judges = Judges(texts, CANDIDATE, unmet, bool(request["pytest"]))
        self._pytest = PytestRunner(self._module, files, request["names"], self._judges, unmet)
        self._pytest.load(request["paths"][1:])
        self._pytest.is_idle = bool(request["cases"])

    def _weigh_operations(self) -> bool:
        """Whether the candidate may have classes: then the tracer asks about the calls of its operations."""
        text = self._request["candidate"]
        made = [part for part, words in _MATCHERS.items() if _has_any(text, (*words, *_OF_MATCHERS))]
        self._decision = Decision(PROGRAM, CANDIDATE, made)
        has_classes = bool(made) or _has_any(text, _OF_CLASSES) or _sets_attributes(text)
        if has_classes:
            self.tracer.word_of = self._decision.of_call
            self.tracer.learn_result = self._decision.learn_result
            self.tracer.learn_returned = self._decision.learn_returned
        return has_classes

    def top_level(self) -> None:
        """All that runs once; where the program has cases, these follow."""
        try:
            self._everything()
        except SystemExit as error:
            if not (self._request["cases"] and self._pytest.is_own_exit(error)):
                raise

    def _everything(self) -> None:
        first, rest = self._program()
        self._candidate = compile(self._request["candidate"], CANDIDATE, "exec", dont_inherit=True)
        self._watch()
        exec(first, self._names)
        self._prepare_imported()
        self.recorder.callable_candidate = _has_functions(self._candidate)
        load_imported(self._imports, [*codes_in(first), *codes_in(rest)], self._request["candidate"])
        self._integrity.learn_modules(self._imports, self._candidate)
        former = [*map(self._names.get, _OF_RUNNERS)]
        exec(self._candidate, self._names)
        self._integrity.left_module()
        self._changes.look()
        self._prepare_imported()
        if self._request["alias"]:
            expected, own = self._request["alias"]
            self._names[expected] = self._names[own]
        self._integrity.learn_candidate(self._candidate, self._request["names"])
        if self._integrity.may_look_at_frames:
            self.tracer.look_at_call = self._integrity.look_for_frames
        if self._request["shared"]:
            self._changes.learn_mentioned(codes_in(self._candidate), self._request["names"])
        used = {name for one in (first, rest) for code in codes_in(one) for name in code.co_names}
        for name, before in zip(_OF_RUNNERS, former, strict=True):
            if name not in used and self._names.get(name) is not before:
                self._tell("candidate", "takes part in the tests")
        self._decision.learn_names(self._names, set(self._request["names"]), used)
        self.recorder.look, self.recorder.look_again = self._integrity.look, self._integrity.look_again
        self.recorder.usual = self._integrity.usual
        if self._request["constants"]:
            self.recorder.look_at_data = self._changes.look
        exec(rest, self._names)
        self._prepare_imported()
        if not self._request["cases"]:
            for name in self._request["calls"]:
                self._call(name)
            if self._request["pytest"] and not self._pytest.ran:
                self._pytest.run(self._request["pytest"])

    def case(self, name: str, is_defined: bool) -> None:
        """In a fork: one case. What its end would do for the whole program is not its own to do."""
        import atexit

        atexit._clear()
        if not is_defined or name not in self._names:
            raise NameError(f"name {name!r} is not defined")
        if name in self._request["pytest"]:
            self._pytest.run([name])
        else:
            self._call(name)

    def expression(self, channel: Channel) -> None:
        """A call: the candidate, then the value of the source."""
        exec(compile(self._request["candidate"], CANDIDATE, "exec", dont_inherit=True), self._names)
        evaluate(
            self._request["source"], PROGRAM, self._names, channel, self._request["limits"]["value_chars"]
        )

    def blamed(self, error: BaseException | None) -> BaseException | None:
        """What is told as the end: rather a test that pytest saw fail than the exit by its word."""
        if error is None or isinstance(error, SystemExit):
            return self._pytest.failure or error
        return error

    def described(self, error: BaseException) -> dict[str, Any]:
        """The exception that ended the run."""
        texts = {PROGRAM: self._request["source"], CANDIDATE: self._request["candidate"]}
        # Before pytest has run, tests are left undone by an exit.
        is_last = not self._request["pytest"] or self._pytest.ran
        last = self._request["final_exit"] if is_last else None
        is_clean = self._pytest.is_own_exit(error) or is_clean_exit(error, PROGRAM, self._judges.runner, last)
        return described(error, texts, is_clean)

    def finish(self) -> None:
        """The run has ended: say what its assertions have shown."""
        self._integrity.finish()
        self._changes.look_closely()
        for line in self.recorder.interrupted():
            self._channel.send("interrupted", line)
        for sign in self.recorder.signs():
            self._tell(*sign)

    def facts(self, signs: list[str]) -> tuple[Any, ...]:
        """What an end record has, beside the exception."""
        return self.recorder.totals(), self._integrity.rebound, signs, *self._coverage()

    def _entered(self, frame: FrameType) -> None:
        self._integrity.entered(frame)
        self._changes.entered(frame)

    def _left(self) -> None:
        self._integrity.left()
        self._changes.left()

    def _tell(self, who: str, what: str) -> None:
        if (who, what) not in self._told:
            self._told.add((who, what))
            self._channel.send("sign", who, what)

    def _watch(self) -> None:
        candidate = self._request["candidate"]
        text = candidate + self._request["source"]
        watch = Watch(
            (CANDIDATE, PROGRAM),
            _has_any(text, _BY_NAME),
            "cProfile" in candidate and not _has_any(candidate, _OF_PROFILES),
            self._tell,
            self._integrity.exchanged,
            self._integrity.recoded,
            self._integrity.is_test,
            self._calm,
        )
        watch.begin()

        def forked() -> None:
            if watch.find_owner(sys._getframe()) == "candidate":
                self.tracer.left = self.recorder.go_astray()

        os.register_at_fork(after_in_child=forked)

    def _coverage(self) -> tuple[list[int], list[int], bool, int]:
        """Lines reached, lines missed, whether steps were left out, and the number of calls."""
        tracer = self.tracer
        if tracer.incomplete or self._candidate is None:
            return [], [], tracer.truncated, tracer.count_made()
        lines = executable_lines(self._candidate)
        reached, missed = lines & tracer.reached, lines - tracer.reached
        return sorted(reached), sorted(missed), tracer.truncated, tracer.count_made()

    def _program(self) -> tuple[CodeType, CodeType]:
        source, sentinel = self._request["source"], f"assertions {os.urandom(8).hex()}"
        tree: Any = compile(source, PROGRAM, "exec", _ONLY_AST, dont_inherit=True)
        self.recorder.lines_of_calls = lines_of_calls(tree)
        self._changes.learn_readings(dict(self._request["readings"]), self._request["declared"])
        told = [*dict(self._request["readings"]), *self._request["declared"]]
        constants, shared = self._request["constants"], self._request["shared"]
        instrumenter = Instrumenter(source, sentinel, constants, shared, told if shared else [])
        instrumenter.rewrite(tree)
        self._imports = sorted(instrumenter.imports)
        asserting = {line for site in instrumenter.sites for line in site.lines}
        self._changes.lines_of_calls = self.recorder.lines_of_calls - asserting
        self._shown = untested_lines(tree, instrumenter.sites)
        doors = Doors(self.recorder, hide)
        places = {(line, column): rest for line, column, *rest in self._request["places"]}
        self.recorder.sites = sites = instrumenter.sites
        for site in sites:
            if (site.line, site.column) in places:
                site.case, site.leads_back, site.origins = places[site.line, site.column]
        early = set(self._request["prelude"])
        first, rest = (
            [one for place, one in enumerate(tree.body) if (place in early) is is_early]
            for is_early in (True, False)
        )
        begun = compile(_ast.Module(first, []), PROGRAM, "exec", dont_inherit=True)
        futures = begun.co_flags & _TOP_LEVEL_FUTURES
        ended = compile(_ast.Module(rest, []), PROGRAM, "exec", futures, dont_inherit=True)
        codes = linked(begun, sentinel, doors), linked(ended, sentinel, doors)
        named = (self._request[key] for key in ("plain", "fixed", "moving"))
        self._integrity.learn_program(codes, doors, *named)
        return codes

    def _prepare_imported(self) -> None:
        threading, linecache = sys.modules.get("threading"), sys.modules.get("linecache")
        if threading is not None:
            threading.settrace(self.tracer.function)
        if linecache is not None:
            for name, key in ((PROGRAM, "source"), (CANDIDATE, "candidate")):
                text = self._request[key]
                if name not in self._pages:
                    shown = self._shown if name == PROGRAM else None
                    self._pages[name] = page(text, shown, (CANDIDATE, PROGRAM))
                linecache.cache[name] = (len(text), None, self._pages[name], name)

    def _call(self, name: str) -> None:
        owner, _, method = name.partition(".")
        found = self._names[owner]
        finish_call(call_method(found, method) if method else found())


def _has_any(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text for word in words)


def _sets_attributes(text: str) -> bool:
    return any("." in before.split()[-1] for before in text.split("=")[:-1] if before.split())


def _has_functions(code: CodeType) -> bool:
    inner = [constant for constant in code.co_consts if isinstance(constant, type(code))]
    return any(one.co_flags & 1 or _has_functions(one) for one in inner)


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
