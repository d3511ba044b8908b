"""What has to hold after all kills: each check gives its complaints, none when all is well."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.db.models import Count, Q, Sum

from annotation.models import Batch, Build, Case, LLMCall, Price, Step, Tally
from annotation.models.builds.calls import HOLDING, IN_WORK
from annotation.stages import Stage
from retrieval.models import Label
from tests.faults import recounts
from tests.faults.builds import MODEL

STORING: Final = 45.0
"""Seconds for which a worker tries to store a reply while its database is away."""
ENDS: Final = (Stage.SETTLED, Stage.ABANDONED)


@dataclass(frozen=True)
class Death:
    """A process that was killed, when (seconds since 1970), and the rows of the calls in the air then."""

    target: str
    pid: int
    at: float
    flying: frozenset[int]


@dataclass(frozen=True)
class Answered:
    """A request as the provider has it in its book; `status` is 0 where nothing went out."""

    digest: str
    agent: str
    worker: int
    arrived: float
    finished: float
    status: int
    fault: str
    request_id: str
    usage: Mapping[str, int]
    batch: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether a reply went out to its end, that can be used."""
        return self.status == 200 and self.fault not in {"reset", "malformed"}


def book(log: Path) -> list[Answered]:
    """The provider's book."""
    names = Answered.__dataclass_fields__
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    empty: dict[str, Any] = {"digest": "", "agent": "", "fault": ""}
    return [Answered(**{k: v for k, v in (empty | row).items() if k in names}) for row in rows]


def unfinished() -> Iterator[str]:
    """Every case is settled or abandoned with a reason, except where the money is used up."""
    for build in Build.objects.select_related("tally"):
        out_of_money = build.state == Build.State.PAUSED and "budget" in build.reason
        if build.state != Build.State.DONE and not (out_of_money and build.model != MODEL):
            yield f"build {build} is {build.state}: {build.reason}"
        if build.state == Build.State.DONE and build.cases.exclude(stage__in=ENDS).exists():
            yield f"build {build} is done, and has open cases"
    for case in Case.objects.filter(stage=Stage.ABANDONED, reason=""):
        yield f"case {case.pk} was abandoned without a reason"


def labels() -> Iterator[str]:
    """A settled case has one label, that of its last step; a pair is published once an annotator."""
    settled = Case.objects.filter(stage=Stage.SETTLED)
    twice = settled.annotate(ends=Count("steps", filter=Q(steps__after=Stage.SETTLED))).exclude(ends=1)
    yield from (f"case {case.pk} was settled {case.ends} times" for case in twice)
    published = Label.objects.values("pair", "annotator").annotate(count=Count("pk"))
    yield from (
        f"pair {row['pair']} was published {row['count']} times" for row in published.exclude(count=1)
    )
    values = {(label.pair_id, label.annotator_id): label.value for label in Label.objects.all()}
    for case in settled:
        if values.pop((case.pair_id, case.annotator_id), case.label) != case.label:
            yield f"case {case.pk} is {case.label}, and something else was published"
    known = set(settled.values_list("pair", "annotator"))
    yield from (f"pair {pair[0]} was published without a case" for pair in values if pair not in known)
    yield from verdicts(settled.values_list("pk", flat=True))


def verdicts(settled: Iterable[int]) -> Iterator[str]:
    """The label is what the stored reply of the last step says."""
    last = Step.objects.filter(case__in=list(settled), after=Stage.SETTLED).select_related(
        "case", "call__reply"
    )
    for step in last:
        said = json.loads(step.call.reply.text)["verdict"] if step.call and step.call.reply else None
        if said != step.case.label:
            yield f"case {step.case_id} is {step.case.label}, and its reply says {said}"


def steps() -> Iterator[str]:
    """The steps of a case lead from the screening to where it is, without a gap."""
    rows: dict[int, list[Step]] = defaultdict(list)
    for step in Step.objects.order_by("case", "number"):
        rows[step.case_id].append(step)
    for case in Case.objects.all():
        made = rows[case.pk]
        path = [Stage.SCREENING, *(step.after for step in made)]
        if (
            [step.before for step in made] != path[:-1]
            or case.stage != path[-1]
            or case.step_count != len(made)
        ):
            yield f"case {case.pk} is in {case.stage} after {path}"


def leases() -> Iterator[str]:
    """Nothing is held by anybody any more."""
    for case in Case.objects.filter(Q(lease__isnull=False) | Q(waiting_for__isnull=False)):
        yield f"case {case.pk} is still held, until {case.lease_until}"
    for call in LLMCall.objects.filter(status__in=HOLDING | IN_WORK):
        yield f"call {call} is still {call.status}"
    for batch in Batch.objects.filter(next_poll_at__isnull=False):
        yield f"{batch} has not ended"


def money(answered: Sequence[Answered]) -> Iterator[str]:
    """No build spends more than its cap, and each reply that was written is counted."""
    for tally in Tally.objects.select_related("build"):
        if tally.cap is not None and tally.spent > tally.cap:
            yield f"{tally.build} has spent {tally.spent} of {tally.cap}"
    yield from uncounted(answered)
    if bill(answered) > (counted := Tally.objects.aggregate(spent=Sum("spent"))["spent"] or 0):
        yield f"the provider's bill is {bill(answered)}, and {counted} were counted"


