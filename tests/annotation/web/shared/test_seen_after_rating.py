"""Whoever has rated, and then looks at what others said of a pair, changes nothing of it any more."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.accounts.roles import Role
from annotation.models import Adjudication, Assignment, Case, Enrolment, Precedent, Rating, Seen, Study
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.enrolment import queue
from tests import factories, studies
from tests.rating_pages import send

pytestmark = pytest.mark.django_db


@pytest.fixture
def case() -> Case:
    """The first pair of a build with one candidate a query, all of which are a match."""
    build = factories.opened(k=1)
    for one in factories.cases(build):
        factories.settled(one, 1)
    return factories.cases(build)[0]


@pytest.fixture
def rita(case: Case, client: Client) -> Enrolment:
    """A rater who is an admin besides, has rated the pairs, and whose study still runs."""
    study = studies.study(pairs=[one.pair for one in factories.cases(case.build)])
    made = studies.rater("rita", study)
    for sampled in study.pairs.order_by("number"):
        studies.rated(made, 0, sampled)
    assert queue.next_assignment(made) is None
    factories.person("rita", Role.ADMIN)
    client.force_login(made.user)
    return made


def changed(client: Client, enrolment: Enrolment, case: Case) -> Any:
    of = enrolment.assignments.select_related("study_pair", "enrolment").get(study_pair__pair=case.pair)
    return send(client, of, "1", notes="now I know")


def abandon(case: Case) -> Case:
    other = factories.opened("other", k=1, annotator=factories.annotator(model="other"))
    found = next(one for one in factories.cases(other) if one.pair_id == case.pair_id)
    return factories.abandoned(found)


def flipped(case: Case) -> Case:
    other = factories.opened("other", k=1, annotator=factories.annotator(model="other"))
    found = next(one for one in factories.cases(other) if one.pair_id == case.pair_id)
    return factories.settled(found, 0)


def others_rating(case: Case) -> str:
    study = Study.objects.get()
    studies.rated(studies.rater("rolf", study), 1, study.pairs.get(pair=case.pair))
    return reverse("audit-labels") + "?of=ratings"


def decision(case: Case) -> Adjudication:
    found = Study.objects.get()
    return Adjudication.objects.create(
        study_pair=found.pairs.get(pair=case.pair),
        condition=studies.condition(found),
        value=1,
        cause="slip",
        note="a slip",
        by=factories.erin(),
    )


def precedent(case: Case) -> None:
    Precedent.objects.create(
        guideline_name="rules",
        query=case.pair.query.text,
        code=case.pair.snippet.text,
        value=1,
        reason="a slip",
        adjudication=decision(case),
        created_by=factories.erin(),
    )


def decided(case: Case, **detail: Any) -> None:
    number = Study.objects.get().pairs.get(pair=case.pair).number
    told = detail or {"pair": number, "value_after": 1}
    append_audit_event(factories.erin(), Verb.SPLIT_DECIDED, f"pair {number}", Study.objects.get(), told)


def address(name: str, case: Case) -> str:
    """The page by its name, with what has to be there for it to tell something of the case's pair."""
    if name in {"compare", "api-comparison", "compare-annotators", "api-annotators"}:
        other = flipped(case)
        first, second = case.annotator_id, other.annotator_id
        return {
            "compare": reverse("compare") + f"?first={case.build_id}&second={other.build_id}",
            "api-comparison": f"/api/builds/{case.build_id}/comparison/{other.build_id}",
            "compare-annotators": reverse("compare") + f"?of=annotators&first={first}&second={second}",
            "api-annotators": f"/api/annotators/{first}/comparison/{second}",
        }[name]
    if name == "build-abandoned":
        return reverse(name, args=[abandon(case).build_id])
    if name == "audit-labels":
        return others_rating(case)
    if name in {"audit", "audit-export"}:
        decided(case)
        return reverse(name)
    if name in {"precedents", "api-precedents"}:
        precedent(case)
        return "/api/precedents" if name.startswith("api") else reverse(name)
    if name.startswith("api-"):
        return f"/api/builds/{case.build_id}/queries"
    return reverse(name, args=[case.build_id])


@pytest.mark.parametrize(
    "name",
    [
        "browse-build",
        "build-cases",
        "build-abandoned",
        "compare",
        "compare-annotators",
        "audit",
        "audit-export",
        "audit-labels",
        "precedents",
        "api-queries",
        "api-comparison",
        "api-annotators",
        "api-precedents",
    ],
)
def test_a_page_that_tells_counts_as_seen_and_the_rating_stays(
    name: str, case: Case, rita: Enrolment, client: Client
) -> None:
    url = address(name, case)
    answer = client.get(url)
    assert answer.status_code == 200
    answer.getvalue()
    assert Seen.objects.filter(user=rita.user, pair=case.pair).exists()
    refused = changed(client, rita, case)
    assert refused.status_code == 422
    text = refused.content.decode()
    assert "your earlier answer" in text and "now I know" in text
    assert Rating.objects.filter(assignment__rater=rita.user).count() == rita.study.pairs.count()


def test_before_that_the_rating_may_be_changed(case: Case, rita: Enrolment, client: Client) -> None:
    client.get(reverse("work"))
    assert not Seen.objects.exists(), "one's own studies tell nothing"
    assert changed(client, rita, case).status_code == 302


def test_counts_that_leave_labels_open_are_not_seen(client: Client) -> None:
    build = factories.opened(k=2)
    found = factories.cases(build)
    for place, one in enumerate(found[:4]):
        factories.settled(one, place % 2)
    client.force_login(factories.ray())
    client.get(reverse("browse-build", args=[build.pk]))
    client.get(f"/api/builds/{build.pk}/queries")
    assert not Seen.objects.exists()
    factories.settled(found[4], 0)
    client.get(reverse("browse-build", args=[build.pk]))
    assert list(Seen.objects.values_list("pair", flat=True)) == [found[4].pair_id]


def test_a_fact_that_was_cut_may_tell_of_each_pair(case: Case, rita: Enrolment, client: Client) -> None:
    decided(case, note="x" * 20_001)
    client.get(reverse("audit"))
    assert Seen.objects.count() == rita.study.pairs.count()


def test_a_rater_sees_every_page_of_ratings_through_the_api(
    case: Case, rita: Enrolment, client: Client
) -> None:
    Study.objects.update(state=Study.State.CLOSED)
    assert client.get(f"/api/studies/{rita.study_id}/ratings?after=1").status_code == 200
    assert Seen.objects.count() == rita.study.pairs.count()


def test_what_was_decided_on_a_pair_of_two_tells_of_both(case: Case, rita: Enrolment, client: Client) -> None:
    other = factories.cases(case.build)[1].pair
    rita.study.pairs.filter(pair=case.pair).update(other=other)
    client.get(others_rating(case))
    assert set(Seen.objects.values_list("pair", flat=True)) == {case.pair_id, other.pk}
    assert Assignment.objects.filter(state=Assignment.State.DONE).exists()
