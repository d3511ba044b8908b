"""Sixteen threads that claim, reserve, settle, move and look after several builds at once, for five seconds.

    DATABASE_URL=… python -m tests.faults.crowd

Prints how many cases were settled; the server's log says whether any two of them waited for each other.
"""

from __future__ import annotations

import os
import random
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from tests.faults.answers import answer

if TYPE_CHECKING:
    from annotation.builds.pipeline.advance import Tools
    from annotation.llm import Request

THREADS: Final = 16
SECONDS: Final = 5.0
BUILDS, CASES = 4, 400


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.faults.settings")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from annotation.models import Case
    from tests.faults import builds

    builds.opened(BUILDS, CASES)
    ends = time.monotonic() + SECONDS
    threads = [threading.Thread(target=work, args=(number, ends)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(Case.objects.filter(label__isnull=False).count())


def work(number: int, ends: float) -> None:
    """One thread's five seconds, in an order of its own."""
    from django.db import connection

    from annotation.jobs import worker

    chance, tools = random.Random(number), quick_tools()
    while time.monotonic() < ends:
        worker.drain_queue(chance.choice(("llm", "llm", "sandbox", "control")), tools)
        if chance.random() < 0.05:
            meddle(chance)
    connection.close()


def quick_tools() -> Tools:
    """A model that answers at once, or fails; a sandbox that takes no time."""
    from annotation.builds.pipeline.advance import Tools
    from annotation.builds.pipeline.execution import SandboxProvider
    from tests.fakes import FakeLLM, FakeSandbox

    llm, sandbox = FakeLLM(spoken, name="live:fake"), FakeSandbox()
    return Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(lambda: sandbox))


def spoken(request: Request) -> dict[str, Any]:
    """What the fake provider says. Now and then it is away, or asked too much: raises LLMError."""
    from annotation.llm import LLMError

    if random.random() < 0.03:
        raise LLMError("not now", retryable=True, retry_after=0.05, status=random.choice([429, 529]))
    asked = [{"role": message.role, "content": message.text} for message in request.messages]
    return answer({"system": request.system, "messages": asked})


def meddle(chance: random.Random) -> None:
    """What people do meanwhile: pause a build, and resume it."""
    from annotation.builds.control import pause_resume
    from annotation.models import Build

    build = chance.choice(list(Build.objects.all()))
    for action in (pause_resume.Action.PAUSE, pause_resume.Action.RESUME):
        with suppress(pause_resume.ControlRefused):
            pause_resume.control_build(build, action)


if __name__ == "__main__":
    main()
