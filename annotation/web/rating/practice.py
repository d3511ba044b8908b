"""What a rater is told after an onboarding pair, where the plan says that these are practice."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Study, StudyPair
from annotation.studies.plan.form_checks import word_of
from annotation.studies.rating.undo import UndoableDecision
from annotation.web.rating.words import said_sign
from annotation.web.shared.words import Sign


@dataclass(frozen=True, slots=True)
class PracticeResult:
    """What the rater said of the pair and what is right. `reason` is the admin's, empty for none."""

    number: int
    said: Sign
    right: Sign
    is_right: bool
    reason: str


def build_practice_result(study: Study, last: UndoableDecision | None) -> PracticeResult | None:
    """The result of the last decision, if that was a label of an onboarding pair. Asks the database nothing.

    An attention pair never has one: raters are not to know which these are.
    """
    if not study.practice or last is None or not last.standing:
        return None
    pair, value = last.of.study_pair, last.standing[-1].value
    if pair.planted != StudyPair.Planted.ONBOARDING:
        return None
    said, right = (said_sign(study.scale, word_of(last.of, one)) for one in (value, pair.answer))
    return PracticeResult(pair.number, said, right, value == pair.answer, pair.answer_reason)
