from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0024_pins_of_minings"),
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
