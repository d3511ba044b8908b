"""A build's pairs, or a mining's, become a benchmark: each with the label that the merge rule publishes.

Of each annotator the label of the last round counts; one that was taken back says nothing. The agents'
label of a pair counts where the build settled it: what was abandoned stays unjudged. Grades of 0 to 3 are
left out, as matches can't be told from them. An imported label counts last, whoever its file says gave it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from annotation.builds.launch.launcher import Actor, record_build_event
from annotation.builds.results import mined_scope, written_functions
from annotation.builds.results.answering_models import describe_agents
from annotation.builds.results.mined_scope import LONGEST_NAME
from annotation.models import Build, BuildEvent, Case, Filling
from annotation.models.builds.label_in_force import AnnotatorWords, list_standing_statements
from annotation.models.reviews.label_counts import group_pairs_by_labels
from annotation.stages import Stage
from retrieval.evaluation.merge_rule import (
    FEWEST_REVIEWS,
    AnnotatorStatement,
    merge_rule_words,
    merge_statements,
)
from retrieval.evaluation.publication import Chosen, NothingToPublish, Order, publish_chosen
from retrieval.evaluation.runs.carried_runs import carry_runs_over
from retrieval.models import (
    Annotator,
    Benchmark,
    Candidate,
    Label,
    Mining,
    Pair,
    Pool,
    Source,
)
from retrieval.models.labels import ADJUDICATED, BASES

ROWS_A_READ = 2000
LONGEST_RULE = 400
Tick = Callable[[int], None]


class PublishRefused(ValueError):
    """The pairs can't be published; the message says what to do. Nothing was stored."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A benchmark to be made of a build's pairs, or without one of all candidates of the mining.

    A build of given pairs has no mining.
    """

    name: str
    mining: Mining | None
    build: Build | None = None
    pool: Pool = Pool.COLLECTION


@dataclass(frozen=True, slots=True)
class Count:
    """How many pairs one source gives a label."""

    source: Source
    matches: int
    no_matches: int

    @property
    def pairs(self) -> int:
        return self.matches + self.no_matches


@dataclass(frozen=True, slots=True)
class PublicationOutlook:
    """What would be published: pairs by the source of their label."""

    counts: tuple[Count, ...]
    pairs: int
    out_of_reach: int = 0
    """How many functions systems search that no mining could propose; none of them has a label."""

    @property
    def judged(self) -> int:
        return sum(count.pairs for count in self.counts)

    @property
    def unjudged(self) -> int:
        return self.pairs - self.judged


@dataclass(frozen=True, slots=True)
class _Voices:
    """Whose labels count: by annotator's id its kind and configuration; `agents` are among them.

    Of assisted reviews so many have to agree as the strictest of the builds asks for.
    """

    configs: Mapping[int, AnnotatorWords]
    agents: Annotator | None
    builds: tuple[int, ...]
    """The agents' labels of pairs count that these settled, or all of them after `merged_rounds`."""
    merged_rounds: bool
    reviews_needed: int

    def merge(
        self, last: Mapping[int, tuple[int | None, bool, int, str]], *, agents: bool
    ) -> AnnotatorStatement | None:
        """What counts of a pair, by what each annotator said of it last; `agents`: theirs may count, too."""
        said = list_standing_statements(last, self.configs, agents=agents)
        return merge_statements(list(said), self.reviews_needed)


def check_publish_wish(wish: Wish) -> None:
    """Look at the builds, not at their pairs. Raises PublishRefused where nothing can be made of them now."""
    _agreed(wish)


def preview_publication(wish: Wish) -> PublicationOutlook:
    """What `publish_benchmark` would make of it, by one query: the rule is asked once for each way of being
    labelled.

    Raises PublishRefused.
    """
    voices, found, pairs = _voices(wish), Counter[tuple[Source, int]](), 0
    asked: list[QuerySet[Any, Any]] = [pair_ids_of_wish(wish)]
    if added := list_added_pairs(wish):
        asked.append(Pair.objects.filter(pk__in=added).values("pk"))
    ways = (group_pairs_by_labels(rows, voices.builds, voices.configs) for rows in asked)
    for way in chain.from_iterable(ways):
        pairs += way.pairs
        last = {
            told.annotator: (told.value, told.assisted, told.place, ADJUDICATED * told.adjudicated)
            for told in way.labels
        }
        said = voices.merge(last, agents=way.settled or voices.merged_rounds)
        if said is not None:
            found[said.source, said.value] += way.pairs
    counts = (Count(each, found[each, 1], found[each, 0]) for each in Source)
    shown = tuple(count for count in counts if count.pairs)
    return PublicationOutlook(shown, pairs, mined_scope.count_out_of_reach(wish.mining, wish.build))


