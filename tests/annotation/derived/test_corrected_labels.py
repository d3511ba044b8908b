"""The corrected labels of given pairs: the next version, which is exported and read back the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.builds.pipeline.labels import annotator_of_person
from annotation.builds.results import publication
from annotation.builds.results.publication import PublishRefused, Wish
from annotation.derived import corrected_labels
from annotation.models import Build
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.models import Benchmark, BenchmarkLabel, Label, Pair, Pool
from tests import factories, given
from tests.annotation.label_audit.test_figures import say

pytestmark = pytest.mark.django_db


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """By query and place the labels are 1 0, 1, 0, none; agents say 0 0, nothing, 1, 1."""
    return given.judged(given.pair_list(tmp_path), 0, 0, None, 1, 1)


def of(build: Build) -> Benchmark:
    assert build.pair_list is not None and build.pair_list.benchmark is not None
    return build.pair_list.benchmark


def labels(benchmark: Benchmark) -> list[tuple[str, str, float]]:
    rows = BenchmarkLabel.objects.filter(benchmark=benchmark).order_by("pair__query_id", "pair_id")
    told = rows.values_list("pair__query__head", "pair__snippet__head", "relevance")
    return [(query, code.split("(")[0][4:], value) for query, code, value in told]


def test_what_was_judged_is_corrected_and_the_rest_stays(build: Build) -> None:
    made = corrected_labels.publish_corrected_benchmark(build, of(build), "dev", factories.ada())
    assert (str(made), made.previous_version, made.pair_list) == ("dev@2", of(build), build.pair_list)
    assert labels(of(build)) == [
        ("sort a list", "f", 1),
        ("sort a list", "h", 0),
        ("read a file", "g", 1),
        ("add numbers", "f", 0),
    ]
    assert labels(made) == [
        ("sort a list", "f", 0),  # corrected
        ("sort a list", "h", 0),  # upheld
        ("read a file", "g", 1),  # could not be judged
        ("add numbers", "f", 1),  # corrected
        ("parse json", "p", 1),  # had none
    ]
    assert "a pair that nobody could judge keeps its label" in made.merge_rule
    assert build.events.filter(event="published", note="as benchmark dev@2").count() == 1


def test_what_it_would_come_to_is_counted_before(build: Build) -> None:
    seen = corrected_labels.preview_correction(build, of(build))
    # 4 labels: 1 upheld, 1 to match, 1 to no match, 1 not judged; and 1 pair that had none
    assert (seen.upheld, seen.to_match, seen.to_no_match, seen.unjudged, seen.added, seen.others) == (
        *(1, 1, 1, 1, 1),
        0,
    )
    assert Benchmark.objects.count() == 1


def test_experts_count_before_agents(build: Build) -> None:
    say(build, 0, 1, "erin", "eve")
    say(build, 2, 0, "erin", "eve")  # what agents could not judge
    made = corrected_labels.publish_corrected_benchmark(build, of(build), "dev")
    assert [value for *_, value in labels(made)] == [1, 0, 0, 1, 1]


def test_one_review_alone_does_not_count(build: Build) -> None:
    say(build, 0, 1, "erin")
    assert labels(corrected_labels.publish_corrected_benchmark(build, of(build), "dev"))[0][2] == 0


def test_the_same_is_published_once_and_later_labels_start_from_the_original(build: Build) -> None:
    second = corrected_labels.publish_corrected_benchmark(build, of(build), "dev")
    assert corrected_labels.publish_corrected_benchmark(build, of(build), "dev") == second
    say(build, 0, 1, "erin", "eve")
    third = corrected_labels.publish_corrected_benchmark(build, second, "dev")
    assert (str(third), third.previous_version) == ("dev@3", of(build))
    assert corrected_labels.preview_correction(build, third).base == of(build)


def test_labels_of_other_pairs_stay(build: Build) -> None:
    base = of(build)
    query, snippet = base.queries.members.get(position=1).text, base.snippets.members.get(position=0).text
    pair = Pair.objects.keep_all([(query.pk, snippet.pk)])[0]
    by = annotator_of_person(factories.erin())
    Label.objects.create(pair=pair, annotator=by, value=1, source="by hand")
    people = Label.objects.filter(annotator__kind__in=["original", "person"])
    newer = publish_benchmark(Order("dev", base.queries, base.snippets, "more"), people)
    made = corrected_labels.publish_corrected_benchmark(build, base, "dev")
    assert (str(newer), str(made), made.previous_version) == ("dev@2", "dev@3", newer)
    assert ("read a file", "f", 1) in labels(made) and corrected_labels.preview_correction(
        build, base
    ).others == 1


def test_another_name_makes_a_benchmark_of_its_own(build: Build) -> None:
    made = corrected_labels.publish_corrected_benchmark(build, of(build), "dev corrected")
    assert (str(made), made.previous_version) == ("dev corrected@1", of(build))


def test_the_export_of_a_corrected_version_is_read_back_with_the_same_sha256(
    build: Build, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("benchmark", "publish", "dev", "--build", "audit", "--corrects", "dev")
    made = Benchmark.objects.get(name="dev", version=2)
    call_command("export", "release", "dev", str(tmp_path / "release"))
    call_command("import", "release", str(tmp_path / "release"), "--name", "again")
    again = Benchmark.objects.get(name="again")
    assert again.digest == made.digest != of(build).digest
    told = capsys.readouterr().out
    assert "1 labels of dev@1 upheld" in told and "2 corrected: 1 to match, 1 to no match" in told
    assert f"the same content as was exported: sha256 {made.digest}" in told
    manifest = (tmp_path / "release" / "workbench.json").read_text("utf-8")
    assert f'"digest": "{of(build).digest}"' in manifest and '"corrects": true' in manifest


def test_a_dry_run_publishes_nothing(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("benchmark", "publish", "dev", "--build", "audit", "--corrects", "dev@1", "--dry-run")
    told = capsys.readouterr().out
    assert "1 could not be judged and keep their label" in told and "Nothing was published" in told
    assert Benchmark.objects.count() == 1


def test_what_can_not_be_corrected_is_refused(build: Build) -> None:
    mined = factories.said(factories.opened("mined"), (1, 0, 1))
    with pytest.raises(PublishRefused, match="was mined"):
        corrected_labels.publish_corrected_benchmark(mined, of(build), "dev")
    other = publish_benchmark(Order("other", mined.queries, mined.snippets, "r"), Label.objects.all())
    with pytest.raises(PublishRefused, match="is of other collections"):
        corrected_labels.publish_corrected_benchmark(build, other, "dev")
    with pytest.raises(CommandError, match="no benchmark 'nobody'"):
        call_command("benchmark", "publish", "dev", "--build", "audit", "--corrects", "nobody")
    with pytest.raises(CommandError, match="needs --build"):
        call_command("benchmark", "publish", "dev", "--mining", "1", "--corrects", "dev")


def test_grades_are_not_corrected(build: Build) -> None:
    BenchmarkLabel.objects.filter(benchmark=of(build), relevance=0).update(relevance=2)
    with pytest.raises(PublishRefused, match="other than 0 and 1"):
        corrected_labels.publish_corrected_benchmark(build, of(build), "dev")


def test_a_build_that_is_not_over_is_refused(tmp_path: Path) -> None:
    build = given.build(given.pair_list(tmp_path))
    with pytest.raises(PublishRefused, match="published once it is over"):
        corrected_labels.publish_corrected_benchmark(build, of(build), "dev")


def test_its_pairs_can_be_published_under_a_name_without_a_base(build: Build) -> None:
    made = publication.publish_benchmark(Wish("plain", None, build))
    assert (made.mining, made.pair_list, made.previous_version, made.pool) == (
        None,
        build.pair_list,
        None,
        "collection",
    )
    assert labels(made)[2] == ("read a file", "g", 1)  # an imported label counts last
    assert publication.published_from(made) == build
    with pytest.raises(PublishRefused, match="The pairs were given"):
        publication.publish_benchmark(Wish("plain", None, build, Pool.CANDIDATES))
