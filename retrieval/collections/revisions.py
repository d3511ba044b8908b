"""Importing a mended source again: into the collections that are there, or in their place.

An import adds what is missing. One that *replaces* begins the next version of each collection that it fills,
and its labels count instead of those that came under this name before, which are taken back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from retrieval.collections.import_report import ImportCounts, Options
from retrieval.models import Annotator, Collection, Label, statements
from retrieval.sources import Problem, Record
from retrieval.texts.hostile import mark_hostile_characters

REVISION: Final = "revision"
"""In an annotator's configuration: which import of this name replaced the labels before; 1 has none."""
LABELS: Final = "labels"
MENDED: Final = "to take what you mended, import with --replace"
KEYS_A_READ: Final = 500
TAKEN_BACK: Final = ("pair", "annotator", "round", "value", "scale", "assisted", "source", "created_at")


def find_or_make_collection(name: str, kind: str, source: str, options: Options) -> Collection:
    """The newest version of the collection of this name and kind; made where there is none, or to replace it.

    `options` remembers what was replaced: an import does so once.
    """
    found = Collection.objects.filter(name=name, kind=kind).order_by("-version").first()
    if found is not None and not (options.replace and kind not in options.replaced):
        return found
    options.replaced.add(kind)
    version = found.version + 1 if found else 1
    source = mark_hostile_characters(source)[:400]
    return Collection.objects.create(name=name, kind=kind, version=version, source=source)


def newest_revision(name: str) -> int:
    """How often the labels that came under this name were replaced, from 1."""
    known = Annotator.objects.filter(kind=Annotator.Kind.ORIGINAL, name=name, config__has_key=REVISION)
    return max((int(config[REVISION]) for config in known.values_list("config", flat=True)), default=1)


def source_annotator(name: str, config: dict[str, Any], options: Options) -> Annotator:
    """Who gives the labels of a source of this configuration; those that it replaces are taken back."""
    revision = newest_revision(name)
    if options.replace and LABELS not in options.replaced:
        options.replaced.add(LABELS)
        before = Annotator.objects.filter(kind=Annotator.Kind.ORIGINAL, name=name)
        if before.exists():
            revision += 1
            _take_back(before, name)
    if revision > 1:
        config = config | {REVISION: revision}
    return Annotator.objects.version(Annotator.Kind.ORIGINAL, name, config)


@transaction.atomic
def _take_back(annotators: QuerySet[Annotator], name: str) -> None:
    """Take back each label that stands."""
    last: dict[tuple[int, int], tuple[int, int | None, str]] = {}
    rows = Label.objects.filter(annotator__in=annotators).order_by("pk")
    columns = ("pair_id", "annotator_id", "round", "value", "scale")
    for pair, annotator, number, value, scale in rows.values_list(*columns).iterator():
        last[pair, annotator] = number, value, scale
    now = timezone.now()
    told = [
        (*key, number + 1, None, scale, False, name, now)
        for key, (number, value, scale) in last.items()
        if value is not None
    ]
    for start in range(0, len(told), KEYS_A_READ):
        statements.insert_all(Label, TAKEN_BACK, told[start : start + KEYS_A_READ])


def labels_that_came(name: str) -> QuerySet[Label]:
    """The labels that came with data under this name, without those that were replaced."""
    labels = Label.objects.filter(annotator__kind=Annotator.Kind.ORIGINAL, annotator__name=name)
    revision = newest_revision(name)
    return labels.filter(**{f"annotator__config__{REVISION}": revision}) if revision > 1 else labels


class Identified(NamedTuple):
    """A record with its canonical text and the hash of that."""

    record: Record
    text: str
    digest: str


def refuse_other_texts(
    target: Collection, batch: Sequence[Identified], counts: ImportCounts
) -> list[Identified]:
    """The batch without records whose id stands for another text in a collection that was there before.

    Such a record is mostly one that was mended.
    """
    if counts.before is None:
        counts.before = target.size
    asked = {one.record.source_id for one in batch if one.record.is_key} if counts.before else set()
    there, kept = _texts_called(target, sorted(asked)), list[Identified]()
    for one in batch:
        known = there.get(one.record.source_id) if one.record.is_key else None
        if known and one.digest not in known:
            why = f"the id {one.record.source_id[:40]!r} belongs to another text in {target}; {MENDED}"
            counts.refuse(Problem(target.name, 0, why, costs_labels=True))
        else:
            kept.append(one)
    return kept


def _texts_called(target: Collection, names: Sequence[str]) -> dict[str, set[str]]:
    """By id the hashes of the texts of members that are called so."""
    found = defaultdict[str, set[str]](set)
    for start in range(0, len(names), KEYS_A_READ):
        some = names[start : start + KEYS_A_READ]
        for rows in (target.members.order_by(), target.aliases.order_by()):
            told = rows.filter(source_id__in=some).values_list("source_id", "text__body_id")
            for name, digest in told:
                found[name].add(digest)
    return dict(found)
