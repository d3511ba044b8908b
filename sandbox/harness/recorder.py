"""Keeps what the assertions evaluate, and sends it out at once: it survives a program that is killed."""

from __future__ import annotations

import _operator
import _thread
import sys

from sandbox.harness.doors import AssertionBlock, Evaluation, leave_astray
from sandbox.harness.guards.candidate_operations import CLASS, FEIGNED, NONE, is_built_in
from sandbox.harness.guards.class_members import PLAIN
from sandbox.harness.guards.judges import BY_IDENTITY, BY_TRUTH, EQUAL, EQUALITIES
from sandbox.harness.guards.object_state import find_answers
from sandbox.harness.instrument import Site
from sandbox.harness.trace.values import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from sandbox.harness.channel import Channel
    from sandbox.harness.guards.candidate_operations import Decision
    from sandbox.harness.guards.changes import Changes
    from sandbox.harness.guards.integrity import Usual
    from sandbox.harness.guards.judges import Judges
    from sandbox.harness.trace.tracer import Tracer

_DISTINCT, _DISTINCT_AT_A_SITE = 400, 20
# Taken before the program runs: what it puts in their place as built-ins decides nothing here.
_truth, _frame, _thread_number, _gettrace = bool, sys._getframe, _thread.get_ident, sys.gettrace
_new, _are_plain, _is, _call = object.__new__, PLAIN.issuperset, _operator.is_, _operator.call


