"""Raters choose programming languages; pairs of a study know theirs. Those of earlier studies stay without."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0023_origin_links"),
    ]

    operations = [
        migrations.AddField(
            model_name="studypair",
            name="language",
            field=models.CharField(
                blank=True,
                db_default="",
                help_text="of the function's file; empty: not known",
                max_length=20,
            ),
        ),
        migrations.AddField(
            model_name="enrolment",
            name="code_languages",
            field=models.JSONField(
                default=list, help_text="programming languages whose pairs the rater is given; none: all"
            ),
        ),
    ]
