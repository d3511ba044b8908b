"""Points in time as text and as numbers."""

import re
from datetime import datetime, timedelta, timezone

from dateutil import parser as date_parser


def parse_iso(text):
    """Parse an ISO 8601 date string to a datetime."""
    return datetime.fromisoformat(text)


def parse_iso_strptime(value):
    """Parse an ISO date and time string into a datetime object."""
    return datetime.strptime(value, "%Y-%m-%dT%H:%M:%S")


def parse_iso_dateutil(text):
    """Parse any ISO 8601 string to a datetime with dateutil."""
    return date_parser.isoparse(text)


def parse_iso_utc(text):
    """Parse an ISO 8601 timestamp, Z included, to a datetime that knows its time zone."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return moment


def parse_iso_fields(text):
    """Parse an ISO 8601 date string to a datetime with a regular expression."""
    numbers = re.findall(r"\d+", text)[:6]
    return datetime(*[int(number) for number in numbers])


def to_iso_string(moment):
    """Format a datetime as an ISO 8601 string in UTC."""
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_http_date(text):
    """Parse the date string of an HTTP header to a datetime."""
    return datetime.strptime(text, "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=timezone.utc)


def parse_iso_duration(text):
    """Parse an ISO 8601 duration string such as PT1H30M to a timedelta."""
    match = re.fullmatch(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?", text)
    if match is None:
        raise ValueError(f"not an ISO 8601 duration: {text!r}")
    days, hours, minutes, seconds = (int(group or 0) for group in match.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def is_iso_date(text):
    """Check whether a string is a valid ISO 8601 date."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
