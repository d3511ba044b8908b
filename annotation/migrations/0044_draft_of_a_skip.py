"""Why a pair is skipped is kept while it is typed, as the other fields are."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0043_window_of_drafts")]

    operations = [
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
                    ("skip", "why the pair is skipped"),
                ],
                max_length=7,
            ),
        ),
    ]
