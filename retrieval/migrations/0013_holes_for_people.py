from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0012_overlaps"),
    ]

    operations = [
        migrations.AddField(
            model_name="holes",
            name="people",
            field=models.BooleanField(
                db_default=False, default=False, help_text="people judge them, no agent"
            ),
        ),
    ]
