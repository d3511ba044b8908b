"""What the pages of collections show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.db.models import F
from django.urls import reverse

from annotation.web.shared import jobs
from annotation.web.shared.mining_words import RULES
from retrieval.collections.derivation import EXAMPLES_OF
from retrieval.filters import Rule
from retrieval.models import Collection, Job, Member
from retrieval.texts.plurals import count_noun
from retrieval.uploads import ImportOrder

PAGE = 50
SURVEYED = 10_000
"""Rules, licences and origins are counted over so many members at most, so that the page costs the same."""
JOBS = 20
COUNTS = ("read", "stored", "unreadable")


def imports_table() -> jobs.Table:
    """Imports, the newest first."""
    rows, empty = Job.objects.filter(kind=Job.Kind.IMPORT), "Nothing was uploaded yet."
    address = reverse("import-jobs")
    return jobs.build_job_table(
        rows, build_import_job_row, "Imports", "Records", address, shown=JOBS, empty=empty
    )


def build_import_job_row(job: Job) -> jobs.JobRow:
    """An upload; of one that failed, or refused something, it leads to the form, filled in."""
    order = ImportOrder.of(job)
    row = jobs.JobRow(
        job,
        order.name,
        [order.format.label, *(f"from {address}" for address in order.addresses.values())],
        (jobs.PERCENT,),
        remarks=[
            *(f"{job.result[name]:,} {name}" for name in COUNTS if name in job.result),
            *job.result.get("ids", ()),
        ],
        folded=fold_problems(job),
    )
    if job.is_open:
        return replace(row, cancel=reverse("import-cancel", args=[job.pk]))
    if job.state == Job.State.COLUMNS:
        return replace(row, columns=reverse("upload-columns", args=[job.pk]))
    return row if job.state == Job.State.DONE else replace(row, **advise_retry(job, order))


def fold_problems(job: Job) -> Sequence[tuple[str, Sequence[str]]]:
    """The records that were refused first, under how many there were."""
    problems = job.result.get("problems", [])
    refused = max(job.result.get("unreadable", 0), len(problems))
    first = f"the first {len(problems):,} of " if refused > len(problems) else ""
    return [(f"{first}{count_noun(refused, 'refused record')}", problems)] if problems else []


def advise_retry(job: Job, order: ImportOrder) -> dict[str, Any]:
    """Columns of the row of an import that failed, was cancelled, or refused something."""
    values = {"format": order.format.value, "name": order.name, "file_from": order.addresses.get("file", "")}
    asked = urlencode({name: value for name, value in values.items() if value})
    note = "Fix what is listed here and upload it again; nothing is stored twice."
    return {
        "retry": jobs.Retry(f"{reverse('upload')}?{asked}", "Upload it again"),
        "notes": ["You can upload it again: nothing is stored twice."]
        if job.state == Job.State.CANCELLED
        else [note],
    }


def collection_page(collection: Collection, after: int | None, before: int | None) -> dict[str, Any]:
    """One page of members, and the counts of the first 10,000, which were `surveyed`.

    `refused_examples`: of each filter that the collection was made by, what it refused first.
    """
    rows = members_from(collection, after, before)
    members = Member.objects.filter(collection=collection).order_by("position")
    survey = list(members.values_list("rules", "licence", "origin")[:SURVEYED])
    first, last = (rows[0].position, rows[-1].position) if rows else (0, 0)
    examples = (collection.filtered or {}).get(EXAMPLES_OF, {})
    return {
        "collection": collection,
        "is_snippets": collection.kind == Collection.Kind.SNIPPETS,
        "refused_examples": [(name, refused) for name, refused in examples.items() if refused],
        "members": rows,
        "rules": [
            (words, sum(1 for rules, _, _ in survey if rules & int(bit)))
            for bit, words in RULES
            if bit != "0"
        ],
        "licences": Counter(licence or "not stated" for _, licence, _ in survey).most_common(5),
        "origins": Counter(origin or "not stated" for _, _, origin in survey).most_common(5),
        "surveyed": len(survey),
        "after": last if rows and members.filter(position__gt=last).exists() else None,
        "before": first if rows and members.filter(position__lt=first).exists() else None,
    }


def members_from(collection: Collection, after: int | None, before: int | None) -> list[Member]:
    """Up to 50 members behind `after`, or before `before`, by position; each says if it is `testable`."""
    members = Member.objects.filter(collection=collection).select_related("text")
    members = members.annotate(testable=F("rules").bitand(int(Rule.TESTABLE)))
    if before is not None:
        return list(members.filter(position__lt=before).order_by("-position")[:PAGE])[::-1]
    start = members if after is None else members.filter(position__gt=after)
    return list(start.order_by("position")[:PAGE])
