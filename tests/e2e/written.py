"""`python -m tests.e2e.written NAME`: two finished jobs of written functions; prints their ids."""

from __future__ import annotations

import json
import os
import sys

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cosqa_site.settings")
    django.setup()
    from annotation.derived.missing_functions import function_decisions
    from annotation.derived.missing_functions.function_decisions import ProposalChoice
    from tests import factories, filling

    made, decided = filling.checked(sys.argv[1]), filling.checked(f"{sys.argv[1]}, decided")
    for proposal in decided.proposals.all():
        function_decisions.decide_proposal(
            factories.erin(), proposal, ProposalChoice("reject", "not what is asked"), 0
        )
    first = made.proposals.order_by("pk")[0]
    ids = {"job": made.pk, "decided": decided.pk, "written_build": made.build_id, "function": first.pk}
    print(json.dumps(ids))


if __name__ == "__main__":
    main()
