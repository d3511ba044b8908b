"""Tags of the pages that show evidence: said states, and untrusted text with nothing in it invisible."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.pages import code
from annotation.pages.words import Sign

register = template.Library()


@register.filter
def shown(text: object) -> SafeString:
    """The text escaped, with control and reordering characters made visible."""
    return code.shown(str(text))


@register.filter
def spelled(text: object) -> str:
    """As `shown`, for titles and options, where no markup can be."""
    return code.spelled(str(text))


@register.simple_tag
def say(what: Sign) -> SafeString:
    """A state: its mark and its word, coloured by its tone."""
    return format_html(
        '<span class="sign is-{}"><span class="mark" aria-hidden="true">{}</span> {}</span>',
        what.tone,
        what.mark,
        what.word,
    )


@register.filter
def beginning(text: str, longest: int) -> str:
    """The text, or as much of it as `longest` characters hold and how much more there is."""
    kept, left_out = code.beginning(text, longest)
    return f"{kept}… ({left_out:,} characters more)" if left_out else kept
