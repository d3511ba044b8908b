"""The label in force of cases, as pages say it: the label, and in a few words how it came about."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from annotation.models import Case
from annotation.models.builds.label_in_force import LabelInForce, find_label_in_force, load_people_statements
from annotation.stages import Stage
from annotation.web.shared.words import ABANDONED, Sign, label_sign
from retrieval.models import Source
from retrieval.texts.plurals import count_noun

MISSING: Final = "counts when a second agrees"
BY_SOURCE: Final[Mapping[Source | None, str]] = {
    Source.STUDY: "a blind study",
    Source.ADJUDICATED: "a decision in a blind study",
    Source.ACCEPTED: "an expert’s acceptance",
}


@dataclass(frozen=True, slots=True)
class ShownLabel:
    """A label in force. `how` is empty where agents alone gave it; `overruled`: the agents said another."""

    sign: Sign
    how: str
    overruled: bool


def load_shown_labels(
    cases: Sequence[Case], reviews_needed: int, hidden: Collection[int] = ()
) -> dict[int, ShownLabel]:
    """By case, of one build; one query. Of `hidden` pairs (ids) it is the agents' label."""
    people = load_people_statements({case.pair_id for case in cases}.difference(hidden))
    return {
        case.pk: shown_label(
            case, find_label_in_force(case.label, people.get(case.pair_id, ()), reviews_needed)
        )
        for case in cases
    }


def shown_label(case: Case, found: LabelInForce) -> ShownLabel:
    """As the page shows it: an abandoned case without a label says that it was abandoned."""
    is_abandoned = case.stage == Stage.ABANDONED and found.label is None
    sign = ABANDONED if is_abandoned else label_sign(found.label)
    return ShownLabel(sign, describe_label_source(found), found.is_overruled)


def describe_label_source(found: LabelInForce) -> str:
    """How the label came about, where people had a say: `2 experts: no match (agents said match)`."""
    if found.source in BY_SOURCE:
        return describe_decision(found, BY_SOURCE[found.source])
    if found.source is Source.REVIEWS:
        return describe_agreed_reviews(found)
    return describe_waiting_reviews(found)


def describe_decision(found: LabelInForce, by: str) -> str:
    """What somebody decided, with what the agents said where that is another label."""
    word = label_sign(found.label).word
    if found.agents is None:
        return f"{by}: {word} (agents gave no label)"
    return (
        f"{by}: {word} (agents said {label_sign(found.agents).word})"
        if found.is_overruled
        else f"{by} agrees"
    )


def describe_agreed_reviews(found: LabelInForce) -> str:
    """What enough experts say; those who say the other label are named, too."""
    ahead, behind = votes_for(found, found.label), votes_for(found, 1 - (found.label or 0))
    more = f"; {behind} said the other" if behind else ""
    if found.agents == found.label:
        return f"{format_agreeing(ahead)}{more}"
    return describe_decision(found, count_noun(ahead, "expert")) + more


def describe_waiting_reviews(found: LabelInForce) -> str:
    """What experts say whose label does not count, and what is missing."""
    if not (found.matches or found.no_matches):
        return ""
    if found.agents is None:
        return describe_reviews_alone(found)
    same, other = votes_for(found, found.agents), votes_for(found, 1 - found.agents)
    if not other:
        return format_agreeing(same)
    if not same:
        return f"{count_noun(other, 'expert')} {'disagrees' if other == 1 else 'disagree'}; {MISSING}"
    verb = "disagrees" if other == 1 else "disagree"
    return f"{format_agreeing(same)}, {other} {verb}; the agents’ label counts"


def describe_reviews_alone(found: LabelInForce) -> str:
    """What experts say of a case that the agents gave no label."""
    if found.matches == found.no_matches:
        return f"experts are split {found.matches} to {found.no_matches}; no label counts"
    label = int(found.matches > found.no_matches)
    number = votes_for(found, label)
    verb = "says" if number == 1 else "say"
    return f"{count_noun(number, 'expert')} {verb} {label_sign(label).word}; {MISSING}"


def votes_for(found: LabelInForce, label: int | None) -> int:
    return found.matches if label == 1 else found.no_matches


def format_agreeing(number: int) -> str:
    return f"{count_noun(number, 'expert')} {'agrees' if number == 1 else 'agree'}"
