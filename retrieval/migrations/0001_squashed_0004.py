"""All tables at once, for a database that has none yet: it saves the steps in which they came to be."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import retrieval.models.blobs
from retrieval.models.trigrams import drop_index, make_index


class Migration(migrations.Migration):
    replaces = [
        ("retrieval", "0001_initial"),
        ("retrieval", "0002_extend"),
        ("retrieval", "0003_narrower_indexes"),
        ("retrieval", "0004_query_texts"),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Text",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("head", models.CharField(max_length=240)),
                ("size", models.PositiveIntegerField(help_text="characters")),
            ],
        ),
        migrations.CreateModel(
            name="TextBody",
            fields=[
                ("digest", retrieval.models.blobs.Digest(max_length=64, primary_key=True, serialize=False)),
                ("size", models.PositiveIntegerField()),
                ("data", models.BinaryField()),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Annotator",
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
                            ("original", "original data"),
                            ("agents", "test-driven agents"),
                            ("single_llm", "single LLM"),
                            ("person", "person"),
                            ("merge", "merge"),
                        ],
                        max_length=10,
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                ("version", models.CharField(max_length=64)),
                ("config", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("kind", "name", "version"), name="annotator_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Collection",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "kind",
                    models.CharField(
                        choices=[("queries", "Queries"), ("snippets", "Snippets")], max_length=8
                    ),
                ),
                (
                    "source",
                    models.CharField(blank=True, help_text="where the members came from", max_length=400),
                ),
                ("size", models.PositiveIntegerField(default=0, help_text="number of members")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["name", "kind", "-version"],
                "constraints": [
                    models.UniqueConstraint(fields=("name", "kind", "version"), name="collection_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportJob",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                (
                    "format",
                    models.CharField(
                        choices=[
                            ("cosqa", "CoSQA: queries and a code base (JSON)"),
                            ("python", "Python: a source file, a wheel or a zip of sources"),
                        ],
                        max_length=8,
                    ),
                ),
                ("file", models.FileField(max_length=300, upload_to="imports/%Y/%m/")),
                ("codebase", models.FileField(blank=True, max_length=300, upload_to="imports/%Y/%m/")),
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
                ("read", models.PositiveIntegerField(default=0)),
                ("stored", models.PositiveIntegerField(default=0)),
                ("unreadable", models.PositiveIntegerField(default=0)),
                ("problems", models.JSONField(default=list, help_text="the first problems, as text")),
                ("message", models.TextField(blank=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="Mining",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("encoders", models.JSONField(help_text="names, in the order of the scores")),
                ("k", models.PositiveIntegerField(default=20)),
                (
                    "limit",
                    models.PositiveIntegerField(
                        blank=True, help_text="only the first so many queries", null=True
                    ),
                ),
                (
                    "chosen",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="positions of its queries; empty = the first so many",
                    ),
                ),
                (
                    "seed",
                    models.PositiveBigIntegerField(
                        blank=True, help_text="drew those of them that are new", null=True
                    ),
                ),
                (
                    "until",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="only snippets before this position; noted when it is performed",
                        null=True,
                    ),
                ),
                ("rule", models.PositiveIntegerField(default=1)),
                ("text_option", models.CharField(default="whole", max_length=24)),
                ("fusion", models.CharField(default="mean", max_length=8)),
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
                ("done", models.PositiveIntegerField(default=0, help_text="units of work finished")),
                ("total", models.PositiveIntegerField(default=0)),
                (
                    "phase",
                    models.CharField(blank=True, help_text="what is being done, for people", max_length=80),
                ),
                ("message", models.TextField(blank=True, help_text="why it failed")),
                ("lease_until", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "queries",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="minings_as_queries",
                        to="retrieval.collection",
                    ),
                ),
                (
                    "snippets",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="minings_as_snippets",
                        to="retrieval.collection",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="QueryText",
            fields=[
                (
                    "text",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="as_query",
                        serialize=False,
                        to="retrieval.text",
                    ),
                ),
                (
                    "folded",
                    models.CharField(help_text="the text's head; folding may lengthen it", max_length=720),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Pair",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "query",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pairs_as_query",
                        to="retrieval.text",
                    ),
                ),
                (
                    "snippet",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pairs_as_snippet",
                        to="retrieval.text",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("query", "snippet"), name="pair_once")],
            },
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                (
                    "source_id",
                    models.CharField(help_text="such as query-idx, code-idx or file::name", max_length=300),
                ),
                ("origin", models.CharField(blank=True, max_length=400)),
                ("licence", models.CharField(blank=True, max_length=120)),
                ("rules", models.PositiveIntegerField(default=0, help_text="bits of retrieval.filters.Rule")),
                (
                    "collection",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="retrieval.collection",
                    ),
                ),
                (
                    "text",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="members",
                        to="retrieval.text",
                    ),
                ),
            ],
            options={
                "ordering": ["collection", "position"],
                "indexes": [models.Index(fields=["collection", "source_id"], name="member_by_source_id")],
                "constraints": [
                    models.UniqueConstraint(fields=("collection", "position"), name="member_position_once"),
                    models.UniqueConstraint(fields=("collection", "text"), name="member_text_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Candidate",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("rank", models.PositiveIntegerField()),
                ("score", models.FloatField()),
                (
                    "scores",
                    models.JSONField(help_text="by encoder: what entered the mean, and the raw score"),
                ),
                (
                    "mining",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="candidates",
                        to="retrieval.mining",
                    ),
                ),
                (
                    "pair",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="candidates",
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
            ],
            options={
                "ordering": ["mining", "query", "rank"],
                "constraints": [
                    models.UniqueConstraint(fields=("mining", "query", "rank"), name="candidate_rank_once"),
                    models.UniqueConstraint(fields=("mining", "pair"), name="candidate_pair_once"),
                ],
            },
        ),
        migrations.AddField(
            model_name="text",
            name="body",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="entry", to="retrieval.textbody"
            ),
        ),
        migrations.CreateModel(
            name="Label",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("round", models.PositiveIntegerField(default=1)),
                ("value", models.SmallIntegerField(null=True)),
                (
                    "scale",
                    models.CharField(
                        choices=[
                            ("binary", "1 match, 0 no match"),
                            ("half", "50 % match"),
                            ("graded", "0 to 3, as in CodeSearchNet"),
                        ],
                        default="binary",
                        max_length=8,
                    ),
                ),
                (
                    "assisted",
                    models.BooleanField(default=False, help_text="given with an agent's judgement on screen"),
                ),
                ("source", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "annotator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="labels",
                        to="retrieval.annotator",
                    ),
                ),
                (
                    "pair",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="labels",
                        to="retrieval.pair",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("pair", "annotator", "round"), name="label_once")
                ],
            },
        ),
        migrations.RunPython(make_index, drop_index),
    ]
