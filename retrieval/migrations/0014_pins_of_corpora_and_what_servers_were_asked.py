from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0013_holes_for_people"),
    ]

    operations = [
        migrations.AddField(
            model_name="mining",
            name="asked",
            field=models.JSONField(
                help_text="by encoder of a server: model, requests, tokens, and answers that named none",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="pin",
            name="kind",
            field=models.CharField(
                choices=[
                    ("leaderboard", "a system's figure on a benchmark"),
                    ("study", "a figure of a study"),
                    ("corpus", "corpus statistics"),
                ],
                max_length=12,
            ),
        ),
    ]
