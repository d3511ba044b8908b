"""Pairs counted by what is said of them: the database groups those of which the same is said.

Hundreds of thousands of pairs are told in a few ways, so whatever follows from what is said of a pair is
worked out once for each way, by the code that works it out for a single pair.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from django.db.models import QuerySet

from annotation.stages import Stage
from retrieval.models import Label
from retrieval.models.labels import ADJUDICATED

JOINED: Final = {"postgresql": "string_agg"}
"""What the databases call `group_concat`. It promises no order, so each label tells its own place."""
COUNTED: Final = """
WITH asked (pair) AS ({pairs}),
settled (pair) AS (
  SELECT DISTINCT pair_id FROM annotation_case WHERE stage = %s AND build_id IN ({builds})),
labels AS (
  SELECT asked.pair, settled.pair IS NOT NULL AS settled, label.id, annotator_id, round, value, assisted,
    source, ROW_NUMBER() OVER (PARTITION BY asked.pair ORDER BY label.id) AS place
  FROM asked LEFT JOIN settled ON settled.pair = asked.pair
    LEFT JOIN retrieval_label label ON label.pair_id = asked.pair AND label.annotator_id IN ({annotators})
      AND label.scale NOT IN ({grades})),
ways AS (
  SELECT settled, {joined}(
    CASE WHEN id IS NOT NULL THEN
      place || ' ' || annotator_id || ' ' || round || ' ' || COALESCE(CAST(value AS text), '-')
      || ' ' || CASE WHEN assisted THEN 1 ELSE 0 END
      || ' ' || CASE WHEN substr(source, length(source) - {tail}) = %s THEN 1 ELSE 0 END
    END, ',') AS said
  FROM labels GROUP BY pair, settled)
SELECT settled, said, COUNT(*) FROM ways GROUP BY settled, said
"""


@dataclass(frozen=True, slots=True)
class Told:
    """A label as far as it matters; of those of a pair the one with the higher `place` is newer."""

    place: int
    annotator: int
    round: int
    value: int | None
    assisted: bool
    adjudicated: bool


@dataclass(frozen=True, slots=True)
class Way:
    """How many `pairs` were settled, or not, and have just these labels, round by round."""

    settled: bool
    labels: tuple[Told, ...]
    pairs: int


def group_pairs_by_labels(
    pairs: QuerySet[Any, Any], builds: Collection[int], annotators: Collection[int]
) -> Iterator[Way]:
    """All `pairs` (a query for their ids, each once) by the labels of these annotators, grades left out.

    `settled`: by one of these builds. One query.
    """
    asked, values = pairs.query.sql_with_params()
    statement = COUNTED.format(
        pairs=asked,
        builds=_places(builds),
        annotators=_places(annotators),
        grades=_places(Label.GRADES),
        joined=JOINED.get(connection.vendor, "group_concat"),
        tail=len(ADJUDICATED) - 1,
    )
    given = [*values, Stage.SETTLED.value, *builds, *annotators, *Label.GRADES, ADJUDICATED]
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        found = cursor.fetchall()
    return (Way(bool(settled), _read(said or ""), count) for settled, said, count in found)


def _places(values: Collection[object]) -> str:
    """Places for as many values; nothing is among none."""
    return ", ".join(["%s"] * len(values)) or "NULL"


def _read(said: str) -> tuple[Told, ...]:
    return tuple(sorted((_told(one) for one in said.split(",") if one), key=lambda told: told.round))


def _told(said: str) -> Told:
    place, annotator, number, value, assisted, adjudicated = said.split()
    return Told(
        int(place),
        int(annotator),
        int(number),
        None if value == "-" else int(value),
        assisted == "1",
        adjudicated == "1",
    )
