"""Tags and filters that every page shares: who is looking, signs with words, money, times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma, naturaltime
from django.urls import get_script_prefix, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from annotation.accounts import roles
from annotation.builds.results.position_bias import Drift
from annotation.web.shared import glossary, words

register = template.Library()
register.filter("small_dollars", words.small_dollars)
register.filter("share", words.format_percent)

SIGNS: Final[Mapping[str, tuple[str, str]]] = {
    "match": ("✓", "match"),
    "nomatch": ("✗", "no match"),
    "unclear": ("?", "unclear"),
    "unjudged": ("–", "unjudged"),
    "running": ("▶", "running"),
    "paused": ("‖", "paused"),
    "waiting": ("…", "waiting"),
    "canary": ("?", "canary done"),
    "cancelled": ("■", "cancelled"),
    "failed": ("✗", "failed"),
    "done": ("✓", "done"),
    "partial": ("!", "done in part"),
    "abandoned": ("!", "abandoned"),
    "assisted": ("◐", "assisted"),
    "passed": ("✓", "passed"),
    "draft": ("–", "draft"),
    "closed": ("■", "closed"),
}
MARKS: Final = MappingProxyType({"success": "✓", "error": "!", "warning": "!", "info": "i", "debug": "i"})


@dataclass(frozen=True)
class Entry:
    """One link of the main navigation; `current` is "page", "true" (a page below it) or empty.

    `shows_verdicts`: somebody who rates does not see all that is there.
    """

    name: str
    url: str
    current: str
    shows_verdicts: bool = False


SECTIONS: Final[Mapping[roles.Role, tuple[tuple[str, str], ...]]] = {
    roles.Role.READER: (
        ("Home", "home"),
        ("Browse", "browse"),
        ("Benchmarks", "benchmarks"),
        ("Studies", "studies"),
        ("Reports", "reports"),
    ),
    roles.Role.EXPERT: (
        ("Your work", "work"),
        ("Browse", "browse"),
        ("Benchmarks", "benchmarks"),
        ("Studies", "studies"),
    ),
    roles.Role.ADMIN: (
        ("Dashboard", "dashboard"),
        ("Collections", "collections"),
        ("Browse", "browse"),
        ("Benchmarks", "benchmarks"),
        ("Your work", "work"),
        ("Studies", "studies"),
        ("Reports", "reports"),
    ),
}


OF_VERDICTS: Final = frozenset({"Browse", "Benchmarks", "Reports"})


@register.simple_tag
def is_kept_blind(user: roles.Visitor) -> bool:
    """Whether verdicts are hidden from a rater now. One query a request."""
    return bool(roles.blind_in(user))


@register.simple_tag
def role_of(user: roles.Visitor | str) -> roles.Role | None:
    """The role of whoever looks; None also where a page has no user (error pages)."""
    return None if isinstance(user, str) else roles.role_of(user)


@register.simple_tag
def comma() -> SafeString:
    """Between short facts that space parts on screen: a screen reader pauses, and copied text has a comma."""
    return mark_safe('<span class="visually-hidden">, </span>')


@register.filter
def navigation(role: roles.Role, path: str) -> list[Entry]:
    """The links that `role` may follow, with the one marked that `path` belongs to."""
    return entries(SECTIONS[role], path)


def entries(sections: tuple[tuple[str, str], ...], path: str) -> list[Entry]:
    links = [(name, reverse(url)) for name, url in sections]
    return [Entry(name, url, place(path, url), name in OF_VERDICTS) for name, url in links]


def place(path: str, url: str) -> str:
    """How `path` stands to a section; builds and the connection belong to the dashboard."""
    if path == url:
        return "page"
    if url == reverse("home"):
        return ""  # every address begins with it
    if url == reverse("browse") and path.startswith(reverse("compare")):
        return ""  # it belongs to the reports
    names = {
        reverse("dashboard"): ("builds", "connection"),
        reverse("studies"): ("guidelines", "audit"),
        reverse("reports"): ("pins", "browse/compare", "quality"),
        reverse("work"): ("review", "rate", "adjudication", "precedents", "written", "history"),
    }
    others = tuple(f"{get_script_prefix()}{name}/" for name in names.get(url, ()))
    return "true" if path.startswith((url, *others)) else ""


@register.simple_tag
def list_nouns() -> tuple[glossary.Term, ...]:
    """The eight words that are enough to review a pair, with their meanings."""
    return glossary.NOUNS


@register.filter
def term(word: str) -> SafeString:
    """A word of the glossary, or its plural, with its meaning on hover. Raises KeyError for others."""
    known = word.lower()
    meaning = glossary.MEANINGS[known if known in glossary.MEANINGS else known.removesuffix("s")]
    return format_html('<abbr class="term" title="{}">{}</abbr>', meaning, word)


@register.filter
def explain(word: str) -> str:
    """As `term`, of a word that the glossary may have: another one stays as it is."""
    known = word.lower()
    return term(word) if {known, known.removesuffix("s")} & glossary.MEANINGS.keys() else word


@register.filter
def explain_by(stage: str, worker: str) -> str:
    """A stage with its worker, and what that is, on hover; the stage alone where the worker is no term."""
    meaning = glossary.MEANINGS.get(worker)
    if meaning is None:
        return stage
    return format_html('<abbr class="term" title="{}: {}">{}</abbr>', worker, meaning, stage)


@register.filter
def message_mark(level: str) -> str:
    return MARKS.get(level, "i")


@register.simple_tag
def sign(kind: str, word: str = "") -> SafeString:
    """A state by sign and word: `{% sign "match" %}`, `{% sign build.state build.get_state_display %}`."""
    mark, usual = SIGNS.get(kind, ("·", kind.replace("_", " ")))
    return format_html(
        '<span class="sign is-{}"><span class="mark" aria-hidden="true">{}</span> {}</span>',
        kind,
        mark,
        word or usual,
    )


@register.filter
def dollars(nanodollars: float | None) -> str:
    """Nanodollars as dollars; None is a budget without a cap."""
    return "no cap" if nanodollars is None else words.format_dollars(nanodollars)


@register.filter
def decimal(value: float | str | None, digits: int) -> str:
    """The number with so many digits behind the point; a dash where it is not defined."""
    return "–" if value in (None, "") else f"{value:.{digits}f}"


@register.filter
def interval(found: words.Interval | None, digits: int) -> str:
    """`0.123 to 0.456`, of a figure that has both ends; else empty."""
    return words.format_interval(found, lambda end: f"{end:.{digits}f}")


@register.filter
def points(drift: Drift) -> str:
    """`+2.1 points (-0.5 to +4.7)`: a difference of shares with its interval, in hundredths."""
    return f"{100 * drift.value:+.1f} points ({100 * drift.low:+.1f} to {100 * drift.high:+.1f})"


@register.filter
def counted(number: int, noun: str) -> str:
    """`3 cases`, `1 case`, `1,200 cases`; a plural that is not noun + s goes after a comma."""
    one, _, many = noun.partition(",")
    return f"{intcomma(number)} {one if number == 1 else many or one + 's'}"


@register.filter
def said(name: str) -> str:
    """A stage's or an agent's name as words: `writing_test` → `writing test`."""
    return name.replace("_", " ")


@register.filter
def filled(details: Mapping[str, object]) -> tuple[tuple[str, object], ...]:
    """Names with what was said of them; a reason that nobody gave is left out, a 0 is not."""
    return tuple((name, value) for name, value in details.items() if value != "")


@register.filter
def seconds(value: float | None) -> str:
    """A short time: `35 ms`, `1.2 s`; a dash where it is not known."""
    return "–" if value is None else words.format_duration(value)


@register.filter
def ago(moment: datetime | None) -> SafeString | str:
    """A moment as people say it, with the exact time in the title."""
    if moment is None:
        return "never"
    exact = timezone.localtime(moment)
    words = naturaltime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', exact.isoformat(), f"{exact:%Y-%m-%d %H:%M:%S %Z}", words
    )


@register.filter
def duration(seconds: float | timedelta | None) -> str:
    """`45 s`, `3 min`, `2 h 10 min`; a dash where it is not known."""
    if seconds is None:
        return "–"
    total = round(seconds.total_seconds() if isinstance(seconds, timedelta) else seconds)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return (
            f"{total // 60} min" if total >= 600 or total % 60 == 0 else f"{total // 60} min {total % 60} s"
        )
    return f"{total // 3600} h {total % 3600 // 60} min" if total % 3600 >= 60 else f"{total // 3600} h"
