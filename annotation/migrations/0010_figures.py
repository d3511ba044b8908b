"""What a build's page tells: counted from now on, and for earlier builds from their rows where these tell."""

import django.db.models.deletion
from django.db import migrations, models

COUNTED = {
    "match": "cleared",
    "no_match": "cleared",
    "unclear": "unclear",
    "written": "written",
    "missing_module": "fixings",
}


SUMS = {
    "replies": models.Count("id", filter=models.Q(reply__isnull=False)),
    "sent": models.Sum(
        models.F("input_tokens") + models.F("cache_read_tokens") + models.F("cache_write_tokens")
    ),
    "written": models.Sum("output_tokens"),
    "paid": models.Sum("cost"),
    "seconds": models.Sum("latency"),
}


def count(apps, schema_editor):
    """Screening and writing from the steps, bills from the calls; times of earlier pairs are not known."""
    tallies = apps.get_model("annotation", "Tally").objects
    steps = apps.get_model("annotation", "Step").objects.filter(event__in=COUNTED).order_by()
    for build, event, number in steps.values_list("case__build", "event").annotate(n=models.Count("id")):
        column = COUNTED[event]
        tallies.filter(build=build).update(**{column: models.F(column) + number})
    groups, cases = apps.get_model("annotation", "Abandonment"), apps.get_model("annotation", "Case").objects
    left = cases.filter(stage="abandoned").order_by().values("build_id", "left")
    groups.objects.bulk_create(groups(**row) for row in left.annotate(cases=models.Count("id")))
    kind, calls = apps.get_model("annotation", "AgentBill"), apps.get_model("annotation", "LLMCall")
    rows = calls.objects.order_by().values("build_id", "agent").annotate(**SUMS)
    kind.objects.bulk_create(
        kind(
            build_id=row["build_id"],
            agent=row["agent"],
            calls=row["replies"],
            input_tokens=row["sent"],
            output_tokens=row["written"],
            spent=row["paid"],
            milliseconds=round(1000 * (row["seconds"] or 0)),
        )
        for row in rows
    )


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0009_canary"),
        ("retrieval", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="AgentBill",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("agent", models.CharField(max_length=40)),
                ("calls", models.PositiveIntegerField(db_default=0, default=0, help_text="that had a reply")),
                ("input_tokens", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("output_tokens", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("spent", models.BigIntegerField(db_default=0, default=0, help_text="nanodollars")),
                (
                    "milliseconds",
                    models.PositiveBigIntegerField(db_default=0, default=0, help_text="of all its calls"),
                ),
            ],
            options={
                "ordering": ["build", "agent"],
            },
        ),
        migrations.CreateModel(
            name="Duration",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "path",
                    models.CharField(
                        choices=[("clear", "settled by the screener"), ("unclear", "tested")], max_length=7
                    ),
                ),
                ("bucket", models.PositiveSmallIntegerField(help_text="class of the time, see bucket_of")),
                ("cases", models.PositiveIntegerField(db_default=0, default=0)),
            ],
            options={
                "ordering": ["build", "path", "bucket"],
            },
        ),
        migrations.CreateModel(
            name="Moment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                ("total", models.PositiveIntegerField()),
                ("settled", models.PositiveIntegerField()),
                ("abandoned", models.PositiveIntegerField()),
                ("spent", models.PositiveBigIntegerField(help_text="nanodollars")),
            ],
            options={
                "ordering": ["build", "at"],
            },
        ),
        migrations.AddField(
            model_name="case",
            name="cause",
            field=models.CharField(blank=True, db_default="", help_text="the reason's kind", max_length=130),
        ),
        migrations.AddField(
            model_name="case",
            name="seconds",
            field=models.FloatField(
                db_default=0, default=0, help_text="worked on it so far, without waiting"
            ),
        ),
        migrations.AddField(
            model_name="step",
            name="seconds",
            field=models.FloatField(
                help_text="worked on it, without waiting; none where not known", null=True
            ),
        ),
        migrations.AddField(
            model_name="tally",
            name="arbitrating_ms",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="tally",
            name="cleared",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="settled by the screener, without a test"
            ),
        ),
        migrations.AddField(
            model_name="tally",
            name="executing_ms",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="tally",
            name="fixing_ms",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="tally",
            name="fixings",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="times that a module was missing and looked for"
            ),
        ),
        migrations.AddField(
            model_name="tally",
            name="screening_ms",
            field=models.PositiveBigIntegerField(db_default=0, default=0, help_text="worked in this stage"),
        ),
        migrations.AddField(
            model_name="tally",
            name="test_cases",
            field=models.PositiveBigIntegerField(
                db_default=0, default=0, help_text="assertions in the programs written"
            ),
        ),
        migrations.AddField(
            model_name="tally",
            name="unclear",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="that the screener could not judge"
            ),
        ),
        migrations.AddField(
            model_name="tally",
            name="writing_test_ms",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="tally",
            name="written",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="that got their test program"
            ),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                condition=models.Q(("stage", "abandoned")),
                fields=["build", "cause", "id"],
                name="case_by_cause",
            ),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                condition=models.Q(("execution__isnull", False)), fields=["build", "id"], name="case_executed"
            ),
        ),
        migrations.AddField(
            model_name="agentbill",
            name="build",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="bills", to="annotation.build"
            ),
        ),
        migrations.AddField(
            model_name="duration",
            name="build",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="durations", to="annotation.build"
            ),
        ),
        migrations.AddField(
            model_name="moment",
            name="build",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="moments", to="annotation.build"
            ),
        ),
        migrations.AddConstraint(
            model_name="agentbill",
            constraint=models.UniqueConstraint(fields=("build", "agent"), name="agent_bill_once"),
        ),
        migrations.AddConstraint(
            model_name="duration",
            constraint=models.UniqueConstraint(fields=("build", "path", "bucket"), name="duration_once"),
        ),
        migrations.AddIndex(
            model_name="moment",
            index=models.Index(fields=["build", "at"], name="moment_by_build"),
        ),
        migrations.CreateModel(
            name="Abandonment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("cause", models.CharField(blank=True, max_length=130)),
                ("left", models.CharField(help_text="the stage that the cases left", max_length=12)),
                ("cases", models.IntegerField(db_default=0, default=0)),
                (
                    "build",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="abandonments",
                        to="annotation.build",
                    ),
                ),
            ],
            options={
                "ordering": ["build", "-cases", "cause", "left"],
                "constraints": [
                    models.UniqueConstraint(fields=("build", "cause", "left"), name="abandonment_once")
                ],
            },
        ),
        migrations.RunPython(count, migrations.RunPython.noop),
    ]
