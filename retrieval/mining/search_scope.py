"""How many functions of a collection a rule lets a mining search, and how many more others would."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

from django.db.models import Count, F, Q

from retrieval.filters import NO_RULE, USUAL_RULE, Rule
from retrieval.models import Collection, Member, Mining
from retrieval.texts.plurals import count_noun, verb_for_count

WIDER: Final = (
    (Rule.TESTABLE_WITH_YIELD, "with generators"),
    (Rule.TESTABLE_WITH_SELF, "with methods that take nothing but self"),
    (NO_RULE, "with no rule"),
)
"""What a rule that is not the usual one is compared with; the usual one with no rule alone."""


@dataclass(frozen=True, slots=True)
class SearchScope:
    """`searched` of `size` functions pass `rule`; `more`: how many more others would let in, in words."""

    rule: Rule
    searched: int
    size: int
    more: tuple[tuple[int, str], ...]

    @property
    def left_out(self) -> int:
        return self.size - self.searched

    def __str__(self) -> str:
        """`142 of 253 functions are searched (rule: testable; 66 more with generators)`."""
        said = [f"rule: {format_rule(self.rule)}", *(f"{count:,} more {words}" for count, words in self.more)]
        verb = verb_for_count(self.searched)
        return f"{self.searched:,} of {count_noun(self.size, 'function')} {verb} searched ({'; '.join(said)})"


def format_rule(rule: Rule) -> str:
    """`TESTABLE_WITH_SELF` → `testable with self`; of several all."""
    names = [str(bit.name).lower().replace("_", " ") for bit in Rule if bit & rule]
    return ", ".join(names) or "none"


def count_search_scope(snippets: Collection, rule: Rule, until: int | None = None) -> SearchScope:
    """What `rule` lets a mining search of `snippets`, of those before position `until`. One statement."""
    rows = snippets.members.order_by()
    rows = rows if until is None else rows.filter(position__lt=until)
    found = list(rows.values_list("rules").annotate(Count("pk")))
    wider = WIDER if rule != USUAL_RULE else WIDER[-1:]
    more = ((count_added(found, rule, other), words) for other, words in wider)
    return SearchScope(
        rule,
        sum(count for rules, count in found if passes(rules, rule)),
        sum(count for _, count in found),
        tuple((count, words) for count, words in more if count),
    )


def count_added(found: Iterable[tuple[int, int]], rule: Rule, other: Rule) -> int:
    """How many pass `other`, and not `rule`."""
    return sum(count for rules, count in found if passes(rules, other) and not passes(rules, rule))


def passes(rules: int, rule: Rule) -> bool:
    return rules & rule == rule


def scope_of_mining(mining: Mining) -> SearchScope:
    """What a mining searched, or will."""
    return count_search_scope(mining.snippets, Rule(mining.rule), mining.until)


def count_out_of_reach(minings: Sequence[Mining], until: int | None = None) -> int:
    """How many functions of the collection, before position `until`, none of its minings can propose."""
    if not minings:
        return 0
    members = Member.objects.filter(collection=minings[0].snippets_id).order_by()
    members = members if until is None else members.filter(position__lt=until)
    rules = {f"kept_{mining.rule}": F("rules").bitand(mining.rule) for mining in minings}
    return members.alias(**rules).exclude(reduce(Q.__or__, map(_reached, minings))).count()


def _reached(mining: Mining) -> Q:
    end = {} if mining.until is None else {"position__lt": mining.until}
    return Q(**{f"kept_{mining.rule}": mining.rule}, **end)
