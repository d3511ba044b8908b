"""Comments and flags on the pages: written in the history, read on the pair, answered by an admin."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.accounts.roles import Role
from annotation.models import Build, Case, Comment, Mention, Seen
from annotation.review.comments import answer_flag, post_comment
from tests import factories, studies
from tests.annotation.models.reviews.test_contradictions import say

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def case() -> Case:
    return factories.examined(factories.cases(factories.opened())[0], 1)


def look(client: Client, case: Case) -> str:
    answer = client.get(reverse("review-case", args=[case.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def write(client: Client, case: Case, text: str, kind: str = "comment", **headers: str) -> tuple[int, str]:
    sent = {"text": text, "kind": kind, "show": "waiting"}
    answer = client.post(reverse("review-comment", args=[case.pk]), sent, headers=headers)
    return answer.status_code, answer.content.decode()


def test_a_comment_stands_in_the_history_escaped(erin: Client, case: Case) -> None:
    status, page = write(erin, case, "<b>why</b> not?", **HTMX)
    assert status == 200 and "Comment saved." in page and 'id="panel-history"' in page
    assert "&lt;b&gt;why&lt;/b&gt; not?" in page and "<b>why" not in page
    assert "commented" in look(erin, case)


def test_without_htmx_it_leads_back_to_the_pair(erin: Client, case: Case) -> None:
    assert write(erin, case, "why?")[0] == 302
    assert erin.get(reverse("review-comment", args=[case.pk])).status_code == 302


def test_what_is_too_long_is_shown_again(erin: Client, case: Case) -> None:
    for headers in ({}, HTMX):
        status, page = write(erin, case, "y" * 5_001, **headers)
        assert status == 422 and "at most 5,000 characters" in page and "y" * 5_001 in page
    assert not Comment.objects.exists()


def test_where_labels_are_hidden_others_comments_are_too(erin: Client, case: Case) -> None:
    Build.objects.update(hides_reviews=True)
    eve = factories.person("eve", Role.EXPERT)
    post_comment(eve, case, "surely @erin sees that it is wrong")
    assert "surely" not in look(erin, case)
    assert "surely" not in write(erin, case, "what do you think?", **HTMX)[1]
    assert Mention.objects.get(user=factories.erin()).read_at is None
    say(factories.erin(), case, 1)
    assert "surely" in look(erin, case)
    assert Mention.objects.get(user=factories.erin()).read_at is not None


def test_who_is_named_finds_it_at_home_and_once_on_the_pair(ada: Client, case: Case) -> None:
    post_comment(factories.erin(), case, "@ada is this right?")
    home = ada.get(reverse("dashboard")).content.decode()
    assert "1 comment mentions you" in " ".join(home.split()).lower()
    assert reverse("review-case", args=[case.pk]) in home
    assert "mentioned you" in look(ada, case)
    assert "mentioned you" not in look(ada, case)
    assert "mentions you" not in ada.get(reverse("dashboard")).content.decode()


def test_an_expert_finds_answers_at_home(erin: Client, case: Case) -> None:
    flag = post_comment(factories.erin(), case, "check this", flag=True).comment
    answer_flag(factories.ada(), flag, "done")
    assert "1 answer to your flags" in erin.get("/work/").content.decode()
    page = look(erin, case)
    assert "answered a flag" in page and "flagged this pair for admins" in page
    assert "to your flags" not in erin.get("/work/").content.decode()


def test_admins_see_and_close_flags(ada: Client, case: Case) -> None:
    flag = post_comment(factories.erin(), case, "<i>check</i>", flag=True).comment
    assert "1 flag</a> of experts waits for an answer" in ada.get(reverse("dashboard")).content.decode()
    page = ada.get(reverse("flags")).content.decode()
    assert "&lt;i&gt;check" in page and Seen.objects.filter(user=factories.ada(), pair=case.pair_id).exists()
    address = reverse("flag-answer", args=[flag.pk])
    refused = ada.post(address, {"text": " "})
    assert refused.status_code == 422 and "write something first" in refused.content.decode()
    assert ada.post(address, {"text": "fixed"}).status_code == 302
    assert "No flag is open" in ada.get(reverse("flags")).content.decode()
    again = ada.post(address, {"text": "once more"}, follow=True).content.decode()
    assert "Another admin has answered" in again


def test_experts_do_not_close_flags(erin: Client, case: Case) -> None:
    flag = post_comment(factories.erin(), case, "check", flag=True).comment
    assert erin.get(reverse("flags")).status_code == 403
    assert erin.post(reverse("flag-answer", args=[flag.pk]), {"text": "x"}).status_code == 403


def test_a_blind_rater_sees_no_comment_of_a_pair_of_the_study(client: Client, case: Case) -> None:
    """Neither the pair nor that somebody named them on it."""
    rita = studies.rater("rita", studies.study(pairs=[case.pair]))
    post_comment(factories.erin(), case, "@rita it is a match")
    client.force_login(rita.user)
    assert client.get(reverse("review-case", args=[case.pk])).status_code == 403
    assert client.post(reverse("review-comment", args=[case.pk]), {"text": "x"}).status_code == 403
    home = client.get("/").content.decode()
    assert "mentions you" not in home and "it is a match" not in home


def test_flags_of_a_build_that_is_closed_to_an_admin_who_rates_do_not_show(ada: Client, case: Case) -> None:
    post_comment(factories.erin(), case, "secret verdict", flag=True)
    studies.rater("ada", studies.study(pairs=[case.pair]))
    assert "secret verdict" not in ada.get(reverse("flags")).content.decode()
