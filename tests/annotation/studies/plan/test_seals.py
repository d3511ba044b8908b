"""No page holds an unscored version against the labels of a sealed study: that would score it unseen."""

from __future__ import annotations

import json
from io import StringIO
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.builds.results import publication
from annotation.models import Build, Case, Scoring, Seen, Study
from annotation.schemas.studies.studies import SampleWish
from annotation.studies.adjudication import sealed_scores, verified_subset
from annotation.studies.plan import creation, plan, seals
from annotation.studies.plan.creation import ConditionWish, Order
from annotation.studies.plan.plan import StudyRefused
from retrieval.models import Annotator, Benchmark, BenchmarkLabel, Label, Pin
from tests import factories, studies
from tests.calls import get

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    """Three pairs that the agents call 1 1 0."""
    made = factories.opened()
    for case, label in zip(factories.cases(made), (1, 1, 0), strict=False):
        factories.settled(case, label)
    return made


@pytest.fixture
def study(build: Build) -> Study:
    """A sealed study of those pairs, closed and published: 1 0 0."""
    pairs = [case.pair for case in Case.objects.filter(build=build, label__isnull=False).order_by("pk")]
    made = studies.study(pairs=pairs, purpose=Study.Purpose.SEALED)
    for name in ("ruth", "sam", "tess"):
        rater = studies.rater(name, made)
        for sampled, value in zip(made.pairs.order_by("number"), (1, 0, 0), strict=True):
            studies.rated(rater, value, sampled)
    plan.freeze_plan(made)
    Study.objects.update(state=Study.State.CLOSED)
    made.refresh_from_db()
    verified_subset.publish_verified_subset(made, factories.ada())
    return made


@pytest.fixture
def truth(study: Study) -> Annotator:
    return Annotator.objects.get(kind=Annotator.Kind.MERGE)


def both(build: Build, truth: Annotator) -> list[tuple[int, int]]:
    return [(build.annotator_id, truth.pk), (truth.pk, build.annotator_id)]


def test_the_page_tells_nothing_before_the_version_is_scored(
    ada: Client, build: Build, study: Study, truth: Annotator
) -> None:
    where = f"{reverse('compare')}?of=annotators"
    for first, second in both(build, truth):
        answer = ada.get(f"{where}&first={first}&second={second}")
        text = answer.content.decode()
        assert answer.status_code == 422 and "to score it" in text and study.name in text
        assert "Cohen" not in text and "apart-" not in text and "flip" not in text.partition("<main")[2]
    sealed_scores.score_sealed_versions(study, [build.annotator], factories.ada())
    for first, second in both(build, truth):
        answer = ada.get(f"{where}&first={first}&second={second}")
        assert answer.status_code == 200 and "Cohen" in answer.content.decode()
    assert Scoring.objects.count() == 1


def test_the_bench_of_quality_tells_nothing_before_the_version_is_scored(
    ada: Client, build: Build, study: Study, truth: Annotator
) -> None:
    def measured() -> tuple[int, str]:
        case = factories.cases(build)[0]
        row = {"id": "p", "query": case.pair.query.text, "code": case.pair.snippet.text}
        files = {
            "pairs": SimpleUploadedFile("pairs.jsonl", json.dumps(row).encode()),
            "truth": SimpleUploadedFile("truth.jsonl", b'{"id": "p", "label": 1}'),
        }
        answer = ada.post(reverse("quality"), {**files, "who": [f"b{build.pk}.1", f"a{truth.pk}"]})
        return answer.status_code, answer.content.decode()

    status, text = measured()
    assert status == 422 and "to score it" in text and "Each against each" not in text
    sealed_scores.score_sealed_versions(study, [build.annotator], factories.ada())
    status, text = measured()
    assert status == 200 and "Each against each" in text


def test_the_api_tells_nothing_before_the_version_is_scored(
    ada: Client, build: Build, study: Study, truth: Annotator
) -> None:
    for first, second in both(build, truth):
        answer = ada.get(f"/api/annotators/{first}/comparison/{second}")
        assert answer.status_code == 409 and "to score it" in answer.json()["detail"]
    sealed_scores.score_sealed_versions(study, [build.annotator], factories.ada())
    assert get(ada, f"annotators/{build.annotator_id}/comparison/{truth.pk}")["to_no_match"] == 1


def test_the_flips_are_no_list_to_review_either(
    erin: Client, build: Build, study: Study, truth: Annotator
) -> None:
    """Whoever goes through what a version has wrong makes the next one of it."""
    wanted = f"apart-{build.annotator_id}.0-{truth.pk}.0"
    flipped = study.pairs.get(number=2).pair
    address = reverse("review-next", args=[build.pk])
    case = Case.objects.get(build=build, pair=flipped)
    there = f"{reverse('review-case', args=[case.pk])}?{urlencode({'show': wanted})}"
    assert erin.get(address, {"show": wanted}).get("Location", "") != there
    assert "apart" not in erin.get(address, {"show": wanted}).get("Location", "")
    sealed_scores.score_sealed_versions(study, [build.annotator], factories.ada())
    assert erin.get(address, {"show": wanted})["Location"] == there


