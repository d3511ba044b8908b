"""Comments on pairs: appended only, with the people whom they name, and flags that one answer closes."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.accounts.roles import Role
from annotation.models import Build, Case, Comment, Draft, Mention
from annotation.review import drafts
from annotation.review.comments import (
    AlreadyAnswered,
    BadComment,
    answer_flag,
    find_open_flags,
    find_unread_mentions,
    load_comments,
    mark_mentions_read,
    names_in,
    post_comment,
)
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def case() -> Case:
    return factories.settled(factories.cases(factories.opened())[0], 1)


@pytest.fixture
def eve() -> User:
    return factories.person("eve.b", Role.EXPERT)


def test_names_in_a_text_are_those_after_a_sign_of_their_own() -> None:
    assert names_in("@eve, see @ada. mail me@home.org (@ben)") == ["eve", "ada.", "ben"]


def test_post_comment_tells_experts_and_admins_and_says_who_is_nobody(case: Case, eve: User) -> None:
    factories.ray(), factories.ada()
    posted = post_comment(factories.erin(), case, "@eve.b. and @ada, not @ray or @zoe or @erin")
    assert posted.told == ("eve.b", "ada")
    assert posted.unknown == ("ray", "zoe")  # a reader sees no comments
    assert {mention.user.username for mention in Mention.objects.all()} == {"eve.b", "ada"}


@pytest.mark.parametrize("text", ["", " \n ", "x" * 5_001])
def test_post_comment_refuses_what_is_empty_or_too_long(case: Case, text: str) -> None:
    with pytest.raises(BadComment):
        post_comment(factories.erin(), case, text)
    assert not Comment.objects.exists()


def test_post_comment_takes_its_draft_along_and_no_other(case: Case) -> None:
    for field in (Draft.Field.COMMENT, Draft.Field.REASON):
        drafts.save_draft(factories.erin(), case.pair_id, field, "half a")
    post_comment(factories.erin(), case, "half a sentence")
    assert list(drafts.load_drafts(factories.erin(), case.pair_id)) == [Draft.Field.REASON]


def test_a_mention_is_unread_until_the_person_is_shown_it(case: Case, eve: User) -> None:
    post_comment(factories.erin(), case, "@eve.b look")
    builds = Build.objects.all()
    assert find_unread_mentions(eve, builds).count() == 1
    assert not find_unread_mentions(factories.erin(), builds)
    mark_mentions_read(load_comments(factories.erin(), case))
    assert find_unread_mentions(eve, builds).count() == 1, "somebody else has read it"
    mark_mentions_read(load_comments(eve, case))
    assert not find_unread_mentions(eve, builds)


def test_mentions_in_builds_that_are_closed_to_the_person_do_not_show(case: Case, eve: User) -> None:
    post_comment(factories.erin(), case, "@eve.b look")
    assert not find_unread_mentions(eve, Build.objects.none())


def test_a_flag_is_open_until_one_answer_which_its_author_is_told_of(case: Case) -> None:
    flag = post_comment(factories.erin(), case, "wrong query?", flag=True).comment
    assert list(find_open_flags(Build.objects.all())) == [flag]
    answer_flag(factories.ada(), flag, "it is meant so")
    assert not find_open_flags(Build.objects.all())
    assert [each.text for each in load_comments(factories.erin(), case)] == ["wrong query?", "it is meant so"]
    assert find_unread_mentions(factories.erin(), Build.objects.all()).get().comment.answers == flag


def test_a_flag_is_answered_once(case: Case) -> None:
    flag = post_comment(factories.erin(), case, "wrong query?", flag=True).comment
    answer_flag(factories.ada(), flag, "yes")
    with pytest.raises(AlreadyAnswered):
        answer_flag(factories.ada(), flag, "no")
    assert Comment.objects.count() == 2


def test_the_database_refuses_an_answer_to_nothing(case: Case) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Comment.objects.create(
            pair_id=case.pair_id, case=case, author=factories.erin(), kind="answer", text="to what?"
        )
