"""A published benchmark as training data: its matches, split by query or by project."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from retrieval.evaluation.content import query_members, snippet_members
from retrieval.exporting.content import Subject, subject_of
from retrieval.exporting.parts import repository_of
from retrieval.exporting.splits import PARTS, same_queries, split_queries
from retrieval.filters import TextOption, extract_searched_text
from retrieval.models import Benchmark
from retrieval.models.collections import MemberQuerySet
from retrieval.training.data import (
    MeasuredPart,
    NothingToLearn,
    Pair,
    Progress,
    TrainingData,
    group_matches,
    say_nothing,
)

ROWS_A_READ: Final = 2000
NO_LICENCE: Final = "none stated"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which part of a benchmark is learned: `without` are benchmarks of which nothing may be learned."""

    benchmark: Benchmark
    text_option: TextOption = "whole"
    split_seed: int = 1
    by_project: bool = False
    without: Sequence[Benchmark] = ()


@dataclass(frozen=True, slots=True)
class SplitPairs:
    """The matches of each part, the judged non-matches that may be learned, and what may not be."""

    parts: Sequence[Sequence[Pair]]
    non_matches: Sequence[Pair]
    left_out: Mapping[str, int]


def load_training_data(choice: Choice, progress: Progress = say_nothing) -> TrainingData:
    """Read texts and labels. Raises `NothingToLearn` where no match is in the training part."""
    progress("reading labels", 0, 0)
    subject = subject_of(choice.benchmark, by_ids=False)
    asked = list(iterate_texts(query_members(choice.benchmark), "whole"))
    queries = [text for _, text in asked]
    members = list[tuple[Mapping[str, str], str]]()
    for member in iterate_texts(snippet_members(choice.benchmark), choice.text_option):
        members.append(member)
        if len(members) % ROWS_A_READ == 0:
            progress("reading functions", len(members), len(subject.snippet_ids))
    snippets = [text for _, text in members]
    searched = [place for place, text in enumerate(snippets) if text]
    progress("splitting", 0, 0)
    split = split_pairs(subject, queries, choice, set(searched))
    train, dev, test = split.parts
    if not train:
        raise NothingToLearn(
            f"Benchmark {choice.benchmark} has no match in its training part; name one with more matches."
        )
    learned = group_matches(train)
    non_matches = defaultdict[int, list[int]](list)
    for query, snippet in split.non_matches:
        if query in learned:
            non_matches[query].append(snippet)
    about = describe_data(choice, split, [member for member, _ in members])
    digests = [told["digest"] for told, _ in asked], [told["digest"] for told, _ in members]
    return TrainingData(
        queries,
        snippets,
        searched,
        train,
        learned,
        dict(non_matches),
        make_part(dev),
        make_part(test),
        about,
        digests,
    )


def make_part(pairs: Sequence[Pair]) -> MeasuredPart:
    """Queries in their order with all their matches."""
    return MeasuredPart(list(dict.fromkeys(query for query, _ in pairs)), group_matches(pairs))


def iterate_texts(
    members: MemberQuerySet, option: TextOption | str
) -> Iterator[tuple[Mapping[str, str], str]]:
    """Digest and licence of each member, and its text as it is searched; empty where that can't be told."""
    for row in members.select_related("text__body").iterator(ROWS_A_READ):
        told = {"digest": row.text.digest, "licence": row.licence}
        yield told, extract_searched_text(row.text.text, option)


