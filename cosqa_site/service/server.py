"""Starting: one server a data folder, worker threads beside it."""

from __future__ import annotations

import fcntl
import gc
import logging
import socket
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Final

from django.conf import settings
from django.db import DatabaseError, connection
from django.urls import get_resolver

from annotation.builds.limits import full_disk
from annotation.builds.pipeline.advance import Tools
from annotation.builds.pipeline.claims import free_all
from annotation.builds.pipeline.execution import RESERVED
from annotation.jobs import notifications, worker
from annotation.jobs.providers import create_configured_tools
from sandbox.expression_call import CALL_LIMITS, Call
from sandbox.runner import DependencyRefused, SandboxUnavailable

log = logging.getLogger(__name__)
WATCH_SECONDS: Final = 10.0
STOP_SECONDS: Final = 10.0
SWITCH_SECONDS: Final = 0.0005


class AlreadyServing(Exception):
    """Another server uses this data folder, and there is no Redis through which the two could agree."""


class PortTaken(Exception):
    """Nothing can listen on the address; the message says why and what to do."""


def thread_counts() -> dict[str, int]:
    """Worker threads by queue."""
    return {
        "llm": settings.LLM_WORKERS,
        "sandbox": settings.SANDBOX_WORKERS,
        "interactive": RESERVED,
        "files": 1,
        "mining": 1,
        "training": 1,
        "control": 1,
        "notices": 1,
    }


@contextmanager
def only_server() -> Iterator[None]:
    """Hold the data folder for this server. Raises AlreadyServing, except where Redis is configured."""
    path = Path(settings.COSQA_HOME) / "serve.lock"
    with path.open("a") as lock:
        if not acquire_data_lock(lock) and not settings.REDIS_URL:
            raise AlreadyServing(
                f"Another server already uses {settings.COSQA_HOME}. Stop it, set COSQA_HOME to another "
                "folder, or set REDIS_URL and DATABASE_URL to run several servers."
            )
        yield


@contextmanager
def only_worker() -> Iterator[None]:
    """Note that this process works; the first one frees what earlier ones held when they died.

    Only with SQLite, where all workers share the data folder: whoever gets the lock alone knows that nobody
    else is at work. Elsewhere leases run out by themselves.
    """
    with (Path(settings.COSQA_HOME) / "work.lock").open("a") as lock:
        if connection.vendor == "sqlite" and acquire_data_lock(lock):
            free_all()
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield


def acquire_data_lock(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def refuse_taken(host: str, port: int) -> None:
    """Try the address before work is done for a server that could not listen. Raises PortTaken."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address[0], port, *address[2:]))
    except (OSError, OverflowError, UnicodeError) as error:  # UnicodeError: no name of a host
        why = getattr(error, "strerror", None) or error
        what = "--host" if isinstance(error, socket.gaierror | UnicodeError) else "--port"
        raise PortTaken(f"Can't listen on {host}:{port}: {why}. Choose another with {what}.") from error


def address_of(host: str, port: int) -> str:
    """Where people find what is served."""
    return f"http://{host}:{port}{settings.PREFIX}"


def serve_site(host: str, port: int, *, work: bool = True) -> None:
    """Serve until stopped, with the workers beside unless `work` is false."""
    if not work:
        # Workers that are gone can't say so: the web server looks, too.
        threading.Thread(target=run_notification_loop, name="watch", daemon=True).start()
        answer_requests(host, port)
        return
    # Threads of a build that compute hand over ten times as often: people's pages wait for each turn.
    sys.setswitchinterval(SWITCH_SECONDS)
    stop, shared = threading.Event(), create_configured_tools()
    with only_worker():
        started = worker.start_worker_threads(thread_counts(), shared, stop)
        threading.Thread(target=warm_sandboxes, args=(shared,), name="warm", daemon=True).start()
        try:
            answer_requests(host, port)
        finally:
            stop.set()
            join_threads(started, STOP_SECONDS)
            shared.close()


def run_notification_loop() -> None:
    """Tell people outside what needs them, for as long as the process lives."""
    while True:
        try:
            notifications.flush_notifications()
        except Exception:
            log.exception("notifications")
        worker.give_back_connection()
        time.sleep(WATCH_SECONDS)


def warm_sandboxes(shared: Tools) -> None:
    """Open the sandboxes, with their packages, before the first person waits for a run.

    What is not to be had here is told when somebody asks for it. A disk that is nearly full is left alone.
    """
    if not full_disk.has_room():
        return
    with suppress(SandboxUnavailable, DependencyRefused, OSError, DatabaseError):
        shared.for_people.get().install(())
        # The first call takes long: it finds nothing ready.
        shared.for_people.get().call(Call("", "None"), CALL_LIMITS)
        shared.sandbox.get().install(())
    worker.give_back_connection()


def join_threads(threads: Sequence[threading.Thread], seconds: float) -> None:
    """Wait for all of them together; what is not done by then is done again after the next start."""
    ends = time.monotonic() + seconds
    for thread in threads:
        thread.join(timeout=max(0.0, ends - time.monotonic()))


def set_apart_what_stays() -> None:
    """Load what every request needs, and take it out of the garbage collector's sight.

    A full collection walks some 200,000 objects of modules that never go: 85 ms of processor time.
    """
    import_module("cosqa_site.asgi")
    for pattern in get_resolver().url_patterns:
        getattr(pattern, "url_patterns", None)
    gc.collect()
    gc.freeze()


def answer_requests(host: str, port: int) -> None:
    import uvicorn

    set_apart_what_stays()

    # WhiteNoise streams small files synchronously; Django would warn of it for each file.
    warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
    uvicorn.run("cosqa_site.asgi:application", host=host, port=port, lifespan="off", log_level="warning")
