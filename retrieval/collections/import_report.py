"""What an import is told, what it counts, and how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from django.utils import timezone

from retrieval.filters import Rule
from retrieval.filters.queries import words_of_query
from retrieval.models import Benchmark
from retrieval.sources import Problem
from retrieval.texts.plurals import count_noun

PROBLEMS_KEPT = 1000
LOSS: Final = "refused label or cut-off file"
LOSSES: Final = "refused labels or cut-off files"
UNPUBLISHED: Final = (
    "No benchmark is published, as labels may be missing by {}. Mend them and import again, or publish what "
    "is there with --allow-partial."
)
PARTIAL: Final = "Published in part: labels may be missing by {} of the import."


@dataclass
class ImportCounts:
    """What an import did. `unreadable` counts records and code that could not be read, `costly` those of them
    by which labels may be missing.

    `problems` are the first of those; `tell` is called with every one.
    `asked` has the hash of the first query of each sequence of words, `near_same` those of other texts of it.
    `ids`: from what ids were read. `aliases` are hashes of the ids whose text another id has, too.
    `contradicted` counts labels that say something else than an earlier one of their pair in this source,
    `known_labels` those whose pair had one. `before`: how many members the collection had. `assumed`: labels
    from before the import `began` that name no id of their texts, which have several by now. `passed`: how
    many snippets pass these rules and no others; a text that comes several times counts once (`texts`), so
    that a release of the collection has the same counts.
    """

    read: int = 0
    stored: int = 0
    known: int = 0
    unreadable: int = 0
    costly: int = 0
    unparsable: int = 0
    labels: int = 0
    contradicted: int = 0
    known_labels: int = 0
    before: int | None = None
    assumed: int = 0
    began: datetime = field(default_factory=timezone.now)
    aliases: set[int] = field(default_factory=set)
    passed: Counter[int] = field(default_factory=Counter)
    texts: set[int] = field(default_factory=set)
    asked: dict[int, int] = field(default_factory=dict)
    near_same: set[int] = field(default_factory=set)
    ids: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    tell: Callable[[Problem], None] = lambda problem: None

    def refuse(self, problem: Problem) -> None:
        self.unreadable += 1
        self.costly += problem.costs_labels
        self.tell(problem)
        if len(self.problems) < PROBLEMS_KEPT:
            self.problems.append(problem)

    def refuse_unread(self, problem: Problem) -> None:
        """Refuse what was not counted when it was read, as labels aren't: they have a count of their own."""
        self.read += 1
        self.refuse(problem)

    def note_query(self, text: str) -> None:
        """Remember a query, and whether another one has the same words."""
        words, query = hash(tuple(words_of_query(text)) or text), hash(text)
        if self.asked.setdefault(words, query) != query:
            self.near_same.add(query)

    @property
    def ids_told(self) -> str:
        """From what ids were read, in words; empty where nothing was read."""
        several = len(self.ids) > 1
        read = [f"{name} ({count:,})" if several else name for name, count in self.ids.most_common() if name]
        return f"ids read from {', '.join(read)}" if read else ""

    def count_rules(self, passed: Rule | None, text: int) -> None:
        """Count what rules a snippet passes, once for each `text`; None: it does not parse."""
        if text in self.texts:
            return
        self.texts.add(text)
        if passed is None:
            self.unparsable += 1
        else:
            self.passed[int(passed)] += 1

    @property
    def rules(self) -> dict[Rule, int]:
        """How many snippets pass each rule."""
        return {
            rule: sum(count for passed, count in self.passed.items() if passed & int(rule)) for rule in Rule
        }


def describe_aliases(count: int) -> str:
    """What is said of ids whose text was there by another id."""
    verb = "share" if count > 1 else "shares"
    return f"{count_noun(count, 'id')} {verb} a text with an earlier id; all ids are kept"


