"""All tables of retrieval."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import retrieval.models.blobs
from retrieval.migrations._at_once import CreateAllModels, RunOnNewToo
from retrieval.models.trigrams import drop_index, make_index


class Migration(migrations.Migration):
    initial = True

    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        CreateAllModels(
            models=[
                migrations.CreateModel(
                    name="TextBody",
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
                    name="Text",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "body",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="entry",
                                to="retrieval.textbody",
                            ),
                        ),
                        ("head", models.CharField(max_length=240)),
                        ("size", models.PositiveIntegerField(help_text="characters")),
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
                            models.CharField(
                                help_text="the text's head; folding may lengthen it", max_length=720
                            ),
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
                        "constraints": [
                            models.UniqueConstraint(fields=("query", "snippet"), name="pair_once")
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
                            models.CharField(
                                blank=True, help_text="where the members came from", max_length=400
                            ),
                        ),
                        ("size", models.PositiveIntegerField(default=0, help_text="number of members")),
                        (
                            "filtered_from",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="filtered_into",
                                to="retrieval.collection",
                            ),
                        ),
                        (
                            "filtered",
                            models.JSONField(
                                blank=True,
                                help_text="what was read and kept, and refused by each filter; null: imported",
                                null=True,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["name", "kind", "-version"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("name", "kind", "version"), name="collection_once"
                            )
                        ],
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
                        ("position", models.PositiveIntegerField()),
                        (
                            "source_id",
                            models.CharField(
                                help_text="such as query-idx, code-idx or file::name", max_length=300
                            ),
                        ),
                        ("origin", models.CharField(blank=True, max_length=400)),
                        ("licence", models.CharField(blank=True, max_length=120)),
                        (
                            "rules",
                            models.PositiveIntegerField(
                                default=0, help_text="bits of retrieval.filters.Rule"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["collection", "position"],
                        "indexes": [
                            models.Index(fields=["collection", "source_id"], name="member_by_source_id")
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("collection", "position"), name="member_position_once"
                            ),
                            models.UniqueConstraint(fields=("collection", "text"), name="member_text_once"),
                        ],
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
                    name="Label",
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
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="labels",
                                to="retrieval.pair",
                            ),
                        ),
                        (
                            "annotator",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="labels",
                                to="retrieval.annotator",
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
                            models.BooleanField(
                                default=False, help_text="given with an agent's judgement on screen"
                            ),
                        ),
                        ("source", models.CharField(blank=True, max_length=200)),
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
                                    ("merged", "several rounds of agents, merged"),
                                    ("person", "a person"),
                                ],
                                db_default="",
                                default="",
                                help_text="how it came about; empty: not known",
                                max_length=8,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("pair", "annotator", "round"), name="label_once")
                        ],
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
                        (
                            "query_rule",
                            models.PositiveIntegerField(
                                db_default=0,
                                default=0,
                                help_text="bits of retrieval.filters.queries.QueryRule",
                            ),
                        ),
                        ("text_option", models.CharField(default="whole", max_length=24)),
                        (
                            "fusion",
                            models.CharField(
                                choices=[
                                    ("mean", "mean of the scores (the paper's text)"),
                                    (
                                        "maxabs",
                                        "each encoder's scores by its largest, then the mean (the authors' code)",
                                    ),
                                ],
                                default="mean",
                                max_length=8,
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
                        ("done", models.PositiveIntegerField(default=0, help_text="units of work finished")),
                        ("total", models.PositiveIntegerField(default=0)),
                        (
                            "phase",
                            models.CharField(
                                blank=True, help_text="what is being done, for people", max_length=80
                            ),
                        ),
                        ("message", models.TextField(blank=True, help_text="why it failed")),
                        (
                            "identities",
                            models.JSONField(
                                help_text="by encoder: weights, options and precision", null=True
                            ),
                        ),
                        (
                            "revisions",
                            models.JSONField(
                                help_text="by encoder of the hub: the commit that was loaded by whoever began",
                                null=True,
                            ),
                        ),
                        (
                            "approximate",
                            models.CharField(
                                blank=True,
                                choices=[
                                    ("hnsw", "approximate: a graph of neighbours (HNSW)"),
                                    ("ivf", "approximate: inverted lists (IVF)"),
                                ],
                                help_text="empty: exact search",
                                max_length=4,
                            ),
                        ),
                        (
                            "recall",
                            models.JSONField(
                                help_text="of an approximate index: what share of exact search it found, on a sample",
                                null=True,
                            ),
                        ),
                        (
                            "asked",
                            models.JSONField(
                                help_text="by encoder of a server: model, requests, tokens, and answers that named none",
                                null=True,
                            ),
                        ),
                        (
                            "recovered",
                            models.JSONField(
                                help_text="counts of human matches, and of those that it found", null=True
                            ),
                        ),
                        (
                            "overlaps",
                            models.JSONField(
                                help_text="what every two encoders alone have in common, on a sample of the queries",
                                null=True,
                            ),
                        ),
                        ("lease_until", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                    ],
                ),
                migrations.CreateModel(
                    name="MiningPart",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "mining",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="parts",
                                to="retrieval.mining",
                            ),
                        ),
                        ("number", models.PositiveIntegerField(help_text="from 1")),
                        ("start", models.PositiveIntegerField()),
                        ("stop", models.PositiveIntegerField()),
                        (
                            "worker",
                            models.CharField(blank=True, help_text="who works on it, or did", max_length=32),
                        ),
                        ("lease_until", models.DateTimeField(null=True)),
                        (
                            "found",
                            models.BinaryField(
                                help_text="its lists, as retrieval.mining.lists stores them", null=True
                            ),
                        ),
                        (
                            "alone",
                            models.BinaryField(
                                help_text="each encoder's own lists for a sample of the queries", null=True
                            ),
                        ),
                        (
                            "largest",
                            models.BinaryField(
                                help_text="each encoder's largest score for each query, where a fusion divides by it",
                                null=True,
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("mining", "number"), name="mining_part_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="MiningShared",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "mining",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="shared",
                                to="retrieval.mining",
                            ),
                        ),
                        ("name", models.CharField(help_text="what of which encoder", max_length=400)),
                        ("content", models.BinaryField()),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("mining", "name"), name="mining_shared_once")
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
                        (
                            "mining",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="candidates",
                                to="retrieval.mining",
                            ),
                        ),
                        (
                            "pair_list",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="candidates",
                                to="retrieval.pairlist",
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
                        ("rank", models.PositiveIntegerField()),
                        ("score", models.FloatField()),
                        (
                            "scores",
                            models.JSONField(
                                help_text="by encoder: what entered the mean, and the raw score"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["mining", "query", "rank"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("mining", "query", "rank"), name="candidate_rank_once"
                            ),
                            models.UniqueConstraint(fields=("mining", "pair"), name="candidate_pair_once"),
                            models.UniqueConstraint(
                                condition=models.Q(("pair_list__isnull", False)),
                                fields=("pair_list", "query", "rank"),
                                name="given_rank_once",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("pair_list__isnull", False)),
                                fields=("pair_list", "pair"),
                                name="given_pair_once",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("mining__isnull", False), ("pair_list__isnull", True)),
                                    models.Q(("mining__isnull", True), ("pair_list__isnull", False)),
                                    _connector="OR",
                                ),
                                name="candidate_of_one_source",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Benchmark",
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
                            "queries",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.collection",
                            ),
                        ),
                        (
                            "queries_until",
                            models.PositiveIntegerField(help_text="only queries before this position"),
                        ),
                        (
                            "snippets",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.collection",
                            ),
                        ),
                        (
                            "snippets_until",
                            models.PositiveIntegerField(help_text="only snippets before this position"),
                        ),
                        (
                            "pool",
                            models.CharField(
                                choices=[
                                    ("collection", "the whole collection"),
                                    ("candidates", "the query's candidates of the mining"),
                                ],
                                default="collection",
                                max_length=10,
                            ),
                        ),
                        (
                            "mining",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="benchmarks",
                                to="retrieval.mining",
                            ),
                        ),
                        (
                            "holes",
                            models.ForeignKey(
                                help_text="those whose labels it has beside the ones of the version before",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="filled",
                                to="retrieval.holes",
                            ),
                        ),
                        (
                            "previous_version",
                            models.ForeignKey(
                                help_text="the version whose labels it has beside those of the holes, or corrects",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.benchmark",
                            ),
                        ),
                        (
                            "pair_list",
                            models.ForeignKey(
                                help_text="pairs that were judged again, whose labels it has instead of those of the version before",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="corrected",
                                to="retrieval.pairlist",
                            ),
                        ),
                        (
                            "merge_rule",
                            models.CharField(
                                help_text="whose labels these are, and which one counts", max_length=400
                            ),
                        ),
                        ("size", models.PositiveIntegerField(help_text="labels")),
                        ("positives", models.PositiveIntegerField(help_text="labels above 0")),
                        (
                            "matches",
                            models.BinaryField(
                                help_text="number of matches of each query, by position; uint32"
                            ),
                        ),
                        (
                            "digest",
                            retrieval.models.blobs.Digest(
                                help_text="sha256 of all that it holds", max_length=64
                            ),
                        ),
                        ("published_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "extension_minings",
                            models.ManyToManyField(
                                blank=True,
                                help_text="those of extensions of the build that it was made of",
                                related_name="+",
                                to="retrieval.mining",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["name", "-version"],
                        "constraints": [
                            models.UniqueConstraint(fields=("name", "version"), name="benchmark_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="BenchmarkLabel",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "benchmark",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="labels",
                                to="retrieval.benchmark",
                            ),
                        ),
                        (
                            "pair",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.pair",
                            ),
                        ),
                        (
                            "relevance",
                            models.FloatField(help_text="a match above 0; may be a mean of several labels"),
                        ),
                        (
                            "label",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                help_text="its source",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.label",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("benchmark", "pair"), name="benchmark_pair_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Run",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "benchmark",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="runs",
                                to="retrieval.benchmark",
                            ),
                        ),
                        ("system", models.CharField(max_length=120)),
                        (
                            "encoders",
                            models.JSONField(
                                default=list, help_text="names; empty for a run that came as a file"
                            ),
                        ),
                        (
                            "options",
                            models.JSONField(default=dict, help_text="all else that decides the lists"),
                        ),
                        (
                            "text_option",
                            models.CharField(blank=True, help_text="empty: not known", max_length=24),
                        ),
                        (
                            "pool",
                            models.CharField(
                                choices=[
                                    ("collection", "the whole collection"),
                                    ("candidates", "the query's candidates of the mining"),
                                ],
                                max_length=10,
                            ),
                        ),
                        (
                            "source",
                            models.CharField(blank=True, help_text="name of the file", max_length=400),
                        ),
                        ("code_version", models.CharField(max_length=80)),
                        (
                            "digest",
                            retrieval.models.blobs.Digest(help_text="sha256 of the lists", max_length=64),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "scored_at",
                            models.DateTimeField(
                                default=django.utils.timezone.now,
                                help_text="when its lists came last; of several runs of a system the last one stands",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["benchmark", "system", "-id"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("benchmark", "system", "text_option", "pool", "digest"),
                                name="run_once",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RankedList",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="lists",
                                to="retrieval.run",
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
                        ("data", models.BinaryField(help_text="uint32")),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("run", "query"), name="ranked_list_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Score",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="scores",
                                to="retrieval.run",
                            ),
                        ),
                        ("metric", models.CharField(max_length=40)),
                        ("values", models.BinaryField(help_text="float64")),
                        ("condensed", models.BinaryField(help_text="float64")),
                        ("judged", models.BinaryField(help_text="float64")),
                        (
                            "digest",
                            retrieval.models.blobs.Digest(
                                blank=True,
                                help_text="sha256 of the three; empty for those kept before there was one",
                                max_length=64,
                            ),
                        ),
                    ],
                    options={
                        "constraints": [models.UniqueConstraint(fields=("run", "metric"), name="score_once")],
                    },
                ),
                migrations.CreateModel(
                    name="EncoderSpec",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(max_length=40, unique=True)),
                        ("spec", models.JSONField()),
                        ("weights", models.CharField(blank=True, max_length=64)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["name"],
                    },
                ),
                migrations.CreateModel(
                    name="KeptFigures",
                    fields=[
                        (
                            "digest",
                            retrieval.models.blobs.Digest(max_length=64, primary_key=True, serialize=False),
                        ),
                        (
                            "benchmark",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="retrieval.benchmark",
                            ),
                        ),
                        ("code_version", models.CharField(max_length=80)),
                        ("data", models.JSONField()),
                    ],
                ),
                migrations.CreateModel(
                    name="Pin",
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
                                    ("leaderboard", "a system's figure on a benchmark"),
                                    ("study", "a figure of a study"),
                                    ("corpus", "corpus statistics"),
                                    ("comparison", "two versions of a benchmark"),
                                    ("build", "a build's own figures"),
                                    ("mining", "a mining's own figures"),
                                    ("two builds", "two builds over their common pairs"),
                                ],
                                max_length=12,
                            ),
                        ),
                        ("title", models.CharField(help_text="what people read", max_length=300)),
                        ("subject", models.JSONField()),
                        ("value", models.JSONField()),
                        ("ground", models.JSONField()),
                        (
                            "digest",
                            retrieval.models.blobs.Digest(
                                help_text="sha256 of all of it; names it", max_length=64, unique=True
                            ),
                        ),
                        (
                            "created_by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["-id"],
                    },
                ),
                migrations.CreateModel(
                    name="Holes",
                    fields=[
                        (
                            "mining",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="holes",
                                serialize=False,
                                to="retrieval.mining",
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="holes",
                                to="retrieval.run",
                            ),
                        ),
                        (
                            "depth",
                            models.PositiveIntegerField(
                                help_text="results of each query that were looked at"
                            ),
                        ),
                        ("pairs", models.PositiveIntegerField()),
                        (
                            "people",
                            models.BooleanField(
                                db_default=False, default=False, help_text="people judge them, no agent"
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                ),
                migrations.CreateModel(
                    name="Job",
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
                                    ("import", "Import"),
                                    ("filter", "Filter"),
                                    ("export", "Export"),
                                    ("run", "score a run"),
                                    ("score", "search and figures"),
                                    ("reproduce", "Reproduce"),
                                    ("publish", "Publish"),
                                ],
                                max_length=9,
                            ),
                        ),
                        (
                            "subject",
                            models.PositiveBigIntegerField(
                                default=0, help_text="id of the row that it is about; 0: none"
                            ),
                        ),
                        ("order", models.JSONField(help_text="what is to be done, as the kind spells it")),
                        (
                            "once",
                            retrieval.models.blobs.Digest(
                                blank=True,
                                help_text="what no second open job of the kind may have; empty: any may",
                                max_length=64,
                            ),
                        ),
                        (
                            "files",
                            models.JSONField(
                                blank=True,
                                default=dict,
                                help_text="uploaded files by name, kept until it has ended",
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("columns", "choose columns"),
                                    ("waiting", "Waiting"),
                                    ("running", "Running"),
                                    ("done", "Done"),
                                    ("failed", "Failed"),
                                    ("cancelled", "Cancelled"),
                                ],
                                default="waiting",
                                max_length=9,
                            ),
                        ),
                        (
                            "done",
                            models.PositiveIntegerField(default=0, help_text="done in the present stage"),
                        ),
                        ("total", models.PositiveIntegerField(default=0)),
                        (
                            "message",
                            models.TextField(blank=True, help_text="the present stage, or why it failed"),
                        ),
                        (
                            "result",
                            models.JSONField(
                                blank=True, default=dict, help_text="what came of it, as the kind spells it"
                            ),
                        ),
                        ("lease_until", models.DateTimeField(null=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["-id"],
                        "indexes": [models.Index(fields=["kind", "subject", "-id"], name="job_by_subject")],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(
                                    ("state__in", ["waiting", "running"]),
                                    models.Q(("once", ""), _negated=True),
                                ),
                                fields=("kind", "once"),
                                name="job_open_once",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="PairList",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "name",
                            models.CharField(help_text="the benchmark's, or the file's", max_length=120),
                        ),
                        (
                            "source",
                            models.CharField(
                                blank=True, help_text="name of the file; empty: a benchmark", max_length=400
                            ),
                        ),
                        (
                            "queries",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.collection",
                            ),
                        ),
                        (
                            "snippets",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="retrieval.collection",
                            ),
                        ),
                        (
                            "benchmark",
                            models.ForeignKey(
                                help_text="has the labels that the pairs came with; none: they came without",
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="pair_lists",
                                to="retrieval.benchmark",
                            ),
                        ),
                        (
                            "digest",
                            retrieval.models.blobs.Digest(
                                help_text="sha256 of the file, or of the benchmark", max_length=64
                            ),
                        ),
                        ("size", models.PositiveIntegerField(default=0, help_text="pairs")),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["-id"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("digest", "queries", "snippets", "source", "benchmark"),
                                name="pair_list_once",
                            )
                        ],
                    },
                ),
            ],
        ),
        RunOnNewToo(make_index, drop_index),
    ]
