"""Runs a program's cases, each in a fork of the process as it is after the top level, one after another.

A case may take half of the seconds that remain when it begins; then it is killed. Waiting for a processor is
not its own time, as in the whole run. None begins when less than a twentieth of the run's seconds remains.

Its records come through a pipe of its own. What it did not write as its own is handed on as foreign bytes, so
no case can speak for another one.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the signal module itself imports enum and more
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.harness.channel import Channel

_SHARE, _LEAST = 1 / 2, 1 / 20
_POLL_MILLISECONDS = 20
_LONGEST_LINE = 8 << 20
_FORK_TRIES, _CLEARING_ROUNDS, _PAUSE_SECONDS = 50, 100, 0.01
_NANOSECONDS = 1e9
_WITHOUT_WAITING = os.WNOHANG
_FOREIGN = b"?"
# Taken before the program runs: what it puts in their place decides nothing here.
_fork, _exit, _kill, _killpg, _waitpid = os.fork, os._exit, os.kill, os.killpg, os.waitpid
_getppid, _setpgid, _listdir = os.getppid, os.setpgid, os.listdir
_open, _read, _close, _pipe, _dup2 = os.open, os.read, os.close, os.pipe, os.dup2
_set_blocking, _poll, _pidfd_open = os.set_blocking, select.poll, os.pidfd_open
_now, _sleep, _mask = time.monotonic, time.sleep, _signal.pthread_sigmask


class Cases:
    """The cases of a run that begins now and may take `seconds`."""

    def __init__(self, channel: Channel, seconds: float) -> None:
        self._channel, self._seconds = channel, seconds
        self._began, self._waited = _now(), -_scheduled("self")[1]

    def run(self, count: int, steps: int, perform: Callable[[int, int], None]) -> None:
        """Have a fork `perform` each case, given its number and how many steps its trace may still have."""
        # A signal that a case sends to this process must not end the others.
        self._former = _mask(_signal.SIG_BLOCK, _signal.valid_signals())
        self._kept = _processes()
        for case in range(count):
            if self._left() < self._seconds * _LEAST:
                return
            steps -= min(self._one(case, steps, perform), steps)

    def _one(self, case: int, steps: int, perform: Callable[[int, int], None]) -> int:
        """Run one case, if there is room for it; the number of steps that it had."""
        relay = _relay(self._channel, case)
        if relay is None:
            return 0
        process = _forked()
        if process == 0:
            self._become(case, relay, steps, perform)
        if process is None:
            relay.close()
            return 0
        self._channel.send("case", case)
        self._channel.send("over", case, self._ended(process, relay))
        return relay.steps

    def _left(self) -> float:
        """Seconds of the program's own that remain of the run."""
        return self._seconds - (_now() - self._began - self._waited - _scheduled("self")[1])

    def _become(self, case: int, relay: _Relay, steps: int, perform: Callable[[int, int], None]) -> None:
        status = 70
        try:
            # What it sends to its process group stays with it.
            _setpgid(0, 0)
            relay.enter()
            self._channel.enter(case)
            _mask(_signal.SIG_SETMASK, self._former)
            perform(case, steps)
            status = 0
        finally:
            _exit(status)

    def _ended(self, process: int, relay: _Relay) -> str:
        """How a case ended: ended (by itself, in order), killed or timed_out. Nothing of it stays."""
        relay.hear()
        how = self._watched(process, relay, self._left() * _SHARE)
        self._clear(process)
        relay.finish()
        return how

    def _watched(self, process: int, relay: _Relay, seconds: float) -> str:
        began, own_wait, end, poll = _now(), _scheduled("self")[1], _end_of(process), _poll()
        for descriptor in (relay.source, *end):
            poll.register(descriptor, select.POLLIN)
        how = ""
        while not how:
            ready = [descriptor for descriptor, _ in poll.poll(_POLL_MILLISECONDS)]
            if relay.source in ready and not relay.take():
                poll.unregister(relay.source)
            spent = _now() - began
            if spent >= seconds or not end or end[0] in ready:
                # Before it is waited for: afterwards nobody knows how long it waited.
                waited = _scheduled(process)[1]
                is_over = spent >= seconds and max(spent - waited, self._used()) >= seconds
                how = _how(process, is_over)
        # This process waits beside it: the same seconds.
        self._waited += (spent - seconds if is_over else waited) - (_scheduled("self")[1] - own_wait)
        for descriptor in end:
            _close(descriptor)
        return how

    def _used(self) -> float:
        """Seconds of processors that a case has had, with all that it started."""
        return sum(_scheduled(process)[0] for process in _processes() - self._kept)

    def _clear(self, process: int) -> None:
        """Kill what a case has left: it would take time and places from the next one."""
        if _getppid() != 1:
            # Without a process namespace of its own this process sees others', too.
            _killed(_killpg, process)
            return
        for _ in range(_CLEARING_ROUNDS):
            left = _processes() - self._kept
            if not left:
                return
            # The kernel's own way to all of them leaves no time to fork.
            for one in left if len(self._kept) > 2 else (-1,):
                _killed(_kill, one)
            _sleep(_PAUSE_SECONDS)


