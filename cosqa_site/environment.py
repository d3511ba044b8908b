"""Environment variables as values of a type; ImproperlyConfigured says what was expected of a wrong one."""

import os
import re
import shlex
from datetime import date
from email.utils import parseaddr
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email

from sandbox.host_users import parse_users

env = environ.Env()


def read_text_variable(name: str, default: str = "") -> str:
    """The variable as text; an empty one counts as unset, as compose files pass it on."""
    # Not `env.str`: that takes what begins with $ for the name of another variable.
    return os.environ.get(name) or default


def read_choice_variable(name: str, allowed: tuple[str, ...]) -> str:
    """One of `allowed`; the first is the default. Raises ImproperlyConfigured."""
    value = read_text_variable(name, allowed[0])
    if value not in allowed:
        raise ImproperlyConfigured(f"{name}={value!r}: expected one of {', '.join(allowed)}")
    return value


def read_boolean_variable(name: str, default: bool) -> bool:
    """A boolean. Raises ImproperlyConfigured on anything but true/false, yes/no, on/off, 1/0."""
    value = read_text_variable(name, str(default)).lower()
    if value in {"true", "yes", "on", "1"}:
        return True
    if value in {"false", "no", "off", "0"}:
        return False
    raise ImproperlyConfigured(f"{name}={value!r}: expected true or false")


def read_integer_variable(name: str, default: int, low: int, high: int) -> int:
    """A whole number within [low, high]. Raises ImproperlyConfigured."""
    value = read_text_variable(name, str(default))
    if not re.fullmatch("-?[0-9]{1,9}", value) or not low <= int(value) <= high:
        raise ImproperlyConfigured(f"{name}={value!r}: expected a whole number from {low} to {high}")
    return int(value)


def require_package(variable: str, package: str, extra: str = "servers") -> None:
    """Raise ImproperlyConfigured where the package of an extra that `variable` needs is not installed."""
    if find_spec(package) is None:
        raise ImproperlyConfigured(f"{variable} needs {package}: pip install 'cosqa-workbench[{extra}]'")


def read_url_variable(name: str, schemes: tuple[str, ...]) -> str:
    """A URL with one of `schemes`, or empty. Raises ImproperlyConfigured, without the URL's password."""
    value = read_text_variable(name)
    if value and not is_url(value, schemes):
        expected = " or ".join(f"{scheme}://{'PATH' if scheme == 'unix' else 'HOST…'}" for scheme in schemes)
        raise ImproperlyConfigured(f"{name}={hide_credentials(value)!r}: expected {expected}")
    return value


def hide_credentials(address: str) -> str:
    """The address without what stands before its last @, and without its query: a log keeps what is printed.

    >>> hide_credentials("postgres://me:pass@word@host/name?sslpassword=1")
    'postgres://****@host/name?****'
    """
    plain = re.sub(r"(?s)^(\w*://)?.*@", r"\1****@", address)
    return re.sub(r"(?s)\?.*", "?****", plain)


def is_url(value: str, schemes: tuple[str, ...]) -> bool:
    """Whether `value` has one of `schemes`, and a host (a path for unix://) with, if any, a possible port."""
    try:
        parts = urlsplit(value)
        there = parts.path if parts.scheme == "unix" else parts.hostname
        return parts.scheme in schemes and bool(there) and parts.port != 0
    except ValueError:  # half an address, or a port that is no port
        return False


def read_date_variable(name: str, default: str) -> str:
    """A date such as 2026-01-31; empty for `none`. Raises ImproperlyConfigured."""
    value = read_text_variable(name, default)
    if value != "none" and not is_day(value):
        raise ImproperlyConfigured(f"{name}={value!r}: expected a date such as 2026-01-31, or none")
    return "" if value == "none" else value


def is_day(value: str) -> bool:
    """Whether `value` is a day of the calendar, as year-month-day."""
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def read_users_variable(name: str, default: range) -> range:
    """Users of the machine as FIRST-LAST, both included. Raises ImproperlyConfigured."""
    value = read_text_variable(name, f"{default[0]}-{default[-1]}")
    try:
        return parse_users(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}={value!r}: {error}") from error


