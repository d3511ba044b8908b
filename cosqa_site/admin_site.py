"""Django's admin, open to the role admin: to look at the tables, keep prices, and make accounts."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.decorators import method_decorator

from annotation.accounts.roles import Role, has_role, refuse_while_blind
from cosqa_site.accounts.log_in import Leave


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

    @method_decorator(login_not_required)
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """There is one page to log in. Raises PermissionDenied: others would be sent to and fro."""
        if request.user.is_authenticated and not has_role(request.user, Role.ADMIN):
            raise PermissionDenied(f"The tables are for the role {Role.ADMIN}; ask an admin for it.")
        return redirect_to_login(request.GET.get(REDIRECT_FIELD_NAME, reverse("admin:index")))

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """And one way to log out."""
        return Leave.as_view()(request)
