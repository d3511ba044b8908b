"""Where everything is reached: the app's pages, accounts, the admin's tables."""

from django.contrib import admin
from django.urls import include, path

from cosqa_site import documentation
from cosqa_site.accounts.log_in import Enter, Leave
from cosqa_site.accounts.passwords import (
    Changed,
    ChangePassword,
    Forgotten,
    MailSent,
    NewPassword,
    PasswordSet,
)
from cosqa_site.accounts.single_sign_on import begin_sign_in, end_sign_in
from cosqa_site.api import api
from cosqa_site.health import report_health

admin.autodiscover()
urlpatterns = [
    path("login/", Enter.as_view(), name="login"),
    path("login/provider/", begin_sign_in, name="sign-in"),
    path("login/provider/back/", end_sign_in, name="sign-in-back"),
    path("logout/", Leave.as_view(), name="logout"),
    path("password/", ChangePassword.as_view(), name="password_change"),
    path("password/done/", Changed.as_view(), name="password_change_done"),
    path("password/forgotten/", Forgotten.as_view(), name="password_reset"),
    path("password/forgotten/sent/", MailSent.as_view(), name="password_reset_done"),
    path("password/new/<str:uidb64>/with/<str:token>/", NewPassword.as_view(), name="password_reset_confirm"),
    path("password/new/done/", PasswordSet.as_view(), name="password_reset_complete"),
    path("admin/", admin.site.urls),
    path("api/", api.urls),
    path("health/", report_health, name="health"),
    path("docs/", documentation.serve_page, name="documentation"),
    path("docs/<path:path>", documentation.serve_page, name="documentation-file"),
    path("", include("annotation.urls")),
]
handler400 = "cosqa_site.errors.bad_request"
handler404 = "cosqa_site.errors.not_found"
handler500 = "cosqa_site.errors.server_error"
