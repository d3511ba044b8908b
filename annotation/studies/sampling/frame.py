"""The frame: every pair of the chosen builds once, with its stratum. Narrow rows, streamed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from annotation.models import Build, Case
from annotation.schemas.studies.studies import Stratifier
from annotation.stages import Stage
from annotation.studies.sampling.sample_order import MOST_STRATA, SampleRefused

CHUNK: Final = 10_000
WORKING: Final = frozenset(stage.value for stage in Stage) - {Stage.SETTLED.value, Stage.ABANDONED.value}


class Unit(NamedTuple):
    """A pair of the frame: ids alone; `other` is the second pair of a comparison, `label` the build's."""

    query: int
    pair: int
    case: int | None
    stratum: str = ""
    other: int | None = None
    label: int | None = None


class Seen(NamedTuple):
    """What a case row says of its pair."""

    case: int
    pair: int
    query: int
    rank: int
    stage: str
    label: int | None
    program: int | None
    ran: bool | None = None


def build_sampling_frame(
    builds: Sequence[Build], strata: Sequence[Stratifier] = (), without: Collection[int] = frozenset()
) -> list[Unit]:
    """Every pair of the builds once, by query and pair; `without` are ids of pairs that are left out.

    A pair that several builds have is described by the first of them that has it. Raises SampleRefused where
    the strata are too many.
    """
    parted = find_disagreeing_pairs(builds) if Stratifier.DISAGREEMENT in strata else frozenset()
    found: dict[int, Unit] = {}
    for build in builds:
        for unit in units_of(build, strata, parted) if strata else plain_units(build):
            if unit.pair not in found and unit.pair not in without:
                found[unit.pair] = unit
    refuse_many({unit.stratum for unit in found.values()})
    # A unit begins with query and pair, which no two units share: so they are compared as they are.
    return sorted(found.values())


def plain_units(build: Build) -> Iterator[Unit]:
    columns = "query_id", "pair_id", "pk", "label"
    rows = Case.objects.filter(build=build, round=1).order_by().values_list(*columns)
    return (Unit(query, pair, case, "", None, label) for query, pair, case, label in rows.iterator(CHUNK))


def units_of(build: Build, strata: Sequence[Stratifier], parted: Collection[int]) -> Iterator[Unit]:
    """The build's pairs with their strata, each of which is put into words once."""
    names: dict[tuple[object, ...], str] = {}
    for row in stream_first_round_cases(build, Stratifier.EXECUTABLE in strata):
        key = (row.rank, row.stage, row.label, row.program is None, row.ran, row.pair in parted)
        if key not in names:
            names[key] = " · ".join(part_of(row, by, parted) for by in strata)
        yield Unit(row.query, row.pair, row.case, names[key], None, row.label)


def stream_first_round_cases(build: Build, with_runs: bool) -> Iterator[Seen]:
    """The first round's cases of a build."""
    columns = ["pk", "pair_id", "query_id", "rank", "stage", "label", "program_id"]
    wanted = [*columns, "execution__ran"] if with_runs else columns
    rows = Case.objects.filter(build=build, round=1).order_by().values_list(*wanted)
    return (
        map(Seen._make, rows.iterator(CHUNK))
        if with_runs
        else map(Seen._make, ((*row, None) for row in rows.iterator(CHUNK)))
    )


def part_of(row: Seen, by: Stratifier, parted: Collection[int]) -> str:
    if by is Stratifier.LABEL:
        return label_of_seen_case(row)
    if by is Stratifier.SCREENER:
        return screener_value_of(row)
    if by is Stratifier.EXECUTABLE:
        return "not executed" if row.ran is None else "ran" if row.ran else "did not run"
    if by is Stratifier.RANK:
        return rank_band_of(row.rank)
    return "disagree" if row.pair in parted else "agree"


def label_of_seen_case(row: Seen) -> str:
    if row.label is None:
        return "abandoned" if row.stage == Stage.ABANDONED else "not judged yet"
    return "match" if row.label == 1 else "no match"


def screener_value_of(row: Seen) -> str:
    """The screener's value: a case with a program was unclear; one that was settled without was not."""
    if row.program is not None or row.stage in WORKING - {Stage.SCREENING.value}:
        return "screener unclear"
    if row.label is None:
        return "not screened"
    return "screener match" if row.label == 1 else "screener no match"


def rank_band_of(rank: int) -> str:
    if rank <= 1:
        return "rank 1"
    return "rank 2 to 5" if rank <= 5 else "rank 6 to 10" if rank <= 10 else "rank after 10"


def find_disagreeing_pairs(builds: Iterable[Build]) -> frozenset[int]:
    """Pairs to which two of the builds, or two rounds of one, gave different labels."""
    rows = Case.objects.filter(build__in=list(builds), label__isnull=False).order_by()
    said: dict[int, set[int]] = {1: set(), 0: set()}
    for pair, label in rows.values_list("pair_id", "label").iterator(CHUNK):
        said[1 if label == 1 else 0].add(pair)
    return frozenset(said[1] & said[0])


def refuse_many(strata: set[str]) -> None:
    if len(strata) > MOST_STRATA:
        raise SampleRefused(f"These are {len(strata)} strata; choose fewer criteria, at most {MOST_STRATA}.")
