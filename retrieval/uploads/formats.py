"""What reads each format of uploaded files, as `manage.py import` reads it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from retrieval.collections.import_report import Imported, Options
from retrieval.collections.importer import import_cosqa, import_items, import_python
from retrieval.filters.steps import Refusals
from retrieval.jobs import path_of_job_file
from retrieval.models import Collection, Job
from retrieval.sources import Item, Problem
from retrieval.sources.code import extraction
from retrieval.sources.code.places import expect_archives
from retrieval.sources.formats import beir, codesearchnet, cosqa_plus, ncs, staqc, table
from retrieval.sources.formats.codesearchnet_places import tell_skipped_files
from retrieval.sources.readers import zip_folder
from retrieval.uploads.files import by_name, unpacking_folder_of
from retrieval.uploads.import_order import Format, ImportOrder

MIXED: Final[dict[str, Callable[[Job, ImportOrder, Refusals], Iterator[Item]]]] = {
    Format.DOCUMENTED: lambda job, order, refusals: _documented(job, order, refusals),
    Format.CODESEARCHNET: lambda job, order, refusals: _corpus(job, order),
    Format.STAQC: lambda job, order, refusals: staqc.read_staqc_blocks(
        path_of_job_file(job), _further(job, "titles")
    ),
    Format.NCS: lambda job, order, refusals: ncs.read_questions(path_of_job_file(job)),
    Format.TABLE: lambda job, order, refusals: table.read_table_rows(
        path_of_job_file(job), table.Columns(**order.options)
    ),
    Format.COSQA_PLUS: lambda job, order, refusals: cosqa_plus.read_cosqa_plus(_release(job)),
    Format.BEIR: lambda job, order, refusals: _beir(job, order),
}


def _further(job: Job, name: str) -> Path | None:
    """A file that was uploaded beside the first one, if it was."""
    return path_of_job_file(job, name) if name in job.files else None


def _documented(job: Job, order: ImportOrder, refusals: Refusals) -> Iterator[Item]:
    path = path_of_job_file(job)
    expect_archives([path])
    return extraction.read_documented_functions(path, str(order.options.get("language", "python")), refusals)


def _beir(job: Job, order: ImportOrder) -> Iterator[Item]:
    chosen = str(order.options.get("config", ""))
    folder = _folder(job, zip_folder.BEIR, chosen)
    try:
        yield from beir.read_beir_folder(folder, str(order.options.get("split", "")), chosen)
    except beir.NotChosen as why:
        how = " as configuration in the form" if why.there else ": leave the configuration empty"
        raise _Refused(f"{why}{how}.") from why


PACKED_PICKLES: Final = (
    "The list of all functions is too large to be unpacked here: unpack the zip and import the folder on the "
    "server, or upload the pickle by itself."
)


class _Refused(ValueError):
    """The upload is refused as a whole; the message says what to do."""


def import_upload(job: Job, options: Options, refusals: Refusals) -> Imported:
    """Import the files of a job. What is refused as a whole is a problem of the file; nothing is stored."""
    try:
        return _performed(job, options, refusals)
    except (_Refused, zip_folder.NotUnpacked) as why:
        others = options.counts()
        others.read = 1
        others.refuse(Problem(str(path_of_job_file(job)), 0, str(why)))
        return Imported(others=others)
    finally:
        shutil.rmtree(unpacking_folder_of(job).parent, ignore_errors=True)


def _performed(job: Job, options: Options, refusals: Refusals) -> Imported:
    order, path = ImportOrder.of(job), path_of_job_file(job)
    if order.format in MIXED:
        items = MIXED[order.format](job, order, refusals)
        return import_items(items, by_name(job, str(path)), order.name, options)
    if order.format == Format.PYTHON:
        return import_python([path], order.name, options)
    if order.format == Format.QRELS:
        return _labels(job, order, options)
    if order.format == Format.RELEASE:
        return _released(job, order, options)
    return import_cosqa(path, _further(job, "codebase"), order.name, options)


def _folder(job: Job, layout: zip_folder.Layout, chosen: str = "") -> Path:
    """The job's zip as a folder, which is removed when the job is over. Raises NotUnpacked."""
    folder = unpacking_folder_of(job)
    shutil.rmtree(folder, ignore_errors=True)  # of a worker that died
    zip_folder.unpack_zip(path_of_job_file(job), folder, layout, chosen)
    return folder


def _corpus(job: Job, order: ImportOrder) -> Iterator[Item]:
    """The functions of a file of CodeSearchNet, or of its zip, of which pickles stay packed.

    Raises NotUnpacked.
    """
    path, documentation = path_of_job_file(job), bool(order.options.get("documentation"))
    if not path.name.lower().endswith(".zip"):
        yield from codesearchnet.read_codesearchnet([path], documentation)
        return
    yield from codesearchnet.read_codesearchnet([_folder(job, zip_folder.CODESEARCHNET)], documentation)
    if skipped := zip_folder.list_packed_pickles(path):
        yield tell_skipped_files(by_name(job, str(path)), skipped, PACKED_PICKLES)


def _release(job: Job) -> cosqa_plus.Release:
    """The files of a release, out of its zip or one by one; without one of pairs the first may be these."""
    file = path_of_job_file(job)
    if file.name.lower().endswith(".zip"):
        return cosqa_plus.release_in(_folder(job, zip_folder.RELEASE))
    codebase, pairs = _further(job, "codebase"), _further(job, "pairs")
    if pairs:
        return cosqa_plus.Release(file, codebase, pairs)
    alone = cosqa_plus.release_at(file)
    return cosqa_plus.Release(alone.queries, codebase or alone.codebase, alone.pairs)


def _released(job: Job, order: ImportOrder, options: Options) -> Imported:
    from retrieval.releases import NoRelease, import_release  # loads NumPy

    try:
        return import_release(_folder(job, zip_folder.RELEASE), order.name, options)
    except NoRelease as why:
        raise _Refused(
            "has no query.json, codebase.json or pairs.json. Upload what *Exports* of a benchmark wrote."
        ) from why


def _labels(job: Job, order: ImportOrder, options: Options) -> Imported:
    from retrieval.collections.label_import import Target, import_qrels  # loads NumPy
    from retrieval.evaluation.files import NotComparable

    found = [
        Collection.objects.filter(pk=order.options.get(kind, 0)).first() for kind in Collection.Kind.values
    ]
    queries, snippets = found
    if queries is None or snippets is None:
        raise _Refused("names a collection that is gone. Choose another one, and upload again.")
    try:
        of = Target(queries, snippets, order.name)
        language = order.options.get("language") or None
        return import_qrels(path_of_job_file(job), of, options, language)
    except NotComparable as why:
        said = by_name(job, str(why)).replace("leave --language out", "leave the language empty")
        raise _Refused(said) from why
