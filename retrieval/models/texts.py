"""Texts and pairs, stored once for the whole installation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.db import models, transaction

from retrieval.models import statements
from retrieval.models.blobs import Blob, digest_of
from retrieval.texts.hostile import mark_hostile_characters
from sandbox.candidate.indentation import strip_code

HEAD = 240


def canonicalize_text(text: str) -> str:
    r"""The text whose hash is its identity: hostile characters marked, `\r\n` → `\n`, stripped.

    An indent is taken off of all lines or of none, so that code which compiles still does.
    """
    return strip_code(mark_hostile_characters(text).replace("\r\n", "\n"))


class TextBody(Blob):
    """The whole of a query's or snippet's text."""


class TextQuerySet(models.QuerySet["Text"]):
    def keep_all(self, texts: Sequence[str]) -> list[Text]:
        """The rows of `texts`, in order; new ones are stored. Safe beside another importer."""
        wanted = [canonicalize_text(text) for text in texts]
        digests = [digest_of(text) for text in wanted]
        self.keep_ids(dict(zip(digests, wanted, strict=True)))
        stored = self.by_digest(dict.fromkeys(digests))
        return [stored[digest] for digest in digests]

    def keep_ids(self, texts: Mapping[str, str]) -> dict[str, int]:
        """The ids of canonical texts by digest; new ones are stored and numbered in their order here.

        Safe beside another importer.
        """
        ids = self.ids_of(list(texts))
        new = [(digest, text) for digest, text in texts.items() if digest not in ids]
        if new:
            # In the order of hashes, so that two writers never wait for each other.
            bodies = [(digest, len(text), TextBody.compressed(text)) for digest, text in sorted(new)]
            heads = [(digest, text[:HEAD], len(text)) for digest, text in new]
            with transaction.atomic(savepoint=False):
                statements.insert_all(TextBody, ("digest", "size", "data"), bodies, unless_there=True)
                statements.insert_all(Text, ("body", "head", "size"), heads, unless_there=True)
            ids |= self.ids_of([digest for digest, _ in new])
        return ids

    def ids_of(self, digests: Sequence[str]) -> dict[str, int]:
        """The ids of the stored texts among `digests`, by digest."""
        return dict(statements.look_among(Text, ("body", "id"), "body", digests))

    def by_digest(self, digests: Iterable[str]) -> dict[str, Text]:
        """The stored rows among `digests`, by digest."""
        wanted = list(digests)
        found: dict[str, Text] = {}
        for start in range(0, len(wanted), 500):
            found |= {row.digest: row for row in self.filter(body__in=wanted[start : start + 500])}
        return found

    def keep(self, text: str) -> Text:
        return self.keep_all([text])[0]

    def with_bodies(self) -> TextQuerySet:
        return self.select_related("body")


class Text(models.Model):
    """A query's or snippet's text. `head` is its beginning, for lists and search; `text` is the whole."""

    body = models.OneToOneField(TextBody, on_delete=models.PROTECT, related_name="entry")
    head = models.CharField(max_length=HEAD)
    size = models.PositiveIntegerField(help_text="characters")

    objects = TextQuerySet.as_manager()

    def __str__(self) -> str:
        return self.head

    @property
    def digest(self) -> str:
        """sha256 of the canonical text: its identity everywhere."""
        return str(self.body_id)

    @property
    def is_cut(self) -> bool:
        """Whether the text is longer than its head."""
        return self.size > len(self.head)

    @property
    def text(self) -> str:
        """The whole text; one read of the side table unless it came with `with_bodies`."""
        return self.body.text


def fold_for_search(text: str) -> str:
    """`text` as searches compare it: the same on every database, whatever its rules of upper and lower."""
    return text.casefold()


class QueryTextQuerySet(models.QuerySet["QueryText"]):
    def keep_all(self, texts: Iterable[Text]) -> None:
        """Have these queries found by searches. Safe to repeat."""
        rows = [QueryText(text=text, folded=fold_for_search(text.head)) for text in texts]
        self.bulk_create(rows, ignore_conflicts=True, batch_size=500)

    def containing(self, part: str) -> QueryTextQuerySet:
        """Queries that contain `part` somewhere at the beginning that lists show, in upper or lower case."""
        return self.filter(folded__contains=fold_for_search(part))


class QueryText(models.Model):
    """What searches in queries read: narrow rows of the queries alone. PostgreSQL has trigrams of them."""

    text = models.OneToOneField(Text, on_delete=models.CASCADE, primary_key=True, related_name="as_query")
    folded = models.CharField(max_length=3 * HEAD, help_text="the text's head; folding may lengthen it")

    objects = QueryTextQuerySet.as_manager()

    def __str__(self) -> str:
        return self.folded


class PairQuerySet(models.QuerySet["Pair"]):
    def keep_all(self, keys: Sequence[tuple[int, int]]) -> list[Pair]:
        """The rows of (query text id, snippet text id), in order; new ones are stored."""
        rows = [Pair(query_id=query, snippet_id=snippet) for query, snippet in sorted(set(keys))]
        self.bulk_create(rows, ignore_conflicts=True, batch_size=500)
        stored: dict[tuple[int, int], Pair] = {}
        queries = list(dict.fromkeys(query for query, _ in keys))
        for start in range(0, len(queries), 200):
            for row in self.filter(query_id__in=queries[start : start + 200]):
                stored[row.query_id, row.snippet_id] = row
        return [stored[key] for key in keys]

    def keep_ids(self, keys: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """The ids of the pairs of (query text id, snippet text id); new ones are stored."""
        wanted = set(keys)
        with transaction.atomic(savepoint=False):
            statements.insert_all(Pair, ("query", "snippet"), sorted(wanted), unless_there=True)
        queries = sorted({query for query, _ in wanted})
        rows = statements.look_among(Pair, ("query", "snippet", "id"), "query", queries)
        return {(query, snippet): pk for query, snippet, pk in rows if (query, snippet) in wanted}


class Pair(models.Model):
    """(query text, snippet text): what cases, labels and reviews belong to."""

    query = models.ForeignKey(Text, on_delete=models.PROTECT, related_name="pairs_as_query", db_index=False)
    snippet = models.ForeignKey(Text, on_delete=models.PROTECT, related_name="pairs_as_snippet")

    objects = PairQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["query", "snippet"], name="pair_once")]

    def __str__(self) -> str:
        return f"{self.query.head} · {self.snippet.head.splitlines()[0] if self.snippet.head else ''}"
