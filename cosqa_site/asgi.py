"""HTTP and websocket routing. Importing it starts nothing: no worker, no thread, no connection."""

from __future__ import annotations

import os

import django
from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cosqa_site.settings")
django.setup(set_prefix=False)

from annotation.consumers import websocket_urlpatterns  # noqa: E402  (models need the apps that the line above loads)
from cosqa_site.http.asgi_handler import OneThread  # noqa: E402
from cosqa_site.http.prefix import place_below_prefix  # noqa: E402

application = place_below_prefix(
    ProtocolTypeRouter(
        {
            "http": OneThread(),
            "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
        }
    ),
    settings.PREFIX,
)