class _Held:
    """What was chosen, read at once, so that nobody waits for a lock meanwhile; 40 bytes a pair.

    A label of 0 is none.
    """

    def __init__(self, chosen: Iterable[Chosen]) -> None:
        self.columns: list[array[Any]] = [array(kind) for kind in "qqqdqB"]
        for row in chosen:
            told = (*row[:-1], BASES.index(row.basis))
            for column, value in zip(self.columns, told, strict=True):
                column.append(value or 0)

    def __len__(self) -> int:
        return len(self.columns[0])

    def __iter__(self) -> Iterator[Chosen]:
        *columns, bases = self.columns
        return map(Chosen._make, zip(*columns, map(BASES.__getitem__, bases), strict=True))


def publish_benchmark(wish: Wish, by: Actor = None, tick: Tick = lambda pairs: None) -> Benchmark:
    """The next version of the benchmark; the last one where nothing has changed. Raises PublishRefused.

    Runs of the version before it are scored by its labels, where they searched the same. `tick` is called
    with the number of pairs looked at since, outside the transaction that writes.
    """
    if not 1 <= len(wish.name.strip()) <= LONGEST_NAME:
        raise PublishRefused(f"A benchmark's name has 1 to {LONGEST_NAME} characters.")
    voices = _voices(wish)
    chosen = _Held(_chosen(wish, voices, tick, list_added_pairs(wish)))
    made = _published(wish, voices, chosen, by)
    carry_runs_over(made)
    return made


@transaction.atomic
def _published(wish: Wish, voices: _Voices, chosen: _Held, by: Actor) -> Benchmark:
    try:
        made = publish_chosen(_order(wish, _rule(wish, voices)), chosen)
    except NothingToPublish as why:
        raise PublishRefused(
            "None of its pairs has a label that counts: there is nothing to publish."
        ) from why
    if wish.build is not None:
        note_published(wish.build, by, made, left_out=len(chosen) - made.size)
    return made


def _order(wish: Wish, rule: str) -> Order:
    """The benchmark's members: what was mined, or the given pairs' collections; and what was written."""
    builds = _judging_builds(wish)
    order = _order_of_given(wish, rule)
    snippets, until = written_functions.add_written_functions(order.snippets, order.snippets_until, builds)
    notes = written_functions.describe_written_count(len(written_functions.list_written_pairs(builds)))
    return replace(order, snippets=snippets, snippets_until=until, notes=notes)


def _order_of_given(wish: Wish, rule: str) -> Order:
    """The same without what was written."""
    name = wish.name.strip()
    if wish.mining is None:
        assert wish.build is not None and wish.build.pair_list is not None
        return mined_scope.given_order(name, wish.build.pair_list, rule)
    found = mined_scope.collect_minings(wish.mining, wish.build)
    queries, queries_until = mined_scope.collect_mined_queries(found)
    return Order(
        name,
        queries,
        wish.mining.snippets,
        rule,
        mining=wish.mining,
        further=found[1:],
        searched=wish.pool,
        queries_until=queries_until,
        snippets_until=mined_scope.snippets_until(found),
    )


def note_published(build: Build, by: Actor, made: Benchmark, left_out: int = 0) -> None:
    """Write into the build's history as what it was published: once, however often the same is published.

    `left_out` labels are of queries or snippets that are no part of the benchmark.
    In the transaction that made it: then nobody else publishes the same meanwhile.
    """
    note = f"as benchmark {made}"
    if left_out:
        note += f"; {left_out:,} labels of queries or functions that are no part of it were left out"
    if not build.events.filter(event="published", note=note).exists():
        record_build_event(build, by, "published", note)


def published_from(benchmark: Benchmark) -> Build | None:
    """The build whose history tells that it was published as this benchmark; else the only one it can be."""
    found = builds_behind(benchmark)
    return found[0] if len(found) == 1 else None


