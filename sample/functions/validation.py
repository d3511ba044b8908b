"""Checks on what people type in."""

import ipaddress
import re
from email.utils import parseaddr


def is_valid_email(address):
    """Validate an email address: the whole address has to fit a pattern."""
    pattern = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
    return re.fullmatch(pattern, address) is not None


def email_matches(address):
    """Check whether an email address is valid."""
    return bool(re.match(r"[\w.+-]+@[\w-]+\.[\w.-]+", address))


def has_at_sign(address):
    """Check an email address for an at sign."""
    return "@" in address


def validate_email_parts(email):
    """Validate an email address by looking at its local part and its domain."""
    local, at, domain = email.rpartition("@")
    if not at or not local or " " in email or "@" in local:
        return False
    labels = domain.split(".")
    return len(labels) > 1 and all(re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?", x) for x in labels)


def checked_email(address):
    """Return the email address if it is valid, else raise a ValueError."""
    if re.fullmatch(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+", address) is None:
        raise ValueError(f"invalid email address: {address!r}")
    return address


def parse_email_address(text):
    """Check an email address with the parser of the standard library."""
    return "@" in parseaddr(text)[1]


def extract_email_addresses(text):
    """Find all email addresses in a text."""
    return re.findall(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", text)


def normalise_email(address):
    """Trim an email and put its domain in lower case."""
    local, _, domain = address.strip().rpartition("@")
    return f"{local}@{domain.lower()}"


def email_domain(address):
    """Return the domain of an email address."""
    return address.rsplit("@", 1)[-1].lower()


def is_valid_url(url):
    """Validate that a URL has a scheme of the web and a host."""
    return re.match(r"https?://[^\s/$.?#].[^\s]*$", url) is not None


def is_valid_ip(address):
    """Check whether a text is a valid IP address."""
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return False
    return True


def passes_luhn(number):
    """Check a card number by the Luhn algorithm."""
    digits = [int(digit) for digit in str(number)][::-1]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def require_keys(mapping, *keys):
    """Raise a KeyError unless a mapping has all the keys."""
    for key in keys:
        if key not in mapping:
            raise KeyError(key)
