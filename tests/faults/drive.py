"""Kill and restart everything while builds run, then audit what is left.

    python -m tests.faults.drive --cases 2000 --kills 100            # what `make faults` does
    python -m tests.faults.drive --one-machine --cases 60 --kills 6  # SQLite, `manage.py serve`

Prints the seed first, and at the end the table of moments and what did not hold; its status is 1 then.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import os
import random
import shutil
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tests.faults import machines, moments
from tests.faults.asking import allow_more, flying_now, is_over, patiently, resume
from tests.faults.machines import Machine
from tests.faults.moments import Moment
from tests.faults.points import FULL_DISK, STAGE_OF
from tests.faults.services import python, wait_for

if TYPE_CHECKING:
    from tests.faults.audit import Answered, Death

T = TypeVar("T")
AGENT_OF: Final = {stage: agent for agent, stage in STAGE_OF.items()}
NOBODY: Final = (0, "")
COMES: Final = 30.0
"""Seconds within which a worker has to come to a point; else what is to be killed is killed all the same.

Where there are few cases for each kill it is a second and a half for each of them: else they would all have
ended meanwhile.
"""
SLOW, FAST = 12.0, 0.05
"""Seconds that a reply takes in the mean, when the builds are ahead of the kills and when they are not."""

FULL_DISKS: Final = 0.25
"""The share of kills before which the disk fills up; it does before the first of them, too."""
WHILE_OFF: Final = 1.0
"""The same where a clock is wrong: a call has to be in the air for somebody to take it for lost."""


@dataclass(frozen=True)
class Order:
    """What is wanted. `lease` and `stall` are in seconds, and so is `skew`: of the second worker's clock."""

    cases: int
    kills: int
    seed: int
    lease: float
    stall: float
    one_machine: bool
    minutes: float
    skew: float
    storm: int

    @property
    def targets(self) -> Sequence[str]:
        """What may be killed. A web server that nobody kills is not started."""
        return moments.ONE_MACHINE if self.one_machine else moments.MANY_MACHINES[: max(1, self.kills)]


