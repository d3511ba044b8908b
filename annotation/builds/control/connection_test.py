"""Test connection: an admin has a server asked what it can do, a worker that has the key asks it.

The configured key goes to the configured address alone: another one, which an admin types, is asked without
a key, and never where machines are told about themselves.
"""

from __future__ import annotations

import ipaddress
import logging
import socket
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.builds.launch.launcher import lacks_key
from annotation.builds.launch.provider_key import configured_key, name_key_variables
from annotation.builds.limits import connection_budget, full_disk, rate_limit
from annotation.builds.limits.connection_budget import Meter
from annotation.builds.pipeline.llm_calls import give_connection_back, no_connection
from annotation.llm import LLMError, Reply, deadline
from annotation.llm.probe import Probed, ask_probe
from annotation.models import ConnectionTest, ProjectTally
from retrieval.sources.web.address import list_inner_addresses
from retrieval.texts.hostile import mark_hostile_characters

log = logging.getLogger(__name__)
LEASE: Final = timedelta(seconds=deadline.LONGEST * settings.LLM_TIMEOUT + 120)
"""Longer than one question may take, and renewed before each. A question waits as long as a call of a build:
what is too slow for the one is for the other, so a test that passes says something of builds.
"""
LONGEST_TOLD: Final = 300
METADATA: Final = frozenset(
    map(ipaddress.ip_address, ("fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"))
)
"""Where clouds tell their machines of themselves beside the link-local addresses."""
NOWHERE: Final = ("link_local", "multicast", "unspecified", "reserved")
OPEN: Final = (ConnectionTest.State.WAITING, ConnectionTest.State.RUNNING)
LOST: Final = "The worker that asked stopped before it stored the answer. Test again."
NO_KEY: Final = "No key is configured: set {} and start the workbench again."


class TestRefused(ValueError):
    """The test can't be made; the message says what to change."""

    __test__ = False


@dataclass(frozen=True)
class Wanted:
    """What to test; an empty `base_url` stands for the configured address."""

    model: str
    profile: str
    base_url: str = ""
    caching: bool = False
    batches: bool = False


def request_connection_test(user: User, wanted: Wanted) -> ConnectionTest:
    """Record the wish, with whose it is; a worker fulfils it. Raises TestRefused."""
    typed = wanted.base_url.strip().rstrip("/")
    configured = typed in ("", settings.LLM_BASE_URL.rstrip("/"))
    if configured:
        refuse_costly(wanted)
    else:
        refuse_bad_address(typed)
    with transaction.atomic():
        if ConnectionTest.objects.filter(state__in=OPEN).exists():
            raise TestRefused("A test is already running. Its result will appear in the list below.")
        return ConnectionTest.objects.create(
            user=user,
            base_url=settings.LLM_BASE_URL if configured else typed,
            configured=configured,
            model=mark_hostile_characters(wanted.model.strip()),
            profile=wanted.profile,
            caching=wanted.caching,
            batches=wanted.batches,
        )


def refuse_costly(wanted: Wanted) -> None:
    """Raises TestRefused where the project's cap leaves too little."""
    price = connection_budget.price_of(mark_hostile_characters(wanted.model.strip()))
    try:
        connection_budget.require_project_money(
            connection_budget.compute_test_cost_bound(price, caching=wanted.caching, batches=wanted.batches)
        )
    except connection_budget.NoMoney as why:
        raise TestRefused(str(why)) from why


def refuse_bad_address(address: str) -> None:
    """Raises TestRefused for what is no plain address of a server."""
    try:
        parts = urlsplit(address)
        plain = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        plain = False
    if (
        not plain
        or mark_hostile_characters(address) != address
        or any(letter.isspace() for letter in address)
    ):
        raise TestRefused("The address has to be like https://example.org or http://localhost:8000.")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise TestRefused("Leave out user, password, question mark and # from the address.")
    if address.endswith(("/v1", "/v1/messages")):
        raise TestRefused("Leave /v1 out of the address; the workbench adds it.")


def judge_place(address: str) -> tuple[str, ...]:
    """The numeric addresses that the address leads to, all of which may be asked.

    Raises TestRefused where one is what a cloud tells its machines about themselves. Whoever goes on has to
    connect to one of these: the name may mean another place the next moment.
    """
    host = urlsplit(address).hostname or ""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise TestRefused(f"The name {host} can't be resolved: {error}.") from error
    places = tuple(dict.fromkeys(str(place[0]) for *_, place in found))
    for place in places:
        refuse_forbidden_place(host, ipaddress.ip_address(place.partition("%")[0]))
    return places


