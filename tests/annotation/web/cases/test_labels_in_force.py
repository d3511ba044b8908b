"""What pages say of a label in force, and how it came about."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.accounts.roles import Role
from annotation.models import Build, Case
from annotation.models.builds.label_in_force import find_label_in_force
from annotation.web.cases.labels_in_force import describe_label_source
from retrieval.evaluation.merge_rule import AnnotatorStatement
from retrieval.models import Source
from tests import factories
from tests.annotation.models.reviews.test_contradictions import say

R, STUDY = Source.REVIEWS, Source.STUDY


@pytest.mark.parametrize(
    ("agents", "people", "needed", "label", "words"),
    [
        (1, [], 2, 1, ""),
        (1, [(R, 0)], 2, 1, "1 expert disagrees; counts when a second agrees"),
        (1, [(R, 1)], 2, 1, "1 expert agrees"),
        (1, [(R, 0), (R, 0)], 2, 0, "2 experts: no match (agents said match)"),
        (0, [(R, 1), (R, 1), (R, 0)], 2, 1, "2 experts: match (agents said no match); 1 said the other"),
        (1, [(R, 1), (R, 1)], 2, 1, "2 experts agree"),
        (1, [(R, 0), (R, 1)], 2, 1, "1 expert agrees, 1 disagrees; the agents’ label counts"),
        (1, [(R, 0)], 1, 0, "1 expert: no match (agents said match)"),
        (1, [(R, 0), (R, 1)], 1, 1, "1 expert agrees, 1 disagrees; the agents’ label counts"),
        (None, [(R, 1)], 2, None, "1 expert says match; counts when a second agrees"),
        (None, [(R, 1), (R, 1)], 2, 1, "2 experts: match (agents gave no label)"),
        (None, [(R, 1), (R, 0)], 1, None, "experts are split 1 to 1; no label counts"),
        (1, [(STUDY, 0), (R, 1), (R, 1)], 2, 0, "a blind study: no match (agents said match)"),
        (1, [(Source.ADJUDICATED, 1)], 2, 1, "a decision in a blind study agrees"),
        (None, [(Source.ACCEPTED, 1)], 2, 1, "an expert’s acceptance: match (agents gave no label)"),
    ],
)
def test_how_a_label_came_about(
    agents: int | None, people: list[tuple[Source, int]], needed: int, label: int | None, words: str
) -> None:
    said = [AnnotatorStatement(place, *each) for place, each in enumerate(people, 1)]
    found = find_label_in_force(agents, said, needed)
    assert (found.label, describe_label_source(found)) == (label, words)


@pytest.fixture
def case(db: None) -> Case:
    """The only match of its query, and the agents'."""
    return factories.settled(factories.cases(factories.opened())[0], 1)


def shown(client: Client, name: str, case: Case) -> str:
    whose = {"case": [case.pk], "browse-build": [case.build_id], "build-corpus": [case.build_id]}
    args = whose.get(name, [case.build_id, case.query_id])
    return " ".join(client.get(reverse(name, args=args)).content.decode().split())


def test_one_expert_is_said_to_wait_for_a_second(case: Case, ray: Client) -> None:
    say(factories.erin(), case, 0)
    for name in ("case", "query", "matches"):
        assert "1 expert disagrees; counts when a second agrees" in shown(ray, name, case)
    assert "1 match" in shown(ray, "query", case)


def test_two_experts_overrule_the_agents_on_every_page_for_readers(case: Case, ray: Client) -> None:
    for person in (factories.erin(), factories.person("eve", Role.EXPERT)):
        say(person, case, 0)
    for name in ("case", "query"):
        assert "2 experts: no match (agents said match)" in shown(ray, name, case)
    assert "overruled" in shown(ray, "query", case)
    assert "No match yet" in shown(ray, "matches", case)
    for query, found in (("found=1", False), ("found=0", True), ("differs=overruled", True)):
        page = ray.get(reverse("browse-build", args=[case.build_id]) + f"?{query}").content.decode()
        assert (reverse("query", args=[case.build_id, case.query_id]) in page) is found, query
    index = " ".join(ray.get(reverse("browse")).content.decode().split())
    assert '<td data-label="Judged" class="num">1</td> <td data-label="Matches" class="num">0</td>' in index
    case.build.refresh_from_db()
    assert case.build.tally.matches == 1, "the agents' own"


def test_the_api_names_both_labels(case: Case, ray: Client) -> None:
    for person in (factories.erin(), factories.person("eve", Role.EXPERT)):
        say(person, case, 0)
    found = ray.get(f"/api/cases/{case.pk}").json()
    assert (found["label"], found["label_in_force"]) == (1, 0)
    build = ray.get(f"/api/builds/{case.build_id}").json()
    assert (build["matches"], build["matches_in_force"], build["no_matches_in_force"]) == (1, 0, 1)
    query = ray.get(f"/api/builds/{case.build_id}/queries").json()["items"][0]
    assert (query["matches"], query["matches_in_force"]) == (1, 0)


def test_an_admin_changes_the_rule_and_labels_follow(case: Case, ada: Client) -> None:
    say(factories.erin(), case, 0)
    address = reverse("build-review-rule", args=[case.build_id])
    assert "counts when two agree" in ada.get(address).content.decode()
    assert ada.post(address, {"reviews_needed": "1", "reason": ""}).status_code == 422
    answer = ada.post(address, {"reviews_needed": "1", "reason": "one expert"}, follow=True)
    assert "An expert’s label counts at once. 1 label changed." in answer.content.decode()
    assert Case.objects.get(pk=case.pk).label_in_force == 0
    data = {"reviews_needed": 2, "reason": "back"}
    answer = ada.post(f"/api/builds/{case.build_id}/review-rule", data, content_type="application/json")
    assert answer.json() == {"reviews_needed": 2, "hides_reviews": False, "changed": 1}
    assert Build.objects.get(pk=case.build_id).reviews_needed == 2
    assert Case.objects.get(pk=case.pk).label_in_force == 1
