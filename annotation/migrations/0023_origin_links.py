"""A plan may show raters a link to where a function comes from."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0022_webhooks"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="shows_origin",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="raters have a link to where the function comes from",
            ),
        ),
    ]
