"""A plan says whether raters must say who they are, and whether they are told the answers of onboarding pairs."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0011_comments")]

    operations = [
        migrations.AddField(
            model_name="study",
            name="asks_profile",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="raters must say years of Python, job and languages before their first pair",
            ),
        ),
        migrations.AddField(
            model_name="study",
            name="practice",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="raters are told the answer of an onboarding pair once they have labelled it",
            ),
        ),
        migrations.AddField(
            model_name="studypair",
            name="answer_reason",
            field=models.TextField(
                blank=True,
                db_default="",
                help_text="why that is the answer: what raters are told in practice",
            ),
        ),
    ]
