"""The workbench's settings with the points of `tests.faults.points` in its workers."""

from cosqa_site.settings import *  # noqa: F403
from cosqa_site.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults.points.PointsConfig"]
