"""The first process inside the sandbox: takes one request, forks the program, watches it, clears up, replies.

It decides nothing: what it saw is judged outside, by `sandbox.reports.diagnosis`. As process 1 it cannot be
killed or stopped by the program, and as a process that may not be dumped it cannot be read by it either.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the signal module itself imports enum and more
import builtins
import gc
import os
import resource
import select
import sys
import time

from sandbox.harness import child
from sandbox.harness.channel import NUMBERS_OF_ONE, Channel, open_streams
from sandbox.harness.clock import Clock, reaped_seconds
from sandbox.harness.guards.integrity import keep_built_ins
from sandbox.harness.memory import occupied, oom_kills, proportional, resident
from sandbox.harness.namespaces import set_dumpable
from sandbox.harness.wire import read_message, write_all, write_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MEGABYTE = 1 << 20
_POLL_MILLISECONDS = 20
_OVERFLOW_FACTOR = 16  # output beyond this many times the kept part ends the program
_RECORD_BYTES = 8 * _MEGABYTE
_CALLER = 0
_PRIVATE = ("sandbox",)


def main() -> None:
    """Serve one request on descriptors 0 and 1, then end; whatever is left in the sandbox ends with it."""
    prepare()
    serve()


def prepare() -> None:
    """What comes before the first request: no program reads or changes what the harness is made of.

    What is done here is done sooner than after a fork, which copies each page that it touches.
    """
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    set_dumpable(0)
    _add_site_names()
    keep_built_ins()
    for name in ("_ctypes", *_own_modules()):
        del sys.modules[name]


def serve() -> None:
    """As process 1: one request on descriptor 0, its reply on 1, and the end."""
    request = read_message(0)
    for folder in request["paths"]:
        os.stat(folder)  # a layer that was lost is the machine's fault, not a missing module
    write_message(1, _Supervision(request).result())
    os._exit(0)


class _Stream:
    """One pipe from the program: the first `keep` bytes, and how many there were."""

    def __init__(self, keep: int) -> None:
        self.source, self.sink = os.pipe()
        self.kept, self.total, self._keep = bytearray(), 0, keep
        os.set_blocking(self.source, False)

    def take(self) -> bool:
        """Read what is there; False at the end of the stream."""
        try:
            data = os.read(self.source, 1 << 16)
        except BlockingIOError:
            return True
        self.total += len(data)
        self.kept += data[: max(self._keep - len(self.kept), 0)]
        return bool(data)


class _Supervision:
    def __init__(self, request: dict[str, Any]) -> None:
        self._request, self._limits = request, request["limits"]
        self._out, self._err = _Stream(self._limits["output_bytes"]), _Stream(self._limits["output_bytes"])
        self._records = _Stream(_RECORD_BYTES)
        self._nonce = os.urandom(12).hex()
        self._stopped, self._peak, self._status, self._left = "", 0, 0, 0
        self._page = os.sysconf("SC_PAGE_SIZE")

    def result(self) -> dict[str, Any]:
        """Run the program to its end and say what was seen."""
        killed_before = oom_kills()
        clock = Clock(self._limits["seconds"], self._limits["longest"])
        _set_environment(self._request["environment"])
        # What is here now is no garbage: looking at it would copy all of its pages for the program.
        gc.freeze()
        self._pid = os.fork()
        if self._pid == 0:
            self._become_program()
        for stream in (self._out, self._err, self._records):
            os.close(stream.sink)
        self._watch(clock)
        seconds = clock.elapsed()
        self._clear()
        kills = self._kills_since(killed_before)
        records, foreign, lost = self._sorted_records()
        return {
            "records": records,
            "foreign": foreign,
            "lost": lost,
            "stdout": self._out.kept.decode(errors="replace"),
            "stderr": self._err.kept.decode(errors="replace"),
            "output_bytes": [self._out.total, self._err.total],
            "status": self._status,
            "stopped": self._stopped,
            "seconds": seconds,
            "cpu_seconds": reaped_seconds(),
            "peak": max(self._peak, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024),
            "oom_kills": kills,
            "left": self._left,
        }

    def _watch(self, clock: Clock) -> None:
        process = _end_of(self._pid)
        poll = select.poll()
        streams = {stream.source: stream for stream in (self._out, self._err, self._records)}
        for descriptor in (*streams, *process, _CALLER):
            poll.register(descriptor, select.POLLIN)
        looked = time.monotonic()
        while not self._stopped:
            for descriptor, _ in poll.poll(_POLL_MILLISECONDS):
                if descriptor in process:
                    self._status = os.waitpid(self._pid, 0)[1]
                    return
                if descriptor == _CALLER:
                    # It hung up: nobody is there to reply to. What runs ends with process 1.
                    self._clear()
                    os._exit(1)
                if not streams[descriptor].take():
                    poll.unregister(descriptor)
            if not process and self._has_ended():
                return
            now = time.monotonic()
            self._reap_orphans()
            if stopped := clock.verdict():
                self._stopped = stopped
            elif self._out.total + self._err.total > self._limits["output_bytes"] * _OVERFLOW_FACTOR:
                self._stopped = "output"
            elif now - looked > _POLL_MILLISECONDS / 1000:
                looked = now
                self._look_at_memory()
                if self._request["cases"]:
                    clock.look(self._pid)

    def _has_ended(self) -> bool:
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if pid:
            self._status = status
        return bool(pid)

    def _reap_orphans(self) -> None:
        # Only orphans: the program itself is waited for through its descriptor.
        while True:
            try:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if found is None or found.si_pid == self._pid:
                return
            os.waitpid(found.si_pid, 0)

    def _look_at_memory(self) -> None:
        limit = self._limits["memory_mb"] * _MEGABYTE
        used = self._memory(resident, self._page)
        # Pages that forks share count for each of them, so a sum above the limit is looked at closely.
        if used > limit:
            used = self._memory(proportional, 1)
        self._peak = max(self._peak, used)
        if used > limit:
            self._stopped = "memory"

    def _memory(self, measure: Any, unit: int) -> int:
        own = str(os.getpid())
        processes = [name for name in os.listdir("/proc") if name.isdigit() and name != own]
        files = sum(occupied(folder) for folder in ("/tmp", "/dev/shm"))
        used: int = sum(measure(name) for name in processes) * unit
        return used + files

    def _kills_since(self, before: tuple[int, bool] | None) -> int | None:
        """The kernel's kills because the limit was reached; what the machine's need ended says nothing."""
        now = oom_kills()
        if before is None or now is None:
            return None
        kills, own = now[0] - before[0], now[1]
        if kills and not own:
            self._stopped = self._stopped or "starved"
        return kills if own else 0

    def _clear(self) -> None:
        """Kill what is left, wait for all of it, and take what lies in the pipes."""
        if os.getpid() == 1:
            self._kill_all()
        elif self._stopped:
            os.kill(self._pid, _signal.SIGKILL)
            self._status = os.waitpid(self._pid, 0)[1]
        for stream in (self._out, self._err, self._records):
            os.set_blocking(stream.source, True)
            while stream.take():
                pass

    def _kill_all(self) -> None:
        while True:
            try:
                os.kill(-1, _signal.SIGKILL)
                pid, status = os.waitpid(-1, 0)
            except (ProcessLookupError, ChildProcessError):
                return
            if pid == self._pid:
                self._status = status
            elif os.WIFSIGNALED(status):
                self._left += 1

    def _sorted_records(self) -> tuple[list[str], int, int]:
        """The lines that carry this run's nonce, without it; the bytes that do not; how many are missing."""
        prefix = f"{self._nonce} ".encode()
        lines = bytes(self._records.kept).split(b"\n")
        told = [line[len(prefix) :] for line in lines[:-1] if line.startswith(prefix)]
        accepted = sum(len(line) + len(prefix) + 1 for line in told)
        own = [line.rpartition(b" ")[0].decode("ascii", "replace") for line in told]
        # A last line without its end was cut by the kill.
        cut = len(lines[-1]) if lines[-1].startswith(prefix) else 0
        return own, self._records.total - accepted - cut, _missing(told)

    def _become_program(self) -> None:
        try:
            os.setsid()
            channel_descriptor = self._arrange_descriptors()
            self._set_limits()
            set_dumpable(1)
            self._arrange_interpreter(channel_descriptor)
        except BaseException as error:
            write_all(2, f"harness: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(70)

    def _arrange_descriptors(self) -> int:
        nothing = os.open("/dev/null", os.O_RDONLY)
        # Above all descriptors that are renamed, so that none of them is overwritten.
        kept = os.dup(self._records.sink), os.dup(self._out.sink), os.dup(self._err.sink)
        for target, source in enumerate((nothing, kept[1], kept[2])):
            os.dup2(source, target, inheritable=True)
        channel = os.dup2(kept[0], 99, inheritable=False)
        os.closerange(3, channel)
        os.closerange(channel + 1, 1024)
        return channel

    def _set_limits(self) -> None:
        limits = self._limits
        seconds = int(limits["seconds"]) * 2 + 2
        wanted = {
            resource.RLIMIT_AS: limits["memory_mb"] * 2 * _MEGABYTE,
            resource.RLIMIT_FSIZE: limits["file_mb"] * _MEGABYTE,
            resource.RLIMIT_CPU: seconds,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_NOFILE: 256,
        }
        if self._request["limit_processes"]:
            wanted[resource.RLIMIT_NPROC] = limits["processes"]
        for kind, value in wanted.items():
            most = resource.getrlimit(kind)[1]
            value = value if most == resource.RLIM_INFINITY else min(value, most)
            resource.setrlimit(kind, (value, value))

    def _arrange_interpreter(self, descriptor: int) -> None:
        os.chdir("/tmp")
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        sys.path[:] = [*filter(_is_foreign, sys.path), *self._request["paths"]]
        sys.argv = ["program.py"]
        channel = Channel(descriptor, self._nonce)
        printed = open_streams(channel)
        channel.send("ready")
        gc.enable()
        child.run(self._request, channel, printed)
        os._exit(0)


def _missing(lines: list[bytes]) -> int:
    """How many of the records were lost: each process that is heard numbers its own."""
    seen: dict[int, list[int]] = {}
    for line in lines:
        number = line.rpartition(b" ")[2]
        if not number.isdigit():
            return 1
        seen.setdefault(int(number) // NUMBERS_OF_ONE, []).append(int(number) % NUMBERS_OF_ONE)
    return sum(max(numbers) + 1 - len(set(numbers)) for numbers in seen.values())


def _end_of(process: int) -> tuple[int, ...]:
    """A descriptor that is readable once the process has ended; none where the kernel (gVisor's) has none."""
    try:
        return (os.pidfd_open(process),)
    except OSError:
        return ()


def _own_modules() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] in _PRIVATE]


def _set_environment(wanted: dict[str, str]) -> None:
    """Mostly it was started with the same variables in the same order; to set them anew takes longer."""
    # What `os.environ` holds, without the many calls that asking it makes.
    held = vars(os.environ)["_data"]
    told = {name.encode(): value.encode() for name, value in wanted.items()}
    kept = [pair for pair in held.items() if pair[0] in told]
    is_alike = kept == [*told.items()][: len(kept)]
    for name in [name for name in held if name not in told or not is_alike]:
        del os.environ[os.fsdecode(name)]
    for name in [name for name in told if name not in held]:
        os.environ[os.fsdecode(name)] = os.fsdecode(told[name])


def _is_foreign(folder: str) -> bool:
    return not __file__.startswith(folder + "/sandbox/")


def _add_site_names() -> None:
    # The interpreter starts without the site module, which looks for packages; programs do call exit().
    import _sitebuiltins

    for name in ("exit", "quit"):
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D"))
    builtins.help = _sitebuiltins._Helper()