class _Relay:
    """Hands on what a case records: whole lines of its own; `steps` of the trace were among them."""

    def __init__(self, channel: Channel, case: int) -> None:
        self.source, self._sink = _pipe()
        self.steps = 0  # of the trace
        self._channel, self._own, self._rest = channel, channel.prefix(case), b""
        self._steps = self._own + b'"step"', self._own + b'"folded"'

    def enter(self) -> None:
        """In the fork: the channel leads here."""
        _dup2(self._sink, self._channel.descriptor, inheritable=False)
        self.close()

    def hear(self) -> None:
        """In the program's process: only the case writes."""
        _close(self._sink)
        self._sink = -1
        _set_blocking(self.source, False)

    def take(self) -> bool:
        """Hand on what is there; False when there is nothing and never will be."""
        try:
            return self._taken()
        except BlockingIOError:
            return True

    def finish(self) -> None:
        """Hand on what is left. A last line without its end was cut by the kill."""
        try:
            while self._taken():
                pass
        except BlockingIOError:
            pass
        if not (self._own.startswith(self._rest) or self._rest.startswith(self._own)):
            self._hand_on(_FOREIGN)
        self.close()

    def close(self) -> None:
        """Close both ends that are open."""
        for descriptor in (self.source, self._sink):
            if descriptor >= 0:
                _close(descriptor)

    def _taken(self) -> bool:
        data = _read(self.source, 1 << 16)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._hand_on(line)
        if len(self._rest) > _LONGEST_LINE:
            self._rest = _FOREIGN
        return bool(data)

    def _hand_on(self, line: bytes) -> None:
        self.steps += line.startswith(self._steps)
        self._channel.write((line if line.startswith(self._own) else _FOREIGN) + b"\n")


def _relay(channel: Channel, case: int) -> _Relay | None:
    try:
        return _Relay(channel, case)
    except OSError:
        return None  # no descriptor is left


def _forked() -> int | None:
    """Fork; None where there is no room for another process. What was printed is printed once."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()  # type: ignore[union-attr]  # None has nothing to flush
        except BaseException:  # noqa: S112 (a stream may be anything, the program's own class too)
            continue
    for _ in range(_FORK_TRIES):
        try:
            return _fork()
        except OSError:
            # Those that were killed keep their places until the supervisor has seen them.
            _sleep(_PAUSE_SECONDS)
    return None


def _how(process: int, is_over: bool) -> str:
    """How a process ended, which is killed when its time is over; empty while it goes on."""
    if is_over:
        _killed(_kill, process)
    try:
        pid, status = _waitpid(process, 0 if is_over else _WITHOUT_WAITING)
    except OSError:
        pid, status = process, 0  # the program has its own way to wait for all: its record tells
    if is_over:
        return "timed_out"
    return "" if not pid else "killed" if status else "ended"


def _end_of(process: int) -> tuple[int, ...]:
    """A descriptor that is readable once the process has ended; none where the kernel (gVisor's) has none."""
    try:
        return (_pidfd_open(process),)
    except OSError:
        return ()


def _killed(kill: Callable[[int, int], None], target: int) -> None:
    try:
        kill(target, _signal.SIGKILL)
    except OSError:
        return  # it has ended


def _processes() -> set[int]:
    return {int(name) for name in _listdir("/proc") if name.isdigit()}


def _scheduled(process: int | str) -> tuple[float, float]:
    """Seconds that a process had a processor, and waited for one; 0 where this kernel keeps no record."""
    try:
        file = _open(f"/proc/{process}/schedstat", os.O_RDONLY)
    except OSError:
        return 0.0, 0.0
    try:
        ran, waited, _ = _read(file, 100).split()
        return int(ran) / _NANOSECONDS, int(waited) / _NANOSECONDS
    except (OSError, ValueError):
        return 0.0, 0.0
    finally:
        _close(file)