@dataclass
class Drive:
    """One run. `control` speaks to the provider."""

    order: Order
    machine: Machine
    control: Callable[..., dict[str, Any]]
    began: float = field(default_factory=time.monotonic)
    deaths: list[Death] = field(default_factory=list)
    killed: list[Moment] = field(default_factory=list)
    missed: int = 0
    ended: int = 0
    resumed: int = 0
    allowed: int = 0
    filled: int = 0

    def go(self) -> None:
        for process in self.machine.processes:
            if not process.pid:
                process.start()
        wait_for(lambda: patiently(self.settled)[0] > 0, "the first label")
        self.fill_disk()
        drawn = moments.draw(self.order.kills, self.order.seed, self.order.targets)
        for moment in itertools.chain(drawn, self.again(drawn)):
            self.tend()
            self.strike(moment)
        self.control(latency=WHILE_OFF if self.order.skew else FAST)
        wait_for(self.finished, "the end of the builds", 60 * self.order.minutes)

    def again(self, drawn: Sequence[Moment]) -> Iterator[Moment]:
        """Those of a kind that is still lacking: a busy machine comes to a point too late now and then."""
        for moment in drawn:
            if moment.kind in moments.lacking(self.killed):
                yield moment

    def strike(self, moment: Moment) -> None:
        """Kill the moment's target when a worker has come to its point, and start it again."""
        worker, stage = self.brought(moment)
        self.missed += int(not worker and moment.point != "any")
        moment = replace(moment, stage=stage) if worker else replace(moment, point="any", stage="")
        victim = next((p for p in self.machine.processes if p.pid == worker), None)
        if victim is None or moment.target not in {"worker", "server"}:
            victim = random.Random(len(self.killed)).choice(self.machine.of(moment.target))
        if random.Random(1000 * self.order.seed + len(self.killed)).random() < FULL_DISKS:
            self.fill_disk()
        self.kill(moment, victim)
        victim.start()
        self.let_go()
        self.say(f"{victim.name:<9} {moment.kind}, {moment.stage or 'any stage'}")

    def fill_disk(self) -> None:
        """Have nobody write for a while; whoever stands still at a point goes on doing so."""
        full = self.machine.folder / FULL_DISK
        full.touch()
        time.sleep(random.Random(self.order.seed + self.filled).uniform(0.5, 2.0))
        full.unlink()
        self.filled += 1

    def say(self, words: str) -> None:
        from tests.faults.audit import in_the_air

        new = self.deaths[-1].flying - in_the_air(self.deaths[:-1])
        print(f"{time.monotonic() - self.began:7.1f} s  {words}; {len(new)} calls in the air", flush=True)

    def kill(self, moment: Moment, victim: Any) -> None:
        from tests.faults.audit import Death

        flying, pid, at = flying_now(), victim.pid, time.time()
        victim.kill()
        if moment.target != "postgres":
            flying |= flying_now()
        self.deaths.append(Death(moment.target, pid, at, frozenset(flying)))
        self.killed.append(moment)

    def brought(self, moment: Moment) -> tuple[int, str]:
        """The process that has come to the moment's point and the stage of its case; NOBODY in time."""
        if moment.point == "any":
            time.sleep(random.Random(self.order.seed + len(self.killed)).uniform(0.0, 1.0))
            return NOBODY
        found = self.awaited(moment.point, (moment.stage,))
        return self.awaited(moment.point, moments.STAGES[moment.point]) if found == NOBODY else found

    def awaited(self, point: str, stages: Sequence[str]) -> tuple[int, str]:
        """The first that comes to the point with a case in one of the stages."""
        if point == "call":
            self.control(hold=[AGENT_OF[stage] for stage in stages])
            return self.wait_for(self.asking)
        for stage in stages:
            (self.orders / f"{point}.{stage}").touch()
        return self.wait_for(self.taken)

    def wait_for(self, come: Callable[[], tuple[int, str]]) -> tuple[int, str]:
        looked = time.monotonic()
        ends = looked + min(COMES, 1.5 * self.order.cases / max(1, self.order.kills))
        while time.monotonic() < ends:
            if (found := come()) != NOBODY:
                return found
            if time.monotonic() - looked > 1:
                looked = time.monotonic()
                self.tend()
            time.sleep(0.02)
        return NOBODY

    @property
    def orders(self) -> Path:
        return self.machine.folder / "orders"

    def taken(self) -> tuple[int, str]:
        """Who stands still at a point."""
        for path in self.orders.glob("taken.*"):
            return int(path.name.split(".")[1]), path.name.split(".")[2]
        return NOBODY

    def asking(self) -> tuple[int, str]:
        """Whose request the provider holds."""
        held = self.control()["held"]
        return (held["worker"], STAGE_OF[held["agent"]]) if held else NOBODY

    def let_go(self) -> None:
        """Whoever stands still goes on."""
        for path in self.orders.iterdir():
            path.unlink(missing_ok=True)
        self.control(release=True)

    def tend(self) -> None:
        """Do what a person would: resume what waits for one. And keep the builds beside the kills."""
        self.supervise()
        done, cases = patiently(self.settled)
        due = len(self.killed) / max(1, self.order.kills)
        behind = done / max(1, cases) < due < 1  # for what was missed there have to be cases left
        self.control(latency=FAST if behind else SLOW)
        self.help()

    def help(self) -> None:
        """Resume what waits for a person, and allow more money where the cap of all builds stopped some."""
        self.resumed += patiently(resume)
        self.allowed += patiently(partial(allow_more, self.order.cases))

    def supervise(self) -> None:
        """Start what ended by itself: a Celery worker may, when Redis goes away as it connects again."""
        from tests.faults.audit import Death

        for process in self.machine.processes:
            if process.has_ended:
                flying = frozenset(flying_now())
                self.deaths.append(Death("itself", process.pid, time.time(), flying))
                self.ended += 1
                process.start()

    def settled(self) -> tuple[int, int]:
        from annotation.models import Build

        tallies = [
            build.tally for build in Build.objects.exclude(name="short of money").select_related("tally")
        ]
        return sum(t.settled + t.abandoned for t in tallies), sum(t.total for t in tallies)

    def finished(self) -> bool:
        """Nothing runs, nothing is held."""
        self.supervise()
        self.help()
        time.sleep(0.3)
        return patiently(is_over)


@contextmanager
def provided(order: Order, folder: Path) -> Iterator[str]:
    """The address of the fake provider, a process that nobody kills."""
    log = folder / "provider.jsonl"
    process = python(
        "provider",
        folder,
        dict(os.environ),
        *("-m", "tests.faults.provider", "--seed", str(order.seed), "--log", str(log)),
        *("--stall", str(order.stall), "--longest", str(order.lease / 2), "--storm", str(order.storm)),
    )
    process.start()
    wait_for(lambda: process.log.exists() and " key " in process.log.read_text(), "the provider")
    try:
        yield process.log.read_text().split()[0]
    finally:
        process.kill()


