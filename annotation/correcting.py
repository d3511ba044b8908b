"""The labels of a benchmark, corrected by a build that judged its pairs again: the next version.

The merge rule decides between people and agents for each given pair. A pair that nobody could judge keeps the
label that it came with. The earlier version stays as it is, and so does each of its other labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.db import transaction

from annotation.label_audit import reading
from annotation.launching import Actor
from annotation.models import Build
from annotation.releasing import LONGEST_RULE, PublishRefused, Tick, judged, note_published
from annotation.studies.planning import StudyRefused
from annotation.studies.sealing import truths
from retrieval.counting import counted
from retrieval.evaluation.holes import carry
from retrieval.evaluation.joining import kept
from retrieval.evaluation.merge_rule import agents_told
from retrieval.evaluation.publishing import Chosen, Order, publish_chosen
from retrieval.models import Annotator, Benchmark, Collection, PairList, Pool

RULE: Final = (
    "of each counts a blind study's majority, else two agreeing reviews, else the agents' label; what none "
    "of them could judge keeps its label"
)


@dataclass(frozen=True, slots=True)
class Outlook:
    """What correcting would come to, in pairs; `base` is the version that the next one goes on from."""

    base: Benchmark
    upheld: int
    to_match: int
    to_no_match: int
    added: int
    """Given pairs that the base has no label of."""
    unjudged: int
    """Labels of given pairs that nobody could judge: they stay."""
    others: int
    """Labels of other pairs: they stay."""

    @property
    def corrected(self) -> int:
        return self.to_match + self.to_no_match


def base_of(build: Build, wanted: Benchmark) -> Benchmark:
    """The version whose labels are corrected: the newest of its name, before these pairs corrected it.

    Raises PublishRefused for a benchmark that these pairs can't correct.
    """
    if build.given is None:
        raise PublishRefused(
            f"The build {build.name!r} was mined, so it corrects no benchmark: publish it under a name."
        )
    base = Benchmark.objects.newest(wanted.name) or wanted
    while base.given_id == build.given_id and base.goes_on_from is not None:
        base = base.goes_on_from
    refuse_other(build.given, base)
    refuse_sealed(build)
    return base


def refuse_sealed(build: Build) -> None:
    """Raises PublishRefused where correcting tells how good a version is on a sealed study's labels."""
    assert build.given is not None
    try:
        reading.refuse_sealed(build.given, [build], truths())
    except StudyRefused as why:
        raise PublishRefused(str(why)) from why


def refuse_other(given: PairList, base: Benchmark) -> None:
    """Raises PublishRefused where the base is about other members, or has labels that are no 0 or 1."""
    if (base.queries_id, base.snippets_id) != (given.queries_id, given.snippets_id):
        raise PublishRefused(
            f"{base} is of other collections than the {given}: it can't be corrected by them."
        )
    if base.labels.exclude(relevance__in=[0, 1]).exists():
        raise PublishRefused(
            f"{base} has labels that are no 0 or 1, such as grades: a match or no match can't correct them."
        )


def outlook(build: Build, wanted: Benchmark) -> Outlook:
    """What would be published. Raises PublishRefused."""
    base = base_of(build, wanted)
    said = {row.pair: int(row.relevance) for row in judged(build)}
    given = set(build.proposed.order_by().values_list("pair", flat=True).iterator())
    before = {row.pair: int(row.relevance > 0) for row in kept(base)}
    both = [(value, said[pair]) for pair, value in before.items() if pair in said]
    return Outlook(
        base,
        upheld=sum(old == new for old, new in both),
        to_match=both.count((0, 1)),
        to_no_match=both.count((1, 0)),
        added=len(said.keys() - before.keys()),
        unjudged=len((before.keys() & given) - said.keys()),
        others=len(before.keys() - given),
    )


def publish(
    build: Build, wanted: Benchmark, name: str, by: Actor = None, tick: Tick = lambda pairs: None
) -> Benchmark:
    """The next version of the benchmark called `name`; its runs are scored by it. Raises PublishRefused.

    Doing it twice makes one version.
    """
    base = base_of(build, wanted)
    said = {row.pair: row for row in judged(build, tick)}
    if not said:
        raise PublishRefused(f"The build {build.name!r} could judge none of its pairs: nothing is corrected.")
    with transaction.atomic():
        made = publish_corrected(build, wanted, name.strip() or base.name, said)
        note_published(build, by, made)
    carry(base, made)
    return made


def publish_corrected(build: Build, wanted: Benchmark, name: str, said: dict[int, Chosen]) -> Benchmark:
    """The rows of the next version, while nobody publishes beside us."""
    Collection.objects.select_for_update().get(pk=wanted.queries_id)
    base = base_of(build, wanted)
    order = Order(
        name,
        base.queries,
        base.snippets,
        rule(build, base),
        mining=base.mining,
        further=base.minings[1:],
        searched=Pool(base.pool),
        queries_until=base.queries_until,
        snippets_until=base.snippets_until,
        goes_on_from=base,
        given=build.given,
    )
    return publish_chosen(order, corrected(base, said))


def corrected(base: Benchmark, said: dict[int, Chosen]) -> Iterator[Chosen]:
    """The base's labels, corrected where its pair was judged anew; then the pairs that only the build has."""
    new = dict(said)
    for row in kept(base):
        yield new.pop(row.pair, row)
    yield from new.values()


def rule(build: Build, base: Benchmark) -> str:
    """Whose labels these are, in words."""
    told = agents_told(agents_of(build))
    judged_again = counted(build.given.size if build.given else 0, "pair")
    more = f"; {judged_again} judged again in build {build.name}: {RULE}. {told}"
    room = LONGEST_RULE - len(more)
    return f"{base.merge_rule[: max(0, room)]}{more}"[:LONGEST_RULE]


def agents_of(build: Build) -> Annotator:
    """Whose labels the build's are: those of its annotator, or of the merge of its rounds."""
    merges = build.merges.filter(finished_at__isnull=False).select_related("annotator")
    done = merges.first() if build.rounds > 1 else None
    return done.annotator if done else build.annotator
