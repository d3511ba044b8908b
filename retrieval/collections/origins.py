"""Where a text comes from, as a link that a page may show: what an import stored, never fetched."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from retrieval.models import Member, Text

SCHEMES: Final = frozenset({"http", "https"})


def find_origin_link(text: Text) -> str:
    """The first stored origin of the text that is a link to the web; empty where there is none."""
    rows = (
        Member.objects.filter(text=text.pk, origin__istartswith="http")
        .order_by("pk")
        .values_list("origin", flat=True)
    )
    return next(filter(is_web_link, rows), "")


def is_web_link(origin: str) -> bool:
    """Whether it is an http or https address with a host, without a name before `@` that could deceive."""
    if not origin.isprintable() or " " in origin:
        return False
    try:
        parts = urlsplit(origin)
        host = parts.hostname
    except ValueError:  # such as a bracket that is not closed
        return False
    return parts.scheme in SCHEMES and bool(host) and "@" not in parts.netloc
