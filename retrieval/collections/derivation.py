"""A collection of what passes named filters of another one, with how many each refused.

Filters are computed when they are asked for: members keep the flags that they were imported with, and the
collection that was filtered stays as it is. Evaluation, minings and exports take the new one by its name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction

from retrieval.collections.aliases import copy_aliases
from retrieval.collections.filter_steps import (
    Report,
    codesearchnet_step,
    format_member_example,
    iterate_members,
    licence_step,
    report_member_progress,
)
from retrieval.collections.importer import MEMBER_COLUMNS
from retrieval.filters import Rule
from retrieval.filters.queries import QueryRule, flag_passing_queries, is_english, is_identifier, query_rule
from retrieval.filters.steps import EXAMPLE_LENGTH, EXAMPLES, Refusals, Step
from retrieval.models import Collection, Member, statements
from retrieval.sources.code.python_or_not import Detector, classify_non_python

REDISTRIBUTABLE: Final = "redistributable"
PYTHON: Final = "python"
CODESEARCHNET: Final = "codesearchnet"
DISTINCT: Final = "distinct"
SNIPPET_FILTERS: Final = (
    *(str(rule.name).lower() for rule in Rule),
    *(REDISTRIBUTABLE, PYTHON, CODESEARCHNET, DISTINCT),
)
QUERY_FILTERS: Final = tuple(str(rule.name).lower() for rule in QueryRule)
EXAMPLES_OF: Final = "examples"
MEMBERS_A_TIME: Final = 2_000


class NotMade(ValueError):
    """No such collection can be made; the message says what to change."""


@dataclass(frozen=True)
class Passing:
    """`positions` of the members that pass every filter, ascending, and what each filter refused by name.

    `examples` are the first members that each refused. A member is counted with the first filter that
    refuses it; near duplicates are looked for among those that pass the rest.
    """

    positions: Sequence[int]
    refusals: Refusals

    @property
    def refused(self) -> dict[str, int]:
        return {name: step.refused for name, step in self.refusals.steps.items()}

    @property
    def examples(self) -> dict[str, list[str]]:
        return {name: step.examples for name, step in self.refusals.steps.items()}


def in_order(kind: str, names: Sequence[str]) -> list[str]:
    """The filters of a kind of collection by these names, each once. Raises NotMade."""
    known = QUERY_FILTERS if kind == Collection.Kind.QUERIES else SNIPPET_FILTERS
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        said = f"no filter is called {', '.join(unknown)}" if unknown else "name at least one filter"
        raise NotMade(f"Of {kind} {said}; there are: {', '.join(known)}.")
    return [name for name in known if name in names]


def filter_collection(
    source: Collection, names: Sequence[str], detector: Detector | None = None, report: Report | None = None
) -> Passing:
    """What of a collection passes all of the filters. Texts are read once and not kept. Raises NotMade."""
    wanted = in_order(source.kind, names)
    told = report or (lambda what, done, total: None)
    if source.kind == Collection.Kind.QUERIES:
        return _queries(source, wanted, told)
    refusals, kept = _steps(wanted), list[int]()
    codes = _codes(source, wanted, detector, refusals, kept, told)
    if DISTINCT not in wanted:
        deque(codes, maxlen=0)
        return Passing(kept, refusals)
    from retrieval.filters.duplicates import find_group_firsts  # loads NumPy

    found = find_group_firsts(codes, lambda done, total: told("compared", done, total))
    repeated = [(place, first) for place, first in enumerate(found) if place != first]
    refusals.steps[DISTINCT] = Step(len(repeated), _same(source, kept, repeated[:EXAMPLES]))
    return Passing([kept[place] for place, first in enumerate(found) if place == first], refusals)


def _steps(wanted: Sequence[str]) -> Refusals:
    """A step for each filter, also for one that refuses nothing."""
    return Refusals({name: Step() for name in wanted})


def _same(source: Collection, kept: Sequence[int], repeated: Sequence[tuple[int, int]]) -> list[str]:
    """Some duplicates, each with the first of its group."""
    places = {kept[place] for pair in repeated for place in pair}
    names = dict(source.members.filter(position__in=places).values_list("position", "source_id"))
    said = (f"{names[kept[place]]} = {names[kept[first]]}" for place, first in repeated)
    return [one[:EXAMPLE_LENGTH] for one in said]


def _codes(
    source: Collection,
    wanted: Sequence[str],
    detector: Detector | None,
    refusals: Refusals,
    kept: list[int],
    told: Report,
) -> Iterator[str]:
    """Yield the code of what passes each filter but that of duplicates; note positions and refusals."""
    for member in report_member_progress(iterate_members(source), "read", source.size, told):
        broken = next((name for name in wanted if _breaks(name, member, detector)), None)
        if broken is None:
            kept.append(member.position)
            yield member.text.text
        else:
            refusals.refuse(broken, format_member_example(member))


def _breaks(name: str, member: Member, detector: Detector | None) -> bool:
    if name == REDISTRIBUTABLE:
        return licence_step(member) is not None
    if name == PYTHON:
        return classify_non_python(member.text.text, detector) is not None
    if name == CODESEARCHNET:
        return codesearchnet_step(member) is not None
    return name != DISTINCT and Rule[name.upper()] not in Rule(member.rules)


def _queries(source: Collection, wanted: Sequence[str], told: Report) -> Passing:
    rows = [(member.position, member.text.text) for member in iterate_members(source)]
    refusals, kept = _steps(wanted), list[int]()
    passes = flag_passing_queries((text for _, text in rows), query_rule(wanted))
    for done, ((position, text), through) in enumerate(zip(rows, passes, strict=True), 1):
        if through:
            kept.append(position)
        else:
            refusals.refuse(_first_broken(text, wanted), text)
        told("read", done, len(rows))
    return Passing(kept, refusals)


def _first_broken(query: str, wanted: Sequence[str]) -> str:
    """The filter that refused a query, of which one did."""
    if "english" in wanted and not is_english(query):
        return "english"
    return "no_identifier" if "no_identifier" in wanted and is_identifier(query) else DISTINCT


def derive_collection(
    name: str,
    source: Collection,
    names: Sequence[str],
    detector: Detector | None = None,
    report: Report | None = None,
) -> Collection:
    """The collection called `name` of what passes, stored in batches.

    Asked for again, the same is found, or completed where it was cut off; anything else becomes the next
    version. Raises NotMade for an unknown filter, a name of what was imported, or where nothing passes.
    """
    refuse_bad_derivation(name, source)
    found = filter_collection(source, names, detector, report)
    if not found.positions:
        raise NotMade(f"Nothing of {source} passes {', '.join(found.refused)}.")
    about = {"members": source.size, "kept": len(found.positions), "refused": found.refused}
    about |= {"detector": detector is not None and PYTHON in found.refused, EXAMPLES_OF: found.examples}
    target = _version(name, source, about)
    for start in range(target.size, len(found.positions), MEMBERS_A_TIME):
        _add(target, source, found.positions[start : start + MEMBERS_A_TIME])
        if report is not None:
            report("stored", target.size, len(found.positions))
    return target


def refuse_bad_derivation(name: str, source: Collection) -> None:
    """Raises NotMade for a name that can't be given, or is that of imported members."""
    longest = Collection._meta.get_field("name").max_length or 0
    if not name.strip() or len(name) > longest:
        raise NotMade(f"The name of a collection has 1 to {longest} characters.")
    if Collection.objects.filter(name=name, kind=source.kind, filtered__isnull=True).exists():
        raise NotMade(f"There is an imported collection called {name!r}; choose another name.")


