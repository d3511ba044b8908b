"""The agents' verdict as a card: what they say, who says it and why. All else is folded below it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from annotation.web.cases.evidence import Evidence, Verdict
from sandbox.reports.outcome import Outcome

LONGEST_LEAD: Final = 260
"""Characters of a reason that are shown at once: about three lines of the card."""
CONTRADICTED: Final = {
    (1, Outcome.FAILED.value): "The test failed, but the verdict is match.",
    (0, Outcome.PASSED.value): "The test passed, but the verdict is no match.",
}
"""The warning where a verdict and the result of its test disagree. Either may be right."""
END_OF_SENTENCE: Final = re.compile(r"[.!?][\"'”’)]?(?=\s)|\n")


@dataclass(frozen=True, slots=True)
class VerdictCard:
    """`lead` is the beginning of the last step's reason, `is_cut` whether more follows, `by` the agent
    that gave it.

    `contradiction` says that the test came out against the verdict, else it is empty. `steps` are all steps,
    the last first, with their whole reasons.
    """

    evidence: Evidence
    by: str
    lead: str
    is_cut: bool
    contradiction: str
    steps: tuple[Verdict, ...]

    @property
    def is_decided(self) -> bool:
        """Whether the agents gave a label at all."""
        return self.evidence.case.label is not None


def build_verdict_card(evidence: Evidence) -> VerdictCard:
    """The card of a case, whose last step so far is the one that a person judges."""
    last = evidence.verdicts[-1] if evidence.verdicts else None
    lead, rest = split_reason(last.explanation) if last else ("", "")
    is_decided = evidence.case.label is not None
    by = last.who if last and is_decided else ""
    return VerdictCard(evidence, by, lead, bool(rest), find_contradiction(evidence), evidence.verdicts[::-1])


def find_contradiction(evidence: Evidence) -> str:
    """What to say where the test came out against the verdict; empty where it did not, or was not run."""
    run, label = evidence.execution, evidence.case.label
    decisive = evidence.decisive
    if run and label == 1 and run.outcome == Outcome.FAILED and decisive and decisive.passed:
        name = f"the {decisive.meaning.name}" if decisive.meaning.is_main else decisive.meaning.name
        return f"The test failed, but its ordinary checks of {name} passed."
    return "" if run is None or label is None else CONTRADICTED.get((label, run.outcome), "")


def split_reason(text: str) -> tuple[str, str]:
    """(what is read at once, what can be unfolded): apart at the end of a sentence, else between words."""
    text = text.strip()
    if len(text) <= LONGEST_LEAD:
        return text, ""
    beginning = text[: LONGEST_LEAD + 1]
    ends = [found.end() for found in END_OF_SENTENCE.finditer(beginning)]
    if ends:
        return text[: ends[-1]].strip(), text[ends[-1] :].strip()
    place = beginning.rfind(" ")
    place = place if place > 0 else LONGEST_LEAD
    return f"{text[:place]} …", f"… {text[place:].strip()}"
