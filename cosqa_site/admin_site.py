"""Django's admin, open to the role admin: to look at the tables, keep prices, and make accounts."""

from __future__ import annotations

from django.contrib.admin import AdminSite
from django.http import HttpRequest

from annotation.accounts.roles import Role, has_role, refuse_while_blind


class WorkbenchSite(AdminSite):
    """The role opens it, so that nobody needs the staff flag besides."""

    site_header = site_title = "CoSQA Workbench: tables"
    index_title = "Tables"
    site_url = "/"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        """Raises KeptBlind for admins who rate in a study: the tables hide nothing."""
        if not has_role(request.user, Role.ADMIN):
            return False
        refuse_while_blind(request.user)
        return True
