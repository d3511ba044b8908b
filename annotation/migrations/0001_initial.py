"""All tables of annotation, the roles, and the one row of what is spent."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import annotation.stages
import retrieval.models.blobs
from retrieval.migrations._at_once import CreateAllModels, RunOnNewToo

ROLES = ("reader", "expert", "admin")


def fill(apps, schema_editor):
    """The groups that are the roles, and the one row of what is spent."""
    for name in ROLES:
        apps.get_model("auth", "Group").objects.get_or_create(name=name)
    apps.get_model("annotation", "ProjectTally").objects.get_or_create(pk=1)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("retrieval", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateAllModels(
            models=[
                migrations.CreateModel(
                    name="Build",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(max_length=120, unique=True)),
                        (
                            "queries",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="builds_as_queries",
                                to="retrieval.collection",
                            ),
                        ),
                        (
                            "snippets",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="builds_as_snippets",
                                to="retrieval.collection",
                            ),
                        ),
                        (
                            "mining",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="builds",
                                to="retrieval.mining",
                            ),
                        ),
                        (
                            "pair_list",
                            models.ForeignKey(
                                help_text="the pairs that it judges, in the place of a mining",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="builds",
                                to="retrieval.pairlist",
                            ),
                        ),
                        (
                            "annotator",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="builds",
                                to="retrieval.annotator",
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("running", "Running"),
                                    ("paused", "Paused"),
                                    ("waiting", "waiting for provider"),
                                    ("canary", "canary done: waiting for you"),
                                    ("cancelled", "Cancelled"),
                                    ("failed", "Failed"),
                                    ("done", "Done"),
                                ],
                                default="running",
                                max_length=9,
                            ),
                        ),
                        (
                            "provider",
                            models.CharField(
                                choices=[
                                    ("live", "live: asks the model named"),
                                    ("exchange", "file exchange: any model answers by file"),
                                    ("recorded", "recorded replies"),
                                ],
                                max_length=8,
                            ),
                        ),
                        (
                            "recorded",
                            models.CharField(
                                blank=True, help_text="file of recorded replies", max_length=400
                            ),
                        ),
                        ("model", models.CharField(max_length=120)),
                        (
                            "limit",
                            models.PositiveIntegerField(
                                blank=True, help_text="at most so many pairs", null=True
                            ),
                        ),
                        (
                            "rounds",
                            models.PositiveSmallIntegerField(
                                db_default=1,
                                default=1,
                                help_text="how often each pair is judged anew: so many cases has a pair",
                            ),
                        ),
                        (
                            "reason",
                            models.TextField(blank=True, help_text="why it waits, failed or was stopped"),
                        ),
                        (
                            "waits_for",
                            models.CharField(
                                choices=[("provider", "Provider"), ("sandbox", "Sandbox")],
                                default="provider",
                                max_length=8,
                            ),
                        ),
                        (
                            "waiting_since",
                            models.DateTimeField(help_text="since when it waits for what is away", null=True),
                        ),
                        (
                            "next_probe_at",
                            models.DateTimeField(
                                help_text="when what is away is tried next; none while it waits for a person",
                                null=True,
                            ),
                        ),
                        (
                            "probe_count",
                            models.PositiveIntegerField(
                                default=0, help_text="how often it was tried meanwhile"
                            ),
                        ),
                        ("opened", models.BooleanField(default=False, help_text="its cases have been made")),
                        (
                            "batches",
                            models.BooleanField(
                                db_default=False,
                                default=False,
                                help_text="screener and test writer are asked by batch",
                            ),
                        ),
                        (
                            "for_experts",
                            models.BooleanField(
                                db_default=False,
                                default=False,
                                help_text="people judge its given pairs, no agent",
                            ),
                        ),
                        (
                            "estimate",
                            models.JSONField(
                                blank=True,
                                help_text="what it was expected to take when somebody confirmed its launch",
                                null=True,
                            ),
                        ),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["-created_at"],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("mining__isnull", False), ("pair_list__isnull", True)),
                                    models.Q(("mining__isnull", True), ("pair_list__isnull", False)),
                                    _connector="OR",
                                ),
                                name="build_of_one_source",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Tally",
                    fields=[
                        (
                            "build",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="tally",
                                serialize=False,
                                to="annotation.build",
                            ),
                        ),
                        (
                            "version",
                            models.PositiveBigIntegerField(
                                default=0, help_text="grows with every change: watch it"
                            ),
                        ),
                        ("screening", models.PositiveIntegerField(default=0)),
                        ("reading", models.PositiveIntegerField(db_default=0, default=0)),
                        ("writing_test", models.PositiveIntegerField(default=0)),
                        ("executing", models.PositiveIntegerField(default=0)),
                        ("fixing", models.PositiveIntegerField(default=0)),
                        ("arbitrating", models.PositiveIntegerField(default=0)),
                        ("tie_breaking", models.PositiveIntegerField(db_default=0, default=0)),
                        ("settled", models.PositiveIntegerField(default=0)),
                        ("abandoned", models.PositiveIntegerField(default=0)),
                        ("matches", models.PositiveIntegerField(default=0)),
                        (
                            "programs",
                            models.PositiveIntegerField(
                                default=0, help_text="generated programs that were executed"
                            ),
                        ),
                        (
                            "ran",
                            models.PositiveIntegerField(
                                default=0, help_text="of them, those that reached an assertion"
                            ),
                        ),
                        (
                            "asserted",
                            models.PositiveIntegerField(
                                default=0, help_text="of them, those that evaluated one"
                            ),
                        ),
                        (
                            "touched",
                            models.PositiveIntegerField(
                                default=0, help_text="of them, those that tested the candidate"
                            ),
                        ),
                        (
                            "second_tests",
                            models.PositiveIntegerField(
                                default=0,
                                help_text="second programs that were executed, because the first tested nothing",
                            ),
                        ),
                        (
                            "second_touched",
                            models.PositiveIntegerField(
                                default=0, help_text="of them, those that tested the candidate"
                            ),
                        ),
                        (
                            "cleared",
                            models.PositiveIntegerField(
                                db_default=0, default=0, help_text="settled by the screener, without a test"
                            ),
                        ),
                        (
                            "unclear",
                            models.PositiveIntegerField(
                                db_default=0, default=0, help_text="that the screener could not judge"
                            ),
                        ),
                        (
                            "written",
                            models.PositiveIntegerField(
                                db_default=0, default=0, help_text="that got their test program"
                            ),
                        ),
                        (
                            "fixings",
                            models.PositiveIntegerField(
                                db_default=0,
                                default=0,
                                help_text="times that a module was missing and looked for",
                            ),
                        ),
                        (
                            "test_cases",
                            models.PositiveBigIntegerField(
                                db_default=0, default=0, help_text="assertions in the programs written"
                            ),
                        ),
                        (
                            "read",
                            models.PositiveIntegerField(
                                db_default=0, default=0, help_text="that the reader judged"
                            ),
                        ),
                        (
                            "disputed",
                            models.PositiveIntegerField(
                                db_default=0, default=0, help_text="on which reader and arbiter differed"
                            ),
                        ),
                        (
                            "sound_tests",
                            models.PositiveIntegerField(
                                db_default=0,
                                default=0,
                                help_text="programs whose reference passed and whose neighbour failed",
                            ),
                        ),
                        (
                            "screening_ms",
                            models.PositiveBigIntegerField(
                                db_default=0, default=0, help_text="worked in this stage"
                            ),
                        ),
                        ("reading_ms", models.PositiveBigIntegerField(db_default=0, default=0)),
                        ("writing_test_ms", models.PositiveBigIntegerField(db_default=0, default=0)),
                        ("executing_ms", models.PositiveBigIntegerField(db_default=0, default=0)),
                        ("fixing_ms", models.PositiveBigIntegerField(db_default=0, default=0)),
                        ("arbitrating_ms", models.PositiveBigIntegerField(db_default=0, default=0)),
                        ("tie_breaking_ms", models.PositiveBigIntegerField(db_default=0, default=0)),
                        ("calls", models.PositiveIntegerField(default=0)),
                        (
                            "provider_errors",
                            models.PositiveIntegerField(
                                default=0, help_text="errors of the provider since its last reply"
                            ),
                        ),
                        (
                            "sandbox_errors",
                            models.PositiveIntegerField(
                                default=0,
                                help_text="runs that the sandbox could not make since the last that it made",
                            ),
                        ),
                        ("reused", models.PositiveIntegerField(default=0)),
                        ("input_tokens", models.PositiveBigIntegerField(default=0)),
                        ("output_tokens", models.PositiveBigIntegerField(default=0)),
                        (
                            "cap",
                            models.PositiveBigIntegerField(help_text="nanodollars; null = no cap", null=True),
                        ),
                        ("reserved", models.PositiveBigIntegerField(default=0, help_text="nanodollars")),
                        ("spent", models.PositiveBigIntegerField(default=0, help_text="nanodollars")),
                    ],
                ),
                migrations.CreateModel(
                    name="BuildEvent",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "build",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="events",
                                to="annotation.build",
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("event", models.CharField(max_length=40)),
                        ("note", models.TextField(blank=True)),
                        ("at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["-at", "-id"],
                    },
                ),
                migrations.CreateModel(
                    name="Price",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("model", models.CharField(max_length=120)),
                        ("effective_from", models.DateTimeField()),
                        ("input", models.DecimalField(decimal_places=6, max_digits=12)),
                        ("output", models.DecimalField(decimal_places=6, max_digits=12)),
                        (
                            "cache_read",
                            models.DecimalField(
                                blank=True,
                                decimal_places=6,
                                help_text="input that was read from the provider's cache; empty = as other input",
                                max_digits=12,
                                null=True,
                            ),
                        ),
                        (
                            "cache_write",
                            models.DecimalField(
                                blank=True,
                                decimal_places=6,
                                help_text="input that was written to it; empty = 1.25 times other input, Anthropic's rule for the cache of 5 minutes that our requests ask for",
                                max_digits=12,
                                null=True,
                            ),
                        ),
                        ("note", models.CharField(blank=True, max_length=200)),
                        (
                            "source",
                            models.CharField(
                                blank=True,
                                help_text="where a shipped price was read; empty = a person entered it",
                                max_length=200,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["model", "-effective_from"],
                        "constraints": [
                            models.UniqueConstraint(fields=("model", "effective_from"), name="price_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Batch",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "build",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="all_batches",
                                to="annotation.build",
                            ),
                        ),
                        ("stage", models.CharField(max_length=12)),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("filling", "takes requests"),
                                    ("sending", "being sent"),
                                    ("open", "at the provider"),
                                    ("ended", "Ended"),
                                    ("withdrawn", "never sent"),
                                ],
                                default="filling",
                                max_length=9,
                            ),
                        ),
                        (
                            "provider_id",
                            models.CharField(
                                blank=True, help_text="the provider's id of the batch", max_length=120
                            ),
                        ),
                        (
                            "is_guessed",
                            models.BooleanField(
                                db_default=False,
                                default=False,
                                help_text="its id was lost; the provider's that looks like it is taken for it, as no result refutes",
                            ),
                        ),
                        (
                            "refuted_ids",
                            models.JSONField(
                                default=list, help_text="ids that were taken for this batch and are others'"
                            ),
                        ),
                        (
                            "refused_output_mode",
                            models.CharField(
                                blank=True,
                                db_default="",
                                help_text="how structured output was asked for in vain",
                                max_length=12,
                            ),
                        ),
                        (
                            "has_room",
                            models.BooleanField(
                                default=True, help_text="it is the one that requests of its stage join"
                            ),
                        ),
                        ("requests", models.PositiveIntegerField(default=0)),
                        (
                            "size",
                            models.PositiveBigIntegerField(default=0, help_text="bytes of its requests"),
                        ),
                        (
                            "answered",
                            models.PositiveIntegerField(default=0, help_text="results with a reply"),
                        ),
                        (
                            "returned",
                            models.PositiveIntegerField(default=0, help_text="results without: asked again"),
                        ),
                        (
                            "unknown_results",
                            models.PositiveIntegerField(
                                default=0, help_text="results of requests that nobody has made"
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("joined_at", models.DateTimeField(help_text="when the last request joined it")),
                        ("sent_at", models.DateTimeField(null=True)),
                        (
                            "next_poll_at",
                            models.DateTimeField(help_text="when a worker looks after it next", null=True),
                        ),
                        (
                            "idle_polls",
                            models.PositiveIntegerField(
                                default=0, help_text="looks without news, for the pauses to grow"
                            ),
                        ),
                        (
                            "cancelled_at",
                            models.DateTimeField(
                                help_text="when the provider was asked to stop it", null=True
                            ),
                        ),
                        ("ended_at", models.DateTimeField(null=True)),
                        ("error", models.TextField(blank=True, help_text="what went wrong at the last look")),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(("next_poll_at__isnull", False)),
                                fields=["next_poll_at"],
                                name="batch_due",
                            ),
                            models.Index(fields=["build", "state", "id"], name="batch_by_build_and_state"),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("provider_id", ""), _negated=True),
                                fields=("provider_id",),
                                name="batch_provider_id_once",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("has_room", True)),
                                fields=("build", "stage"),
                                name="batch_with_room_once",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="SystemText",
                    fields=[
                        (
                            "digest",
                            retrieval.models.blobs.Digest(max_length=64, primary_key=True, serialize=False),
                        ),
                        ("size", models.PositiveIntegerField()),
                        ("data", models.BinaryField()),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="RequestText",
                    fields=[
                        (
                            "digest",
                            retrieval.models.blobs.Digest(max_length=64, primary_key=True, serialize=False),
                        ),
                        ("size", models.PositiveIntegerField()),
                        ("data", models.BinaryField()),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="ReplyText",
                    fields=[
                        (
                            "digest",
                            retrieval.models.blobs.Digest(max_length=64, primary_key=True, serialize=False),
                        ),
                        ("size", models.PositiveIntegerField()),
                        ("data", models.BinaryField()),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="LLMCall",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("digest", models.CharField(max_length=64)),
                        ("attempt", models.PositiveIntegerField(default=1)),
                        (
                            "status",
                            models.CharField(
                                choices=[
                                    ("reserved", "Reserved"),
                                    ("waiting", "waiting for a reply by file"),
                                    ("batched", "in a batch, which ends later"),
                                    ("succeeded", "Succeeded"),
                                    ("failed", "Failed"),
                                    (
                                        "unusable",
                                        "no answer that can be used; its build does not ask again by itself",
                                    ),
                                    ("unknown", "no word came back; counted at its bound"),
                                ],
                                max_length=9,
                            ),
                        ),
                        ("agent", models.CharField(max_length=40)),
                        ("model", models.CharField(max_length=120)),
                        (
                            "batch",
                            models.ForeignKey(
                                help_text="it costs half in one",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="calls",
                                to="annotation.batch",
                            ),
                        ),
                        (
                            "provider",
                            models.CharField(
                                help_text="which LLM answered: live, recorded:NAME, exchange", max_length=120
                            ),
                        ),
                        (
                            "build",
                            models.ForeignKey(
                                db_index=False,
                                help_text="who pays",
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="calls",
                                to="annotation.build",
                            ),
                        ),
                        (
                            "system",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="annotation.systemtext",
                            ),
                        ),
                        (
                            "request",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="annotation.requesttext",
                            ),
                        ),
                        (
                            "reply",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="annotation.replytext",
                            ),
                        ),
                        ("error", models.TextField(blank=True)),
                        ("input_tokens", models.PositiveIntegerField(default=0)),
                        ("output_tokens", models.PositiveIntegerField(default=0)),
                        ("cache_read_tokens", models.PositiveIntegerField(default=0)),
                        ("cache_write_tokens", models.PositiveIntegerField(default=0)),
                        (
                            "price",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="calls",
                                to="annotation.price",
                            ),
                        ),
                        (
                            "bound",
                            models.PositiveBigIntegerField(
                                default=0, help_text="nanodollars reserved for it"
                            ),
                        ),
                        ("cost", models.PositiveBigIntegerField(default=0, help_text="nanodollars")),
                        ("latency", models.FloatField(help_text="seconds", null=True)),
                        (
                            "answered_by",
                            models.CharField(
                                blank=True, help_text="the model that the reply names", max_length=120
                            ),
                        ),
                        (
                            "provider_id",
                            models.CharField(
                                blank=True, help_text="the provider's id of the call", max_length=120
                            ),
                        ),
                        ("stop_reason", models.CharField(blank=True, max_length=40)),
                        (
                            "expires_at",
                            models.DateTimeField(help_text="when a reservation counts as lost", null=True),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["build", "status", "id"], name="call_by_build_and_status"),
                            models.Index(
                                condition=models.Q(("status", "reserved")),
                                fields=["model"],
                                name="call_in_the_air",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("digest", "attempt"), name="call_attempt_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="AgentBill",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "build",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="bills",
                                to="annotation.build",
                            ),
                        ),
                        ("agent", models.CharField(max_length=40)),
                        (
                            "calls",
                            models.PositiveIntegerField(
                                db_default=0, default=0, help_text="that had a reply"
                            ),
                        ),
                        ("input_tokens", models.PositiveBigIntegerField(db_default=0, default=0)),
                        ("output_tokens", models.PositiveBigIntegerField(db_default=0, default=0)),
                        ("spent", models.BigIntegerField(db_default=0, default=0, help_text="nanodollars")),
                        (
                            "milliseconds",
                            models.PositiveBigIntegerField(
                                db_default=0, default=0, help_text="of all its calls"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["build", "agent"],
                        "constraints": [
                            models.UniqueConstraint(fields=("build", "agent"), name="agent_bill_once")
                        ],
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
                            "build",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="durations",
                                to="annotation.build",
                            ),
                        ),
                        (
                            "path",
                            models.CharField(
                                choices=[("clear", "settled by the screener"), ("unclear", "tested")],
                                max_length=7,
                            ),
                        ),
                        (
                            "bucket",
                            models.PositiveSmallIntegerField(help_text="class of the time, see bucket_of"),
                        ),
                        ("cases", models.PositiveIntegerField(db_default=0, default=0)),
                    ],
                    options={
                        "ordering": ["build", "path", "bucket"],
                        "constraints": [
                            models.UniqueConstraint(fields=("build", "path", "bucket"), name="duration_once")
                        ],
                    },
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
                        (
                            "build",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="abandonments",
                                to="annotation.build",
                            ),
                        ),
                        ("cause", models.CharField(blank=True, max_length=130)),
                        (
                            "left_stage",
                            models.CharField(help_text="the stage that the cases left", max_length=12),
                        ),
                        ("cases", models.IntegerField(db_default=0, default=0)),
                    ],
                    options={
                        "ordering": ["build", "-cases", "cause", "left_stage"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("build", "cause", "left_stage"), name="abandonment_once"
                            )
                        ],
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
                        (
                            "build",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="moments",
                                to="annotation.build",
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
                        "indexes": [models.Index(fields=["build", "at"], name="moment_by_build")],
                    },
                ),
                migrations.CreateModel(
                    name="ProgramText",
                    fields=[
                        (
                            "digest",
                            retrieval.models.blobs.Digest(max_length=64, primary_key=True, serialize=False),
                        ),
                        ("size", models.PositiveIntegerField()),
                        ("data", models.BinaryField()),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="ReportText",
                    fields=[
                        (
                            "digest",
                            retrieval.models.blobs.Digest(max_length=64, primary_key=True, serialize=False),
                        ),
                        ("size", models.PositiveIntegerField()),
                        ("data", models.BinaryField()),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="TestProgram",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "pair",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="programs",
                                to="retrieval.pair",
                            ),
                        ),
                        (
                            "source",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="annotation.programtext",
                            ),
                        ),
                        (
                            "reading",
                            models.TextField(
                                blank=True, help_text="the likeliest sense of the query that it tests"
                            ),
                        ),
                        (
                            "readings",
                            models.JSONField(
                                db_default=models.Value([], models.JSONField()),
                                default=list,
                                help_text="sense and likelihood of each",
                            ),
                        ),
                        (
                            "test_cases",
                            models.JSONField(
                                db_default=models.Value([], models.JSONField()),
                                default=list,
                                help_text="name, reading, kind and checks of each function that runs alone; none = plain Python",
                            ),
                        ),
                        (
                            "reference",
                            models.ForeignKey(
                                db_index=False,
                                help_text="code that does the task by the likeliest reading: the program has to hold with it",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="annotation.programtext",
                            ),
                        ),
                        (
                            "helpers",
                            models.JSONField(default=list, help_text="names that the writer had to invent"),
                        ),
                        (
                            "redefines",
                            models.BooleanField(default=False, help_text="it redefines the candidate"),
                        ),
                        (
                            "annotator",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.annotator",
                            ),
                        ),
                        (
                            "author",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "assignment",
                            models.ForeignKey(
                                db_index=False,
                                help_text="of the study that it was written in: plain pages leave it out",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="programs",
                                to="annotation.assignment",
                            ),
                        ),
                        (
                            "parent",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="edits",
                                to="annotation.testprogram",
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["-created_at", "-id"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("assignment__isnull", False)),
                                fields=["assignment"],
                                name="program_of_assignment",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Execution",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("program_hash", models.CharField(max_length=64)),
                        ("candidate_hash", models.CharField(max_length=64)),
                        ("dependencies_hash", models.CharField(max_length=64)),
                        ("dependencies", models.JSONField(default=list)),
                        ("image", models.CharField(max_length=200)),
                        ("limits", models.CharField(help_text="hash of the limits", max_length=64)),
                        ("repeat", models.PositiveIntegerField(default=1)),
                        ("backend", models.CharField(max_length=40)),
                        (
                            "outcome",
                            models.CharField(
                                choices=[
                                    ("passed", "passed"),
                                    ("failed", "failed"),
                                    ("errored", "errored"),
                                    ("untested", "untested"),
                                    ("not_applicable", "not_applicable"),
                                    ("timed_out", "timed_out"),
                                    ("out_of_memory", "out_of_memory"),
                                    ("output_overflow", "output_overflow"),
                                    ("dependency_refused", "dependency_refused"),
                                    ("unavailable", "unavailable"),
                                ],
                                max_length=20,
                            ),
                        ),
                        ("ran", models.BooleanField(default=False)),
                        ("asserted", models.BooleanField(default=False)),
                        ("touched", models.BooleanField(default=False)),
                        ("seconds", models.FloatField()),
                        ("queued_seconds", models.FloatField(default=0)),
                        (
                            "report",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="annotation.reporttext",
                            ),
                        ),
                        (
                            "applied_as",
                            models.CharField(
                                blank=True,
                                db_default="",
                                default="",
                                help_text="the name under which the program found a candidate that it was not written for",
                                max_length=200,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=(
                                    "program_hash",
                                    "candidate_hash",
                                    "dependencies_hash",
                                    "image",
                                    "limits",
                                    "repeat",
                                    "applied_as",
                                ),
                                name="execution_once",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ExecutionRequest",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
                        (
                            "assignment",
                            models.ForeignKey(
                                help_text="made for it",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="%(class)ss",
                                to="annotation.assignment",
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
                        (
                            "program",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="requests",
                                to="annotation.testprogram",
                            ),
                        ),
                        (
                            "execution",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="requests",
                                to="annotation.execution",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-created_at", "-id"],
                        "indexes": [models.Index(fields=["state", "id"], name="execution_request_by_state")],
                    },
                ),
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
                        ("text", models.TextField(help_text="sandbox.expression_call.Answer as JSON")),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["-id"],
                    },
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
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "assignment",
                            models.ForeignKey(
                                help_text="made for it",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="%(class)ss",
                                to="annotation.assignment",
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
                        (
                            "pair",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="calls",
                                to="retrieval.pair",
                            ),
                        ),
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
                    ],
                    options={
                        "ordering": ["-id"],
                        "indexes": [
                            models.Index(fields=["state", "id"], name="call_request_by_state"),
                            models.Index(fields=["user", "pair", "id"], name="call_request_by_person"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Case",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "build",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="cases",
                                to="annotation.build",
                            ),
                        ),
                        (
                            "candidate",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="cases",
                                to="retrieval.candidate",
                            ),
                        ),
                        (
                            "pair",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="cases",
                                to="retrieval.pair",
                            ),
                        ),
                        (
                            "query",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.text",
                            ),
                        ),
                        (
                            "annotator",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="cases",
                                to="retrieval.annotator",
                            ),
                        ),
                        ("round", models.PositiveIntegerField(default=1)),
                        ("rank", models.PositiveIntegerField()),
                        (
                            "score",
                            models.FloatField(
                                db_default=0, default=0, help_text="its candidate's: lists are sorted by it"
                            ),
                        ),
                        (
                            "stage",
                            models.CharField(
                                choices=[
                                    ("screening", "screening"),
                                    ("reading", "reading"),
                                    ("writing_test", "writing test"),
                                    ("executing", "executing"),
                                    ("fixing", "fixing"),
                                    ("arbitrating", "arbitrating"),
                                    ("tie_breaking", "tie breaking"),
                                    ("settled", "settled"),
                                    ("abandoned", "abandoned"),
                                ],
                                default="screening",
                                max_length=12,
                            ),
                        ),
                        ("label", models.SmallIntegerField(null=True)),
                        (
                            "basis",
                            models.CharField(
                                blank=True,
                                choices=[
                                    ("clear", "clear to the screener"),
                                    ("single", "one model alone"),
                                    ("tested", "decided by the arbiter alone, after a test"),
                                    ("agreed", "reader and arbiter agree"),
                                    (
                                        "disputed",
                                        "reader and arbiter differ; the cases or a third judge decided",
                                    ),
                                ],
                                db_default="",
                                help_text="how its label came about",
                                max_length=8,
                            ),
                        ),
                        (
                            "contradicted",
                            models.BooleanField(
                                db_default=False,
                                default=False,
                                help_text="an expert's label of the pair that stands is the other one",
                            ),
                        ),
                        ("reason", models.TextField(blank=True, help_text="why it was abandoned")),
                        (
                            "cause",
                            models.CharField(
                                blank=True, db_default="", help_text="the reason's kind", max_length=130
                            ),
                        ),
                        (
                            "left_stage",
                            models.CharField(
                                blank=True, help_text="the stage that it was abandoned from", max_length=12
                            ),
                        ),
                        (
                            "program",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="cases",
                                to="annotation.testprogram",
                            ),
                        ),
                        (
                            "execution",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="cases",
                                to="annotation.execution",
                            ),
                        ),
                        (
                            "reference_run",
                            models.ForeignKey(
                                db_index=False,
                                help_text="of its program with the writer's reference in the snippet's place",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="annotation.execution",
                            ),
                        ),
                        (
                            "neighbour_run",
                            models.ForeignKey(
                                db_index=False,
                                help_text="of its program with a neighbour of the task in the snippet's place",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="annotation.execution",
                            ),
                        ),
                        (
                            "dependencies",
                            models.JSONField(
                                default=list, help_text="requirements installed for its program"
                            ),
                        ),
                        ("missing_module", models.CharField(blank=True, max_length=200)),
                        ("rewrites", models.PositiveSmallIntegerField(default=0)),
                        ("fix_rounds", models.PositiveSmallIntegerField(default=0)),
                        (
                            "tested_again",
                            models.BooleanField(
                                default=False,
                                help_text="its first program came to no assertion, and a second one was asked for",
                            ),
                        ),
                        ("step_count", models.PositiveIntegerField(default=0)),
                        (
                            "seconds",
                            models.FloatField(
                                db_default=0, default=0, help_text="worked on it so far, without waiting"
                            ),
                        ),
                        (
                            "lease",
                            models.UUIDField(help_text="fences the worker that holds the case", null=True),
                        ),
                        ("lease_until", models.DateTimeField(null=True)),
                        ("next_attempt_at", models.DateTimeField(null=True)),
                        (
                            "attempts",
                            models.PositiveIntegerField(default=0, help_text="failed tries in this stage"),
                        ),
                        (
                            "waiting_for",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="waiting_cases",
                                to="annotation.llmcall",
                            ),
                        ),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                    ],
                    options={
                        "ordering": ["build", "query", "rank"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(
                                    ("label__isnull", True),
                                    ("lease__isnull", True),
                                    ("waiting_for__isnull", True),
                                ),
                                fields=["build", "stage", "id"],
                                name="case_claimable",
                            ),
                            models.Index(
                                condition=models.Q(("lease__isnull", False)),
                                fields=["lease_until"],
                                name="case_leased",
                            ),
                            models.Index(fields=["build", "stage", "id"], name="case_by_build_and_stage"),
                            models.Index(fields=["build", "query", "rank"], name="case_by_query"),
                            models.Index(
                                condition=models.Q(("stage", "abandoned")),
                                fields=["build", "cause", "id"],
                                name="case_by_cause",
                            ),
                            models.Index(
                                condition=models.Q(("execution__isnull", False)),
                                fields=["build", "id"],
                                name="case_executed",
                            ),
                            models.Index(
                                condition=models.Q(("label", 1)), fields=["build", "id"], name="case_matches"
                            ),
                            models.Index(fields=["build", "rank", "id"], name="case_by_rank"),
                            models.Index(fields=["build", "score", "id"], name="case_by_score"),
                            models.Index(fields=["build", "updated_at", "id"], name="case_by_time"),
                            models.Index(
                                condition=models.Q(("label__isnull", False), ("program__isnull", False)),
                                fields=["build", "seconds", "id"],
                                name="case_tested_by_duration",
                            ),
                            models.Index(
                                condition=models.Q(("label__isnull", False), ("program__isnull", True)),
                                fields=["build", "seconds", "id"],
                                name="case_clear_by_duration",
                            ),
                            models.Index(
                                condition=models.Q(("label__isnull", True)),
                                fields=["build", "seconds", "id"],
                                name="case_open_by_duration",
                            ),
                            models.Index(
                                condition=models.Q(("basis", "disputed")),
                                fields=["build", "id"],
                                name="case_disputed",
                            ),
                            models.Index(
                                condition=models.Q(("contradicted", True)),
                                fields=["build", "id"],
                                name="case_contradicted",
                            ),
                            models.Index(
                                condition=models.Q(("contradicted", True)),
                                fields=["build", "rank", "id"],
                                name="case_contradicted_by_rank",
                            ),
                            models.Index(
                                condition=models.Q(("contradicted", True)),
                                fields=["build", "score", "id"],
                                name="case_contradicted_by_score",
                            ),
                            models.Index(
                                condition=models.Q(("contradicted", True)),
                                fields=["build", "updated_at", "id"],
                                name="case_contradicted_by_time",
                            ),
                            models.Index(
                                condition=models.Q(("contradicted", True)),
                                fields=["build", "seconds", "id"],
                                name="case_contradicted_by_secs",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("build", "candidate", "annotator", "round"), name="case_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(
                                        ("label__isnull", False),
                                        ("stage", annotation.stages.Stage["SETTLED"]),
                                    ),
                                    models.Q(
                                        models.Q(
                                            ("stage", annotation.stages.Stage["SETTLED"]), _negated=True
                                        ),
                                        ("label__isnull", True),
                                    ),
                                    _connector="OR",
                                ),
                                name="case_label_when_settled",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Step",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "case",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="steps",
                                to="annotation.case",
                            ),
                        ),
                        ("number", models.PositiveIntegerField()),
                        (
                            "before",
                            models.CharField(
                                choices=[
                                    ("screening", "screening"),
                                    ("reading", "reading"),
                                    ("writing_test", "writing test"),
                                    ("executing", "executing"),
                                    ("fixing", "fixing"),
                                    ("arbitrating", "arbitrating"),
                                    ("tie_breaking", "tie breaking"),
                                    ("settled", "settled"),
                                    ("abandoned", "abandoned"),
                                ],
                                max_length=12,
                            ),
                        ),
                        (
                            "event",
                            models.CharField(
                                choices=[
                                    ("match", "match"),
                                    ("no_match", "no_match"),
                                    ("unclear", "unclear"),
                                    ("to_reader", "to_reader"),
                                    ("spot_check", "spot_check"),
                                    ("read", "read"),
                                    ("contrasted", "contrasted"),
                                    ("written", "written"),
                                    ("rejected_program", "rejected_program"),
                                    ("executed", "executed"),
                                    ("missing_module", "missing_module"),
                                    ("tested_nothing", "tested_nothing"),
                                    ("fixed", "fixed"),
                                    ("refused", "refused"),
                                    ("accepted", "accepted"),
                                    ("denied", "denied"),
                                    ("disputed", "disputed"),
                                    ("gave_up", "gave_up"),
                                    ("retried", "retried"),
                                ],
                                max_length=20,
                            ),
                        ),
                        (
                            "after",
                            models.CharField(
                                choices=[
                                    ("screening", "screening"),
                                    ("reading", "reading"),
                                    ("writing_test", "writing test"),
                                    ("executing", "executing"),
                                    ("fixing", "fixing"),
                                    ("arbitrating", "arbitrating"),
                                    ("tie_breaking", "tie breaking"),
                                    ("settled", "settled"),
                                    ("abandoned", "abandoned"),
                                ],
                                max_length=12,
                            ),
                        ),
                        ("note", models.TextField(blank=True, help_text="what was decided, in words")),
                        (
                            "call",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="steps",
                                to="annotation.llmcall",
                            ),
                        ),
                        (
                            "program",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="annotation.testprogram",
                            ),
                        ),
                        (
                            "execution",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="annotation.execution",
                            ),
                        ),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "seconds",
                            models.FloatField(
                                help_text="worked on it, without waiting; none where not known", null=True
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["case", "number"],
                        "constraints": [models.UniqueConstraint(fields=("case", "number"), name="step_once")],
                    },
                ),
                migrations.CreateModel(
                    name="Guideline",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(max_length=80)),
                        ("version", models.PositiveIntegerField(help_text="from 1, for each name")),
                        ("text", models.TextField(help_text="Markdown")),
                        (
                            "worked_cases",
                            models.JSONField(default=list, help_text="query, code, value and why of each"),
                        ),
                        (
                            "change",
                            models.CharField(
                                choices=[
                                    ("first", "the first version"),
                                    ("wording", "wording: labels stay what they are"),
                                    ("meaning", "meaning: some labels may be different now"),
                                ],
                                default="first",
                                max_length=7,
                            ),
                        ),
                        (
                            "note",
                            models.TextField(blank=True, help_text="what changed since the version before"),
                        ),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["name", "-version"],
                        "constraints": [
                            models.UniqueConstraint(fields=("name", "version"), name="guideline_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Acknowledgement",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "guideline",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="acknowledgements",
                                to="annotation.guideline",
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
                        ("at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("guideline", "user"), name="acknowledgement_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Precedent",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "guideline_name",
                            models.CharField(
                                help_text="the guidelines that it explains, all versions", max_length=80
                            ),
                        ),
                        ("query", models.TextField()),
                        ("code", models.TextField()),
                        (
                            "value",
                            models.SmallIntegerField(
                                help_text="on the scale of the study; null: could not be decided", null=True
                            ),
                        ),
                        ("reason", models.TextField()),
                        ("tags", models.JSONField(default=list)),
                        (
                            "adjudication",
                            models.OneToOneField(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="precedent",
                                to="annotation.adjudication",
                            ),
                        ),
                        (
                            "created_by",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["-id"],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("reason", ""), _negated=True), name="precedent_has_reason"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Study",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(max_length=120, unique=True)),
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("rating", "does this code answer the query"),
                                    ("pairwise", "which of two answers better"),
                                    ("imported", "labels from elsewhere"),
                                ],
                                default="rating",
                                max_length=8,
                            ),
                        ),
                        (
                            "purpose",
                            models.CharField(
                                choices=[
                                    (
                                        "development",
                                        "development: may be looked at while prompts are changed",
                                    ),
                                    ("sealed", "sealed: every scoring is counted and shown for ever"),
                                ],
                                default="development",
                                max_length=11,
                            ),
                        ),
                        (
                            "scale",
                            models.CharField(
                                choices=[
                                    ("binary", "exact match: 1 or 0"),
                                    ("steps", "all of it, at least half, less"),
                                    ("graded", "relevance 0 to 3, as in CodeSearchNet"),
                                    ("preference", "which of two answers better"),
                                ],
                                default="binary",
                                max_length=10,
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("draft", "Draft"),
                                    ("running", "Running"),
                                    ("paused", "Paused"),
                                    ("closed", "Closed"),
                                ],
                                default="draft",
                                max_length=7,
                            ),
                        ),
                        ("question", models.TextField(blank=True, help_text="what the study is to find out")),
                        (
                            "information",
                            models.TextField(
                                blank=True, help_text="what raters accept before their first pair"
                            ),
                        ),
                        (
                            "order",
                            models.CharField(
                                choices=[
                                    ("spaced", "pairs of one query at least 30 apart"),
                                    ("by_query", "all pairs of a query one after the other"),
                                ],
                                default="spaced",
                                max_length=8,
                            ),
                        ),
                        (
                            "docstring",
                            models.CharField(
                                choices=[("shown", "Shown"), ("folded", "Folded"), ("hidden", "Hidden")],
                                default="shown",
                                max_length=6,
                            ),
                        ),
                        (
                            "one_more",
                            models.BooleanField(
                                db_default=False,
                                default=False,
                                help_text="where a pair's planned raters split, one more is asked",
                            ),
                        ),
                        (
                            "ties",
                            models.BooleanField(
                                default=False, help_text="pairwise: raters may say that both are as good"
                            ),
                        ),
                        ("seed", models.BigIntegerField(default=0)),
                        (
                            "guideline",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="studies",
                                to="annotation.guideline",
                            ),
                        ),
                        (
                            "sample",
                            models.JSONField(
                                default=dict, help_text="what was asked for: size, strata, pairs a query"
                            ),
                        ),
                        (
                            "planned_pairs",
                            models.PositiveIntegerField(
                                default=0, help_text="the n until which figures are interim"
                            ),
                        ),
                        (
                            "reference",
                            models.CharField(
                                default="own_tests",
                                help_text="the condition that counts as true",
                                max_length=13,
                            ),
                        ),
                        (
                            "comparisons",
                            models.JSONField(
                                default=list, help_text="pairs of rows of the main table that are compared"
                            ),
                        ),
                        (
                            "margin",
                            models.FloatField(help_text="of non-inferiority, a share of 1", null=True),
                        ),
                        (
                            "exclusions",
                            models.TextField(
                                blank=True, help_text="rules by which ratings or raters are left out"
                            ),
                        ),
                        (
                            "plan",
                            models.JSONField(
                                help_text="the plan as it was frozen, then as it was last amended", null=True
                            ),
                        ),
                        (
                            "plan_hash",
                            models.CharField(
                                blank=True, help_text="sha256 of the plan's canonical JSON", max_length=64
                            ),
                        ),
                        ("frozen_at", models.DateTimeField(null=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                help_text="none where a command made it",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("started_at", models.DateTimeField(null=True)),
                        ("closed_at", models.DateTimeField(null=True)),
                        (
                            "builds",
                            models.ManyToManyField(
                                help_text="that the sample is drawn from",
                                related_name="studies",
                                to="annotation.build",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name_plural": "studies",
                        "ordering": ["-id"],
                    },
                ),
                migrations.CreateModel(
                    name="Condition",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="conditions",
                                to="annotation.study",
                            ),
                        ),
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("reading", "reading"),
                                    ("own_tests", "own tests"),
                                    ("agents_tests", "agent's tests"),
                                    ("reveal", "reveal"),
                                    ("second_look", "second look"),
                                ],
                                max_length=12,
                            ),
                        ),
                        (
                            "raters",
                            models.PositiveSmallIntegerField(
                                default=3, help_text="ratings wanted of each pair"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["study", "id"],
                        "constraints": [
                            models.UniqueConstraint(fields=("study", "kind"), name="condition_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Amendment",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="amendments",
                                to="annotation.study",
                            ),
                        ),
                        ("number", models.PositiveIntegerField(help_text="from 1, in the study")),
                        ("reason", models.TextField()),
                        ("before", models.JSONField()),
                        ("after", models.JSONField()),
                        ("plan_hash", models.CharField(help_text="of the plan after it", max_length=64)),
                        (
                            "by",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["study", "number"],
                        "constraints": [
                            models.UniqueConstraint(fields=("study", "number"), name="amendment_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Scoring",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="scorings",
                                to="annotation.study",
                            ),
                        ),
                        (
                            "annotator",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="scorings",
                                to="retrieval.annotator",
                            ),
                        ),
                        (
                            "by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["study", "id"],
                        "constraints": [
                            models.UniqueConstraint(fields=("study", "annotator"), name="scoring_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="StudyPair",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="pairs",
                                to="annotation.study",
                            ),
                        ),
                        (
                            "number",
                            models.PositiveIntegerField(
                                help_text="from 1, in the study, shuffled: tells nothing of the sampling"
                            ),
                        ),
                        (
                            "pair",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="study_pairs",
                                to="retrieval.pair",
                            ),
                        ),
                        (
                            "other",
                            models.ForeignKey(
                                help_text="pairwise: the second snippet",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.pair",
                            ),
                        ),
                        (
                            "case",
                            models.ForeignKey(
                                help_text="that it was drawn from",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="study_pairs",
                                to="annotation.case",
                            ),
                        ),
                        ("stratum", models.CharField(blank=True, max_length=120)),
                        (
                            "probability",
                            models.FloatField(default=1.0, help_text="of being in the sample, 0 to 1"),
                        ),
                        (
                            "planted",
                            models.CharField(
                                blank=True,
                                choices=[
                                    ("", "sampled"),
                                    ("onboarding", "planted, for onboarding"),
                                    ("attention", "planted, to see whether raters look"),
                                ],
                                default="",
                                max_length=10,
                            ),
                        ),
                        (
                            "answer",
                            models.SmallIntegerField(
                                help_text="the known value of a planted pair", null=True
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["study", "number"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("study", "number"), name="study_pair_number_once"
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("other__isnull", True)),
                                fields=("study", "pair"),
                                name="study_pair_once",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("other__isnull", False)),
                                fields=("study", "pair", "other"),
                                name="study_pair_of_two_once",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("probability__gt", 0), ("probability__lte", 1)),
                                name="study_pair_probability",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("planted", ""), ("answer__isnull", False), _connector="OR"
                                ),
                                name="study_pair_planted_has_answer",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Quota",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "study_pair",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="quotas",
                                to="annotation.studypair",
                            ),
                        ),
                        (
                            "condition",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="quotas",
                                to="annotation.condition",
                            ),
                        ),
                        ("wanted", models.PositiveSmallIntegerField()),
                        (
                            "reserved",
                            models.PositiveSmallIntegerField(default=0, help_text="handed out: open or done"),
                        ),
                        ("done", models.PositiveSmallIntegerField(default=0)),
                        (
                            "round",
                            models.PositiveSmallIntegerField(
                                db_default=1,
                                default=1,
                                help_text="that the counts are of: 2, 3, … where the pair is asked again",
                            ),
                        ),
                        (
                            "opened_at",
                            models.DateTimeField(
                                help_text="when that round was opened; none for the first one", null=True
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(("reserved__lt", models.F("wanted"))),
                                fields=["condition", "done", "reserved"],
                                name="quota_open",
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("study_pair", "condition"), name="quota_once"),
                            models.CheckConstraint(
                                condition=models.Q(("reserved__lte", models.F("wanted"))),
                                name="quota_not_exceeded",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("done__lte", models.F("reserved"))),
                                name="quota_done_was_reserved",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Adjudication",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "study_pair",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="adjudications",
                                to="annotation.studypair",
                            ),
                        ),
                        (
                            "condition",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="adjudications",
                                to="annotation.condition",
                            ),
                        ),
                        (
                            "value",
                            models.SmallIntegerField(
                                help_text="on the study's scale; null: can't be decided", null=True
                            ),
                        ),
                        (
                            "cause",
                            models.CharField(
                                choices=[
                                    ("query", "the query is ambiguous"),
                                    ("slip", "a rater's slip"),
                                    ("guideline", "a gap in the guidelines"),
                                    ("code", "the meaning of the code"),
                                    ("test", "a wrong test"),
                                ],
                                max_length=9,
                            ),
                        ),
                        ("note", models.TextField()),
                        (
                            "supersedes",
                            models.OneToOneField(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="superseded_by",
                                to="annotation.adjudication",
                            ),
                        ),
                        (
                            "by",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["study_pair", "id"],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("supersedes__isnull", True)),
                                fields=("study_pair", "condition"),
                                name="adjudication_begins_once",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ImportedRating",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="imported",
                                to="annotation.study",
                            ),
                        ),
                        (
                            "row",
                            models.PositiveIntegerField(
                                help_text="line of the file, from 1 after the header"
                            ),
                        ),
                        (
                            "item",
                            models.CharField(help_text="sha256 of what identifies the item", max_length=64),
                        ),
                        (
                            "item_text",
                            models.TextField(
                                help_text="that, to be read: language, query and URL, or the item's name"
                            ),
                        ),
                        ("cluster", models.CharField(help_text="sha256 of the query", max_length=64)),
                        (
                            "rater",
                            models.CharField(
                                blank=True, help_text="empty where the file names none", max_length=120
                            ),
                        ),
                        ("value", models.FloatField()),
                        ("notes", models.TextField(blank=True)),
                    ],
                    options={
                        "ordering": ["study", "row"],
                        "constraints": [
                            models.UniqueConstraint(fields=("study", "row"), name="imported_rating_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Enrolment",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="enrolments",
                                to="annotation.study",
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="enrolments",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "condition",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="enrolments",
                                to="annotation.condition",
                            ),
                        ),
                        (
                            "capacity",
                            models.PositiveIntegerField(help_text="pairs that the rater can be given"),
                        ),
                        (
                            "pseudonym",
                            models.CharField(
                                help_text="R01, R02 …, in an order that tells nothing", max_length=12
                            ),
                        ),
                        ("seed", models.BigIntegerField(help_text="of the rater's order")),
                        ("years_of_python", models.PositiveSmallIntegerField(null=True)),
                        (
                            "occupation",
                            models.CharField(
                                blank=True, help_text="the rater's role at work", max_length=120
                            ),
                        ),
                        (
                            "languages",
                            models.CharField(
                                blank=True, help_text="spoken, as the rater gave them", max_length=200
                            ),
                        ),
                        (
                            "accepted_at",
                            models.DateTimeField(
                                help_text="when the information text was accepted", null=True
                            ),
                        ),
                        (
                            "finished_at",
                            models.DateTimeField(
                                help_text="when nothing is left to rate, or the rater left", null=True
                            ),
                        ),
                        (
                            "left_at",
                            models.DateTimeField(
                                help_text="when the rater left, or was let go, before the end", null=True
                            ),
                        ),
                        (
                            "removed",
                            models.BooleanField(
                                db_default=False,
                                default=False,
                                help_text="let go by an admin: nothing more is taken",
                            ),
                        ),
                        (
                            "excluded",
                            models.BooleanField(
                                db_default=False,
                                default=False,
                                help_text="left out of every figure, by an amendment",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["study", "pseudonym"],
                        "constraints": [
                            models.UniqueConstraint(fields=("study", "user"), name="enrolment_once"),
                            models.UniqueConstraint(
                                fields=("study", "pseudonym"), name="enrolment_pseudonym_once"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Assignment",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "enrolment",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="assignments",
                                to="annotation.enrolment",
                            ),
                        ),
                        (
                            "study_pair",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="assignments",
                                to="annotation.studypair",
                            ),
                        ),
                        (
                            "condition",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="assignments",
                                to="annotation.condition",
                            ),
                        ),
                        (
                            "rater",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="assignments",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "round",
                            models.PositiveSmallIntegerField(
                                default=1, help_text="2, 3, …: asked again after a change of meaning"
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("reserved", "open"),
                                    ("locked", "blind label stored, second phase open"),
                                    ("done", "Done"),
                                    ("skipped", "Skipped"),
                                    ("lapsed", "the reservation ran out"),
                                    (
                                        "left_out",
                                        "done, and left out with its rater: the place is another one's",
                                    ),
                                ],
                                default="reserved",
                                max_length=8,
                            ),
                        ),
                        (
                            "position",
                            models.PositiveIntegerField(
                                help_text="from 1, the place in the rater's own order"
                            ),
                        ),
                        (
                            "swapped",
                            models.BooleanField(
                                default=False, help_text="pairwise: the second snippet stands on the left"
                            ),
                        ),
                        (
                            "token",
                            models.CharField(
                                help_text="of the reservation; another one after a lapse", max_length=32
                            ),
                        ),
                        ("reserved_until", models.DateTimeField()),
                        ("skip_reason", models.TextField(blank=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("done_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["enrolment", "position"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("state", "reserved")),
                                fields=["reserved_until"],
                                name="assignment_expiring",
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("study_pair", "rater", "round"), name="assignment_once"
                            ),
                            models.UniqueConstraint(
                                fields=("enrolment", "position"), name="assignment_position_once"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Rating",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "assignment",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="ratings",
                                to="annotation.assignment",
                            ),
                        ),
                        (
                            "phase",
                            models.CharField(
                                choices=[
                                    ("blind", "before anything of the agents was shown"),
                                    ("revised", "after everything was revealed"),
                                    ("second_look", "looked at again, with nothing new"),
                                ],
                                default="blind",
                                max_length=11,
                            ),
                        ),
                        (
                            "revision",
                            models.PositiveIntegerField(help_text="1, 2, … for each assignment and phase"),
                        ),
                        (
                            "supersedes",
                            models.OneToOneField(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="superseded_by",
                                to="annotation.rating",
                            ),
                        ),
                        (
                            "value",
                            models.SmallIntegerField(
                                help_text="binary 1, 0; steps 2 all of it, 1 at least half, 0 less; graded 0 to 3; preference 1 the pair's own snippet, -1 the other, 0 a tie; null: unsure",
                                null=True,
                            ),
                        ),
                        (
                            "withdrawn",
                            models.BooleanField(
                                default=False, help_text="this revision takes the rating back (undo)"
                            ),
                        ),
                        ("reason", models.TextField(blank=True, help_text="why it was revised")),
                        ("notes", models.TextField(blank=True)),
                        (
                            "reading",
                            models.CharField(
                                blank=True,
                                db_default="",
                                help_text="how the rater read the query, in one line",
                                max_length=300,
                            ),
                        ),
                        ("tags", models.JSONField(default=list)),
                        (
                            "seconds",
                            models.FloatField(
                                default=0, help_text="of active time on the pair, up to this revision"
                            ),
                        ),
                        (
                            "guideline",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="ratings",
                                to="annotation.guideline",
                            ),
                        ),
                        (
                            "docstring",
                            models.CharField(
                                choices=[("shown", "Shown"), ("folded", "Folded"), ("hidden", "Hidden")],
                                default="shown",
                                max_length=6,
                            ),
                        ),
                        (
                            "evidence",
                            models.CharField(help_text="sha256 of what was on screen", max_length=64),
                        ),
                        ("calls", models.JSONField(default=list, help_text="ids of the calls made for it")),
                        (
                            "runs",
                            models.JSONField(
                                default=list, help_text="ids of the runs of own tests made for it"
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["assignment", "id"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("assignment", "phase", "revision"), name="rating_revision_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RatingDraft",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("text", models.TextField()),
                        (
                            "window",
                            models.CharField(
                                blank=True,
                                db_default="",
                                default="",
                                help_text="of the browser that sent it",
                                max_length=40,
                            ),
                        ),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                        (
                            "assignment",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="drafts",
                                to="annotation.assignment",
                            ),
                        ),
                        (
                            "field",
                            models.CharField(
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
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("assignment", "field"), name="rating_draft_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="AuditEvent",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "user",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("verb", models.CharField(max_length=40)),
                        ("what", models.CharField(help_text="in words, short", max_length=300)),
                        ("detail", models.JSONField(default=dict)),
                        (
                            "study",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="audit_events",
                                to="annotation.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-id"],
                        "indexes": [
                            models.Index(fields=["verb", "id"], name="audit_by_verb"),
                            models.Index(fields=["at"], name="audit_by_time"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Extension",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "build",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="extensions",
                                to="annotation.build",
                            ),
                        ),
                        ("number", models.PositiveIntegerField(help_text="from 1, in the build")),
                        (
                            "mining",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="extension",
                                to="retrieval.mining",
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("mining", "Mining"),
                                    ("canary", "Canary"),
                                    ("opened", "Opened"),
                                    ("left", "Left"),
                                    ("cancelled", "Cancelled"),
                                    ("failed", "Failed"),
                                ],
                                default="mining",
                                max_length=9,
                            ),
                        ),
                        ("description", models.CharField(help_text="what was asked for", max_length=400)),
                        (
                            "pairs",
                            models.PositiveIntegerField(
                                help_text="new ones that have become cases", null=True
                            ),
                        ),
                        (
                            "estimate",
                            models.JSONField(
                                help_text="what it was expected to take when it was confirmed", null=True
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("reason", models.TextField(blank=True)),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "ended_at",
                            models.DateTimeField(
                                help_text="when its cases were made, or it came to nothing", null=True
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["build", "number"],
                        "constraints": [
                            models.UniqueConstraint(fields=("build", "number"), name="extension_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Rerun",
                    fields=[
                        (
                            "build",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="rerun",
                                serialize=False,
                                to="annotation.build",
                            ),
                        ),
                        (
                            "of",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="reruns",
                                to="annotation.build",
                            ),
                        ),
                        (
                            "stage",
                            models.CharField(
                                choices=[
                                    ("screening", "screening"),
                                    ("reading", "reading"),
                                    ("writing_test", "writing test"),
                                    ("executing", "executing"),
                                    ("fixing", "fixing"),
                                    ("arbitrating", "arbitrating"),
                                    ("tie_breaking", "tie breaking"),
                                    ("settled", "settled"),
                                    ("abandoned", "abandoned"),
                                ],
                                max_length=12,
                            ),
                        ),
                        (
                            "spot_check",
                            models.BooleanField(
                                db_default=False,
                                default=False,
                                help_text="its cases were clear to the screener and are tested",
                            ),
                        ),
                        ("description", models.CharField(help_text="how they were chosen", max_length=400)),
                        ("reason", models.TextField(blank=True)),
                        (
                            "cases",
                            models.ManyToManyField(
                                help_text="the cases that were chosen", related_name="+", to="annotation.case"
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Canary",
                    fields=[
                        (
                            "seed",
                            models.PositiveBigIntegerField(
                                help_text="draws the pairs, and the resamples of their cost"
                            ),
                        ),
                        (
                            "drawn",
                            models.JSONField(
                                default=list, help_text="ids of its candidates, in the order drawn"
                            ),
                        ),
                        (
                            "pairs",
                            models.PositiveIntegerField(
                                default=0, help_text="of the whole build, or new ones of the extension"
                            ),
                        ),
                        (
                            "done_at",
                            models.DateTimeField(
                                help_text="when all of its cases were settled or abandoned", null=True
                            ),
                        ),
                        (
                            "spent",
                            models.PositiveBigIntegerField(
                                default=0, help_text="nanodollars that its cases had cost then"
                            ),
                        ),
                        (
                            "decided_at",
                            models.DateTimeField(help_text="when a person let the build go on", null=True),
                        ),
                        (
                            "decided_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "build",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="canary",
                                serialize=False,
                                to="annotation.build",
                            ),
                        ),
                        (
                            "rest_opened",
                            models.BooleanField(
                                default=False, help_text="the cases of all other pairs were made"
                            ),
                        ),
                    ],
                    options={
                        "verbose_name_plural": "canaries",
                    },
                ),
                migrations.CreateModel(
                    name="ExtensionCanary",
                    fields=[
                        (
                            "seed",
                            models.PositiveBigIntegerField(
                                help_text="draws the pairs, and the resamples of their cost"
                            ),
                        ),
                        (
                            "drawn",
                            models.JSONField(
                                default=list, help_text="ids of its candidates, in the order drawn"
                            ),
                        ),
                        (
                            "pairs",
                            models.PositiveIntegerField(
                                default=0, help_text="of the whole build, or new ones of the extension"
                            ),
                        ),
                        (
                            "done_at",
                            models.DateTimeField(
                                help_text="when all of its cases were settled or abandoned", null=True
                            ),
                        ),
                        (
                            "spent",
                            models.PositiveBigIntegerField(
                                default=0, help_text="nanodollars that its cases had cost then"
                            ),
                        ),
                        (
                            "decided_at",
                            models.DateTimeField(help_text="when a person let the build go on", null=True),
                        ),
                        (
                            "decided_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "extension",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="canary",
                                serialize=False,
                                to="annotation.extension",
                            ),
                        ),
                        (
                            "began",
                            models.PositiveBigIntegerField(
                                default=0, help_text="nanodollars that the build had spent before it"
                            ),
                        ),
                        (
                            "last_call",
                            models.PositiveBigIntegerField(
                                default=0, help_text="id of the last call before it"
                            ),
                        ),
                        (
                            "before",
                            models.JSONField(
                                help_text="the figures of the build before the extension", null=True
                            ),
                        ),
                    ],
                    options={
                        "verbose_name_plural": "canaries of extensions",
                    },
                ),
                migrations.CreateModel(
                    name="DriftWatch",
                    fields=[
                        (
                            "build",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="drift",
                                serialize=False,
                                to="annotation.build",
                            ),
                        ),
                        ("seed", models.PositiveBigIntegerField(help_text="draws the pairs")),
                        ("every", models.PositiveIntegerField(help_text="settled cases between two checks")),
                        (
                            "drawn",
                            models.JSONField(
                                default=list, help_text="ids of the cases whose pairs are asked, as drawn"
                            ),
                        ),
                        (
                            "max_checks",
                            models.PositiveIntegerField(
                                default=0, help_text="so many checks the whole build can have"
                            ),
                        ),
                    ],
                    options={
                        "verbose_name_plural": "drift watches",
                    },
                ),
                migrations.CreateModel(
                    name="DriftCheck",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "watch",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="checks",
                                to="annotation.driftwatch",
                            ),
                        ),
                        ("number", models.PositiveIntegerField()),
                        ("is_baseline", models.BooleanField()),
                        (
                            "settled",
                            models.PositiveIntegerField(help_text="settled cases of the build when it began"),
                        ),
                        ("began_at", models.DateTimeField(auto_now_add=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                        (
                            "agreed",
                            models.PositiveIntegerField(
                                default=0, help_text="pairs with the same verdict as at first"
                            ),
                        ),
                        (
                            "higher",
                            models.PositiveIntegerField(
                                default=0, help_text="pairs with a higher verdict than at first"
                            ),
                        ),
                        (
                            "lower",
                            models.PositiveIntegerField(
                                default=0, help_text="pairs with a lower verdict than at first"
                            ),
                        ),
                        (
                            "judged_once",
                            models.PositiveIntegerField(
                                default=0, help_text="pairs with a verdict at one of both times alone"
                            ),
                        ),
                        (
                            "odd_ones",
                            models.PositiveIntegerField(
                                default=0,
                                help_text="pairs of which exactly one of three answers differs from both others",
                            ),
                        ),
                        (
                            "new_odd_ones",
                            models.PositiveIntegerField(
                                default=0, help_text="of them, those where it is the new answer"
                            ),
                        ),
                        ("p_value", models.FloatField(help_text="none for a baseline", null=True)),
                        ("level", models.FloatField(help_text="below this p-value it is a shift", null=True)),
                        ("shifted", models.BooleanField(default=False, help_text="beyond chance")),
                        (
                            "cost",
                            models.PositiveBigIntegerField(
                                default=0, help_text="nanodollars, of all its calls"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["watch", "number"],
                        "constraints": [
                            models.UniqueConstraint(fields=("watch", "number"), name="drift_check_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="DriftAnswer",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "check_of",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="answers",
                                to="annotation.driftcheck",
                            ),
                        ),
                        (
                            "case",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="annotation.case",
                            ),
                        ),
                        (
                            "round",
                            models.PositiveSmallIntegerField(
                                default=1, help_text="a baseline asks everything twice"
                            ),
                        ),
                        ("verdict", models.FloatField(null=True)),
                        (
                            "explanation",
                            models.TextField(
                                blank=True, help_text="the explanation, or why there is no verdict"
                            ),
                        ),
                        (
                            "call",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="annotation.llmcall",
                            ),
                        ),
                        ("answered_at", models.DateTimeField(null=True)),
                        ("lease", models.UUIDField(help_text="fences the worker that asks", null=True)),
                        ("lease_until", models.DateTimeField(null=True)),
                        ("next_attempt_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["pk"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("answered_at__isnull", True)),
                                fields=["id"],
                                name="drift_open",
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("check_of", "case", "round"), name="drift_answer_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ProjectTally",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "cap",
                            models.PositiveBigIntegerField(help_text="nanodollars; null = no cap", null=True),
                        ),
                        ("reserved", models.PositiveBigIntegerField(default=0, help_text="nanodollars")),
                        ("spent", models.PositiveBigIntegerField(default=0, help_text="nanodollars")),
                    ],
                ),
                migrations.CreateModel(
                    name="ProjectCapChange",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "before",
                            models.PositiveBigIntegerField(help_text="nanodollars; null = no cap", null=True),
                        ),
                        (
                            "after",
                            models.PositiveBigIntegerField(help_text="nanodollars; null = no cap", null=True),
                        ),
                        ("reason", models.TextField()),
                        ("at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["-at", "-id"],
                    },
                ),
                migrations.CreateModel(
                    name="Limiter",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("model", models.CharField(max_length=120, unique=True)),
                        ("max_in_flight", models.FloatField(help_text="calls in the air at once")),
                        (
                            "slowed_until",
                            models.DateTimeField(
                                help_text="until then refusals belong to one episode", null=True
                            ),
                        ),
                        (
                            "closed_until",
                            models.DateTimeField(help_text="until then nothing is asked", null=True),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Merge",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "build",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="merges",
                                to="annotation.build",
                            ),
                        ),
                        (
                            "annotator",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="merges",
                                to="retrieval.annotator",
                            ),
                        ),
                        ("rule", models.CharField(max_length=20)),
                        (
                            "asked_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("asked_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "after",
                            models.PositiveBigIntegerField(
                                default=0, help_text="id of the last query that is done"
                            ),
                        ),
                        ("pairs", models.PositiveIntegerField(default=0, help_text="looked at so far")),
                        (
                            "new_or_changed",
                            models.PositiveIntegerField(
                                default=0, help_text="labels that are new, or other than before"
                            ),
                        ),
                        (
                            "withdrawn",
                            models.PositiveIntegerField(
                                default=0, help_text="labels that the rule gives no more"
                            ),
                        ),
                        ("finished_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["-id"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("finished_at__isnull", True)),
                                fields=["id"],
                                name="merge_unfinished",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="SandboxCheck",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("machine", models.CharField(max_length=255, unique=True)),
                        ("backend", models.CharField(blank=True, max_length=40)),
                        ("image", models.CharField(blank=True, max_length=200)),
                        (
                            "checks",
                            models.JSONField(
                                default=list, help_text="name, ok, found, required and advice of each"
                            ),
                        ),
                        ("failure", models.TextField(blank=True, help_text="why nothing is executed there")),
                        ("made_at", models.DateTimeField()),
                    ],
                    options={
                        "ordering": ["machine"],
                    },
                ),
                migrations.CreateModel(
                    name="ConnectionTest",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
                        ("base_url", models.CharField(max_length=400)),
                        (
                            "configured",
                            models.BooleanField(
                                help_text="the configured address, asked with the configured key"
                            ),
                        ),
                        ("model", models.CharField(max_length=120)),
                        (
                            "profile",
                            models.CharField(
                                help_text="the provider profile that it is compared with", max_length=400
                            ),
                        ),
                        (
                            "caching",
                            models.BooleanField(default=False, help_text="prompt caching was tried too"),
                        ),
                        (
                            "batches",
                            models.BooleanField(
                                db_default=False, default=False, help_text="a batch was tried too"
                            ),
                        ),
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
                        ("message", models.TextField(blank=True, help_text="why it failed")),
                        (
                            "findings",
                            models.JSONField(default=list, help_text="tried, works and told of each"),
                        ),
                        ("toml", models.TextField(blank=True, help_text="the profile that fits the server")),
                        ("calls", models.PositiveIntegerField(default=0)),
                        ("input_tokens", models.PositiveBigIntegerField(default=0)),
                        ("output_tokens", models.PositiveBigIntegerField(default=0)),
                        (
                            "cost",
                            models.PositiveBigIntegerField(
                                help_text="nanodollars; null where no price is known", null=True
                            ),
                        ),
                        (
                            "bound",
                            models.PositiveBigIntegerField(
                                db_default=0,
                                default=0,
                                help_text="nanodollars held of the project's money while it runs",
                            ),
                        ),
                        (
                            "latency",
                            models.FloatField(help_text="seconds, the median of the replies", null=True),
                        ),
                        ("lease_until", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["-id"],
                    },
                ),
                migrations.CreateModel(
                    name="MutantText",
                    fields=[
                        (
                            "digest",
                            retrieval.models.blobs.Digest(max_length=64, primary_key=True, serialize=False),
                        ),
                        ("size", models.PositiveIntegerField()),
                        ("data", models.BinaryField()),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="Mutant",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "snippet",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="mutants",
                                to="retrieval.text",
                            ),
                        ),
                        (
                            "number",
                            models.PositiveSmallIntegerField(
                                help_text="from 1, the order in which they were made"
                            ),
                        ),
                        (
                            "operator",
                            models.CharField(
                                choices=[
                                    ("negated condition", "negated condition"),
                                    ("dropped statement", "dropped statement"),
                                    ("return None", "return None"),
                                    ("off by one", "off by one"),
                                    ("swapped arguments", "swapped arguments"),
                                ],
                                max_length=20,
                            ),
                        ),
                        ("line", models.PositiveIntegerField()),
                        ("before", models.TextField()),
                        ("after", models.TextField()),
                        (
                            "source",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="annotation.mutanttext",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["snippet", "number"],
                        "constraints": [
                            models.UniqueConstraint(fields=("snippet", "source"), name="mutant_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Trial",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
                        (
                            "assignment",
                            models.ForeignKey(
                                help_text="made for it",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="%(class)ss",
                                to="annotation.assignment",
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
                        (
                            "program",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="trials",
                                to="annotation.testprogram",
                            ),
                        ),
                        (
                            "snippet",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.text",
                            ),
                        ),
                        (
                            "mutant",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="trials",
                                to="annotation.mutant",
                            ),
                        ),
                        (
                            "applied_as",
                            models.CharField(
                                blank=True,
                                help_text="the name under which the program expects the candidate",
                                max_length=200,
                            ),
                        ),
                        (
                            "execution",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="trials",
                                to="annotation.execution",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("state__in", ["done", "failed"]), _negated=True),
                                fields=["state", "id"],
                                name="trial_open",
                            ),
                            models.Index(fields=["program", "snippet", "id"], name="trial_by_program"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Notice",
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
                                    ("finished", "build finished"),
                                    ("stopped", "stopped for a person"),
                                    ("waiting", "waiting for the provider"),
                                    ("canary", "canary done"),
                                    ("cap_80", "80 % of the cap is spent"),
                                    ("cap_100", "the cap is used up"),
                                    ("all_80", "80 % of the project's cap is spent"),
                                    ("all_100", "the project's cap is used up"),
                                    ("no_worker", "no worker for 5 minutes"),
                                    ("test", "a test"),
                                ],
                                max_length=9,
                            ),
                        ),
                        (
                            "episode",
                            models.CharField(help_text="what it is about, and since when", max_length=120),
                        ),
                        (
                            "build",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="notices",
                                to="annotation.build",
                            ),
                        ),
                        ("text", models.TextField()),
                        ("at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["-pk"],
                        "constraints": [
                            models.UniqueConstraint(fields=("kind", "episode"), name="notice_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Delivery",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "notice",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="deliveries",
                                to="annotation.notice",
                            ),
                        ),
                        (
                            "channel",
                            models.CharField(
                                choices=[("mail", "e-mail"), ("command", "command")], max_length=7
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("waiting", "Waiting"),
                                    ("sending", "Sending"),
                                    ("sent", "Sent"),
                                    ("failed", "Failed"),
                                    ("lost", "nobody knows whether it arrived"),
                                ],
                                default="waiting",
                                max_length=7,
                            ),
                        ),
                        ("tries", models.PositiveSmallIntegerField(default=0)),
                        ("due_at", models.DateTimeField(help_text="when it is tried next")),
                        ("begun_at", models.DateTimeField(help_text="when the last try began", null=True)),
                        ("error", models.TextField(blank=True)),
                    ],
                    options={
                        "verbose_name_plural": "deliveries",
                        "ordering": ["pk"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("state__in", ["waiting", "sending"])),
                                fields=["due_at"],
                                name="delivery_due",
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("notice", "channel"), name="delivery_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Pulse",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("queue", models.CharField(max_length=12, unique=True)),
                        (
                            "at",
                            models.DateTimeField(
                                help_text="when a worker last looked at the queue", null=True
                            ),
                        ),
                        (
                            "wanted_since",
                            models.DateTimeField(
                                help_text="since when there is work at every look", null=True
                            ),
                        ),
                        (
                            "looked_at",
                            models.DateTimeField(help_text="when that was last looked at", null=True),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Preference",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "user",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="preference",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "shortcuts",
                            models.JSONField(
                                default=dict, help_text="action → key, where it differs from the default"
                            ),
                        ),
                        ("shortcuts_on", models.BooleanField(default=True)),
                        (
                            "layout",
                            models.JSONField(
                                blank=True,
                                default=dict,
                                help_text="sizes and closed panes of the review page",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="ApiToken",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="api_tokens",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("name", models.CharField(max_length=80)),
                        ("digest", models.CharField(max_length=64, unique=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("last_used_at", models.DateTimeField(null=True)),
                    ],
                ),
                migrations.CreateModel(
                    name="Filling",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "build",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="filling",
                                to="annotation.build",
                            ),
                        ),
                        (
                            "of",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="fillings",
                                to="annotation.build",
                            ),
                        ),
                        (
                            "unjudged",
                            models.BooleanField(
                                default=False,
                                help_text="also queries of which some candidates could not be judged",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Proposal",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "filling",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="proposals",
                                to="annotation.filling",
                            ),
                        ),
                        (
                            "query",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.text",
                            ),
                        ),
                        (
                            "number",
                            models.PositiveSmallIntegerField(
                                default=1, help_text="1 for a query's first function"
                            ),
                        ),
                        (
                            "unjudged",
                            models.BooleanField(
                                default=False, help_text="some candidates of its query were not judged"
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("writing", "Writing"),
                                    ("written", "written: checked, then waits for an expert"),
                                    ("failed", "could not be written"),
                                    ("replaced", "denied, and written anew"),
                                    ("accepted", "Accepted"),
                                    ("edited", "accepted with changes"),
                                    ("rejected", "Rejected"),
                                ],
                                default="writing",
                                max_length=8,
                            ),
                        ),
                        ("revision", models.PositiveIntegerField(default=0)),
                        (
                            "snippet",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.text",
                            ),
                        ),
                        (
                            "packages",
                            models.JSONField(default=list, help_text="distributions that its writer named"),
                        ),
                        ("explanation", models.TextField(blank=True)),
                        (
                            "call",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="proposals",
                                to="annotation.llmcall",
                            ),
                        ),
                        (
                            "case",
                            models.OneToOneField(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="proposal",
                                to="annotation.case",
                            ),
                        ),
                        ("failure", models.TextField(blank=True, help_text="why it could not be written")),
                        ("lease", models.UUIDField(null=True)),
                        ("lease_until", models.DateTimeField(null=True)),
                        ("next_attempt_at", models.DateTimeField(null=True)),
                        (
                            "attempts",
                            models.PositiveIntegerField(default=0, help_text="failed tries to write it"),
                        ),
                        (
                            "waiting_for",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="waiting_proposals",
                                to="annotation.llmcall",
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["id"],
                        "indexes": [
                            models.Index(fields=["filling", "state", "id"], name="proposal_by_state")
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("filling", "query", "number"), name="proposal_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("state__in", ["writing", "failed"]),
                                    models.Q(("case__isnull", False), ("snippet__isnull", False)),
                                    _connector="OR",
                                ),
                                name="proposal_text_when_written",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ProposalDecision",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "proposal",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="decisions",
                                to="annotation.proposal",
                            ),
                        ),
                        ("revision", models.PositiveIntegerField(help_text="1, 2, … for each proposal")),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "action",
                            models.CharField(
                                choices=[
                                    ("accept", "accepted"),
                                    ("edit", "accepted with changes"),
                                    ("reject", "rejected"),
                                    ("undo", "taken back"),
                                ],
                                max_length=6,
                            ),
                        ),
                        ("reason", models.TextField(blank=True)),
                        (
                            "agent_label",
                            models.SmallIntegerField(help_text="what the agents had said then", null=True),
                        ),
                        (
                            "text",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.text",
                            ),
                        ),
                        (
                            "check_run",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="annotation.executionrequest",
                            ),
                        ),
                        (
                            "label",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.label",
                            ),
                        ),
                        ("at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["proposal", "revision"],
                        "constraints": [
                            models.UniqueConstraint(fields=("proposal", "revision"), name="decision_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Review",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "pair",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="reviews",
                                to="retrieval.pair",
                            ),
                        ),
                        (
                            "case",
                            models.ForeignKey(
                                help_text="seen with it",
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="reviews",
                                to="annotation.case",
                            ),
                        ),
                        (
                            "rater",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="reviews",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "phase",
                            models.CharField(
                                choices=[("assisted", "assisted: the agent's verdict was on screen")],
                                default="assisted",
                                max_length=10,
                            ),
                        ),
                        (
                            "revision",
                            models.PositiveIntegerField(help_text="1, 2, … for each pair and rater"),
                        ),
                        (
                            "supersedes",
                            models.OneToOneField(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="superseded_by",
                                to="annotation.review",
                            ),
                        ),
                        ("label", models.SmallIntegerField(help_text="1, 0, or null = unsure", null=True)),
                        (
                            "withdrawn",
                            models.BooleanField(
                                default=False, help_text="this revision takes the label back (undo)"
                            ),
                        ),
                        (
                            "agent_label",
                            models.SmallIntegerField(help_text="what the agents had said then", null=True),
                        ),
                        ("reason", models.TextField(blank=True)),
                        (
                            "tags",
                            models.JSONField(
                                blank=True, default=list, help_text="known tags, see annotation.review.tags"
                            ),
                        ),
                        (
                            "seconds",
                            models.PositiveIntegerField(
                                default=0,
                                help_text="active time on the page before it was given; 0 = not known",
                            ),
                        ),
                        (
                            "calls",
                            models.JSONField(
                                blank=True,
                                default=list,
                                help_text="ids of the rater's calls that it rests on",
                            ),
                        ),
                        (
                            "runs",
                            models.JSONField(
                                blank=True, default=list, help_text="ids of the rater's executions likewise"
                            ),
                        ),
                        (
                            "evidence",
                            models.CharField(help_text="hash of the evidence on screen", max_length=64),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["-created_at", "-id"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("pair", "rater", "revision"), name="review_revision_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Draft",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("text", models.TextField()),
                        (
                            "window",
                            models.CharField(
                                blank=True,
                                db_default="",
                                default="",
                                help_text="of the browser that sent it",
                                max_length=40,
                            ),
                        ),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="drafts",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "pair",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="drafts",
                                to="retrieval.pair",
                            ),
                        ),
                        (
                            "field",
                            models.CharField(
                                choices=[
                                    ("reason", "Reason"),
                                    ("test", "Test"),
                                    ("call", "Call"),
                                    ("code", "Code"),
                                    ("tags", "Tags"),
                                ],
                                max_length=6,
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("user", "pair", "field"), name="draft_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Seen",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="seen",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "pair",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="seen",
                                to="retrieval.pair",
                            ),
                        ),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "verdict",
                            models.BooleanField(
                                db_default=True,
                                default=True,
                                help_text="false: the agents' test alone, as the condition agent's tests shows it",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [models.UniqueConstraint(fields=("user", "pair"), name="seen_once")],
                    },
                ),
                migrations.CreateModel(
                    name="SeenBenchmark",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="seen_benchmarks",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "benchmark",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="seen",
                                to="retrieval.benchmark",
                            ),
                        ),
                        ("at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("user", "benchmark"), name="seen_benchmark_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="NormalForm",
                    fields=[
                        (
                            "snippet",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.PROTECT,
                                primary_key=True,
                                related_name="normal_form",
                                serialize=False,
                                to="retrieval.text",
                            ),
                        ),
                        (
                            "version",
                            models.PositiveSmallIntegerField(
                                help_text="sandbox.candidate.normal_form.VERSION"
                            ),
                        ),
                        (
                            "digest",
                            models.CharField(
                                blank=True, help_text="empty for a text that does not parse", max_length=64
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="CarriedOver",
                    fields=[
                        (
                            "review",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.PROTECT,
                                primary_key=True,
                                related_name="carried",
                                serialize=False,
                                to="annotation.review",
                            ),
                        ),
                        (
                            "source",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="carried_to",
                                to="annotation.review",
                            ),
                        ),
                    ],
                ),
            ],
        ),
        RunOnNewToo(fill, migrations.RunPython.noop),
    ]
