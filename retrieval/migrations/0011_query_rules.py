from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0010_mining_parts"),
    ]

    operations = [
        migrations.AddField(
            model_name="mining",
            name="query_rule",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="bits of retrieval.filters.queries.QueryRule"
            ),
        ),
    ]
