"""Comments on pairs: written, answered and read. `@name` tells an expert or an admin of a comment."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.accounts.roles import Role
from annotation.draft_rules import Window
from annotation.models import Build, Case, Comment, Draft, Mention
from annotation.review import drafts
from retrieval.models.prepared_query import PreparedQuery
from retrieval.texts.hostile import mark_hostile_characters

LONGEST_COMMENT: Final = 5_000
MOST_SHOWN: Final = 50
"""So many comments of a pair are shown, the newest."""
COMMENTS: PreparedQuery[Comment] = PreparedQuery(
    lambda pair: Comment.objects.filter(pair=pair).select_related("author")[:MOST_SHOWN], int
)
MOST_MENTIONS: Final = 20
NAME: Final = re.compile(r"(?<![\w@])@([\w.@+-]{1,150})")
"""What a name of an account may have. A sentence may end right after one, so its full stop comes off."""


class BadComment(ValueError):
    """The comment can't be stored; the message says what to change."""


class AlreadyAnswered(ValueError):
    """Another admin has answered the flag."""


@dataclass(frozen=True, slots=True)
class PostedComment:
    """A comment that was stored, with the names in it that are nobody's who could be told."""

    comment: Comment
    told: tuple[str, ...]
    unknown: tuple[str, ...]


def post_comment(
    user: User, case: Case, text: str, *, flag: bool = False, window: Window | None = None
) -> PostedComment:
    """Append a comment or a flag for admins, and notify the people it mentions. Raises BadComment."""
    kept = check_comment(text)
    kind = Comment.Kind.FLAG if flag else Comment.Kind.COMMENT
    with transaction.atomic():
        made = Comment.objects.create(pair_id=case.pair_id, case=case, author=user, kind=kind, text=kept)
        posted = tell_mentioned(made)
        drafts.clear_drafts(user, case.pair_id, Draft.Field.COMMENT, window=window)
    return posted


def answer_flag(user: User, flag: Comment, text: str) -> PostedComment:
    """Close a flag with an answer, which its author is told of. Raises BadComment and AlreadyAnswered."""
    kept = check_comment(text)
    try:
        with transaction.atomic():
            made = Comment.objects.create(
                pair_id=flag.pair_id,
                case_id=flag.case_id,
                author=user,
                kind=Comment.Kind.ANSWER,
                text=kept,
                answers=flag,
            )
            return tell_mentioned(made, flag.author)
    except IntegrityError as taken:
        raise AlreadyAnswered("Another admin has answered this flag meanwhile.") from taken


def check_comment(text: str) -> str:
    """The text as it is stored. Raises BadComment."""
    kept = mark_hostile_characters(text).replace("\r\n", "\n").strip()
    if not kept:
        raise BadComment("The comment is empty: write something first.")
    if len(kept) > LONGEST_COMMENT:
        raise BadComment(f"A comment has at most {LONGEST_COMMENT:,} characters; this one has {len(kept):,}.")
    return kept


def tell_mentioned(comment: Comment, *others: User) -> PostedComment:
    """Notify these people, and those the text mentions, of the comment; never its author."""
    wanted = names_in(comment.text)
    spelled = {variant for name in wanted for variant in spellings(name)}
    found = {user.get_username(): user for user in people_to_tell().filter(username__in=spelled)}
    named = [next((found[each] for each in spellings(name) if each in found), None) for name in wanted]
    people = {user.pk: user for user in (*named, *others) if user is not None and user != comment.author}
    Mention.objects.bulk_create(Mention(comment=comment, user=user) for user in people.values())
    unknown = tuple(name for name, user in zip(wanted, named, strict=True) if user is None)
    return PostedComment(comment, tuple(user.get_username() for user in people.values()), unknown)


def names_in(text: str) -> list[str]:
    """The names after an `@`, each once, in their order."""
    return list(dict.fromkeys(NAME.findall(text)))[:MOST_MENTIONS]


def spellings(name: str) -> tuple[str, str]:
    """A name as it was written, and without the signs of a sentence that ends with it."""
    return name, name.rstrip(".-+@")


def people_to_tell() -> QuerySet[User]:
    """Experts and admins with an open account: those who see comments."""
    may_review = Q(groups__name__in=(Role.EXPERT, Role.ADMIN)) | Q(is_superuser=True)
    return User.objects.filter(may_review, is_active=True).distinct()


def load_comments(user: User, case: Case) -> list[Comment]:
    """The newest comments of the case's pair, the oldest first, with the person's `unread` mentions.

    Two queries where there are any, else one. It does not ask who may read them: pages show a case to nobody
    who rates its pair blind.
    """
    comments = COMMENTS.load(case.pair_id)[::-1]
    unread: dict[int, list[Mention]] = defaultdict(list)
    if comments:
        for mention in Mention.objects.filter(user=user, read_at=None, comment__in=comments):
            unread[mention.comment_id].append(mention)
    for comment in comments:
        comment.unread = unread[comment.pk]
    return comments


def mark_mentions_read(comments: Sequence[Comment]) -> None:
    """Mark the unread mentions of these comments as read. No query if there are none."""
    rows = [mention.pk for comment in comments for mention in comment.unread]
    if rows:
        Mention.objects.filter(pk__in=rows, read_at=None).update(read_at=timezone.now())


def mark_pair_mentions_read(user: User, pair: int) -> None:
    """The same of a pair that was fetched ahead and is on the screen now."""
    unread = Mention.objects.filter(user=user, read_at=None, comment__pair=pair)
    unread.update(read_at=timezone.now())


def find_unread_mentions(user: User, builds: QuerySet[Build]) -> QuerySet[Mention]:
    """What the person was not shown yet, the oldest first, in builds that they may see."""
    rows = Mention.objects.filter(user=user, read_at=None, comment__case__build__in=builds)
    return rows.order_by("id")


def find_open_flags(builds: QuerySet[Build]) -> QuerySet[Comment]:
    """Flags that wait for an admin, the oldest first."""
    return Comment.objects.open_flags().filter(case__build__in=builds).order_by("id")
