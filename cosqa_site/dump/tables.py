"""Which tables a dump has, which it has not, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django.apps import apps
from django.db import models

Table = type[models.Model]

EXPORTED: Final = frozenset(
    f"{app}.{name}"
    for app, names in {
        "annotation": """
            abandonment acknowledgement adjudication agentbill amendment assignment auditevent batch build
            buildevent callanswer callrequest canary carriedover case comment condition connectiontest
            delivery draft driftanswer driftcheck driftwatch duration enrolment execution executionrequest
            extension filling guideline importedrating listchange llmcall mention merge moment mutant
            mutanttext normalform notice pairtag precedent preference price programtext projectcapchange
            projecttally proposal proposaldecision quota rating ratingdraft replytext reporttext requesttext
            rerun rerun_cases review reviewassignment savedlist scoring seen seenbenchmark seenbuild
            signinidentity step study study_builds studypair systemtext tally testprogram trial
        """,
        "retrieval": """
            alias annotator benchmark benchmark_extension_minings benchmarkidlabel benchmarklabel candidate
            distractor
            collection encoderspec holes label labelids member mining pair pairlist pin querytext rankedlist
            run score text textbody
        """,
        "auth": "group user user_groups",
    }.items()
    for name in names.split()
)
"""Tables whose rows are written, by app and model."""

ORDER: Final = "an order to a worker: what came of it is exported, and what is open can be ordered again"
HALF_DONE: Final = "half-done work of a mining, which starts again"
PERMISSION: Final = "rights come from roles alone, which are groups"

LEFT_OUT: Final = {
    "admin.logentry": "what was done in the admin site; the audit log is exported",
    "annotation.apitoken": "a secret: new tokens are issued",
    "annotation.invitation": "a secret: new invitations are made",
    "annotation.limiter": "what workers learned of a provider's rate limit, which they learn again",
    "annotation.pulse": "signs of life of this home's workers",
    "annotation.sandboxcheck": "what was found about one machine, which is checked again",
    "annotation.storedanswer": "answers of repeated requests, which are kept for a day",
    "annotation.webhook": "an address that this home tells, by its own key: new webhooks are made",
    "annotation.webhookdelivery": "what was sent to webhooks",
    "auth.group_permissions": PERMISSION,
    "auth.permission": PERMISSION,
    "auth.user_user_permissions": PERMISSION,
    "contenttypes.contenttype": "names of tables, which each database makes itself",
    "retrieval.job": ORDER,
    "retrieval.keptfigures": "figures that are computed again",
    "retrieval.miningpart": HALF_DONE,
    "retrieval.miningshared": HALF_DONE,
    "sessions.session": "who is logged in; people log in again",
}
"""Tables that a dump has not, and why."""

WITHHELD: Final = {"auth.user": frozenset({"password"})}
"""Columns that are not written: secrets."""


def tables_of_dump() -> dict[str, Table]:
    """The tables that a dump has, by their names, in the order of the names."""
    return {name: apps.get_model(name) for name in sorted(EXPORTED)}


def columns_of(table: Table) -> Iterator[models.Field[Any, Any]]:
    """The columns of `table` that are written, in the table's order."""
    withheld = WITHHELD.get(table._meta.label_lower, frozenset())
    return (field for field in table._meta.concrete_fields if field.name not in withheld)