class Recorder:
    """What the instrumented program calls: keep, bound, begin, value, operand, end, call, context, block.

    `look` is asked before an assertion, given the frame that evaluates it, and `look_again` after it, where
    something is not `usual`: a program may put back before its end what it has exchanged. `look_at_data` is
    asked after each, where there are data that only the candidate could change. `calm` is set while a frame
    is asked for.
    `callable_candidate`: some of the candidate's code can be seen when it runs; of constants, what leads back
    to them has touched them. `has_classes`: it may have some, or objects that equal anything.
    `is_astray`: this is a child that the candidate forked, and may not learn what it would find.
    `lines_of_calls`: statements whose operations led to nothing that is compared.

    An assertion that began and was left by an exception stays `interrupted`, whoever caught that.

    A tracer is told of each call in here, too, and slows down each instruction: what happens with every
    assertion is written with few of them.
    """

    def __init__(
        self,
        channel: Channel,
        tracer: Tracer,
        value_chars: int,
        judges: Judges,
        decision: Decision,
        changes: Changes,
        calm: list[bool],
    ) -> None:
        self._changes = changes
        self._calm = calm
        self.sites: list[Site] = []
        self.look: Callable[[FrameType], None]
        self.look_again: Callable[[], None]
        self.usual: Usual | None = None
        self.look_at_data: Callable[[], None] | None = None
        self.callable_candidate = self.has_classes = True
        self.lines_of_calls: set[int] = set()
        self.reached = False
        self._judges, self._decision = judges, decision
        self._channel, self._tracer, self._limit = channel, tracer, value_chars
        # By the frame that evaluates it: coroutines take turns in the midst of their assertions.
        self._open: dict[int, Evaluation] = {}
        self._latest: Evaluation | None = None
        self._counts: dict[tuple[Any, ...], int] = {}
        self._last: dict[tuple[int, bool, str], tuple[Any, ...]] = {}
        self._distinct: dict[int, int] = {}
        self._interrupted: set[int] = set()
        self._held_falsely = self._planted = self.is_astray = False

    def keep(self, name: str, value: Any) -> Any:
        """Data that the program only reads, handed on unchanged."""
        return self._changes.keep(name, value)

    def bound(self, names: str, value: Any) -> Any:
        """The program binds some names to a value, handed on unchanged."""
        self._changes.bound(names, value)
        return value

    def begin(self, site: int, frame: FrameType | None = None, key: int = 0) -> Evaluation:
        """An assertion is reached; what it compares follows. A block has a `frame` and a `key` of its own."""
        if frame is None:
            self._calm[0] = True
            try:
                frame = _frame(1)
            except BaseException:  # an audit hook of the program's
                self._interrupted.add(site)
                raise
            self._calm[0] = False
            key = id(frame)
        tracer, usual = self._tracer, self.usual
        if self.is_astray and self.sites[site].leads_back:
            leave_astray()
        if not self.reached or _gettrace() is None:
            self._reach()
        if usual is not None and (
            id(frame.f_code) not in usual.codes
            or frame.f_globals is not usual.space
            or usual.parts
            or usual.recoded
            or not all(map(_is, map(_call, usual.askers, usual.names), usual.answers))
        ):
            self.look(frame)
        evaluation = _new(Evaluation)
        evaluation.site, evaluation.key, evaluation.thread = site, key, _thread_number()
        evaluation.made, evaluation.begun = tracer.count_made(), (tracer.count_calls(), len(tracer.words))
        evaluation.values, evaluation.inner, evaluation.word = [], {}, NONE
        tracer.checking[key] = evaluation.checked = []
        if key in self._open:
            self._interrupted.add(self._open.pop(key).site)
        self._open[key] = self._latest = evaluation
        return evaluation

    def value(self, site: int, value: Any) -> Any:
        """One compared value, handed on unchanged."""
        latest = self._latest
        is_own = latest is not None and latest.site == site and latest.thread == _thread_number()
        # With another one open, this frame need not be the one that began last.
        if latest is not None and is_own and len(self._open) == 1:
            latest.values.append(value)
            return value
        self._calm[0] = True
        evaluation = self._open.get(id(_frame(1)))
        self._calm[0] = False
        if evaluation is not None and evaluation.site == site:
            evaluation.values.append(value)
        return value

    def operand(self, place: int, value: Any) -> Any:
        """A value of one of several comparisons, handed on unchanged."""
        self._calm[0] = True
        evaluation = self._open.get(id(_frame(1)))
        self._calm[0] = False
        if evaluation is not None and place < len(self.sites[evaluation.site].inner):
            evaluation.inner.setdefault(place, []).append(value)
        return value

    def end(self, begun: Evaluation, value: Any) -> bool:
        """The assertion is evaluated: its truth is asked for once, here."""
        held = _truth(value)
        key, compared = begun.key, begun.values
        for place, constant in self.sites[begun.site].constants:
            compared.insert(place, constant)
        self._tracer.checking.pop(key, None)
        is_told = value is True or value is False
        if held:
            if self.has_classes and (
                begun.inner or not is_told or not _are_plain(map(id, map(type, compared)))
            ):
                # A comparison may give anything: then its truth is that of an object.
                self._weigh(begun, compared, None if is_told else value)
            elif self._tracer.words or self._decision.is_opaque:
                self._weigh_operations(begun, compared)
            if self.sites[begun.site].again and self._changes.has_any():
                self._weigh_changes(begun, {-1: compared, **begun.inner})
        self._record(begun, held, compared or ([] if is_told else [value]))
        usual = self.usual
        if usual is not None and (
            usual.recoded or not all(map(_is, map(_call, usual.askers, usual.names), usual.answers))
        ):
            self.look_again()
        if self.look_at_data is not None:
            self.look_at_data()
        self._open.pop(key, None)
        self._latest = None
        return held

    def call(self, begun: Evaluation, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """A foreign assertion function: it holds when it returns. What the program put there is none."""
        frame = begun.key
        self._tracer.checking.pop(frame, None)
        self._latest = None
        if not self._judges.is_judge(function):
            self._planted = self._planted or self._judges.is_planted(function)
            self._open.pop(frame, None)
            return function(*arguments, **named)
        # What its arguments called was called before it, for its sake.
        begun.made = self._tracer.count_made()
        begun.checked = []
        try:
            result = function(*arguments, **named)
        except self._judges.failures:
            self._record(begun, False, list(arguments[:2]))
            self._open.pop(frame, None)
            raise
        self._weigh_call(begun, function, arguments)
        if self.sites[begun.site].again and self._changes.has_any():
            self._weigh_changes(begun, {-1: [*arguments[:2]]})
        self._record(begun, True, list(arguments[:2]))
        if self.usual is not None:
            self.look_again()
        if self.look_at_data is not None:
            self.look_at_data()
        self._open.pop(frame, None)
        return result

    def context(self, site: int, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """What a `with` statement gets of a foreign assertion function, such as `self.assertRaises(…)`."""
        found = function(*arguments, **named)
        if self._judges.is_judge(function):
            return AssertionBlock(self, self._judges, site, found)
        self._planted = self._planted or self._judges.is_planted(function)
        return self.block(site, found)

    def block(self, site: int, found: Any) -> Any:
        """What a `with` statement gets of a name: an assertion too, where it is pytest's."""
        return (
            AssertionBlock(self, self._judges, site, found) if type(found) in self._judges.contexts else found
        )

    def examples(self, run: Callable[..., Any], program: str) -> Callable[..., Any]:
        """doctest's `run`: where the program calls it, the examples are an assertion."""

        def run_examples(*given: Any, **named: Any) -> Any:
            self._calm[0] = True
            frame = _frame(1)
            self._calm[0] = False
            if frame.f_code.co_filename != program:
                return run(*given, **named)
            self.sites.append(Site(frame.f_lineno, 0, f"doctest.{run.__name__}()"))
            key = id(self.sites[-1])
            begun = self.begin(len(self.sites) - 1, frame, key)
            self._forget(key)
            results = run(*given, **named)
            if results.attempted:
                self._record(begun, not results.failed, [results])
            return results

        return run_examples

    def count_words(self) -> int:
        """How often an operation of the candidate's classes has decided anything until now."""
        return len(self._tracer.words)

    def leave(self, begun: Evaluation, key: int, held: bool | None, error: object, words: int) -> None:
        """A block ended; None: by an exception that it did not wait for.

        It was judged when there were so many `words`: what came then has decided whether the exception fits.
        """
        self._latest = None
        begun.word = max(NONE, *(told.word for told in self._tracer.words[words:]), NONE)
        self._tracer.checking.pop(key, None)
        if held is None:
            return
        if held:
            # What was interrupted inside of it was so by the exception that it waited for.
            places = [*self._open]
            for place in places[places.index(key) + 1 :] if key in self._open else ():
                if self._open[place].thread == begun.thread:
                    del self._open[place]
        self._record(begun, held, [] if error is None else [error])
        self._open.pop(key, None)

    def go_astray(self) -> Callable[[], None]:
        """This is a child that the candidate forked; gives what is to hear of the end of its call."""
        self.is_astray = True
        return leave_astray if self._open else self._tracer.accept_no_more

    def start_anew(self) -> None:
        """Go on in a fork: its assertions are counted by themselves."""
        self._counts, self._last, self._distinct, self._open = {}, {}, {}, {}
        self._interrupted, self._latest = set(), None

    def totals(self) -> list[int]:
        """How often each record was seen, in the order in which they were sent."""
        return list(self._counts.values())

    def interrupted(self) -> list[int]:
        """The lines of assertions that began and never ended."""
        left = {one.site for one in self._open.values()} | self._interrupted
        return sorted({self.sites[site].line for site in left})

    def signs(self) -> list[tuple[str, str]]:
        """What the assertions themselves have shown: of whom, and what."""
        found = []
        if self._planted:
            found.append(("candidate", "put a function of its own in the place of an assertion"))
        changed = self._judges.changed() or ("unittest" if self._held_falsely else "")
        if changed:
            found.append(("program", f"exchanged what {changed} compares by"))
        return found

    def _forget(self, key: int) -> None:
        self._latest = None
        self._open.pop(key, None)
        self._tracer.checking.pop(key, None)

    def _reach(self) -> None:
        self._tracer.resume()
        if not self.reached:
            self.reached = True
            self._channel.send("reached")

    def _weigh(self, begun: Evaluation, compared: list[object], truth: object) -> None:
        """Note whether an assertion that held did so by the word of one of the candidate's classes."""
        site, decision = self.sites[begun.site], self._decision
        inner = [(values, site.inner[place]) for place, values in begun.inner.items()]
        # What a call is given is not compared here.
        comparisons = [(values, is_claimed) for values, is_claimed in inner if is_claimed is not None]
        if compared and not site.by_identity:
            comparisons.append((compared, site.is_equality))
        own = [one for one in comparisons if decision.of_comparison(one[0])]
        same = decision.find_same_state(compared, site.written) if own and site.is_strict else []
        own = [] if same else own
        if any(claimed and self._is_feigned(values) for values, claimed in own):
            begun.word = FEIGNED
        elif own or (truth is not None and decision.of_truth(truth)):
            begun.word = CLASS
        self._weigh_operations(begun, [] if own else same or [one for pair in comparisons for one in pair[0]])

    def _is_feigned(self, values: list[object]) -> bool:
        return self._decision.stands_for_others(values) and not self._decision.has_tested_members(values)

    def _weigh_call(self, begun: Evaluation, function: Any, arguments: tuple[Any, ...]) -> None:
        name, values = function.__name__, list(arguments[:2])
        are_plain = _are_plain(map(id, map(type, values)))
        own = not are_plain and name not in BY_IDENTITY and self._decision.of_comparison(values)
        written = self.sites[begun.site].written
        same = self._decision.find_same_state(values, written) if own and name in EQUALITIES else []
        own = own and not same
        plain = [is_built_in(value) for value in values]
        if own and name == "assertEqual" and self._decision.stands_for_others(values):
            begun.word = FEIGNED
        elif own or (name in BY_TRUTH and arguments and self._decision.of_truth(arguments[0])):
            begun.word = CLASS
        self._weigh_operations(begun, same or (values if name in EQUALITIES and not own else []))
        if name in EQUAL and len(values) == 2 and all(plain) and not own:
            self._held_falsely |= _truth(values[0] == values[1]) is not EQUAL[name]

    def _weigh_changes(self, begun: Evaluation, compared: dict[int, list[object]]) -> None:
        """Note whether a comparison holds only since the candidate changed what it compares with."""
        self._calm[0] = True
        frame = _frame(2)
        self._calm[0] = False
        site = self.sites[begun.site]
        for place, values in compared.items():
            begun.word = max(begun.word, self._changes.word_of(site, place, values, frame, begun.begun[0]))

    def _weigh_operations(self, begun: Evaluation, compared: list[object]) -> None:
        """Note whether an operation led to what was compared: here, or where the names were bound."""
        tracer, site = self._tracer, self.sites[begun.site]
        if self._decision.is_opaque:
            begun.word = FEIGNED
        told = tracer.words[begun.begun[1] :]
        if tracer.words_by_line:
            lines = (line for origin in site.origins for line in origin if line not in self.lines_of_calls)
            told = told + [one for line in lines for one in tracer.words_by_line.get(line, ())]
        if told:
            answers = find_answers(compared) if site.is_strict else []
            begun.word = max(begun.word, *(one.word for one in told if one.counts(answers)), NONE)

    def _record(self, evaluation: Evaluation, held: bool, values: list[object]) -> None:
        number = evaluation.site
        site = self.sites[number]
        crowded = self._distinct.get(number, 0) >= _DISTINCT_AT_A_SITE or len(self._counts) >= _DISTINCT
        kind = (number, held, evaluation.word if held else NONE)
        if crowded and kind in self._last:
            self._counts[self._last[kind]] += 1
            return
        calls = self._tracer.count_calls()
        touched = calls > evaluation.begun[0] or (
            site.leads_back and (calls > 0 or not self.callable_candidate)
        )
        if self.is_astray and touched:
            leave_astray()
        with self._tracer.paused():
            texts = [render(value, self._limit, True) for value in values]
        left, right = texts[0] if texts else None, texts[-1] if len(texts) > 1 else None
        key = (number, held, left, right, touched, kind[2])
        self._last[kind] = key
        if key in self._counts:
            self._counts[key] += 1
            return
        self._counts[key] = 1
        self._distinct[number] = self._distinct.get(number, 0) + 1
        checked = self._checked(evaluation, site) if touched else []
        self._channel.send("assertion", site.line, site.source, *key[1:5], checked, site.case, key[5])

    def _checked(self, evaluation: Evaluation, site: Site) -> list[int]:
        """The numbers of the calls whose results were compared; for a name, the last call made for it."""
        found = set(evaluation.checked)
        for lines in site.origins:
            numbers = (self._tracer.called_from.get(line, 0) for line in lines)
            # A call of another thread's may have come meanwhile.
            found.add(max((one for one in numbers if one <= evaluation.made), default=0))
        return sorted(found - {0})
