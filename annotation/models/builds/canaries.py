"""The canary of a large build or extension: random pairs run to the end before all others are paid for."""

from __future__ import annotations

from typing import Self

from django.conf import settings
from django.db import models

from annotation.models.builds.build import Build
from annotation.models.builds.extensions import Extension


class Canaries(models.QuerySet["Canary"]):
    def of_whole_build(self, build: Build) -> Self:
        """The canary of the pairs that the build was launched with; none where it has none."""
        return self.filter(build=build, extension=None)

    def of_extension(self, build: Build, number: int) -> Self:
        """The canary of the build's extension `number`; none where it has none."""
        return self.filter(build=build, extension__number=number)


class Canary(models.Model):
    """The pairs that a build, or an extension of one, begins with; a person decides after them.

    It is planned at the launch, or when the extension is decided, and drawn when the mining is done.
    That of an extension is of its new pairs alone. It begins when nothing else of the build is open,
    so that what it costs is told apart: `began`, `last_call` and `before` say what was there.
    """

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="canaries")
    extension = models.OneToOneField(
        Extension,
        on_delete=models.CASCADE,
        null=True,
        related_name="canary",
        help_text="whose new pairs are drawn; none where they are the build's",
    )
    seed = models.PositiveBigIntegerField(help_text="draws the pairs, and the resamples of their cost")
    drawn = models.JSONField(default=list, help_text="ids of its candidates, in the order drawn")
    pairs = models.PositiveIntegerField(
        default=0, help_text="of the whole build, or new ones of the extension"
    )
    done_at = models.DateTimeField(null=True, help_text="when all of its cases were settled or abandoned")
    spent = models.PositiveBigIntegerField(default=0, help_text="nanodollars that its cases had cost then")
    decided_at = models.DateTimeField(null=True, help_text="when a person let the build go on")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    rest_opened = models.BooleanField(
        default=False, help_text="the cases of all other pairs were made; an extension says it by its state"
    )
    began = models.PositiveBigIntegerField(
        default=0, help_text="nanodollars that the build had spent before it"
    )
    last_call = models.PositiveBigIntegerField(default=0, help_text="id of the last call before it")
    before = models.JSONField(null=True, help_text="the figures of the build before the extension")

    objects = Canaries.as_manager()

    class Meta:
        verbose_name_plural = "canaries"
        constraints = [
            models.UniqueConstraint(
                fields=["build"], condition=models.Q(extension=None), name="canary_of_build_once"
            )
        ]

    def __str__(self) -> str:
        return f"canary of {self.extension or self.build}"

    @property
    def is_of_extension(self) -> bool:
        """Whether it is of an extension's new pairs, and not of the build's first ones."""
        return self.extension_id is not None