def test_a_sample_is_not_drawn_against_them(build: Build, truth: Annotator) -> None:
    order = Order(
        "pairwise",
        (build,),
        SampleWish(size=3),
        (ConditionWish("reading"),),
        kind=Study.Kind.PAIRWISE,
        scale=Study.Scale.PREFERENCE,
        against=truth,
    )
    with pytest.raises(StudyRefused, match="labels of a sealed study"):
        creation.draw_order_sample(order)


def test_what_is_no_version_or_no_sealed_study_is_compared(
    build: Build, study: Study, truth: Annotator
) -> None:
    original = Annotator.objects.version(Annotator.Kind.ORIGINAL, "data", {})
    person = Annotator.objects.version(Annotator.Kind.PERSON, "user 1", {"user": 1})
    for one in (original, person, truth):
        seals.refuse_unscored(one, truth)
    assert not seals.is_open(build.annotator, truth)
    Study.objects.update(purpose=Study.Purpose.DEVELOPMENT)
    assert seals.is_open(build.annotator, truth)


def test_a_merge_of_something_else_is_no_study(build: Build, study: Study) -> None:
    merge = Annotator.objects.version(Annotator.Kind.MERGE, "a merge", {"study": study.name})
    assert seals.is_open(build.annotator, merge)
    Label.objects.create(pair=study.pairs.get(number=1).pair, annotator=merge, source="merge 1 of build 1")
    assert seals.is_open(build.annotator, merge)


def test_two_sealed_studies_of_the_same_pairs_are_versions_to_each_other(
    study: Study, truth: Annotator
) -> None:
    theirs = Annotator.objects.version(Annotator.Kind.MERGE, "verified by another", {"study": "another"})
    assert not seals.is_open(truth, theirs)


def published(build: Build, name: str = "both") -> Benchmark:
    """What the build's pairs are published as now: agents' labels, and the study's where it has any."""
    Build.objects.filter(pk=build.pk).update(state=Build.State.DONE)
    build.refresh_from_db()
    return publication.publish_benchmark(publication.Wish(name, build.mining, build))


@pytest.fixture
def versions(build: Build, request: pytest.FixtureRequest) -> tuple[Benchmark, Benchmark]:
    """The agents' labels alone, and after the study was published the same with its own in their place."""
    first = published(build)
    request.getfixturevalue("study")
    return first, published(build)


def scored(build: Build) -> None:
    sealed_scores.score_sealed_versions(Study.objects.get(), [build.annotator], factories.ada())


def test_a_page_of_two_versions_tells_nothing_before_the_version_is_scored(
    erin: Client, build: Build, versions: tuple[Benchmark, Benchmark]
) -> None:
    for one, other in (versions, versions[::-1]):
        where = reverse("benchmark-compare", args=[other.pk])
        answer = erin.get(where, {"with": one.pk})
        text = answer.content.decode()
        assert answer.status_code == 422 and "to score it" in text and Study.objects.get().name in text
        assert "1 → 0" not in text and "Pin these figures" not in text and "Nothing to compare" not in text
    assert not Seen.objects.exists()
    scored(build)
    answer = erin.get(reverse("benchmark-compare", args=[versions[1].pk]))
    assert answer.status_code == 200 and "1 → 0" in answer.content.decode()


def test_nor_does_a_pin_of_it(erin: Client, build: Build, versions: tuple[Benchmark, Benchmark]) -> None:
    first, second = versions
    where = reverse("benchmark-compare-pin", args=[second.pk])
    assert "to score it" in erin.post(where, {"with": first.pk}, follow=True).content.decode()
    with pytest.raises(CommandError, match="to score it"):
        call_command("pin", "--compare", str(first), str(second))
    assert not Pin.objects.exists()
    scored(build)
    erin.post(where, {"with": first.pk})
    assert Pin.objects.get().value["labels"]["1 → 0"] == 1


def test_nor_does_the_command(build: Build, versions: tuple[Benchmark, Benchmark]) -> None:
    asked = ["compare-benchmarks", *map(str, versions), "--json"]
    with pytest.raises(CommandError, match="to score it"):
        call_command(*asked)
    scored(build)
    out = StringIO()
    call_command(*asked, stdout=out)
    assert json.loads(out.getvalue())["labels"]["1 → 0"] == 1


def test_what_tells_nothing_of_a_sealed_study_is_compared(
    build: Build, versions: tuple[Benchmark, Benchmark]
) -> None:
    """A benchmark that has none of the version's labels of these pairs tells nothing of it."""
    Study.objects.update(purpose=Study.Purpose.DEVELOPMENT)
    seals.refuse_unscored_labels(*versions)
    Study.objects.update(purpose=Study.Purpose.SEALED)
    with pytest.raises(StudyRefused, match="to score it"):
        seals.refuse_unscored_labels(*versions)
    sampled = Study.objects.get().pairs.values("pair")
    BenchmarkLabel.objects.filter(benchmark=versions[0], pair__in=sampled).delete()
    seals.refuse_unscored_labels(*versions)
