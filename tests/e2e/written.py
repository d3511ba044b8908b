"""`python -m tests.e2e.written NAME`: two finished jobs of written functions; prints their ids."""

from __future__ import annotations

import json
import os
import sys

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cosqa_site.settings")
    django.setup()
    from annotation.missing import deciding
    from annotation.missing.deciding import Choice
    from tests import factories, filling

    made, decided = filling.checked(sys.argv[1]), filling.checked(f"{sys.argv[1]}, decided")
    for proposal in decided.proposals.all():
        deciding.decide(factories.erin(), proposal, Choice("reject", "not what is asked"), 0)
    first = made.proposals.order_by("pk")[0]
    ids = {"job": made.pk, "decided": decided.pk, "written_build": made.build_id, "function": first.pk}
    print(json.dumps(ids))


if __name__ == "__main__":
    main()
