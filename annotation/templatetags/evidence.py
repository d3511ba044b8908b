"""Tags of the pages that show evidence: said states, and untrusted text with nothing in it invisible."""

from __future__ import annotations

from typing import Final

from django import template
from django.template.defaultfilters import stringfilter
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.models import Case, Execution
from annotation.web.cases import code
from annotation.web.cases.traces import shorten_trace_value
from annotation.web.shared.words import MATCH, NO_MATCH, OUTCOMES, Sign, case_sign, label_sign

VERDICTS: Final = {1.0: MATCH, 0.5: Sign("?", "unclear", "quiet"), 0.0: NO_MATCH}
NO_VERDICT: Final = Sign("–", "no verdict", "warn")
register = template.Library()


register.filter("label_sign", label_sign)
register.filter("first_line", code.first_line)
register.filter("beginning", shorten_trace_value)
register.filter("shown", stringfilter(code.render_untrusted_text))
register.filter("spelled", stringfilter(code.spell_unseen_characters))


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
def said_of_case(case: Case) -> Sign:
    """What became of a case: its label, or how far it is."""
    return case_sign(case.stage, case.label)


@register.filter
def sign_of_label(label: int | None) -> Sign:
    """A label as it is said, also where there is none."""
    return label_sign(label)


@register.filter
def verdict_sign(verdict: float | None) -> Sign:
    """A screener's verdict; where none could be read that is said, never a 0."""
    return NO_VERDICT if verdict is None else VERDICTS.get(verdict, Sign("·", f"{verdict:g}"))


@register.filter
def outcome_of_run(execution: Execution) -> Sign:
    """How the run of a case's test ended."""
    return OUTCOMES[execution.outcome]
