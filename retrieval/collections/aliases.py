"""Further ids of texts: kept for members, and beside labels that a source gives by them.

Most collections have none, and pay one look a batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from django.db.models import Max

from retrieval.collections.import_report import ImportCounts
from retrieval.models import Alias, Collection, Label, LabelIds, Member, statements
from retrieval.sources import GivenLabel
from retrieval.texts.hostile import mark_hostile_characters

KEYS_A_READ: Final = 500
ID_LENGTH: Final = 300
ALIAS_COLUMNS: Final = ("collection", "number", "text", "source_id")
IDS_COLUMNS: Final = ("label", "query_source_id", "snippet_source_id", "value")


class Named(NamedTuple):
    """The collections whose ids a source of labels uses."""

    queries: Collection
    snippets: Collection


def stored_id(source_id: str) -> str:
    """An id as members keep it."""
    return mark_hostile_characters(source_id)[:ID_LENGTH]


def add_aliases(target: Collection, given: Iterable[tuple[str, int]], counts: ImportCounts) -> None:
    """Keep ids of texts (id, text) that are members by another id. The collection is locked already."""
    wanted = dict.fromkeys((name, text) for name, text in given if name.strip())
    own = own_ids(target, {text for _, text in wanted})
    further = [pair for pair in wanted if own.get(pair[1]) not in (None, pair[0])]
    counts.aliases.update(map(hash, further))
    there = aliases_named(target, {name for name, _ in further})
    last: int = target.aliases.aggregate(last=Max("number"))["last"] or 0 if further else 0
    new = [pair for pair in further if pair not in there]
    rows = [(target.pk, number, text, name) for number, (name, text) in enumerate(new, last + 1)]
    statements.insert_all(Alias, ALIAS_COLUMNS, rows)


def own_ids(target: Collection, texts: Iterable[int]) -> dict[int, str]:
    """By text the id of its member."""
    found, wanted = dict[int, str](), sorted(texts)
    for start in range(0, len(wanted), KEYS_A_READ):
        rows = Member.objects.filter(collection=target, text__in=wanted[start : start + KEYS_A_READ])
        found |= dict(rows.order_by().values_list("text_id", "source_id"))
    return found


def aliases_named(target: Collection, names: Iterable[str]) -> set[tuple[str, int]]:
    """Those aliases (id, text) of a collection that are called so."""
    found, wanted = set[tuple[str, int]](), sorted(names)
    for start in range(0, len(wanted), KEYS_A_READ):
        rows = target.aliases.filter(source_id__in=wanted[start : start + KEYS_A_READ])
        found.update(rows.order_by().values_list("source_id", "text_id"))
    return found


def texts_with_aliases(target: Collection, texts: Iterable[int]) -> set[int]:
    """Those texts that have a further id."""
    found, wanted = set[int](), sorted(set(texts))
    for start in range(0, len(wanted), KEYS_A_READ):
        rows = target.aliases.filter(text__in=wanted[start : start + KEYS_A_READ])
        found.update(rows.order_by().values_list("text_id", flat=True))
    return found


def copy_aliases(source: Collection, target: Collection, texts: Sequence[int]) -> None:
    """Give the members of `target` with these texts the further ids that they have in `source`."""
    rows = list[tuple[str, int]]()
    for start in range(0, len(texts), KEYS_A_READ):
        some = source.aliases.filter(text__in=texts[start : start + KEYS_A_READ])
        rows += some.order_by("number").values_list("source_id", "text_id")
    if rows:
        add_aliases(target, rows, ImportCounts())


def pairs_with_aliases(keys: Mapping[tuple[int, int], int], named: Named) -> dict[tuple[int, int], int]:
    """Those pairs (texts → id) of which a text has several ids."""
    if not Alias.objects.filter(collection__in=named).exists():
        return {}
    asked = texts_with_aliases(named.queries, (query for query, _ in keys))
    found = texts_with_aliases(named.snippets, (snippet for _, snippet in keys))
    return {key: pair for key, pair in keys.items() if key[0] in asked or key[1] in found}


def labels_there(annotator: int, pairs: Iterable[int]) -> dict[int, tuple[int, int]]:
    """By pair an annotator's label and its value, as far as it has one."""
    rows = Label.objects.filter(annotator=annotator, round=1, pair__in=list(pairs))
    told = rows.values_list("pair_id", "pk", "value")
    return {pair: (label, value) for pair, label, value in told if value is not None}


def keep_label_ids(
    batch: Sequence[tuple[tuple[int, int], GivenLabel]],
    pairs: Mapping[tuple[int, int], int],
    annotator: int,
    named: Named,
    before: Mapping[int, tuple[int, int]],
    counts: ImportCounts,
) -> None:
    """Note under which ids these stored labels of `pairs` were given.

    `before`: the labels of these pairs that came in earlier batches. One of them without ids was given by the
    members' own, which had no others then; or it came before ids of copies were kept, and then nobody knows.
    """
    labels = labels_there(annotator, pairs.values())
    earlier = LabelIds.objects.filter(label__in=[pk for pk, _ in before.values()])
    noted = set(earlier.values_list("label_id", flat=True))
    first = {key: before[pair] for key, pair in pairs.items() if pair in before}
    late = {key: label for key, label in first.items() if label[0] not in noted}
    old = Label.objects.filter(pk__in=[pk for pk, _ in late.values()], created_at__lt=counts.began)
    counts.assumed += old.count() if late else 0
    asked = own_ids(named.queries, {query for query, _ in late})
    found = own_ids(named.snippets, {snippet for _, snippet in late})
    rows = [(pk, asked.get(key[0], ""), found.get(key[1], ""), value) for key, (pk, value) in late.items()]
    rows += [
        (labels[pairs[key]][0], stored_id(given.query_id), stored_id(given.snippet_id), given.value)
        for key, given in batch
        if key in pairs and pairs[key] in labels
    ]
    of_labels = LabelIds.objects.filter(label__in={row[0] for row in rows})
    said = {row[:3]: row[3] for row in of_labels.values_list("label_id", *IDS_COLUMNS[1:])}
    there = len(said)
    counts.contradicted += sum(said.setdefault(row[:3], row[3]) != row[3] for row in rows)  # the first counts
    new = [(*ids, value) for ids, value in list(said.items())[there:]]
    statements.insert_all(LabelIds, IDS_COLUMNS, new, unless_there=True)
