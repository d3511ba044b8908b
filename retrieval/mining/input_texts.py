"""What a mining reads: the texts of its queries and of the snippets that may become candidates."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Max

from retrieval.collections.filter_steps import find_query_positions
from retrieval.filters import Rule, TextOption, extract_searched_text
from retrieval.filters.queries import QueryRule
from retrieval.models import Member, Mining
from retrieval.models.collections import MemberQuerySet
from retrieval.texts.plurals import count_noun

MEMBERS_A_READ = 2000


class NothingToMine(ValueError):
    """No query or no snippet is left; the message says which rule or collection is to blame."""


@dataclass(frozen=True)
class Texts:
    """Texts of one collection with the ids of their rows, in the collection's order."""

    ids: Sequence[int]
    texts: Sequence[str]


def note_end(mining: Mining) -> None:
    """Remember which snippets there are: whoever extends this mining can tell what was added since."""
    if mining.until is None:
        last = mining.snippets.members.aggregate(last=Max("position"))["last"]
        mining.until = 0 if last is None else last + 1
        Mining.objects.filter(pk=mining.pk, until=None).update(until=mining.until)
        mining.refresh_from_db(fields=["until"])


def queries_of_mining(mining: Mining) -> list[int]:
    """Ids of the members whose candidates are wanted, by position: those chosen, else the first so many.

    Of either only queries that pass the mining's rule of queries.
    """
    rows = mining.queries.members.order_by("position")
    if not mining.chosen and not mining.query_rule:
        return list(rows.values_list("pk", flat=True)[: mining.limit])
    passing = set(find_query_positions(mining.queries, QueryRule(mining.query_rule)))
    wanted = passing.intersection(mining.chosen) if mining.chosen else passing
    found = [pk for pk, position in rows.values_list("pk", "position") if position in wanted]
    return found if mining.chosen else found[: mining.limit]


def snippets_of(mining: Mining) -> Sequence[int]:
    """Ids of the members that may become candidates, by position: packed, as there may be millions."""
    left_out = set(left_out_of(mining))
    found = _wanted(mining).order_by("position").values_list("pk", flat=True)
    return array("q", (pk for pk in found.iterator(MEMBERS_A_READ) if pk not in left_out))


def left_out_of(mining: Mining) -> list[int]:
    """Ids of members that pass the mining's rule, and of which the part that it reads can't be told."""
    return _wanted(mining).left_out(mining.text_option)


def describe_left_out(count: int) -> str:
    """What is said of snippets that were not searched."""
    return (
        f"{count_noun(count, 'function')} left out of the search: their docstring can't be found. "
        "The text option whole searches all"
    )


def _wanted(mining: Mining) -> MemberQuerySet:
    members = mining.snippets.members.passing(Rule(mining.rule))
    return members if mining.until is None else members.filter(position__lt=mining.until)


def texts_of(members: Sequence[int], option: TextOption | str) -> Texts:
    """The texts of `members`, in their order, as they are encoded."""
    ids, texts = list[int](), list[str]()
    for start in range(0, len(members), MEMBERS_A_READ):
        rows = Member.objects.filter(pk__in=members[start : start + MEMBERS_A_READ])
        for row in rows.select_related("text__body").order_by("position"):
            ids.append(row.text_id)
            texts.append(extract_searched_text(row.text.text, option))
    return Texts(ids, texts)


def text_ids(members: Sequence[int]) -> Sequence[int]:
    """The ids of the texts of `members`, in their order."""
    found = array("q")
    for start in range(0, len(members), MEMBERS_A_READ):
        some = members[start : start + MEMBERS_A_READ]
        ids = dict(Member.objects.filter(pk__in=some).values_list("pk", "text_id"))
        found.extend(ids[member] for member in some)
    return found


def refuse_empty(mining: Mining, queries: Sequence[int], snippets: Sequence[int]) -> None:
    """Raises NothingToMine."""
    if not queries:
        passing = " that pass the rule; choose a wider one" if mining.query_rule else ""
        raise NothingToMine(f"{mining.queries} has no queries{passing}.")
    if not snippets:
        raise NothingToMine(f"No function of {mining.snippets} passes the rule; choose a wider one.")
