"""How well a run answers the judged queries of a file: ranked lists beside labels, and means of measures.

Needs no database. A judged query without results scores 0, one without a match is skipped and counted, and
results of a query that nobody judged say nothing.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from retrieval.metrics.averages import Average, average_measure
from retrieval.metrics.codesearchnet import mean_relevances
from retrieval.metrics.names import Measure, Need
from retrieval.metrics.ranking import Ranking
from retrieval.sources.formats.trec import Judgement, Result, Row, Rows, read_qrels, read_run
from retrieval.sources.readers.lines import Malformed, clip_text, read_numbered_lines

QueryKey: TypeAlias = tuple[str, str]
"""(language, query); the language is empty where one of the two files has none."""

Judged: TypeAlias = dict[QueryKey, dict[str, float]]


class NotComparable(ValueError):
    """Run and judgements do not belong together; the message says why."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Means by the measures' names, and numbers of queries: all that are judged = scored + without a match.

    `without_results` of the scored ones have none in the run; `not_judged` are in the run alone.
    """

    averages: dict[str, Average]
    scored: int
    without_match: int
    without_results: int
    not_judged: int


@dataclass(slots=True)
class Results:
    """A query's results as they stand in the file: columns, because a run may have millions of rows."""

    documents: list[str] = field(default_factory=list)
    scores: array[float] = field(default_factory=lambda: array("d"))
    ranks: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("q"))

    def add(self, result: Result, document: str) -> None:
        self.documents.append(document)
        self.scores.append(result.score)
        self.ranks.append(result.rank)
        self.lines.append(result.line)

    def extend(self, others: Results) -> None:
        """Take in what stands in the same file for the same query under another name."""
        self.documents.extend(others.documents)
        self.scores.extend(others.scores)
        self.ranks.extend(others.ranks)
        self.lines.extend(others.lines)

    def ordered(self) -> list[str]:
        """Documents by falling score; ties by rank, then by id."""
        places = sorted(
            range(len(self.documents)), key=lambda i: (-self.scores[i], self.ranks[i], self.documents[i])
        )
        return [self.documents[place] for place in places]

    def repeated(self) -> tuple[int, str] | None:
        """Line and name of the first document that was listed before."""
        seen: set[str] = set()
        for line, document in zip(self.lines, self.documents, strict=True):
            if document in seen:
                return line, document
            seen.add(document)
        return None


@dataclass(slots=True)
class Keys:
    """What makes two rows of different files speak of one query.

    Where both files have languages: language and query, in lower case, as in CodeSearchNet's evaluator. Else
    the query alone, as it is written, and the file with languages must be of one.
    """

    by_language: bool
    language: str | None = None

    def of(self, row: Judgement | Result) -> QueryKey:
        if self.by_language:
            return (row.language or "").lower(), row.query.lower()
        if row.language is not None:
            self.refuse_second(row.language.lower())
        return "", row.query

    def refuse_second(self, language: str) -> None:
        self.language = self.language or language
        if language != self.language:
            raise NotComparable(
                f"There are queries in {self.language} and in {language}, and the other side has no "
                "languages; choose one with --language."
            )


def evaluate_files(
    qrels: Path,
    run: Path,
    measures: Sequence[Measure],
    language: str | None = None,
    groups: Path | None = None,
) -> Evaluation:
    """Score a run file against a file of judgements; `language` keeps the rows of one where a file has it.

    `groups` names documents that are near-duplicates (`read_groups`). Raises `Malformed` and `NotComparable`.
    """
    _refuse_unmeasurable(measures, groups)
    group_of = read_groups(groups) if groups else None
    judgements, results = read_qrels(qrels), read_run(run)
    if language and not (judgements.has_languages or results.has_languages):
        raise NotComparable(f"Neither {qrels} nor {run} has languages; leave --language out.")
    by_language = judgements.has_languages and results.has_languages
    judged = _judged(judgements, Keys(by_language), language)
    ranked, not_judged = _ranked(results, Keys(by_language), language, judged)
    return _evaluated(judged, ranked, not_judged, measures, group_of)


def read_groups(path: Path) -> dict[str, str]:
    """Groups of near-duplicates by document, of lines `document group`, apart by tabs or else by blanks.

    A document without a line is a group of its own. Raises `Malformed`.
    """
    found: dict[str, str] = {}
    for line, text in read_numbered_lines(path):
        columns = text.split("\t") if "\t" in text else text.split()
        if not text.strip():
            continue
        if len(columns) != 2:
            raise Malformed(path, line, f"expected `document group`, found {len(columns)} columns")
        document, group = (column.strip() for column in columns)
        if found.setdefault(document, group) != group:
            raise Malformed(path, line, f"{clip_text(document)} is in a second group")
    return found


