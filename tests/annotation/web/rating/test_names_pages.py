"""Names that a snippet lacks, on a rater's page: found in its text, so that every condition may know them."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from annotation.models import Condition, Study
from retrieval.models import Pair, Text
from tests.rating_pages import of_code, of_two, page

pytestmark = pytest.mark.django_db
MARK = re.compile(r'<span class="lacks [\w-]+" title="[^"]*">(\w+)</span>')
ON_ONE_LINE = 'def day(): "os, secret"; return os.path.join(helper, "a")\n'
LACKING = 'def f():\n    """helper"""\n    return np.zeros(3)\n'


@pytest.mark.parametrize("kind", Condition.Kind.values)
def test_they_are_marked_and_listed_in_every_condition(client: Client, kind: str) -> None:
    html = page(client, of_code(client, LACKING, kind))
    assert MARK.findall(html) == ["np"]
    assert "1 name comes from outside the function" in html
    assert 'href="#c-3" aria-label="np in line 3"' in html


@pytest.mark.parametrize("docstring", Study.Docstring.values)
def test_what_stands_behind_a_hidden_docstring_is_marked_where_it_is_or_not_at_all(
    client: Client, docstring: str
) -> None:
    html = page(client, of_code(client, ON_ONE_LINE, docstring=docstring))
    assert MARK.findall(html) == (["os", "helper"] if docstring == "shown" else [])
    assert "2 names come from outside the function" in html
    assert ("secret" in html) is (docstring != "hidden")


def test_of_two_snippets_each_has_its_own(client: Client) -> None:
    of = of_two(client)
    of.study_pair.other = Pair.objects.create(
        query=of.study_pair.pair.query, snippet=Text.objects.keep(LACKING)
    )
    of.study_pair.save()
    html = page(client, of)
    assert html.count("from outside the function") == 1
    assert 'href="#d-3" aria-label="np in line 3"' in html
