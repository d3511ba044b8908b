"""What a function costs: its time and memory, measured in a process of its own, which it may bring down."""

import json
import os
import resource
import signal
from collections.abc import Callable, Mapping

from tests.sizes import WHOLE

# On a busy machine a second of a processor does less: there only what goes on and on is told.
SECONDS, MEGABYTES = (2.0 if WHOLE else 10.0), 300


def too_costly(
    functions: Mapping[str, Callable[[str], object]], text: str, allowed: float = SECONDS
) -> list[str]:
    """The functions that crash on `text`, or take more than `allowed` seconds of a processor or MEGABYTES.

    They may raise ValueError or SyntaxError: a refusal.
    """
    come, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(come)
        told = []
        try:
            told = [
                found
                for name, function in functions.items()
                if (found := _measured(name, function, text, allowed))
            ]
        finally:
            os.write(go, json.dumps(told).encode())
            os._exit(0)
    os.close(go)
    with os.fdopen(come, "rb") as file:
        answer = file.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return json.loads(answer) if status == 0 and answer else [f"it ended the process: {status}"]


def _measured(name: str, function: Callable[[str], object], text: str, allowed: float) -> str:
    resource.setrlimit(resource.RLIMIT_CPU, (int(_seconds() + 60), resource.RLIM_INFINITY))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    before, begun = _peak_mb(), _seconds()
    try:
        function(text)
    except (ValueError, SyntaxError):
        pass
    except BaseException as error:
        return f"{name}: {type(error).__name__}: {error}"[:300]
    seconds, grown = _seconds() - begun, _peak_mb() - before
    return f"{name}: {seconds:.1f} s, {grown:.0f} MB" if seconds > allowed or grown > MEGABYTES else ""


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
