from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0028_scores_and_orders")]

    operations = [
        migrations.AddField(
            model_name="study",
            name="one_more",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="where a pair's planned raters split, one more is asked",
            ),
        ),
    ]
