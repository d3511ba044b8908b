"""The site's own app: it holds the commands that span apps, and checks that the settings fit together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.contrib import admin
from django.contrib.admin import apps
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class SiteConfig(AppConfig):
    name = "cosqa_site"
    verbose_name = "CoSQA Workbench"

    def ready(self) -> None:
        from cosqa_site import checks  # noqa: F401 (importing it registers its checks)


class WorkbenchAdminConfig(apps.SimpleAdminConfig):
    """Django's admin with our site as the default one.

    Its tables are loaded by the routes that show them and the check that looks at them, not by each command.
    """

    default = False  # INSTALLED_APPS names it in full; "cosqa_site" by itself stays SiteConfig
    default_site = "cosqa_site.admin_site.WorkbenchSite"

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(tables_are_shown_well, checks.Tags.admin)


def tables_are_shown_well(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: Any
) -> list[checks.CheckMessage]:
    admin.autodiscover()
    return list(check_admin_app(app_configs, **kwargs))
