"""`python -m tests.e2e.prepare`: the sample's collections and a cast of accounts, before a server starts."""

from __future__ import annotations

import os
from functools import cache

import django

FEW = "few functions"
"""A collection that even a slow encoder has encoded soon."""
PASSWORD = "correct horse battery"
CAST = {
    "ada": "admin",
    "erin": "expert",
    "ebba": "expert",
    "edda": "expert",
    "emil": "expert",
    "enzo": "expert",
    "elsa": "expert",
    "emma": "expert",
    "erika": "expert",
    "evan": "expert",
    "esra": "expert",
    "egon": "expert",
    "elke": "expert",
    "etta": "expert",
    "emre": "expert",
    "ella": "expert",
    "ray": "reader",
    "nora": "",
}
"""Accounts by name; Nora has no role. Each expert belongs to some tests, so that none disturbs another."""


@cache
def hashed_password() -> str:
    """Hashing is slow on purpose, so it is done once for all of the cast."""
    from django.contrib.auth.hashers import make_password

    return make_password(PASSWORD)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cosqa_site.settings")
    django.setup()
    from django.conf import settings
    from django.contrib.auth.models import User

    from annotation.accounts.roles import Role, give_role
    from cosqa_site.demo import sample
    from cosqa_site.service import startup
    from retrieval.collections.import_report import Options
    from retrieval.collections.importer import import_python
    from tests.e2e.measured import measure

    startup.prepare_database()
    measure()
    for name, role in CAST.items():
        user = User.objects.create(username=name, password=hashed_password())
        if role:
            give_role(user, Role(role))
    folder = settings.BASE_DIR / "sample"
    sample.load_sample(folder)
    sample.price_recorded()
    import_python([folder / "functions" / "mail.py"], FEW, Options())


if __name__ == "__main__":
    main()
