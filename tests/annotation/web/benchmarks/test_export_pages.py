"""Exports of a benchmark from its page: ordered, written by a worker, downloaded."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.builds.limits import full_disk
from annotation.jobs import subprocesses, worker
from annotation.models import Seen, SeenBenchmark
from retrieval.disk_space import EXIT_STATUS, is_full_disk
from retrieval.exporting.jobs.order import ExportOrder
from retrieval.models import Benchmark, Job, Member
from tests import factories, full_disks, studies
from tests.annotation.jobs.test_worker import in_process  # noqa: F401  (a fixture)
from tests.retrieval.exporting.conftest import annotator, benchmark

pytestmark = pytest.mark.django_db
ORDER = {"format": "release", "labels": "final", "withhold": "none"}


@pytest.fixture
def made() -> Benchmark:
    return benchmark(candidates=[(0, 0), (0, 1), (0, 2), (1, 1)])


@pytest.fixture(autouse=True)
def home(settings: LazySettings, tmp_path: Path) -> Path:
    settings.COSQA_HOME = tmp_path
    return tmp_path


def page(of: Benchmark) -> str:
    return reverse("benchmark-exports", args=[of.pk])


def file(job: Job) -> str:
    return reverse("benchmark-export", args=[job.subject, job.pk])


def exported(made: Benchmark) -> Job:
    """A job that is done, without a file."""
    result = {"size": 1, "warnings": []}
    return factories.job(ExportOrder(format="beir"), made.pk, state="done", result=result)


def test_an_export_is_ordered_written_and_downloaded(ada: Client, made: Benchmark, in_process: None) -> None:  # noqa: F811
    answer = ada.post(page(made), {**ORDER, "seed": "4", "withhold": "forbidden"}, follow=True)
    assert "A worker writes the export" in answer.content.decode()
    job = Job.objects.get()
    assert (job.state, job.order["seed"], job.order["withhold"]) == ("waiting", 4, "forbidden")
    assert ada.get(file(job)).status_code == 404
    assert "another job is still running" in ada.get(page(made)).content.decode()
    assert (
        subprocesses.perform_one_job(Job.Kind.EXPORT) == 1
        and subprocesses.perform_one_job(Job.Kind.EXPORT) == 0
    )
    job.refresh_from_db()
    assert (job.state, job.done) == ("done", job.total) and job.result["size"] > 0
    assert job.result["warnings"][0].startswith("1 candidate pair unjudged")
    text = ada.get(page(made)).content.decode()
    assert file(job) in text and "1 candidate pair unjudged" in text
    assert not SeenBenchmark.objects.exists(), "who orders a file has not read it"
    answer = ada.get(file(job))
    assert answer.streaming and f"made-{made.name.split()[1]}-v1-release.zip" in answer["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(b"".join(answer))) as archive:
        assert {"query.json", "provenance/labels.jsonl", "finetune/dev_query.json"} <= set(archive.namelist())
        assert json.loads(archive.read("workbench.json"))["digest"] == made.digest
    b"".join(ada.get(file(job)))  # once more
    assert list(SeenBenchmark.objects.values_list("user__username", "benchmark")) == [("ada", made.pk)]
    assert not Seen.objects.exists(), "one row, however many labels the file has"


def test_the_choice_says_how_many_snippets_each_policy_withholds(ada: Client, made: Benchmark) -> None:
    licences(made, "", "Proprietary")
    text = ada.get(page(made)).content.decode()
    assert '<option value="none" selected>none: 0</option>' in text
    assert "may forbid sharing: 1</option>" in text
    assert "state no licence (the careful choice): 2</option>" in text
    assert "! 1 function here with a stated licence that is not known to allow passing on" in text


def test_the_choice_tells_of_queries_where_there_are_some_to_withhold(ada: Client, made: Benchmark) -> None:
    licences(made, "", "Proprietary")
    for position, licence in enumerate(["", "CC-BY-NC-4.0"]):
        Member.objects.filter(collection=made.queries, position=position).update(licence=licence)
    text = ada.get(page(made)).content.decode()
    assert "none: 0</option>" in text
    assert "may forbid sharing: 1 function and 1 query</option>" in text
    assert "state no licence (the careful choice): 2 functions and 2 queries</option>" in text
    assert "! 1 function and 1 query here with a stated licence" in text


def test_a_worker_withholds_by_the_policy_that_was_chosen(
    ada: Client,
    made: Benchmark,
    in_process: None,  # noqa: F811
) -> None:
    licences(made, "", "Proprietary")
    for policy, withheld in (("none", {}), ("forbidden", {"forbidden": 1})):
        ada.post(page(made), {**ORDER, "withhold": policy})
        assert subprocesses.perform_one_job(Job.Kind.EXPORT) == 1
        with zipfile.ZipFile(io.BytesIO(b"".join(ada.get(file(Job.objects.all()[0]))))) as archive:
            manifest = json.loads(archive.read("workbench.json"))
        assert (manifest["withhold"], manifest["withheld_for"]) == (policy, withheld)
        warned = [one for one in Job.objects.all()[0].result["warnings"] if "1 function passed on" in one]
        assert len(warned) == (policy == "none")
    assert "withheld: forbidden" in ada.get(page(made)).content.decode()
    assert ada.post(page(made), {**ORDER, "withhold": "all"}).status_code == 422


def licences(of: Benchmark, *names: str) -> None:
    """The first snippets have these, the others MIT."""
    for position, name in enumerate(names):
        Member.objects.filter(collection=of.snippets, position=position).update(licence=name)


def test_the_list_is_a_fragment_that_asks_again_while_something_is_open(ada: Client, made: Benchmark) -> None:
    fragment = reverse("benchmark-export-jobs", args=[made.pk])
    assert "Nothing was exported yet" in ada.get(fragment).content.decode()
    job = factories.job(ExportOrder(format="beir"), made.pk, state="running", done=3, total=9)
    text = ada.get(fragment).content.decode()
    assert f'hx-get="{fragment}"' in text and "3 of 9 records" in text and "<html" not in text
    Job.objects.filter(pk=job.pk).update(state="failed", message="The <disk> is full.")
    text = ada.get(fragment).content.decode()
    assert "hx-get" not in text and "The &lt;disk&gt; is full." in text


def test_what_can_not_be_exported_says_why(ada: Client, made: Benchmark, in_process: None) -> None:  # noqa: F811
    ada.post(page(made), {**ORDER, "labels": "experts"})
    assert subprocesses.perform_one_job(Job.Kind.EXPORT) == 1
    job = Job.objects.get()
    assert job.state == "failed" and "has no label of experts; its labels are of: agent" in job.message


def test_a_file_that_cannot_be_written_says_so(
    ada: Client,
    made: Benchmark,
    in_process: None,  # noqa: F811
    home: Path,
) -> None:
    ada.post(page(made), ORDER)
    (home / "exports").mkdir()
    (home / "exports" / str(Job.objects.get().pk)).write_text("in the way")
    subprocesses.perform_one_job(Job.Kind.EXPORT)
    assert "could not be written" in Job.objects.get().message


def test_on_a_full_disk_an_export_waits_and_goes_on_by_itself(
    ada: Client,
    made: Benchmark,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = full_disks.failing(zipfile.ZipFile.write, 1, full_disks.fill_file)
    monkeypatch.setattr(zipfile.ZipFile, "write", late)
    monkeypatch.setattr(subprocesses, "run_child_command", run_as_manage_does)
    ada.post(page(made), ORDER)
    job = Job.objects.get()
    subprocesses.perform_one_job(Job.Kind.EXPORT)
    job.refresh_from_db()
    assert (job.state, job.message) == ("waiting", subprocesses.NO_ROOM)
    assert not list((home / "exports").iterdir()) and ada.get(file(job)).status_code == 404
    assert "work continues by itself when there is room" in ada.get(page(made)).content.decode()
    monkeypatch.setattr(full_disk, "may_have_room", lambda name: True)
    subprocesses.perform_one_job(Job.Kind.EXPORT)
    job.refresh_from_db()
    assert (job.state, job.message) == ("done", "")
    answer = ada.get(file(job))
    assert answer.status_code == 200
    answer.close()


def run_as_manage_does(command: list[str], still_wanted: Callable[[], bool]) -> int:
    """In this process, with the status that `manage.py` would end with."""
    try:
        call_command(*command)
    except OSError as why:
        return EXIT_STATUS if is_full_disk(why) else 1
    return 0


def test_a_removed_file_says_so_and_is_made_again(
    ada: Client,
    made: Benchmark,
    in_process: None,  # noqa: F811
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ada.post(page(made), {**ORDER, "seed": "1234", "by_repository": "on", "withhold": "unknown"})
    subprocesses.perform_one_job(Job.Kind.EXPORT)
    job = Job.objects.get()
    assert job.finished_at is not None
    until = timezone.localtime(job.finished_at + timedelta(days=7))
    text = ada.get(page(made)).content.decode()
    assert f"kept until {until:%Y-%m-%d %H:%M}" in text and "Make again" not in text
    Job.objects.update(finished_at=job.finished_at - timedelta(days=8))
    assert "about to be removed" in ada.get(page(made)).content.decode()
    monkeypatch.setattr(worker, "_looked", {})
    worker.perform_worker_chores(Mock())
    assert not list((home / "exports").iterdir()) and ada.get(file(job)).status_code == 404
    text = ada.get(page(made)).content.decode()
    assert "removed; it was kept until" in text and file(job) not in text
    row = text[text.index("removed; it was") : text.index("Make again</button>")]
    hidden = dict(re.findall(r'name="(\w+)" value="(\w+)"', row))
    del hidden["csrfmiddlewaretoken"]
    ada.post(page(made), hidden)
    again = Job.objects.exclude(pk=job.pk).get()
    assert again.order == job.order


def test_the_folder_is_looked_at_every_ten_minutes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    now, looks = [1000.0], list[object]()
    monkeypatch.setattr(worker, "_looked", {})
    monkeypatch.setattr("annotation.jobs.worker.time.monotonic", lambda: now[0])
    monkeypatch.setattr(worker, "remove_old", lambda *given: looks.append(given))
    for now[0] in (1000.0, 1002.0, 1599.0, 1600.0, 1602.0):
        worker.perform_worker_chores(Mock())
    assert len(looks) == 2


def test_files_are_kept_for_ever_where_the_setting_says_so(
    ada: Client,
    made: Benchmark,
    in_process: None,  # noqa: F811
    settings: LazySettings,
) -> None:
    settings.EXPORT_DAYS = 0
    ada.post(page(made), ORDER)
    subprocesses.perform_one_job(Job.Kind.EXPORT)
    text = ada.get(page(made)).content.decode()
    assert file(Job.objects.get()) in text and "kept until" not in text


def test_bad_orders_are_told(ada: Client, made: Benchmark) -> None:
    answer = ada.post(page(made), {"format": "word", "labels": "final", "by_repository": "on"})
    assert answer.status_code == 422 and not Job.objects.exists()
    assert "Give a seed: without one there is no split." in answer.content.decode()
    for _ in range(5):
        ada.post(page(made), ORDER)
    answer = ada.post(page(made), ORDER)
    assert answer.status_code == 422 and "are waiting" in answer.content.decode()
    assert Job.objects.count() == 5


def test_a_file_of_another_machine_or_benchmark_is_not_there(ada: Client, made: Benchmark) -> None:
    job = exported(made)
    assert ada.get(file(job)).status_code == 404
    other = benchmark(said={annotator(model="other"): {(0, 0): 1}})
    assert ada.get(reverse("benchmark-export", args=[other.pk, job.pk])).status_code == 404


def test_the_benchmark_leads_to_it_for_admins_alone(ada: Client, ray: Client, made: Benchmark) -> None:
    address = reverse("benchmark", args=[made.pk])
    assert page(made) in ada.get(address).content.decode()
    assert page(made) not in ray.get(address).content.decode()
    assert ray.get(page(made)).status_code == 403


def test_it_is_closed_to_an_admin_who_rates_blind(ada: Client, made: Benchmark) -> None:
    job = exported(made)
    pair = made.labels.first()
    assert pair is not None
    study = studies.study(pairs=[pair.pair])
    studies.rater("ada", study)
    for address in (page(made), file(job), reverse("benchmark-export-jobs", args=[made.pk])):
        assert ada.get(address).status_code == 403


def test_a_job_that_is_not_there() -> None:
    with pytest.raises(Exception, match="no job 9"):
        call_command("job", "9")


def test_fractions_for_beir_fail_with_advice_or_are_rounded_by_the_box(ada: Client, in_process: None) -> None:  # noqa: F811
    made = benchmark(said={annotator("original"): {(0, 0): 2.5, (1, 1): 1}})
    for box in ("", "on"):
        ada.post(page(made), {**ORDER, "format": "beir", "rounds": box})
        subprocesses.perform_one_job(Job.Kind.EXPORT)
    rounded, refused = Job.objects.order_by("-pk")
    assert (refused.state, rounded.state) == ("failed", "done")
    assert "the box for that in the form writes the nearest whole numbers" in refused.message
    assert "1 label rounded to the nearest whole number" in ada.get(page(made)).content.decode()
