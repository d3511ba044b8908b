"""The processes beside the one that measures: the provider and the workers, and what they used."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from bench.measure.scratch_database import Scratch

SEED: Final = 7
WORKER: Final = "import django; django.setup(); from bench.pipeline.worker import main; main()"
WORKER_NAME: Final = "cosqa-bench-worker"
NICE: Final = 10
"""What the command `nice` gives a process."""

Process = subprocess.Popen[str]


@dataclass(frozen=True)
class Provider:
    """The provider that answers at `url`."""

    url: str
    process: Process

    def stats(self) -> dict[str, Any]:
        """How many it answered so far, and the seconds that those took together."""
        with urllib.request.urlopen(f"{self.url}/stats", timeout=30) as told:
            return dict(json.load(told))


@contextmanager
def run_provider_process(mean: float) -> Iterator[Provider]:
    """A provider that answers until the block ends."""
    script = Path(__file__).with_name("provider.py")
    command = [sys.executable, "-P", str(script), "--seed", str(SEED), "--mean", str(mean)]
    with start_child_process(command, dict(os.environ)) as process:
        assert process.stdout is not None, "it is a pipe"
        yield Provider(f"http://127.0.0.1:{int(process.stdout.readline())}", process)


@contextmanager
def run_worker_processes(scratch: Scratch, url: str, count: int, concurrency: int) -> Iterator[list[Process]]:
    """So many worker processes that ask `concurrency` at once together, until the block ends."""
    environment = scratch.environment(  # connections are bounded as everywhere, by the pool's own default
        ANTHROPIC_API_KEY="bench-key",
        COSQA_LLM_BASE_URL=url,
        COSQA_LLM_PROFILE="anthropic",
        COSQA_LLM_WORKERS=str(concurrency // count),
        COSQA_SANDBOX_WORKERS="1",
        DJANGO_SETTINGS_MODULE="cosqa_site.settings",
        PGAPPNAME=WORKER_NAME,
    )
    with ExitStack() as stack:
        command = [sys.executable, "-c", WORKER]
        yield [stack.enter_context(start_child_process(command, environment)) for _ in range(count)]


def plain_loop(share: float) -> AbstractContextManager[Process]:
    """A process that counts for so much of a processor's time, as nice as a worker, until the block ends."""
    script = Path(__file__).with_name("busy_loop.py")
    return start_child_process([sys.executable, "-P", str(script), str(share), str(NICE)], dict(os.environ))


@contextmanager
def start_child_process(command: Sequence[str], environment: dict[str, str]) -> Iterator[Process]:
    """A process that ends when its standard input does."""
    process = subprocess.Popen(
        command,
        cwd=settings.BASE_DIR,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def suspend_processes(processes: Sequence[Process]) -> Iterator[None]:
    """Nothing of them runs in the block; after it they go on where they were."""
    for process in processes:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            process.send_signal(signal.SIGCONT)


def used_seconds(processes: Sequence[Process]) -> float:
    """Processor time of all of them so far."""
    return sum(map(usage_of_process, processes))


def usage_of_process(process: Process) -> float:
    words = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
