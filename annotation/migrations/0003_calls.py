"""What people ask of a candidate, and what came of it."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0002_roles"),
        ("retrieval", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="CallAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("candidate_hash", models.CharField(max_length=64)),
                ("image", models.CharField(max_length=200)),
                ("limits", models.CharField(help_text="hash of the limits", max_length=64)),
                ("backend", models.CharField(max_length=40)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("returned", "returned"),
                            ("raised", "raised"),
                            ("errored", "errored"),
                            ("timed_out", "timed_out"),
                            ("out_of_memory", "out_of_memory"),
                            ("output_overflow", "output_overflow"),
                            ("dependency_refused", "dependency_refused"),
                            ("unavailable", "unavailable"),
                        ],
                        max_length=20,
                    ),
                ),
                ("seconds", models.FloatField()),
                ("queued_seconds", models.FloatField(default=0)),
                ("text", models.TextField(help_text="sandbox.calling.Answer as JSON")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.AlterField(
            model_name="draft",
            name="field",
            field=models.CharField(
                choices=[("reason", "Reason"), ("test", "Test"), ("call", "Call")], max_length=6
            ),
        ),
        migrations.CreateModel(
            name="CallRequest",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("dependencies", models.JSONField(default=list)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("message", models.TextField(blank=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expression", models.TextField()),
                (
                    "answer",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="request",
                        to="annotation.callanswer",
                    ),
                ),
                (
                    "pair",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="calls", to="retrieval.pair"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["state", "id"], name="call_request_by_state"),
                    models.Index(fields=["user", "pair", "id"], name="call_request_by_person"),
                ],
            },
        ),
    ]