def describe_growth(counts: ImportCounts) -> str:
    """The summary's line on a collection that existed before."""
    had = counts.before or 0
    return f"the collection had {had:,} before, and has {had + counts.stored:,} now"


def describe_assumed(counts: ImportCounts) -> str:
    """The summary's line on labels whose id is unknown; empty where there are none."""
    if not counts.assumed:
        return ""
    told = f"{count_noun(counts.assumed, 'label')} from before this import may mean another id of a text that"
    return f"{told} has several: the first id is taken. To take the source's own, import with --replace."


def describe_labels(counts: ImportCounts) -> str:
    """How many labels came, and how many of their pairs had one of this source."""
    known = f", {counts.known_labels:,} known already" if counts.known_labels else ""
    return f"{count_noun(counts.labels, 'label')}{known}"


@dataclass(frozen=True)
class Options:
    """`dry_run` counts and stores nothing; `tick` is called with the counts after each batch,
    `refused` with every record that is refused. `allow_partial`: labels are published though others may be
    missing. `replace`: what comes takes the place of what came under this name before; `replaced` is what it
    did so with already.
    """

    dry_run: bool = False
    tick: Callable[[ImportCounts], None] = lambda counts: None
    refused: Callable[[Problem], None] = lambda problem: None
    allow_partial: bool = False
    replace: bool = False
    replaced: set[str] = field(default_factory=set)

    def counts(self) -> ImportCounts:
        """Counts from 0, which tell of what is refused."""
        return ImportCounts(tell=self.refused)


@dataclass(frozen=True)
class Imported:
    """The counts of each collection that an import filled, and the benchmark of its labels.

    `others` counts what is neither a query nor a snippet: labels, and what a source of both refused.
    `missing` tells what the source says that it left out, `unpublished` why its labels became no benchmark.
    """

    queries: ImportCounts | None = None
    snippets: ImportCounts | None = None
    others: ImportCounts | None = None
    benchmark: Benchmark | None = None
    missing: str = ""
    unpublished: str = ""

    @property
    def parts(self) -> list[ImportCounts]:
        return [counts for counts in (self.queries, self.snippets, self.others) if counts]

    @property
    def problems(self) -> list[Problem]:
        return [problem for counts in self.parts for problem in counts.problems]

    @property
    def remark(self) -> str:
        """What people may miss in it; mostly empty."""
        if self.queries is None:
            return ""
        asked = self.queries.read > self.queries.unreadable
        alone = asked and self.snippets is None and not self.total().labels
        told = (
            ["These are queries only: a build searches for them in the functions of another collection."]
            if alone
            else []
        )
        if near_same := len(self.queries.near_same):
            told.append(
                f"{count_noun(near_same, 'query', 'queries')} differ from another one only in case, blanks, "
                "punctuation or Unicode form, and count by themselves: the filter distinct keeps the first."
            )
        return " ".join(told)

    def total(self) -> ImportCounts:
        """The figures of all parts together, for a bar of progress."""
        total = ImportCounts()
        for name in ("read", "stored", "known", "unreadable", "costly", "labels", "known_labels"):
            setattr(total, name, sum(getattr(counts, name) for counts in self.parts))
        return total

    def with_benchmark(self, options: Options, publish: Callable[[str], Benchmark | None]) -> Imported:
        """The same with the benchmark of its labels, or with why they become none.

        `publish` takes what the benchmark says of labels that may be missing; mostly nothing.
        """
        total = self.total()
        if not total.labels:
            return self
        if total.costly and not options.allow_partial:
            return replace(self, unpublished=UNPUBLISHED.format(count_noun(total.costly, LOSS, LOSSES)))
        if options.dry_run:
            return self
        return replace(self, benchmark=publish(note_losses(total.costly)))


def note_losses(costly: int) -> str:
    """What a benchmark says of labels that may be missing in it; empty where none are."""
    return PARTIAL.format(count_noun(costly, LOSS, LOSSES)) if costly else ""
