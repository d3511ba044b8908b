"""Raters and whoever decides a split mark lines of the function as the reason, as experts do."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0017_unusable_replies"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="adjudication",
            name="marked_code",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="sha256 of the code with these lines",
                max_length=64,
            ),
        ),
        migrations.AddField(
            model_name="adjudication",
            name="marked_first",
            field=models.PositiveIntegerField(
                help_text="first line of the function, from 1, that is marked as the reason", null=True
            ),
        ),
        migrations.AddField(
            model_name="adjudication",
            name="marked_last",
            field=models.PositiveIntegerField(help_text="last line of them", null=True),
        ),
        migrations.AddField(
            model_name="rating",
            name="marked_code",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="sha256 of the code with these lines",
                max_length=64,
            ),
        ),
        migrations.AddField(
            model_name="rating",
            name="marked_first",
            field=models.PositiveIntegerField(
                help_text="first line of the function, from 1, that is marked as the reason", null=True
            ),
        ),
        migrations.AddField(
            model_name="rating",
            name="marked_last",
            field=models.PositiveIntegerField(help_text="last line of them", null=True),
        ),
        migrations.AlterField(
            model_name="ratingdraft",
            name="field",
            field=models.CharField(
                choices=[
                    ("notes", "Notes"),
                    ("reason", "Reason"),
                    ("test", "Test"),
                    ("call", "Call"),
                    ("choice", "Choice"),
                    ("reading", "Reading"),
                    ("lines", "Lines"),
                    ("skip", "why the pair is skipped"),
                ],
                max_length=7,
            ),
        ),
        migrations.AddConstraint(
            model_name="adjudication",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("marked_code", ""), ("marked_first", None), ("marked_last", None)),
                    models.Q(
                        ("marked_first__isnull", False),
                        ("marked_last__isnull", False),
                        ("marked_first__gte", 1),
                        ("marked_last__gte", models.F("marked_first")),
                        models.Q(("marked_code", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="adjudication_marks_whole_lines",
            ),
        ),
        migrations.AddConstraint(
            model_name="rating",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("marked_code", ""), ("marked_first", None), ("marked_last", None)),
                    models.Q(
                        ("marked_first__isnull", False),
                        ("marked_last__isnull", False),
                        ("marked_first__gte", 1),
                        ("marked_last__gte", models.F("marked_first")),
                        models.Q(("marked_code", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="rating_marks_whole_lines",
            ),
        ),
    ]
