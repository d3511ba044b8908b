"""How often somebody may try to log in, and how many passwords are hashed at once.

To hash a password takes a processor some tenths of a second, on purpose. So strangers could keep all others
from their pages by trying; and they could try until a password is right.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Final

from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.core.cache import caches
from django.dispatch import receiver
from django.http import HttpRequest

ACCOUNT_FAILURES: Final = 10
ADDRESS_FAILURES: Final = 50
WINDOW_SECONDS: Final = 900
"""So many wrong passwords of one account, or from one address, are taken in so long."""
FIRST_WAIT_SECONDS: Final = 5
WAITED_FAILURES: Final = 6
"""The last failures before that each cost a wait: the first this long, each other twice the one before."""
STARTS_OF_ADDRESS: Final = 300
"""So many sign-ins by a provider may begin from one address in that time."""
HASHED_AT_ONCE: Final = 1
WAITING: Final = 4
PATIENCE_SECONDS: Final = 5.0
"""Log-ins that are checked at once, that wait for it in one process, and for how long."""
NETWORK_BITS: Final = 64
"""Of an address of IPv6: its owner has all others of the network."""
log = logging.getLogger(__name__)
hashing = threading.BoundedSemaphore(HASHED_AT_ONCE)
places = threading.BoundedSemaphore(HASHED_AT_ONCE + WAITING)


class TooManyLogins(Exception):
    """Nothing was checked; the message says when to try again."""

    def __init__(self, words: str, retry_after: int) -> None:
        super().__init__(words)
        self.retry_after = retry_after


def check_login(request: HttpRequest, name: str, check: Callable[[], User | None]) -> User | None:
    """What `check` finds of the account called `name`, unless too many tried. Raises TooManyLogins."""
    limits = limits_of(request, name)
    refuse_throttled(limits, request)
    with hold_hasher(request):
        refuse_throttled(limits, request)  # those before it in the line may have been the last ones
        found = check()
        if found is None:
            count_failure(limits)
        else:
            account = next(iter(limits))
            caches["logins"].delete_many([account, f"wait-{account}"])
    return found


def limits_of(request: HttpRequest, name: str) -> dict[str, int]:
    """The keys under which failures are counted, the account's first, with how many are taken.

    Failures count for a password: after a new one they start at 0 again, in every process.
    """
    stored = User.objects.filter(username=name).values_list("password", flat=True).first()
    account = sha256(f"{name}\n{stored or ''}".encode(errors="replace")).hexdigest()
    return {f"account-{account}": ACCOUNT_FAILURES, f"address-{network_of(request)}": ADDRESS_FAILURES}


def refuse_throttled(limits: dict[str, int], request: HttpRequest) -> None:
    """Raises TooManyLogins."""
    failures = caches["logins"].get_many([*limits, *(f"wait-{key}" for key in limits)])
    if any(failures.get(key, 0) >= most for key, most in limits.items()):
        log.warning("log-in refused: too many wrong passwords, from %s", address_of(request))
        raise TooManyLogins(
            "Too many wrong passwords were tried, of this account or from your address. Try again in "
            f"{WINDOW_SECONDS // 60} minutes, or ask an admin for a new password.",
            WINDOW_SECONDS,
        )
    ends = max(failures.get(f"wait-{key}", 0.0) for key in limits)
    left = math.ceil(ends - time.time())
    if left > 0:
        log.warning("log-in refused: it came before the wait was over, from %s", address_of(request))
        raise TooManyLogins(
            "Several wrong passwords were tried, of this account or from your address. Try again in "
            f"{left} {'second' if left == 1 else 'seconds'}.",
            left,
        )


def count_failure(limits: dict[str, int]) -> None:
    """The time runs from the first failure on; the last failures before the limit each cost a longer wait."""
    for key, most in limits.items():
        failures = count_event(key)
        seconds = seconds_to_wait(failures, most)
        if seconds:
            caches["logins"].set(f"wait-{key}", time.time() + seconds, seconds)


def seconds_to_wait(failures: int, most: int) -> int:
    """How long nobody may try after so many failures, where `most` are taken.

    >>> [seconds_to_wait(failures, 10) for failures in range(3, 11)]
    [0, 5, 10, 20, 40, 80, 160, 0]
    """
    waited = failures - (most - WAITED_FAILURES)
    return FIRST_WAIT_SECONDS * 2**waited if 0 <= waited < WAITED_FAILURES else 0


def count_event(key: str) -> int:
    """Count one more under `key`, for the window that the first one began; how many there are now."""
    caches["logins"].add(key, 0, WINDOW_SECONDS)
    try:
        return int(caches["logins"].incr(key))
    except ValueError:  # it ran out in between
        caches["logins"].set(key, 1, WINDOW_SECONDS)
        return 1


def is_over_limit(request: HttpRequest, what: str, name: str, of_name: int, of_address: int) -> bool:
    """Count that somebody asked for `what` of `name`; whether the name or the address had too many."""
    asked = sha256(name.casefold().encode(errors="replace")).hexdigest()
    by_name = count_event(f"{what}-{asked}")
    return count_event(f"{what}-{network_of(request)}") > of_address or by_name > of_name


def refuse_rush(request: HttpRequest, what: str) -> None:
    """Count one more `what` from this address. Raises TooManyLogins after too many of them.

    Each is a row of a session, and strangers could fill a disk with them.
    """
    if count_event(f"{what}-{network_of(request)}") > STARTS_OF_ADDRESS:
        log.warning("%s refused: too many, from %s", what, address_of(request))
        raise TooManyLogins(
            f"Too many tries came from your address. Try again in {WINDOW_SECONDS // 60} minutes.",
            WINDOW_SECONDS,
        )


@contextmanager
def hold_hasher(request: HttpRequest) -> Iterator[None]:
    """One after another; a few wait for their turn, and all others are turned away. Raises TooManyLogins."""
    if not places.acquire(blocking=False):
        raise describe_rush(request)
    try:
        if not hashing.acquire(timeout=PATIENCE_SECONDS):
            raise describe_rush(request)
        try:
            yield
        finally:
            hashing.release()
    finally:
        places.release()


def describe_rush(request: HttpRequest) -> TooManyLogins:
    log.warning("log-in refused: too many at once, from %s", address_of(request))
    seconds = round(PATIENCE_SECONDS)
    return TooManyLogins(
        f"Too many people are logging in right now. Try again in {seconds} seconds.", seconds
    )


def address_of(request: HttpRequest) -> str:
    """Where the request comes from, as the web server knows it: of a trusted proxy, what that says."""
    return str(request.META.get("REMOTE_ADDR", "")) or "an unknown address"


def network_of(request: HttpRequest) -> str:
    address = address_of(request)
    try:
        known = ip_address(address)
    except ValueError:
        return sha256(address.encode()).hexdigest()
    if isinstance(known, IPv6Address):
        return str(ip_network((known, NETWORK_BITS), strict=False)).replace("/", "-")
    return str(known)


@receiver(user_logged_in)
def log_success(sender: object, request: HttpRequest | None = None, **sent: Any) -> None:
    if request is not None and request.META:  # not a test's or a command's
        log.info("log-in of %r from %s", sent["user"].get_username(), address_of(request))


@receiver(user_login_failed)
def log_failure(sender: object, request: HttpRequest | None = None, **sent: Any) -> None:
    """The name only where there is such an account: some people type their password in its place."""
    if request is not None:
        name = str(sent["credentials"].get("username", ""))
        known = User.objects.filter(username=name).exists()
        whose = f"{name!r}" if known else "an unknown account"
        log.warning("log-in of %s failed, from %s", whose, address_of(request))
