"""HTTP and websocket routing. Importing it starts nothing: no worker, no thread, no connection."""

from __future__ import annotations

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cosqa_site.settings")
http = get_asgi_application()

from annotation.consumers import websocket_urlpatterns  # noqa: E402  (models need the apps that the line above loads)

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
