"""Which labels say that a snippet is a match."""

from __future__ import annotations

import pytest

from retrieval.models import Annotator, Label, Pair
from retrieval.models.labels import filter_matching_labels, is_match
from tests import factories


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("scale", "matches"),
    [("binary", [1]), ("half", [1]), ("graded", [2, 3]), ("whole", [1, 2, 3, 4, 1000])],
)
def test_each_scale_says_which_values_are_matches_alike_in_code_and_query(
    scale: str, matches: list[int]
) -> None:
    values = {"graded": [0, 1, 2, 3], "whole": [-1000, -1, 0, 1, 2, 3, 4, 1000]}.get(scale, [0, 1])
    texts = [of.members.get(position=0).text_id for of in (factories.queries(), factories.snippets())]
    pair = Pair.objects.keep_all([(texts[0], texts[1])])[0]
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "some", {})
    for number, value in enumerate(values, 1):
        Label.objects.create(pair=pair, annotator=by, round=number, value=value, scale=scale)
    assert [value for value in values if is_match(value, scale)] == matches
    found = Label.objects.filter(filter_matching_labels()).order_by("value")
    assert list(found.values_list("value", flat=True)) == matches