def builds_behind(benchmark: Benchmark) -> list[Build]:
    """The builds whose history tells that they were published as this benchmark; else all it can be made of.

    They judged its given pairs, or its first mining's candidates, before it was published; their tallies are
    read with them.
    """
    if benchmark.mining_id is None and benchmark.pair_list_id is None:
        return []
    of = Q(pair_list=benchmark.pair_list_id) if benchmark.pair_list_id else Q(mining=benchmark.mining_id)
    builds = Build.objects.filter(of, filling__isnull=True).select_related("tally")
    note = f"as benchmark {benchmark}"
    told = BuildEvent.objects.filter(Q(note=note) | Q(note__startswith=f"{note};"), event="published")
    ordered = builds.order_by("pk")
    return list(ordered.filter(events__in=told).distinct()) or list(
        ordered.filter(created_at__lte=benchmark.published_at)
    )


def said_of(build: Build, *, unfinished: bool = False) -> Iterator[Chosen]:
    """What the merge rule publishes of the build's pairs; `unfinished`: as it stands while it is not over.

    Raises PublishRefused.
    """
    wish = Wish(build.name, build.mining, build)
    voices = _voices(wish, unfinished=unfinished)
    return _chosen(wish, voices)


def iterate_merged_labels(build: Build, tick: Tick = lambda pairs: None) -> Iterator[Chosen]:
    """What the merge rule publishes of the build's pairs, without what imported labels say.

    Raises PublishRefused.
    """
    wish = Wish(build.name, build.mining, build)
    is_queue = build.for_experts and build.state == Build.State.PAUSED
    decided = _decided(wish, _voices(wish, unfinished=is_queue), tick)
    return (_chosen_of(*row) for row in decided if row[1].source is not Source.ORIGINAL)


def _chosen(
    wish: Wish, voices: _Voices, tick: Tick = lambda pairs: None, added: Sequence[int] = ()
) -> Iterator[Chosen]:
    return (_chosen_of(*row) for row in _decided(wish, voices, tick, added))


def _chosen_of(texts: tuple[int, int, int], said: AnnotatorStatement, basis: str) -> Chosen:
    return Chosen(*texts, float(said.value), said.label, basis)


def _agreed(wish: Wish, *, unfinished: bool = False) -> tuple[list[Build], Mapping[int, Annotator]]:
    """The builds and their agents by id, of which there is one at most.

    Raises PublishRefused for builds that are not over, not merged, or judged by different agents.
    """
    builds = _judging_builds(wish)
    for build in builds:
        refuse_writing_job(build)
    agents = {found.pk: found for found in (_agents(build, unfinished) for build in builds)}
    if len(agents) > 1:
        names = ", ".join(f"{build.name!r} (--build {build.pk})" for build in builds)
        raise PublishRefused(f"Several builds judged these pairs, by different agents: name one of {names}.")
    if wish.pool == Pool.CANDIDATES and wish.mining is None:
        raise PublishRefused(
            "The pairs were given, so no mining says which functions a query has: publish them for a search "
            "in the whole collection."
        )
    if wish.pool == Pool.CANDIDATES and len(mined_scope.collect_minings(wish.mining, wish.build)) > 1:
        raise PublishRefused(
            "The build was extended, so its functions come from several minings: publish it for a search "
            "in the whole collection."
        )
    if wish.pool == Pool.CANDIDATES and written_functions.list_written_pairs(builds):
        raise PublishRefused(
            "Functions were written for queries of the build, and no mining proposed them: publish them for "
            "a search in the whole collection."
        )
    return builds, agents


def _judging_builds(wish: Wish) -> list[Build]:
    return [wish.build] if wish.build else _builds_of(wish.mining)


def refuse_writing_job(build: Build) -> None:
    """Raises PublishRefused for a job that writes functions: what is accepted of it belongs to its build."""
    filling = Filling.objects.filter(build=build).select_related("of").first()
    if filling is not None:
        raise PublishRefused(
            f"{build.name!r} is a job that writes functions for the build {filling.of.name!r}: publish that "
            "build. It takes the accepted functions along."
        )


def _voices(wish: Wish, *, unfinished: bool = False) -> _Voices:
    """Raises PublishRefused."""
    builds, agents = _agreed(wish, unfinished=unfinished)
    known = Annotator.objects.filter(
        Q(kind__in=[Annotator.Kind.PERSON, Annotator.Kind.MERGE, Annotator.Kind.ORIGINAL]) | Q(pk__in=agents)
    )
    configs = {
        row.pk: (row.kind, row.config)
        for row in known
        if row.kind in (Annotator.Kind.PERSON, Annotator.Kind.ORIGINAL)
        or "study" in row.config
        or row.pk in agents
    }
    return _Voices(
        configs,
        next(iter(agents.values()), None),
        tuple(build.pk for build in builds),
        any(build.rounds > 1 for build in builds),
        max((build.reviews_needed for build in builds), default=FEWEST_REVIEWS),
    )


