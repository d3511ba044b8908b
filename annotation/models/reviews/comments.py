"""What experts write to each other about a pair, and what they ask an admin; only ever appended."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.builds.cases import Case
from retrieval.models import Pair


class CommentQuerySet(models.QuerySet["Comment"]):
    def open_flags(self) -> CommentQuerySet:
        """Flags that nobody answered yet."""
        return self.filter(kind=Comment.Kind.FLAG, answer=None)


class Comment(models.Model):
    """A comment on a pair, a flag that an admin should look at, or the answer that closes a flag."""

    class Kind(models.TextChoices):
        COMMENT = "comment"
        FLAG = "flag", "flag for admins"
        ANSWER = "answer", "answer to a flag"

    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="comments")
    case = models.ForeignKey(
        Case, on_delete=models.PROTECT, related_name="comments", help_text="seen with it"
    )
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="comments")
    kind = models.CharField(max_length=7, choices=Kind, default=Kind.COMMENT)
    text = models.TextField()
    answers = models.OneToOneField(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="answer"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CommentQuerySet.as_manager()

    unread: list[Mention]
    """Those of one person, where it was read with them (`annotation.review.comments`)."""

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=~Q(text=""), name="comment_has_text"),
            models.CheckConstraint(
                condition=Q(kind="answer", answers__isnull=False)
                | Q(kind__in=["comment", "flag"], answers__isnull=True),
                name="only_an_answer_answers",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.author} on {self.pair}"


class Mention(models.Model):
    """That a comment is meant for a person: named in it, or their flag is answered."""

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="mentions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mentions")
    read_at = models.DateTimeField(null=True, help_text="when the person was first shown it")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["comment", "user"], name="mention_once")]
        indexes = [
            models.Index(fields=["user"], condition=Q(read_at=None), name="mention_unread"),
        ]

    def __str__(self) -> str:
        return f"{self.comment} for {self.user}"
