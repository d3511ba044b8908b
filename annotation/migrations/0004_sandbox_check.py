"""What the machines that execute found about their own sandbox."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0003_calls"),
    ]

    operations = [
        migrations.CreateModel(
            name="SandboxCheck",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("machine", models.CharField(max_length=255, unique=True)),
                ("backend", models.CharField(blank=True, max_length=40)),
                ("image", models.CharField(blank=True, max_length=200)),
                (
                    "checks",
                    models.JSONField(default=list, help_text="name, ok, found, required and advice of each"),
                ),
                ("failure", models.TextField(blank=True, help_text="why nothing is executed there")),
                ("made_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["machine"],
            },
        ),
    ]