def _version(name: str, source: Collection, about: dict[str, Any]) -> Collection:
    """The newest version of the name where it was made alike, else the next one, still empty."""
    newest = Collection.objects.filter(name=name, kind=source.kind).order_by("-version").first()
    if (
        newest is not None
        and newest.filtered_from_id == source.pk
        and _figures(newest.filtered) == _figures(about)
    ):
        return newest
    return Collection.objects.create(
        name=name,
        kind=source.kind,
        version=newest.version + 1 if newest else 1,
        source=f"what passes {', '.join(about['refused'])} of {source}"[:400],
        filtered_from=source,
        filtered=about,
    )


def _figures(about: Mapping[str, Any] | None) -> dict[str, Any]:
    """What two collections must have in common to be the same; older ones were made without examples."""
    return {name: value for name, value in (about or {}).items() if name != EXAMPLES_OF}


def _add(target: Collection, source: Collection, positions: Sequence[int]) -> None:
    """Store the members at some positions behind those that are there. All of them or none."""
    columns = ("text_id", "source_id", "origin", "licence", "rules", "partition")
    rows = list[tuple[Any, ...]]()
    for start in range(0, len(positions), 500):
        some = source.members.filter(position__in=positions[start : start + 500]).order_by("position")
        rows += some.values_list(*columns)
    with transaction.atomic():
        held = Collection.objects.select_for_update().get(pk=target.pk)
        if held.size == target.size:  # else another process is at the same, and was first
            numbered = enumerate(rows, held.size)
            new = [(held.pk, text, position, *rest) for position, (text, *rest) in numbered]
            statements.insert_all(Member, MEMBER_COLUMNS, new)
            held.size += len(rows)
            held.save(update_fields=["size"])
            copy_aliases(source, held, [text for text, *_ in rows])
    target.size += len(rows)
