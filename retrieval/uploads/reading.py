"""What reads each format of uploaded files, as `manage.py import` reads it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from retrieval.filters.steps import Refusals
from retrieval.imported import Imported, Options
from retrieval.importing import import_cosqa, import_items, import_python
from retrieval.models import Collection, ImportJob
from retrieval.sources import (
    Item,
    Problem,
    beir,
    codesearchnet,
    cosqa_plus,
    extraction,
    ncs,
    staqc,
    table,
    unpacking,
)
from retrieval.sources.places import expect_archives
from retrieval.uploads.files import by_name, unpacked

Format = ImportJob.Format
MIXED: Final[dict[str, Callable[[ImportJob, Refusals], Iterator[Item]]]] = {
    Format.DOCUMENTED: lambda job, refusals: _documented(job, refusals),
    Format.CODESEARCHNET: lambda job, refusals: codesearchnet.read(
        [_corpus(job)], bool(job.options.get("documentation"))
    ),
    Format.STAQC: lambda job, refusals: staqc.read(
        Path(job.file.path), Path(job.titles.path) if job.titles else None
    ),
    Format.NCS: lambda job, refusals: ncs.read_questions(Path(job.file.path)),
    Format.TABLE: lambda job, refusals: table.read(Path(job.file.path), table.Columns(**job.options)),
    Format.COSQA_PLUS: lambda job, refusals: cosqa_plus.read(_release(job)),
    Format.BEIR: lambda job, refusals: _beir(job),
}


def _documented(job: ImportJob, refusals: Refusals) -> Iterator[Item]:
    path = Path(job.file.path)
    expect_archives([path])
    return extraction.read(path, str(job.options.get("language", "python")), refusals)


def _beir(job: ImportJob) -> Iterator[Item]:
    chosen = str(job.options.get("config", ""))
    folder = _folder(job, unpacking.BEIR, chosen)
    try:
        yield from beir.read(folder, str(job.options.get("split", "")), chosen)
    except beir.NotChosen as why:
        how = " as configuration in the form" if why.there else ": leave the configuration empty"
        raise _Refused(f"{why}{how}.") from why


class _Refused(ValueError):
    """The upload is refused as a whole; the message says what to do."""


def perform(job: ImportJob, options: Options, refusals: Refusals) -> Imported:
    """Import the files of a job. What is refused as a whole is a problem of the file; nothing is stored."""
    try:
        return _performed(job, options, refusals)
    except (_Refused, unpacking.NotUnpacked) as why:
        others = options.counts()
        others.read = 1
        others.refuse(Problem(job.file.path, 0, str(why)))
        return Imported(others=others)
    finally:
        shutil.rmtree(unpacked(job).parent, ignore_errors=True)


def _performed(job: ImportJob, options: Options, refusals: Refusals) -> Imported:
    if job.format in MIXED:
        return import_items(MIXED[job.format](job, refusals), by_name(job, job.file.path), job.name, options)
    if job.format == Format.PYTHON:
        return import_python([Path(job.file.path)], job.name, options)
    if job.format == Format.QRELS:
        return _labels(job, options)
    if job.format == Format.RELEASE:
        return _released(job, options)
    codebase = Path(job.codebase.path) if job.codebase else None
    return import_cosqa(Path(job.file.path), codebase, job.name, options)


def _folder(job: ImportJob, layout: unpacking.Layout, chosen: str = "") -> Path:
    """The job's zip as a folder, which is removed when the job is over. Raises NotUnpacked."""
    folder = unpacked(job)
    shutil.rmtree(folder, ignore_errors=True)  # of a worker that died
    unpacking.unpack(Path(job.file.path), folder, layout, chosen)
    return folder


def _corpus(job: ImportJob) -> Path:
    """A file of CodeSearchNet, or the folder that its zip was. Raises NotUnpacked."""
    is_zip = job.file.path.lower().endswith(".zip")
    return _folder(job, unpacking.CODESEARCHNET) if is_zip else Path(job.file.path)


def _release(job: ImportJob) -> cosqa_plus.Release:
    """The files of a release, out of its zip or one by one; without one of pairs the first may be these."""
    file = Path(job.file.path)
    if file.name.lower().endswith(".zip"):
        return cosqa_plus.release_in(_folder(job, unpacking.RELEASE))
    codebase, pairs = (Path(one.path) if one else None for one in (job.codebase, job.pairs))
    if pairs:
        return cosqa_plus.Release(file, codebase, pairs)
    alone = cosqa_plus.release_at(file)
    return cosqa_plus.Release(alone.queries, codebase or alone.codebase, alone.pairs)


def _released(job: ImportJob, options: Options) -> Imported:
    from retrieval.releases import NoRelease, import_release  # loads NumPy

    try:
        return import_release(_folder(job, unpacking.RELEASE), job.name, options)
    except NoRelease as why:
        raise _Refused(
            "has no query.json, codebase.json or pairs.json. Upload what *Exports* of a benchmark wrote."
        ) from why


def _labels(job: ImportJob, options: Options) -> Imported:
    from retrieval.evaluation.files import NotComparable
    from retrieval.labelling import Target, import_qrels  # loads NumPy

    found = [Collection.objects.filter(pk=job.options.get(kind)).first() for kind in Collection.Kind.values]
    queries, snippets = found
    if queries is None or snippets is None:
        raise _Refused("names a collection that is gone. Choose another one, and upload again.")
    try:
        of = Target(queries, snippets, job.name)
        return import_qrels(Path(job.file.path), of, options, job.options.get("language") or None)
    except NotComparable as why:
        said = by_name(job, str(why)).replace("leave --language out", "leave the language empty")
        raise _Refused(said) from why
