"""The canaries of builds and those of extensions become one table, with a key of its own."""

from typing import ClassVar

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

COMMON = ("seed", "drawn", "pairs", "done_at", "spent", "decided_at", "decided_by_id")
OF_BUILD = (*COMMON, "build_id", "rest_opened")
OF_EXTENSION = (*COMMON, "extension_id", "began", "last_call", "before")
OF_EITHER = sorted({*OF_BUILD, *OF_EXTENSION})
DRAWN = [
    ("seed", models.PositiveBigIntegerField(help_text="draws the pairs, and the resamples of their cost")),
    ("drawn", models.JSONField(default=list, help_text="ids of its candidates, in the order drawn")),
    (
        "pairs",
        models.PositiveIntegerField(default=0, help_text="of the whole build, or new ones of the extension"),
    ),
    (
        "done_at",
        models.DateTimeField(help_text="when all of its cases were settled or abandoned", null=True),
    ),
    (
        "spent",
        models.PositiveBigIntegerField(default=0, help_text="nanodollars that its cases had cost then"),
    ),
    ("decided_at", models.DateTimeField(help_text="when a person let the build go on", null=True)),
]
MEANWHILE = [
    (
        "rest_opened",
        models.BooleanField(
            default=False,
            help_text="the cases of all other pairs were made; an extension says it by its state",
        ),
    ),
    (
        "began",
        models.PositiveBigIntegerField(default=0, help_text="nanodollars that the build had spent before it"),
    ),
    ("last_call", models.PositiveBigIntegerField(default=0, help_text="id of the last call before it")),
    ("before", models.JSONField(help_text="the figures of the build before the extension", null=True)),
]


def primary_key():
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def rows_of(apps, name):
    return apps.get_model("annotation", name).objects.order_by("pk")


def copy_rows(rows, into, columns):
    into.bulk_create(into.model(**row) for row in rows.values(*columns))


def hold_two(apps, schema_editor):
    """Copy both tables into one without relations."""
    held = rows_of(apps, "HeldCanary")
    copy_rows(rows_of(apps, "Canary"), held, OF_BUILD)
    extensions = rows_of(apps, "ExtensionCanary").annotate(build_id=models.F("extension__build"))
    copy_rows(extensions, held, (*OF_EXTENSION, "build_id"))


def release_one(apps, schema_editor):
    """Copy them into the table that is left, in the same order."""
    copy_rows(rows_of(apps, "HeldCanary"), rows_of(apps, "Canary"), OF_EITHER)


def hold_one(apps, schema_editor):
    """The way back."""
    copy_rows(rows_of(apps, "Canary"), rows_of(apps, "HeldCanary"), OF_EITHER)


def release_two(apps, schema_editor):
    held = rows_of(apps, "HeldCanary")
    copy_rows(held.filter(extension_id=None), rows_of(apps, "Canary"), OF_BUILD)
    copy_rows(held.exclude(extension_id=None), rows_of(apps, "ExtensionCanary"), OF_EXTENSION)


class Migration(migrations.Migration):
    """A table between the two lets the new one have the name of an old one, with its indexes."""

    dependencies: ClassVar = [
        ("annotation", "0002_unproven_outcome"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations: ClassVar = [
        migrations.CreateModel(
            name="HeldCanary",
            fields=[
                ("id", primary_key()),
                ("build_id", models.BigIntegerField()),
                ("extension_id", models.BigIntegerField(null=True)),
                ("decided_by_id", models.BigIntegerField(null=True)),
                *DRAWN,
                *MEANWHILE,
            ],
        ),
        migrations.RunPython(hold_two, release_two),
        migrations.DeleteModel(name="ExtensionCanary"),
        migrations.DeleteModel(name="Canary"),
        migrations.CreateModel(
            name="Canary",
            fields=[
                ("id", primary_key()),
                *DRAWN,
                *MEANWHILE,
                (
                    "build",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="canaries",
                        to="annotation.build",
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "extension",
                    models.OneToOneField(
                        help_text="whose new pairs are drawn; none where they are the build's",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="canary",
                        to="annotation.extension",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "canaries",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("extension", None)),
                        fields=("build",),
                        name="canary_of_build_once",
                    )
                ],
            },
        ),
        migrations.RunPython(release_one, hold_one),
        migrations.DeleteModel(name="HeldCanary"),
    ]
