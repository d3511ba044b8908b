"""What lists tell by what they choose, by their order and by their number: of each pair it is remembered.

By the walk of test_leaks.py through every route and operation, each list in each way in which it can be asked
for: what an answer depends on has been told, so that it is looked at what was remembered with the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.accounts.roles import Role
from annotation.models import Case, Enrolment, Study
from annotation.studies.exposure import is_exposed_to_pairs
from retrieval.models import Candidate
from tests import factories
from tests.site.samples import AGO, samples
from tests.site.test_access import Route, browser, posted
from tests.site.test_leaks import (
    addresses,
    change_what_agents_said,
    enrolled,
    fingerprint,
    finish,
    take_back_numbers,
)
from tests.site.test_leaks import case as case  # noqa: PLC0414 (the fixture)
from tests.site.test_leaks import study as study  # noqa: PLC0414 (the fixture)

pytestmark = pytest.mark.django_db

Told = dict[str, tuple[object, bool]]
"""By method and address: the answer, and whether whoever asked is known to be no longer blind."""
BUILD, QUERY = "a pair is one of all of the build's", "or one of a query's, which are not all alike"
SETTLED = "that a pair is settled, not as what; where disputed pairs come first it is remembered"
TOTALS: Final[Mapping[str, str]] = {
    "api:get_build": BUILD,
    "api:get_extension_canary": BUILD,
    "api:get_extensions": BUILD,
    "api:list_queries": QUERY,
    "api:list_queries?q=list": QUERY,
    "browse": BUILD,
    "browse-build": QUERY,
    "browse-build?count=exact": QUERY,
    "browse-build?q=list": QUERY,
    "browse-build?sort=position": QUERY,
    "browse-build?sort=text": QUERY,
    "build": BUILD,
    "build-extend": BUILD,
    "build-progress": BUILD,
    "dashboard": BUILD,
    "review-next": SETTLED,
    "review-next?show=waiting": SETTLED,
}
"""Addresses that tell of a pair as one of many alone, and why nothing is remembered: no filtered list."""


def walk(
    user: User,
    asked: Mapping[str, tuple[Route, str]],
    knows: Callable[[], bool],
    methods: tuple[str, ...] = (),
) -> Told:
    """What `user` is answered at each address, as if nothing had been asked before."""
    found: Told = {}
    for name, (route, path) in asked.items():
        for method in methods or (("get",) if "?" in path else route.methods):
            send = getattr(browser(user), method)
            with transaction.atomic():
                response = send(path) if method == "get" else send(path, **posted(route))
                found[f"{method} {name}"] = (fingerprint(response), knows())
                transaction.set_rollback(True)
            take_back_numbers()
    return found


def told_unnoticed(before: Told, after: Told) -> Iterator[str]:
    """Where the answer depends on what was changed, and whoever asked counts as blind all the same."""
    for name, (answer, known) in before.items():
        if answer != after[name][0] and not known:
            yield name


def all_addresses(case: Case, rater: Enrolment) -> dict[str, tuple[Route, str]]:
    found = addresses(samples(case, rater))
    return {f"{route.name} {path}": (route, path) for route, path in found}


def test_a_rater_who_is_finished_is_told_nothing_before_the_labels_are_final(
    case: Case, study: Study
) -> None:
    rita = enrolled(study, Role.ADMIN)
    asked = all_addresses(case, rita)
    finish(rita)

    def knows() -> bool:
        return Enrolment.objects.get(pk=rita.pk).shown_at is not None

    before = walk(rita.user, asked, knows)
    change_what_agents_said(case)
    after = walk(rita.user, asked, knows)
    assert [*told_unnoticed(before, after)] == []
    assert not any(known for name, (_, known) in before.items() if name.split()[1].startswith("rate-"))


def change_one_pair(of: Case) -> None:
    """Its verdict, stage, test, outcome, rank and score; nothing of other pairs, nor a total that is kept."""
    Candidate.objects.filter(cases=of).update(rank=20 - F("rank"), score=F("score") / 3)
    columns = {
        "label": None,
        "label_in_force": None,
        "stage": "abandoned",
        "reason": "nobody came",
        "program": None,
        "execution": None,
    }
    Case.objects.filter(pk=of.pk).update(rank=20 - F("rank"), seconds=77, **columns)


@pytest.mark.alike
def test_what_a_list_leaves_out_is_told_as_well(case: Case, study: Study) -> None:
    ada, every = factories.ada(), all_addresses(case, enrolled(study, Role.EXPERT))
    asked = {name: where for name, where in every.items() if "get" in where[0].methods}
    Study.objects.update(created_at=timezone.now() - AGO)  # its page says how long ago that was
    del asked["audit-export /audit/export/"]  # the log has the moment at which it was asked for

    def knows() -> bool:
        return is_exposed_to_pairs(ada.pk, [case.pair_id], beyond_test=False)

    before = walk(ada, asked, knows, ("get",))
    change_one_pair(case)
    after = walk(ada, asked, knows, ("get",))
    assert {shortened(name) for name in told_unnoticed(before, after)} == set(TOTALS)


def shortened(name: str) -> str:
    """`get browse /browse/?q=list` without method and path."""
    _, route, address = name.split(maxsplit=2)
    return f"{route}?{address.partition('?')[2]}".rstrip("?")