def _settled(voices: _Voices) -> frozenset[int]:
    """The pairs that the builds settled; nothing where that need not be asked."""
    if voices.merged_rounds:
        return frozenset()
    cases = Case.objects.filter(build__in=voices.builds, stage=Stage.SETTLED).order_by()
    return frozenset(cases.values_list("pair_id", flat=True).iterator(ROWS_A_READ))


def _builds_of(mining: Mining | None) -> list[Build]:
    builds = Build.objects.filter(mining=mining, mining__isnull=False, filling__isnull=True)
    return list(builds.select_related("annotator").order_by("pk"))


def _agents(build: Build, unfinished: bool) -> Annotator:
    """Whose labels are the build's: its annotator's, or the merge of its rounds that was asked for last."""
    if not build.is_over and not unfinished:
        state = build.get_state_display().lower()
        raise PublishRefused(f"The build {build.name!r} is {state}: it is published once it is over.")
    found = find_labelling_annotator(build)
    if found is None:
        raise PublishRefused(
            f"The build {build.name!r} judged each pair {build.rounds} times: merge its rounds first, on its "
            f"page or by 'cosqa admin merge {build.name!r} --rule majority'."
        )
    return found


def find_labelling_annotator(build: Build) -> Annotator | None:
    """Its annotator, of several rounds the merge that was asked for last; None before that is done."""
    if build.rounds == 1:
        return build.annotator
    done = build.merges.filter(finished_at__isnull=False).select_related("annotator").first()
    return done.annotator if done else None


def pair_ids_of_wish(wish: Wish) -> QuerySet[Any, Any]:
    """The ids of the pairs, each once."""
    if wish.build is not None:
        return Case.objects.filter(build=wish.build).order_by().values("pair").distinct()
    return Candidate.objects.filter(mining=wish.mining).order_by().values("pair")


def list_added_pairs(wish: Wish) -> list[int]:
    """The pairs (ids) of written and accepted functions that are none of the builds' own pairs."""
    found = written_functions.list_written_pairs(_judging_builds(wish))
    known = (
        set(pair_ids_of_wish(wish).filter(pair__in=found).values_list("pair", flat=True)) if found else set()
    )
    return [pk for pk in found if pk not in known]


def _decided(
    wish: Wish, voices: _Voices, tick: Tick = lambda pairs: None, added: Sequence[int] = ()
) -> Iterator[tuple[tuple[int, int, int], AnnotatorStatement, str]]:
    """Yield (query, snippet, pair), what is published of it, and how that came about, where anything is.

    Pairs that are `added` (ids) come last.

    Between two handfuls nothing is open in the database, so that `tick` may write to it.
    """
    columns = (
        *("pair__query_id", "pair__snippet_id", "pair_id"),
        *("annotator_id", "value", "assisted", "pk", "source", "basis"),
    )
    labels = Label.objects.filter(annotator__in=list(voices.configs)).exclude(scale__in=Label.GRADES)
    labels = labels.order_by("pair_id", "annotator_id", "round")
    settled = _settled(voices)
    pairs = array(
        "q", pair_ids_of_wish(wish).order_by("pair").values_list("pair", flat=True).iterator(ROWS_A_READ)
    )
    pairs.extend(added)
    for start in range(0, len(pairs), ROWS_A_READ):
        handful = pairs[start : start + ROWS_A_READ].tolist()
        rows = list(labels.filter(pair__in=handful).values_list(*columns))
        for texts, of_pair in groupby(rows, key=lambda row: row[:3]):
            told = list(of_pair)
            last = {row[3]: row[4:8] for row in told}
            agents = voices.merged_rounds or texts[2] in settled
            found = voices.merge(last, agents=agents)
            if found is not None:
                basis = next(row[8] for row in told if row[6] == found.label)
                yield texts, found, basis
        tick(len(handful))


def _rule(wish: Wish, voices: _Voices) -> str:
    """The merge rule in words, with the agents whose labels count last."""
    words = merge_rule_words(voices.reviews_needed)
    told = f"{words}. {describe_agents(voices.agents)}" if voices.agents else words
    return (f"{told}, in build {wish.build.name}" if wish.build else told)[:LONGEST_RULE]