def read_hosts_variable(name: str, default: str) -> list[str]:
    """Comma-separated names of hosts. Raises ImproperlyConfigured."""
    found = [host.strip() for host in read_text_variable(name, default).split(",") if host.strip()]
    for host in found:
        if not re.fullmatch(r"\*|\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\]", host):
            raise ImproperlyConfigured(
                f"{name}={host!r}: expected a host without scheme and port, more after commas"
            )
    return found


def read_emails_variable(name: str) -> list[str]:
    """Comma-separated e-mail addresses. Raises ImproperlyConfigured."""
    found = [address.strip() for address in read_text_variable(name).split(",") if address.strip()]
    for address in found:
        try:
            validate_email(address)
        except ValidationError as error:
            raise ImproperlyConfigured(
                f"{name}={address!r}: expected an e-mail address, more after commas"
            ) from error
    return found


def read_sender_variable(name: str, default: str) -> str:
    """One e-mail address, perhaps with a name before it: `Name <address>`. Raises ImproperlyConfigured."""
    value = read_text_variable(name, default)
    address = parseaddr(value)[1]
    if not value.isprintable() or not re.fullmatch(r"[^@\s]+@[^@\s]+", address):
        raise ImproperlyConfigured(f"{name}={value!r}: expected one e-mail address")
    return value


def read_command_variable(name: str) -> list[str]:
    """A program and its arguments, split as a shell would; no shell runs it. Raises ImproperlyConfigured."""
    value = read_text_variable(name)
    try:
        return shlex.split(value)
    except ValueError as error:
        # Not the value: an argument may be a password.
        raise ImproperlyConfigured(f"{name}: expected a program and its arguments: {error}") from error


def read_path_variable(name: str, expected: str) -> str:
    """The absolute path of something that is there, or empty. Raises ImproperlyConfigured."""
    value = read_text_variable(name)
    if value and not Path(value).exists():
        raise ImproperlyConfigured(f"{name}={value!r}: expected {expected}")
    return value and str(Path(value).absolute())


def read_prefix_variable(name: str) -> str:
    """A path such as /wb, without a slash at its end, or empty. Raises ImproperlyConfigured."""
    value = read_text_variable(name).rstrip("/")
    if value and not re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+", value):
        raise ImproperlyConfigured(f"{name}={value!r}: expected a path such as /wb")
    return value


def read_origins_variable(name: str) -> list[str]:
    """Comma-separated origins, each with its scheme. Raises ImproperlyConfigured."""
    found = [origin.strip() for origin in read_text_variable(name).split(",") if origin.strip()]
    for origin in found:
        if not is_url(origin, ("https", "http")):
            shown = hide_credentials(origin)
            raise ImproperlyConfigured(f"{name}={shown!r}: expected https://HOST, more after commas")
    return found


def read_issuer_variable(name: str) -> str:
    """The address of an identity provider, or empty. Raises ImproperlyConfigured.

    It has https, as all trust rests on it; plain http is taken for this machine alone.
    """
    value = read_url_variable(name, ("https", "http"))
    parts = urlsplit(value)
    if parts.scheme == "http" and parts.hostname not in {"localhost", "127.0.0.1", "::1"}:
        raise ImproperlyConfigured(f"{name}={hide_credentials(value)!r}: expected https://HOST…")
    return value


def read_roles_variable(name: str, roles: tuple[str, ...]) -> dict[str, str]:
    """Groups with their roles, as `GROUP=ROLE; GROUP=ROLE`; a group may have = and commas itself.

    Raises ImproperlyConfigured.
    """
    found = {}
    for pair in filter(None, (part.strip() for part in read_text_variable(name).split(";"))):
        group, _, role = (part.strip() for part in pair.rpartition("="))
        if not group or role not in roles:
            raise ImproperlyConfigured(
                f"{name}={pair!r}: expected GROUP=ROLE, more after semicolons; a role is {' or '.join(roles)}"
            )
        found[group] = role
    return found