def uncounted(answered: Sequence[Answered]) -> Iterator[str]:
    """Each reply that was written and not stored is a call of unknown fate, counted at its bound."""
    kept = dict(LLMCall.objects.exclude(provider_id="").values_list("provider_id", "digest"))
    digests = {row.digest: kept[row.request_id] for row in answered if row.request_id in kept}
    lost = Counter(digests.get(row.digest) for row in answered if row.usage and row.request_id not in kept)
    unknown = LLMCall.objects.filter(status=LLMCall.Status.UNKNOWN, cost__gt=0)
    counted = Counter(unknown.values_list("digest", flat=True))
    for digest, count in lost.items():
        if digest and count > counted[digest]:
            yield (
                f"{count} replies to {digest[:12]} were not stored, and {counted[digest]} are counted: "
                + "; ".join(attempts(digest))
            )


def attempts(digest: str) -> Iterator[str]:
    """What the rows say of one request, for whoever looks for the cause."""
    for call in LLMCall.objects.filter(digest=digest).order_by("attempt"):
        yield f"{call.pk} {call.status} of build {call.build_id} cost {call.cost} {call.error[:200]!r}"


def stored() -> set[str]:
    """The provider's ids of the replies that are stored."""
    return set(LLMCall.objects.exclude(provider_id="").values_list("provider_id", flat=True))


def bill(answered: Sequence[Answered]) -> int:
    """Nanodollars for every reply that was written, whether it arrived or not."""
    price = Price.objects.filter(model=MODEL)[0]
    return sum(
        price.cost(row.usage["input_tokens"], row.usage["output_tokens"]) // (2 if row.batch else 1)
        for row in answered
        if row.usage
    )


def paid_twice(answered: Sequence[Answered]) -> Iterator[str]:
    """Nothing is asked again whose reply is stored."""
    moments = dict(
        LLMCall.objects.filter(status=LLMCall.Status.SUCCEEDED).values_list("provider_id", "finished_at")
    )
    since: dict[str, float] = {}
    for row in answered:
        moment = moments.get(row.request_id)
        if moment is not None:
            since[row.digest] = min(since.get(row.digest, moment.timestamp()), moment.timestamp())
    for row in answered:
        if row.arrived > since.get(row.digest, row.arrived):
            yield f"request {row.digest[:12]} of the {row.agent} was stored, and was asked again"


def lost(answered: Sequence[Answered]) -> list[Answered]:
    """Replies that went out whole and were never stored."""
    kept = stored()
    return [row for row in answered if row.is_whole and row.request_id not in kept]


def unexplained(answered: Sequence[Answered], deaths: Sequence[Death]) -> Iterator[str]:
    """A reply is lost only with the worker that asked, or with the database, while it was in the air."""
    for row in lost(answered):
        if not any(explains(death, row) for death in deaths):
            took = f"{row.finished:.3f} after {row.finished - row.arrived:.1f} s"
            yield f"reply {row.request_id} of {took} to {row.worker} was lost, and nobody died"
    most = len(in_the_air(deaths))
    if len(lost(answered)) > most:
        yield f"{len(lost(answered))} replies were lost, and only {most} calls were in the air"


def in_the_air(deaths: Sequence[Death]) -> frozenset[int]:
    """The calls that were in the air at any kill."""
    return frozenset[int]().union(*(death.flying for death in deaths))


def explains(death: Death, row: Answered) -> bool:
    own = death.pid == row.worker or death.target == "postgres"
    return own and row.arrived <= death.at + 1 and death.at <= row.finished + STORING


def taken_for_dead(deaths: Sequence[Death]) -> Iterator[str]:
    """A request is asked again only after a worker that waited for its reply was killed."""
    dead = in_the_air(deaths)
    lost = LLMCall.objects.filter(error__startswith="the worker that waited for it died").exclude(pk__in=dead)
    for call in lost:
        yield f"call {call.pk} was given up, and its worker lived"
    succeeded = LLMCall.objects.filter(status=LLMCall.Status.SUCCEEDED)
    for digest in succeeded.values_list("digest", flat=True).annotate(n=Count("pk")).filter(n__gt=1):
        if not LLMCall.objects.filter(digest=digest, pk__in=dead).exists():
            yield f"request {digest[:12]} was answered twice, and nobody died"


def abandoned_for_room() -> Iterator[str]:
    """A full disk says nothing of a case."""
    cases = Case.objects.filter(stage=Stage.ABANDONED, reason__contains="no room")
    yield from (f"case {case.pk}: {case.reason}" for case in cases)


def complaints(answered: Sequence[Answered], deaths: Sequence[Death]) -> dict[str, list[str]]:
    """By check, what does not hold."""
    checks: dict[str, Callable[[], Iterator[str]]] = {
        "every case settled or abandoned with a reason": unfinished,
        "no case abandoned for want of room": abandoned_for_room,
        "no case with two labels, no pair published twice": labels,
        "the steps lead to where the case is": steps,
        "no lease, no call held": leases,
        "the counters are equal to a recount": recounts.totals,
        "so are bills, times and abandoned cases": recounts.figures,
        "replies used again are counted once": recounts.reused,
        "the project's money is what was spent, and within its cap": recounts.projects_money,
        "spent is within the budget, and covers the bill": lambda: money(answered),
        "no request paid twice that had been stored": lambda: paid_twice(answered),
        "only calls in the air at a kill were lost": lambda: unexplained(answered, deaths),
        "nobody alive was taken for dead": lambda: taken_for_dead(deaths),
    }
    return {name: list(check()) for name, check in checks.items()}
