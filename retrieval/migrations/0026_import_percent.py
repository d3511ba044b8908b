from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0025_imports_from_addresses_and_further_orders"),
    ]

    operations = [
        migrations.AddField(
            model_name="importjob",
            name="percent",
            field=models.PositiveSmallIntegerField(
                help_text="of the bytes of its files that are read", null=True
            ),
        ),
    ]
