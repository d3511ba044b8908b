"""The labels of a benchmark, corrected by a build that judged its pairs again: the next version.

The merge rule decides between people and agents for each given pair. A pair that nobody could judge keeps the
label that it came with. The earlier version stays as it is, and so does each of its other labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.db import transaction

from annotation.builds.launch.launcher import Actor
from annotation.builds.results.answering_models import describe_agents
from annotation.builds.results.publication import (
    LONGEST_RULE,
    PublishRefused,
    Tick,
    find_labelling_annotator,
    iterate_merged_labels,
    note_published,
)
from annotation.label_audit import rows
from annotation.models import Build
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.plan.seals import find_sealed_annotators
from retrieval.evaluation.label_join import load_kept_labels
from retrieval.evaluation.publication import Chosen, Order, publish_chosen
from retrieval.evaluation.runs.carried_runs import rescore_runs
from retrieval.models import Benchmark, Collection, PairList, Pool
from retrieval.texts.plurals import count_noun

RULE: Final = (
    "each pair gets the majority of a blind study, else what {} or more reviews agree on, else the agents' "
    "label; a pair that nobody could judge keeps its label"
)
FEWEST: Final = {1: "one", 2: "two"}
"""How many reviews have to agree, by the build's rule."""


@dataclass(frozen=True, slots=True)
class CorrectionOutlook:
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
    if build.pair_list is None:
        raise PublishRefused(
            f"The build {build.name!r} was mined, so it corrects no benchmark: publish it under a name."
        )
    base = Benchmark.objects.newest(wanted.name) or wanted
    while base.pair_list_id == build.pair_list_id and base.previous_version is not None:
        base = base.previous_version
    refuse_other(build.pair_list, base)
    refuse_sealed(build)
    return base


def refuse_sealed(build: Build) -> None:
    """Raises PublishRefused where correcting tells how good a version is on a sealed study's labels."""
    assert build.pair_list is not None
    try:
        rows.refuse_sealed(build.pair_list, [build], find_sealed_annotators())
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
            f"{base} has labels other than 0 and 1, such as grades. Match and no match can't correct them."
        )


def preview_correction(build: Build, wanted: Benchmark) -> CorrectionOutlook:
    """What would be published. Raises PublishRefused."""
    base = base_of(build, wanted)
    said = {row.pair: int(row.relevance) for row in iterate_merged_labels(build)}
    given = set(build.proposed.order_by().values_list("pair", flat=True).iterator())
    before = {row.pair: int(row.relevance > 0) for row in load_kept_labels(base)}
    both = [(value, said[pair]) for pair, value in before.items() if pair in said]
    return CorrectionOutlook(
        base,
        upheld=sum(old == new for old, new in both),
        to_match=both.count((0, 1)),
        to_no_match=both.count((1, 0)),
        added=len(said.keys() - before.keys()),
        unjudged=len((before.keys() & given) - said.keys()),
        others=len(before.keys() - given),
    )


def publish_corrected_benchmark(
    build: Build, wanted: Benchmark, name: str, by: Actor = None, tick: Tick = lambda pairs: None
) -> Benchmark:
    """The next version of the benchmark called `name`; its runs are scored by it. Raises PublishRefused.

    Doing it twice makes one version.
    """
    base = base_of(build, wanted)
    said = {row.pair: row for row in iterate_merged_labels(build, tick)}
    if not said:
        raise PublishRefused(
            f"The build {build.name!r} could judge none of its pairs: there is nothing to correct."
        )
    with transaction.atomic():
        made = publish_corrected(build, wanted, name.strip() or base.name, said)
        note_published(build, by, made)
    rescore_runs(base, made)
    return made


def publish_corrected(build: Build, wanted: Benchmark, name: str, said: dict[int, Chosen]) -> Benchmark:
    """The rows of the next version, while nobody publishes beside us."""
    Collection.objects.select_for_update().get(pk=wanted.queries_id)
    base = base_of(build, wanted)
    order = Order(
        name,
        base.queries,
        base.snippets,
        describe_label_authority(build, base),
        mining=base.mining,
        further=base.minings[1:],
        searched=Pool(base.pool),
        queries_until=base.queries_until,
        snippets_until=base.snippets_until,
        previous_version=base,
        given=build.pair_list,
    )
    return publish_chosen(order, iterate_corrected_labels(base, said))


def iterate_corrected_labels(base: Benchmark, said: dict[int, Chosen]) -> Iterator[Chosen]:
    """The base's labels, corrected where the build judged the pair; then those pairs that only it has."""
    new = dict(said)
    for row in load_kept_labels(base):
        yield new.pop(row.pair, row)
    yield from new.values()


def describe_label_authority(build: Build, base: Benchmark) -> str:
    """Whose labels these are, in words."""
    told = describe_agents(find_labelling_annotator(build) or build.annotator)
    judged_again = count_noun(build.pair_list.size if build.pair_list else 0, "pair")
    rule = RULE.format(FEWEST[build.reviews_needed])
    more = f"; {judged_again} judged again in build {build.name}: {rule}. {told}"
    room = LONGEST_RULE - len(more)
    return f"{base.merge_rule[: max(0, room)]}{more}"[:LONGEST_RULE]
