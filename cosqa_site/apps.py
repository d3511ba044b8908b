"""The site's own app: it holds the commands that span apps, and checks that the settings fit together."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class SiteConfig(AppConfig):
    name = "cosqa_site"
    verbose_name = "CoSQA Workbench"

    def ready(self) -> None:
        from cosqa_site import checks  # noqa: F401 (importing it registers its checks)


class WorkbenchAdminConfig(admin_apps.AdminConfig):
    """Django's admin with our site as the default one."""

    default = False  # INSTALLED_APPS names it in full; "cosqa_site" by itself stays SiteConfig
    default_site = "cosqa_site.admin_site.WorkbenchSite"
