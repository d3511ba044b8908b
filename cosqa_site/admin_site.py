"""Django's admin, open to the role admin: to look at the tables, keep prices, and make accounts."""

from __future__ import annotations

from django.contrib.admin import AdminSite
from django.http import HttpRequest

from annotation.access import Role, has_role


class WorkbenchSite(AdminSite):
    """The role opens it, so that nobody needs the staff flag besides."""

    site_header = site_title = "CoSQA Workbench: tables"
    index_title = "Tables"
    site_url = "/"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        return has_role(request.user, Role.ADMIN)