def control(url: str, **body: Any) -> dict[str, Any]:
    request = urllib.request.Request(f"{url}/control/", json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=30) as reply:
        return dict(json.load(reply))


def run(order: Order, folder: Path) -> int:
    """Everything, under `folder`; the exit status."""
    began = time.monotonic()
    with provided(order, folder) as url:
        environment = machines.variables(folder, url, order.lease, order.skew)
        with opened(order, folder, environment) as machine:
            ready(machine, order.cases)
            drive = Drive(order, machine, partial(control, url))
            try:
                drive.go()
            except TimeoutError as late:
                print(late, flush=True)
            finally:
                machine_down(machine)
            return told(drive, folder, time.monotonic() - began)


def opened(order: Order, folder: Path, environment: dict[str, str]) -> AbstractContextManager[Machine]:
    if order.one_machine:
        return machines.one(folder, environment)
    return machines.many(folder, environment, web="web" in order.targets)


def machine_down(machine: Machine) -> None:
    """Stop all but the database."""
    for process in reversed(machine.processes):
        if process.name != "postgres":
            process.kill()


def ready(machine: Machine, cases: int) -> None:
    """Make the database and the builds, from this process."""
    os.environ.update({k: v for k, v in machine.environment.items() if k != "FAULTS_ORDERS"})
    import django
    from django.core.management import call_command

    django.setup()
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # it tells of each kill of the database
    call_command("migrate", verbosity=0)
    from tests.faults import builds

    builds.launch(cases)


def told(drive: Drive, folder: Path, seconds: float) -> int:
    """Print what happened and what does not hold; the exit status."""
    from tests.faults import audit

    answered = audit.book(folder / "provider.jsonl")
    found = patiently(lambda: audit.complaints(answered, drive.deaths))
    lacking = moments.lacking(drive.killed)
    print(moments.table(drive.killed), figures(drive, answered, seconds), sep="\n\n")
    for name, wrong in found.items():
        print(f"{'ok  ' if not wrong else 'FAIL'} {name}", *wrong[:5], sep="\n       ")
    print(*(f"FAIL too few kills: {kind}" for kind in lacking), sep="\n", flush=True)
    return int(bool(lacking or any(found.values())))


def figures(drive: Drive, answered: list[Answered], seconds: float) -> str:
    from annotation.models import Build, LLMCall
    from tests.faults.audit import bill, in_the_air, lost

    done, cases = drive.settled()
    spent = sum(build.tally.spent for build in Build.objects.select_related("tally"))
    stored = LLMCall.objects.filter(reply__isnull=False).count()
    flying = len(in_the_air(drive.deaths))
    lines = (
        f"seed {drive.order.seed}: {drive.order.kills} kills in {seconds:.0f} s",
        f"beside them {len(drive.killed) - drive.order.kills} for what was missed",
        f"of them not at their point: {drive.missed}; processes that ended by themselves: {drive.ended}",
        f"{done} of {cases} cases ended; a person resumed a build {drive.resumed} times",
        f"the cap of all builds was reached, and raised, {drive.allowed} times",
        f"the disk was full {drive.filled} times",
        f"faults: {drive.control()['drawn']}",
        f"{len(answered)} requests, {stored} replies stored",
        f"{len(lost(answered))} replies were lost, of {flying} calls in the air at the kills",
        f"spent ${spent / 1e9:.4f}, billed ${bill(answered) / 1e9:.4f}",
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    parser.add_argument("--lease", type=float, default=130.0, help="seconds of a lease (the product's: 600)")
    parser.add_argument("--stall", type=float, default=90.0, help="seconds that some replies stall")
    parser.add_argument("--one-machine", action="store_true", help="SQLite and one process")
    parser.add_argument("--minutes", type=float, default=20.0, help="how long the builds may take in the end")
    parser.add_argument("--skew", type=float, default=0.0, help="seconds that worker-2's clock is ahead")
    parser.add_argument("--storm", type=int, default=20, help="requests refused in a row, at most")
    parser.add_argument("--keep", action="store_true", help="keep the folder with all logs")
    options = vars(parser.parse_args())
    keep, order = options.pop("keep"), Order(**options)
    print(f"seed {order.seed}", flush=True)
    with folder(keep) as made:
        sys.exit(run(order, made))


@contextmanager
def folder(keep: bool) -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="cosqa-faults-", dir="/var/tmp"))
    made.chmod(0o755)
    if keep:
        print(f"logs in {made}", flush=True)
    try:
        yield made
    finally:
        if not keep:
            shutil.rmtree(made, ignore_errors=True)


if __name__ == "__main__":
    main()
