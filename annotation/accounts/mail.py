"""Whether the workbench may mail links to people."""

from __future__ import annotations

from django.conf import settings


def can_mail_links() -> bool:
    """A mail server is set, and no stranger can choose the host that stands in the links."""
    return bool(settings.MAIL_IS_SET) and "*" not in settings.ALLOWED_HOSTS