def split_pairs(
    subject: Subject, queries: Sequence[str], choice: Choice, searched: Collection[int]
) -> SplitPairs:
    """8:1:1 by number of matches, near-same queries together; with `by_project` see `assign_projects`.

    Queries that are near-same to a judged one of `without` are in no part, and a pair with a snippet that is
    judged there is not learned.
    """
    foreign = [text for other in choice.without for text in judged_query_texts(other)]
    groups = same_queries([*queries, *foreign])
    kept_away = set(groups[len(queries) :])
    places = {text: place for place, text in enumerate(subject.snippet_ids.tolist())}
    tested = {places[text] for other in choice.without for text in judged_snippets(other) if text in places}
    rows = [(query, snippet, relevance > 0) for query, snippet, relevance, _ in subject.pairs.rows()]
    fit = [row for row in rows if groups[row[0]] not in kept_away and row[1] in searched]
    matches = [(query, snippet) for query, snippet, is_match in fit if is_match]
    assign = assign_projects if choice.by_project else assign_queries
    found = assign(groups[: len(queries)], matches, choice)
    parts = [
        [pair for pair, part in zip(matches, found, strict=True) if part == place]
        for place in range(len(PARTS))
    ]
    others = [(query, snippet) for query, snippet, is_match in fit if not is_match]
    left_out = {
        "queries": len({query for query, _, _ in rows if groups[query] in kept_away}),
        "snippets": len({snippet for _, snippet, _ in rows} & tested),
        "shared": len({query for (query, _), part in zip(matches, found, strict=True) if part is None}),
    }
    learned, *measured = parts
    return SplitPairs(
        [[pair for pair in learned if pair[1] not in tested], *measured],
        [pair for pair in others if pair[1] not in tested],
        left_out,
    )


def assign_queries(groups: Sequence[int], matches: Sequence[Pair], choice: Choice) -> list[int | None]:
    """The part of each match, as a place in PARTS: all matches of near-same queries have one."""
    numbers = Counter(query for query, _ in matches)
    queries = sorted(numbers)
    counts = [numbers[query] for query in queries]
    found = split_queries([groups[query] for query in queries], counts, choice.split_seed)
    parts = dict(zip(queries, found, strict=True))
    return [parts[query] for query, _ in matches]


def assign_projects(groups: Sequence[int], matches: Sequence[Pair], choice: Choice) -> list[int | None]:
    """The part of each match, as a place in PARTS: all matches of a project have one.

    None for matches of dev or test queries that are near-same to one of another part: "return the name" is
    asked in most projects. Joining such projects would leave one group, and nothing to test with.
    """
    projects = projects_of(choice.benchmark, groups, matches)
    found = split_queries(projects, [1] * len(matches), choice.split_seed)
    parts = defaultdict[int, set[int]](set)
    for (query, _), part in zip(matches, found, strict=True):
        parts[groups[query]].add(part)
    train = PARTS.index("train")
    return [
        part if part == train or parts[groups[query]] == {part} else None
        for (query, _), part in zip(matches, found, strict=True)
    ]


def judged_query_texts(benchmark: Benchmark) -> list[str]:
    """The texts of queries that have a label."""
    ids = set(benchmark.labels.values_list("pair__query", flat=True))
    rows = query_members(benchmark).select_related("text__body").iterator(ROWS_A_READ)
    return [row.text.text for row in rows if row.text_id in ids]


def judged_snippets(benchmark: Benchmark) -> list[int]:
    """The ids of snippets' texts that have a label."""
    return list(benchmark.labels.values_list("pair__snippet", flat=True).distinct())


def projects_of(benchmark: Benchmark, groups: Sequence[int], matches: Sequence[Pair]) -> list[int]:
    """A number for each match's project: the repository of its link, else what was imported.

    A match that names neither is of a project of its near-same queries alone.
    """
    origins = list(snippet_members(benchmark).values_list("origin", flat=True))
    numbers = dict[str | int, int]()
    found = []
    for query, snippet in matches:
        project = repository_of(origins[snippet]) or origins[snippet] or groups[query]
        found.append(numbers.setdefault(project, len(numbers)))
    return found


def describe_data(choice: Choice, split: SplitPairs, members: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """What the card says of the data."""
    licences = Counter(members[snippet]["licence"] or NO_LICENCE for _, snippet in split.parts[0])
    parts = {
        name: {"queries": len(group_matches(pairs)), "pairs": len(pairs)}
        for name, pairs in zip(PARTS, split.parts, strict=True)
    }
    by = "project" if choice.by_project else "query"
    return {
        "benchmark": str(choice.benchmark),
        "digest": choice.benchmark.digest,
        "text_option": choice.text_option,
        "split": {"seed": choice.split_seed, "by": by, **parts},
        "without": {str(other): other.digest for other in choice.without},
        "left_out": dict(split.left_out),
        "licences": dict(licences.most_common()),
    }
