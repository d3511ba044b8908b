"""What figures of a whole build rest on: how many labelled pairs each stratum had at the draw."""

from __future__ import annotations

import pytest

from annotation.models import Build, Case, Study
from annotation.schemas.studies.studies import SampleWish, Stratifier
from annotation.studies.plan.creation import ConditionWish, Order, create_draft_study
from annotation.studies.report.figure_data import NOT_DRAWN, gather_figure_data, load_label_strata
from tests import factories

pytestmark = pytest.mark.django_db
BY_LABEL = SampleWish(size=4, per_query=0, strata=(Stratifier.LABEL,))


@pytest.fixture
def build() -> Build:
    return factories.said(factories.opened(), (1, 0, 1, 0, 1, 0, 1, 0, 1))


def made(build: Build, wish: SampleWish) -> Study:
    return create_draft_study(
        Order("first study", (build,), wish, (ConditionWish("own_tests"),)), factories.ada()
    )


def test_a_sample_by_strata_tells_of_all_labels_of_its_build(build: Build) -> None:
    found = gather_figure_data(made(build, BY_LABEL))
    labels = Case.objects.filter(build=build, label__isnull=False)
    told = load_label_strata(found)
    assert sum(one.pairs for one in told) == labels.count()
    assert sum(one.matches for one in told) == labels.filter(label=1).count()
    assert {one.number for one in told} <= {*range(len(found.strata_names)), NOT_DRAWN}
    assert all(one.matches in (0, one.pairs) for one in told)


def test_a_plain_sample_tells_of_them_in_one_stratum(build: Build) -> None:
    [told] = load_label_strata(gather_figure_data(made(build, SampleWish(size=3))))
    labels = Case.objects.filter(build=build, label__isnull=False)
    assert (told.number, told.pairs, told.matches) == (0, labels.count(), labels.filter(label=1).count())


def test_a_draw_that_counted_no_labels_tells_nothing_of_strata(build: Build) -> None:
    study = made(build, BY_LABEL)
    study.sample["strata"] = [one[:3] for one in study.sample["strata"]]
    study.save(update_fields=["sample"])
    assert load_label_strata(gather_figure_data(study)) == ()
