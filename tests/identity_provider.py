"""A real identity provider for tests: Django OAuth Toolkit, with OpenID Connect, in a process of its own.

`python tests/identity_provider.py FOLDER PORT REDIRECT` keeps its database in FOLDER, listens on PORT and
prints `ready`. It shares no code with what is tested: oauthlib has its protocol, jwcrypto its tokens.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

CLIENT_ID: Final = "workbench"
CLIENT_SECRET: Final = "a secret of the tests"
PASSWORD: Final = "a password at the provider"
PEOPLE: Final[dict[str, dict[str, Any]]] = {
    "anna": {"groups": ["staff", "lab-admins"], "email": "anna@example.org", "verified": True},
    "emil": {"groups": ["students"], "email": "ada@example.org", "verified": False},
    "gast": {"groups": [], "email": "", "verified": False},
}
"""Who has an account there, with the groups that are told."""


@dataclass(frozen=True)
class Provider:
    """Where a running provider is reached, and where it keeps its people's groups."""

    issuer: str
    groups: Path

    def set_groups(self, name: str, groups: list[str]) -> None:
        known = json.loads(self.groups.read_text())
        self.groups.write_text(json.dumps({**known, name: groups}))


@contextmanager
def running_provider(folder: Path, redirect: str) -> Iterator[Provider]:
    """Start it, and end it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    groups = folder / "groups.json"
    groups.write_text(json.dumps({name: person["groups"] for name, person in PEOPLE.items()}))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DJANGO_")}
    process = subprocess.Popen(
        [sys.executable, __file__, str(folder), str(port), redirect],
        stdout=subprocess.PIPE,
        env=environment | {"PYTHONPATH": ""},
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", "the provider did not start"
        yield Provider(f"http://127.0.0.1:{port}/o", groups)
    finally:
        process.terminate()
        process.communicate(timeout=20)


def serve(folder: Path, port: int, redirect: str) -> None:
    """Be the provider."""
    configure(folder, port)
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    for name, person in PEOPLE.items():
        User.objects.create_user(name, person["email"], PASSWORD)
    from oauth2_provider.models import Application

    Application.objects.create(
        name="CoSQA Workbench",
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        redirect_uris=redirect,
        algorithm=Application.RS256_ALGORITHM,
        skip_authorization=True,
    )
    from wsgiref.simple_server import WSGIRequestHandler, make_server

    from django.core.wsgi import get_wsgi_application

    class Quiet(WSGIRequestHandler):
        def log_message(self, *args: Any) -> None:
            """Say nothing of requests."""

    server = make_server("127.0.0.1", port, get_wsgi_application(), handler_class=Quiet)
    print("ready", flush=True)
    server.serve_forever()


def configure(folder: Path, port: int) -> None:
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    from django.conf import settings

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    settings.configure(
        SECRET_KEY="a key of the tests",
        DEBUG=False,
        ALLOWED_HOSTS=["127.0.0.1"],
        USE_TZ=True,
        ROOT_URLCONF="identity_provider",
        LOGIN_URL="/login/",
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        SESSION_COOKIE_NAME="provider",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "provider.sqlite3"}},
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "oauth2_provider",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "OPTIONS": {"loaders": [("django.template.loaders.locmem.Loader", TEMPLATES)]},
            }
        ],
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_RSA_PRIVATE_KEY": pem,
            "OIDC_ISS_ENDPOINT": f"http://127.0.0.1:{port}/o",
            "PKCE_REQUIRED": True,
            "SCOPES": {"openid": "who you are", "profile": "your name", "email": "your e-mail"},
            "OAUTH2_VALIDATOR_CLASS": "identity_provider.Validator",
            "ALLOWED_REDIRECT_URI_SCHEMES": ["http"],
        },
    )


TEMPLATES: Final = {
    "registration/login.html": "<form method='post'>{% csrf_token %}{{ form }}"
    "<input type='hidden' name='next' value='{{ next }}'><button>Log in at the provider</button></form>"
}


def __getattr__(name: str) -> Any:
    """The routes and the validator of the provider, which are made when its Django is set up."""
    if name == "urlpatterns":
        from django.contrib.auth.views import LoginView
        from django.urls import include, path

        return [
            path("login/", LoginView.as_view(), name="login"),
            path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
        ]
    if name == "Validator":
        return make_validator()
    raise AttributeError(name)


def make_validator() -> type:
    from django.conf import settings
    from oauth2_provider.oauth2_validators import OAuth2Validator

    groups = Path(str(settings.DATABASES["default"]["NAME"])).with_name("groups.json")

    class Validator(OAuth2Validator):  # type: ignore[misc]  # the package has no types
        """Tells what this provider knows of a person."""

        oidc_claim_scope = None

        def get_additional_claims(self, request: Any) -> dict[str, Any]:
            name = request.user.username
            return {
                "preferred_username": name,
                "email": request.user.email,
                "email_verified": PEOPLE[name]["verified"],
                "groups": json.loads(groups.read_text())[name],
            }

    return Validator


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
