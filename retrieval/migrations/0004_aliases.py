"""Every id of a source is kept, also of a text that has one already, and benchmarks may go by ids."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0003_whole_grades"),
    ]

    operations = [
        migrations.CreateModel(
            name="Alias",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField(help_text="from 1, in the order in which they came")),
                ("source_id", models.CharField(max_length=300)),
            ],
            options={
                "ordering": ["collection", "number"],
            },
        ),
        migrations.CreateModel(
            name="BenchmarkIdLabel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("query_alias", models.PositiveIntegerField(default=0)),
                ("snippet_alias", models.PositiveIntegerField(default=0)),
                ("relevance", models.FloatField()),
            ],
        ),
        migrations.CreateModel(
            name="LabelIds",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("query_source_id", models.CharField(blank=True, max_length=300)),
                ("snippet_source_id", models.CharField(blank=True, max_length=300)),
                ("value", models.SmallIntegerField()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="rankedlist",
            name="ranked_list_once",
        ),
        migrations.AddField(
            model_name="benchmark",
            name="query_aliases",
            field=models.PositiveIntegerField(
                db_default=0,
                default=0,
                help_text="further ids of queries that are queries of their own; 0: by text",
            ),
        ),
        migrations.AddField(
            model_name="benchmark",
            name="snippet_aliases",
            field=models.PositiveIntegerField(
                db_default=0,
                default=0,
                help_text="further ids of snippets that are results of their own; 0: by text",
            ),
        ),
        migrations.AddField(
            model_name="rankedlist",
            name="alias",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="number of the id that was asked; 0: the query's own"
            ),
        ),
        migrations.AlterField(
            model_name="benchmark",
            name="matches",
            field=models.BinaryField(
                help_text="number of matches of each query, by position, then of each alias; uint32"
            ),
        ),
        migrations.AddConstraint(
            model_name="rankedlist",
            constraint=models.UniqueConstraint(fields=("run", "query", "alias"), name="ranked_list_once"),
        ),
        migrations.AddField(
            model_name="alias",
            name="collection",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="aliases",
                to="retrieval.collection",
            ),
        ),
        migrations.AddField(
            model_name="alias",
            name="text",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="retrieval.text",
            ),
        ),
        migrations.AddField(
            model_name="benchmarkidlabel",
            name="benchmark",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="id_labels",
                to="retrieval.benchmark",
            ),
        ),
        migrations.AddField(
            model_name="benchmarkidlabel",
            name="pair",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="retrieval.pair",
            ),
        ),
        migrations.AddField(
            model_name="labelids",
            name="label",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="ids",
                to="retrieval.label",
            ),
        ),
        migrations.AddIndex(
            model_name="alias",
            index=models.Index(fields=["collection", "text"], name="alias_by_text"),
        ),
        migrations.AddConstraint(
            model_name="alias",
            constraint=models.UniqueConstraint(fields=("collection", "number"), name="alias_number_once"),
        ),
        migrations.AddConstraint(
            model_name="alias",
            constraint=models.UniqueConstraint(fields=("collection", "source_id", "text"), name="alias_once"),
        ),
        migrations.AddConstraint(
            model_name="benchmarkidlabel",
            constraint=models.UniqueConstraint(
                fields=("benchmark", "pair", "query_alias", "snippet_alias"), name="benchmark_ids_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="labelids",
            constraint=models.UniqueConstraint(
                fields=("label", "query_source_id", "snippet_source_id"), name="label_ids_once"
            ),
        ),
    ]
