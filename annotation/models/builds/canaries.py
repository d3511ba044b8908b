"""The canaries of large builds and extensions: random pairs run to the end before all others are paid for."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.builds.build import Build
from annotation.models.builds.extensions import Extension


class Drawn(models.Model):
    """What every canary has: its pairs are drawn when the mining is done, and a person decides after them."""

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

    class Meta:
        abstract = True


class Canary(Drawn):
    """One build's canary: planned at the launch."""

    build = models.OneToOneField(Build, on_delete=models.CASCADE, primary_key=True, related_name="canary")
    rest_opened = models.BooleanField(default=False, help_text="the cases of all other pairs were made")

    class Meta:
        verbose_name_plural = "canaries"

    def __str__(self) -> str:
        return f"canary of {self.build}"


class ExtensionCanary(Drawn):
    """One extension's canary, of its new pairs alone: planned when it is decided.

    It begins when nothing else of the build is open, so that what it costs is told apart.
    """

    extension = models.OneToOneField(
        Extension, on_delete=models.CASCADE, primary_key=True, related_name="canary"
    )
    began = models.PositiveBigIntegerField(
        default=0, help_text="nanodollars that the build had spent before it"
    )
    last_call = models.PositiveBigIntegerField(default=0, help_text="id of the last call before it")
    before = models.JSONField(null=True, help_text="the figures of the build before the extension")

    class Meta:
        verbose_name_plural = "canaries of extensions"

    def __str__(self) -> str:
        return f"canary of {self.extension}"

    @property
    def build(self) -> Build:
        return self.extension.build

    @property
    def build_id(self) -> int:
        return self.extension.build_id


AnyCanary = Canary | ExtensionCanary