def _refuse_unmeasurable(measures: Sequence[Measure], groups: Path | None) -> None:
    for measure in measures:
        if measure.need is Need.DISTRACTORS:
            raise NotComparable(
                f"{measure.name} draws distractors from a collection, which these files do not have; import "
                "them and use evaluate BENCHMARK."
            )
        if measure.need is Need.GROUPS and groups is None:
            raise NotComparable(
                f"{measure.name} needs to know which documents are near-duplicates: name a file of lines "
                "`document group` by --groups, or import the functions and use evaluate BENCHMARK."
            )


def of_language(rows: Rows[Row], language: str | None) -> Iterator[Row]:
    """The rows of one language; rows without any are kept. Raises `NotComparable` where none is left."""
    empty = True
    for row in rows.rows:
        if language is None or row.language is None or row.language.lower() == language.lower():
            empty = False
            yield row
    if empty:
        raise NotComparable(f"{rows.file} has no row{f' in {language}' if language else ''}.")


def _judged(judgements: Rows[Judgement], keys: Keys, language: str | None) -> Judged:
    """Relevances by query and document: CodeSearchNet's experts are averaged, TREC's are one each."""
    if judgements.has_languages:
        rows = of_language(judgements, language)
        return mean_relevances((keys.of(row), row.document, row.relevance) for row in rows)
    judged: defaultdict[QueryKey, dict[str, float]] = defaultdict(dict)
    for row in of_language(judgements, language):
        documents = judged[keys.of(row)]
        if row.document in documents:
            again = f"{clip_text(row.document)} is judged a second time for query {clip_text(row.query)}"
            raise Malformed(judgements.file, row.line, again)
        documents[row.document] = row.relevance
    return dict(judged)


def _ranked(
    results: Rows[Result], keys: Keys, language: str | None, judged: Judged
) -> tuple[dict[QueryKey, list[str]], int]:
    """Documents of the judged queries, best first, and the number of other queries."""
    found: defaultdict[QueryKey, Results] = defaultdict(Results)
    names: dict[str, str] = {}  # a document stands in many lists: one text in memory
    others: set[QueryKey] = set()
    for row in of_language(results, language):
        key = keys.of(row)
        if key in judged:
            found[key].add(row, names.setdefault(row.document, row.document))
        else:
            others.add(key)
    if not found:
        raise NotComparable(_nothing_in_common(results.file, next(iter(others)), next(iter(judged))))
    for (_, query), of_query in found.items():
        _refuse_repeated(results.file, query, of_query)
    return {key: of_query.ordered() for key, of_query in found.items()}, len(others)


def _nothing_in_common(run: Path, ranked: QueryKey, judged: QueryKey) -> str:
    told = " ".join(part for part in ranked if part), " ".join(part for part in judged if part)
    return f"No query of {run} is judged: it has {clip_text(told[0])}, judged is {clip_text(told[1])}."


def _refuse_repeated(run: Path, query: str, results: Results) -> None:
    repeated = results.repeated()
    if repeated is not None:
        line, document = repeated
        raise Malformed(
            run,
            line,
            f"{clip_text(document)} is listed a second time for query {clip_text(query)}",
        )


def _group(group_of: Mapping[str, str], document: str) -> tuple[str, bool]:
    """A document's group; a document that is called as a group is does not belong to it for that."""
    return group_of.get(document, document), document in group_of


def _evaluated(
    judged: Judged,
    ranked: Mapping[QueryKey, Sequence[str]],
    not_judged: int,
    measures: Sequence[Measure],
    group_of: Mapping[str, str] | None = None,
) -> Evaluation:
    values: dict[str, list[float | None]] = {measure.name: [] for measure in measures}
    without_match = without_results = 0
    for key, relevances in judged.items():
        documents = ranked.get(key, ())
        ranking = Ranking(
            [relevances.get(document) for document in documents],
            [*relevances.values()],
            None if group_of is None else [_group(group_of, document) for document in documents],
        )
        without_match += ranking.positives == 0
        without_results += ranking.positives > 0 and not documents
        for measure in measures:
            values[measure.name].append(measure.score(ranking))
    averages = {name: average_measure(scores) for name, scores in values.items()}
    return Evaluation(averages, len(judged) - without_match, without_match, without_results, not_judged)
