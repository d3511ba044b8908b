"""Under own tests a label needs a finished run of the rater’s own program, or a reason why none is possible."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0020_token_scope_and_stored_answers"),
    ]

    operations = [
        migrations.AddField(
            model_name="rating",
            name="no_test",
            field=models.TextField(
                blank=True, db_default="", help_text="why no test is possible, where a label needs a run"
            ),
        ),
        migrations.AddField(
            model_name="study",
            name="needs_run",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="under own tests a label needs a finished run of the rater's own program, or a reason why no test is possible",
            ),
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
                    ("no_test", "why no test is possible"),
                    ("skip", "why the pair is skipped"),
                ],
                max_length=7,
            ),
        ),
    ]
