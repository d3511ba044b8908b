"""The split of a benchmark's queries into train, dev and test."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from retrieval.evaluation.content import query_members, snippet_members
from retrieval.exporting.content import NoPublishedSplit, Subject
from retrieval.exporting.labels import ROWS_A_READ
from retrieval.exporting.splits import (
    PARTS,
    Report,
    build_split_report,
    by_repository,
    same_queries,
    split_queries,
)
from retrieval.models.collections import MemberQuerySet
from retrieval.texts.plurals import count_noun

PUBLISHED: Final = ("train", "valid", "test")
"""The parts as CodeSearchNet calls them, in the order of `PARTS`."""
REPOSITORY = re.compile(r"(?:https?://)?(?:www\.)?((?:github|gitlab|bitbucket)\.(?:com|org)/[\w.-]+/[\w.-]+)")


@dataclass(frozen=True, slots=True)
class Parts:
    """`part_of`: by a query's position its place in `retrieval.exporting.splits.PARTS`.

    `nameless`: of the `matching` snippets those that name no repository, where queries were kept together by
    that.
    """

    part_of: Sequence[int]
    report: Report
    matching: int = 0
    nameless: int = 0


def named_parts(parts: Parts | None, otherwise: str) -> list[str]:
    """The names of the parts, or one name where there is no split."""
    return list(PARTS) if parts else [otherwise]


def split_benchmark(subject: Subject, seed: int, repositories: bool = False) -> Parts:
    """8:1:1 by number of matches; near-same queries stay together, with `repositories` those of one, too."""
    members = query_members(subject.benchmark).values_list("text_id", "text__head")
    heads = dict(members.iterator(ROWS_A_READ))
    groups = same_queries([heads[text] for text in subject.query_ids.tolist()])
    matching = nameless = 0
    if repositories:
        names = _repository_names(subject)
        groups = by_repository(groups, _repositories(subject, names))
        matched = set(subject.pairs.snippets[subject.pairs.relevances > 0].tolist())
        matching, nameless = len(matched), sum(not names[place] for place in matched)
    matches = [0] * len(groups)
    for query, _, relevance, _ in subject.pairs.rows():
        matches[query] += relevance > 0
    found = split_queries(groups, matches, seed)
    pairs = ((query, snippet, relevance > 0) for query, snippet, relevance, _ in subject.pairs.rows())
    return Parts(found, build_split_report(found, groups, matches, pairs, seed), matching, nameless)


def split_as_published(subject: Subject) -> Parts:
    """The split of the source: a query goes with itself, else with the functions that match it.

    Raises NoPublishedSplit where a query has no part so, or several.
    """
    own = _partitions(query_members(subject.benchmark), subject.query_ids.tolist())
    told = _partitions(snippet_members(subject.benchmark), subject.snippet_ids.tolist())
    matching = [set[str]() for _ in own]
    matches = [0] * len(own)
    for query, snippet, relevance, _ in subject.pairs.rows():
        if relevance > 0:
            matches[query] += 1
            matching[query].add(told[snippet])
    wanted = [{name} if name else found for name, found in zip(own, matching, strict=True)]
    unclear = sum(len(names) != 1 or "" in names for names in wanted)
    if unclear:
        raise NoPublishedSplit(
            f"The source puts {unclear:,} of {count_noun(len(own), 'query', 'queries')} in no part, or in "
            "several. A split of our own (--split, or a seed) takes them all."
        )
    found = [PUBLISHED.index(name) for (name,) in wanted]
    pairs = ((query, snippet, relevance > 0) for query, snippet, relevance, _ in subject.pairs.rows())
    return Parts(found, build_split_report(found, range(len(own)), matches, pairs, None))


def _partitions(members: MemberQuerySet, texts: Sequence[int]) -> list[str]:
    """The partition of each text, empty where the source says none."""
    known = dict(members.values_list("text_id", "partition").iterator(ROWS_A_READ))
    return [known[text] for text in texts]


def _repository_names(subject: Subject) -> list[str]:
    """The repository of each snippet, by position."""
    rows = snippet_members(subject.benchmark).values_list("text_id", "origin").iterator(ROWS_A_READ)
    known = {text: repository_of(origin) for text, origin in rows}
    return [known[text] for text in subject.snippet_ids.tolist()]


def _repositories(subject: Subject, names: Sequence[str]) -> list[set[str]]:
    """By query the repositories that its matches came from."""
    found = defaultdict[int, set[str]](set)
    for query, snippet, relevance, _ in subject.pairs.rows():
        if relevance > 0 and names[snippet]:
            found[query].add(names[snippet])
    return [found[query] for query in range(len(subject.query_ids))]


def repository_of(origin: str) -> str:
    """`github.com/owner/name` of a link, empty where the origin names no repository.

    >>> repository_of("https://github.com/a/b/blob/1/m.py#L1-L4")
    'github.com/a/b'
    """
    found = REPOSITORY.match(origin)
    return found[1].lower() if found else ""
