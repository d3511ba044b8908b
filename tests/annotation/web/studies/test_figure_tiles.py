"""Of a difference no more is said than its interval allows."""

from __future__ import annotations

import pytest

from annotation.stats.agreement.differences import AnnotatorComparison
from annotation.stats.agreement.figures import Figure
from annotation.web.studies.figure_tiles import describe_difference


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        (Figure(0.1, 0.02, 0.2), "The agents are more accurate."),
        (Figure(-0.1, -0.2, -0.01), "The raters are more accurate."),
        (Figure(0.1, 0.0, 0.2), "The interval includes 0: neither is shown to be better."),
        (Figure(0.1), "It has no interval, so nothing more can be said."),
    ],
)
def test_a_difference_is_put_in_words(figure: Figure, said: str) -> None:
    assert describe_difference(AnnotatorComparison("agents", "people", 9, figure, "")) == said
