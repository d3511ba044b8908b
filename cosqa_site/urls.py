"""Where everything is reached: the app's pages, accounts, the admin's tables."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

from cosqa_site.api import api
from cosqa_site.health import report_health
from cosqa_site.log_in import Enter, Leave

admin.autodiscover()
urlpatterns = [
    path("login/", Enter.as_view(), name="login"),
    path("logout/", Leave.as_view(), name="logout"),
    path("password/", auth.PasswordChangeView.as_view(), name="password_change"),
    path("password/done/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("admin/", admin.site.urls),
    path("api/", api.urls),
    path("health/", report_health, name="health"),
    path("", include("annotation.urls")),
]
handler400 = "cosqa_site.errors.bad_request"
handler404 = "cosqa_site.errors.not_found"
handler500 = "cosqa_site.errors.server_error"
