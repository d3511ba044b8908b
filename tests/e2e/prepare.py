"""`python -m tests.e2e.prepare`: the sample's collections and a cast of accounts, before a server starts."""

from __future__ import annotations

import os

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
    "ray": "reader",
    "nora": "",
}
"""Accounts by name; Nora has no role. Each expert belongs to some tests, so that none disturbs another."""


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cosqa_site.settings")
    django.setup()
    from django.conf import settings
    from django.contrib.auth.models import User

    from annotation.access import Role, give_role
    from cosqa_site import preparing, sample
    from retrieval.imported import Options
    from retrieval.importing import import_python
    from tests.e2e.measured import measure

    preparing.prepare()
    measure()
    for name, role in CAST.items():
        user = User.objects.create_user(name, password=PASSWORD)
        if role:
            give_role(user, Role(role))
    folder = settings.BASE_DIR / "sample"
    sample.load(folder)
    sample.price_recorded()
    import_python([folder / "functions" / "mail.py"], FEW, Options())


if __name__ == "__main__":
    main()
