from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0006_more_import_formats"),
    ]

    operations = [
        migrations.AlterField(
            model_name="mining",
            name="fusion",
            field=models.CharField(
                choices=[
                    ("mean", "mean of the scores (the paper's text)"),
                    ("maxabs", "each encoder's scores by its largest, then the mean (the authors' code)"),
                ],
                default="mean",
                max_length=8,
            ),
        ),
    ]
