"""Comments on pairs, flags for admins, and the people they mention."""

from typing import ClassVar

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("annotation", "0010_review_guidelines"),
        ("retrieval", "0004_aliases"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations: ClassVar = [
        migrations.AlterField(
            model_name="draft",
            name="field",
            field=models.CharField(
                choices=[
                    ("reason", "Reason"),
                    ("test", "Test"),
                    ("call", "Call"),
                    ("code", "Code"),
                    ("tags", "Tags"),
                    ("comment", "Comment"),
                ],
                max_length=7,
            ),
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("comment", "Comment"),
                            ("flag", "flag for admins"),
                            ("answer", "answer to a flag"),
                        ],
                        default="comment",
                        max_length=7,
                    ),
                ),
                ("text", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "answers",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="answer",
                        to="annotation.comment",
                    ),
                ),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="comments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(
                        help_text="seen with it",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="comments",
                        to="annotation.case",
                    ),
                ),
                (
                    "pair",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="comments",
                        to="retrieval.pair",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="Mention",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("read_at", models.DateTimeField(help_text="when the person was first shown it", null=True)),
                (
                    "comment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="mentions",
                        to="annotation.comment",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="mentions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="comment",
            constraint=models.CheckConstraint(
                condition=models.Q(("text", ""), _negated=True), name="comment_has_text"
            ),
        ),
        migrations.AddConstraint(
            model_name="comment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("answers__isnull", False), ("kind", "answer")),
                    models.Q(("answers__isnull", True), ("kind__in", ["comment", "flag"])),
                    _connector="OR",
                ),
                name="only_an_answer_answers",
            ),
        ),
        migrations.AddIndex(
            model_name="mention",
            index=models.Index(condition=models.Q(("read_at", None)), fields=["user"], name="mention_unread"),
        ),
        migrations.AddConstraint(
            model_name="mention",
            constraint=models.UniqueConstraint(fields=("comment", "user"), name="mention_once"),
        ),
    ]