def refuse_forbidden_place(host: str, number: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    """Raises TestRefused where a cloud tells its machines about themselves, also inside an IPv6 address."""
    for each in (number, *list_inner_addresses(number)):
        if each in METADATA or any(getattr(each, f"is_{kind}") for kind in NOWHERE):
            raise TestRefused(f"{host} leads to {each}, where no language model is asked.")


def has_waiting_connection_test() -> bool:
    """Whether a test waits for a worker."""
    return ConnectionTest.objects.filter(state=ConnectionTest.State.WAITING).exists()


def try_one() -> bool:
    """Make a test that waits and may be made now; says whether there was one.

    One of the configured address is under the limit that all workers share.
    """
    waiting = ConnectionTest.objects.filter(state=ConnectionTest.State.WAITING)
    held = Q(configured=True, model__in=rate_limit.full_models())
    test = waiting.exclude(held).order_by("pk").first() if waiting.exists() else None
    if test is None:
        return False
    meter = connection_budget.Meter(connection_budget.price_of(test.model) if test.configured else None)
    try:
        if claim_connection_test(test, meter):
            finish_connection_test(test, meter, *run_connection_test(test, meter))
    except connection_budget.NoMoney as why:
        finish_connection_test(test, meter, None, str(why))
    return True


def claim_connection_test(test: ConnectionTest, meter: Meter) -> bool:
    """Make the test this worker's, its bound held; False where another one took it. Raises NoMoney."""
    held = connection_budget.compute_test_cost_bound(meter.price, caching=test.caching, batches=test.batches)
    mine = ConnectionTest.objects.filter(pk=test.pk, state=ConnectionTest.State.WAITING)
    with transaction.atomic():
        running = {"state": ConnectionTest.State.RUNNING, "lease_until": timezone.now() + LEASE}
        if not mine.update(**running, bound=held):
            return False
        connection_budget.hold_project_money(held)
    return True


def run_connection_test(test: ConnectionTest, meter: Meter) -> tuple[Probed | None, str]:
    """What was found, or why nothing was; what it took, the meter says."""
    try:
        return probe_server(test, meter.replies), ""
    except TestRefused as why:
        return None, str(why)
    except LLMError as error:
        meter.lost = error.maybe_billed
        slow_down_workers(test, error)
        return None, explain_connection_error(test, error)
    except Exception as fault:
        log.exception("%s", test)
        return None, f"a fault of the workbench: {fault!r}"


def probe_server(test: ConnectionTest, replies: list[Reply]) -> Probed:
    """Ask the server, with no database connection held. Raises TestRefused and LLMError."""
    with no_connection():
        if test.configured and lacks_key():
            raise TestRefused(NO_KEY.format(name_key_variables()))
        judged = () if test.configured else judge_place(test.base_url)
        key = configured_key() if test.configured else ""
        return ask_probe(
            test.base_url,
            key,
            test.model,
            caching=test.caching,
            batches=test.batches,
            timeout=settings.LLM_TIMEOUT,
            replies=replies,
            before=partial(renew_test_lease, test),
            judged=judged,
        )


def renew_test_lease(test: ConnectionTest) -> None:
    """Renew this worker's lease before a question is asked, and give the connection back again."""
    running = ConnectionTest.objects.filter(pk=test.pk, state=ConnectionTest.State.RUNNING)
    running.update(lease_until=timezone.now() + LEASE)
    give_connection_back()


def slow_down_workers(test: ConnectionTest, error: LLMError) -> None:
    """Slow all workers down where the configured provider refuses for the number of calls."""
    if test.configured and error.status == rate_limit.TOO_MANY:
        rate_limit.slow_down(test.model, error)


def explain_connection_error(test: ConnectionTest, error: LLMError) -> str:
    """The error in words for whoever tests; a key that was not sent can't be wrong."""
    if error.status == 401 and not (test.configured and configured_key()):
        return (
            "The server wants a key, and none was sent. An address that is not the configured one is never "
            "given the configured key: set COSQA_LLM_BASE_URL and COSQA_LLM_API_KEY, or run 'cosqa admin llm "
            f"probe --base-url' on the server. It said: {error.message}"
        )
    return error.message


def finish_connection_test(test: ConnectionTest, meter: Meter, found: Probed | None, why: str) -> None:
    """Store what a test came to, and count what it took, also where it failed."""
    state = ConnectionTest.State
    columns: dict[str, object] = {
        "state": state.FAILED,
        "message": mark_hostile_characters(why),
        **taken_by(meter),
    }
    if found is not None:
        findings = [asdict(finding) for finding in found.findings]
        columns |= {
            "state": state.DONE,
            "message": "",
            "findings": [
                finding | {"told": mark_hostile_characters(finding["told"])[:LONGEST_TOLD]}
                for finding in findings
            ],
            "toml": mark_hostile_characters(found.toml()),
            "latency": found.latency,
        }
    full_disk.retry_while_full(lambda: end_connection_test(test.pk, OPEN, columns, meter.cost))


def taken_by(meter: Meter) -> dict[str, object]:
    """What a test's row says of what it took."""
    used = [reply.usage for reply in meter.replies]
    return {
        "calls": len(used),
        "input_tokens": sum(usage.total_tokens - usage.output_tokens for usage in used),
        "output_tokens": sum(usage.output_tokens for usage in used),
        "cost": meter.cost,
    }


def end_connection_test(
    pk: int, states: Collection[str], columns: Mapping[str, object], cost: int | None
) -> bool:
    """End the test once: what is held of the project's money goes back, and `cost` counts, or the bound.

    A test with the configured key is the project's money, though no build's; others are asked without.
    """
    with transaction.atomic():
        row = ConnectionTest.objects.select_for_update().filter(pk=pk, state__in=states).first()
        if row is None:
            return False
        spent = row.bound if cost is None else cost
        told = {"lease_until": None, "finished_at": timezone.now(), "bound": 0, **columns}
        ConnectionTest.objects.filter(pk=pk).update(**told)
        ProjectTally.objects.book(reserved=-row.bound, spent=spent)
    return True


def give_up_lost() -> int:
    """Tests whose worker died have failed, and count at their bound; nobody pays for them again unasked.

    Returns how many.
    """
    now = timezone.now()
    lost = ConnectionTest.objects.filter(state=ConnectionTest.State.RUNNING, lease_until__lt=now)
    states, told = (ConnectionTest.State.RUNNING,), {"state": ConnectionTest.State.FAILED, "message": LOST}
    return sum(end_connection_test(row.pk, states, told | {"cost": row.bound or None}, None) for row in lost)
