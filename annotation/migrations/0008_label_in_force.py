"""The label in force of each case, its counts in the totals, and how many experts a build asks for."""

from typing import ClassVar

from django.db import migrations, models

from annotation.models.reviews.labels_in_force import recount_labels_in_force


def recount(apps, schema_editor):
    recount_labels_in_force()


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("annotation", "0007_work_notices"),
        ("retrieval", "0004_aliases"),
    ]

    operations: ClassVar = [
        migrations.AddField(
            model_name="build",
            name="reviews_needed",
            field=models.PositiveSmallIntegerField(
                choices=[(1, "counts at once"), (2, "counts when two agree")],
                db_default=2,
                default=2,
                help_text="so many experts must agree before their label counts instead of the agents'",
            ),
        ),
        migrations.AddField(
            model_name="case",
            name="label_in_force",
            field=models.SmallIntegerField(
                help_text="what counts for readers: the merge rule, over its label and what people say",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="tally",
            name="matches_in_force",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="by the label in force, whoever gave it"
            ),
        ),
        migrations.AddField(
            model_name="tally",
            name="no_matches_in_force",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name="case",
            name="label",
            field=models.SmallIntegerField(help_text="the agents' own", null=True),
        ),
        migrations.AlterField(
            model_name="tally",
            name="matches",
            field=models.PositiveIntegerField(default=0, help_text="by the agents' own label"),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                condition=models.Q(("label_in_force", 1)),
                fields=["build", "id"],
                name="case_matches_in_force",
            ),
        ),
        migrations.RunPython(recount, migrations.RunPython.noop),
    ]
