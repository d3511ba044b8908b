"""Hand-composed statements do what the ORM's would, on whatever database the tests run."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import Case, Step, Tally
from annotation.models.builds.build import WITHIN_CAP
from retrieval.models import Annotator, Label, Member, Pair, Text, TextBody, statements
from tests import factories

pytestmark = pytest.mark.django_db


def test_put_and_grow_change_the_rows_named_and_no_others() -> None:
    first, second = factories.cases(factories.opened("first"))[:2]
    until, lease = timezone.now() + timedelta(minutes=3), uuid.uuid4()
    put = {"lease": lease, "lease_until": until, "dependencies": ["numpy"], "missing_module": "it's"}
    assert statements.update_rows(Case, {"id": first.pk, "lease": None}, put=put, grow={"attempts": 2}) == 1
    first.refresh_from_db()
    assert (first.lease, first.lease_until, first.dependencies) == (lease, until, ["numpy"])
    assert (first.missing_module, first.attempts) == ("it's", 2)
    second.refresh_from_db()
    assert (second.lease, second.attempts) == (None, 0)
    assert statements.update_rows(Case, {"id": first.pk, "lease": None}, put={"lease": None}) == 0
    assert statements.update_rows(Case, {"id": first.pk, "lease": lease}, put={"lease": None}) == 1


def test_a_further_condition_holds_a_change_back() -> None:
    build = factories.opened("first", cap=10)
    row = {"build": build.pk}
    assert statements.update_rows(Tally, row, grow={"reserved": 10}, provided=WITHIN_CAP, values=[10]) == 1
    assert statements.update_rows(Tally, row, grow={"reserved": 1}, provided=WITHIN_CAP, values=[1]) == 0
    assert Tally.objects.get(build=build).reserved == 10


def test_what_is_looked_up_is_what_the_models_say() -> None:
    cases = factories.cases(factories.opened("first"))
    found = statements.select_columns(
        Case, ["id", "stage", "rank"], {"build": cases[0].build_id, "label": None}
    )
    assert sorted(found) == sorted((case.pk, case.stage, case.rank) for case in cases)


def test_what_is_held_is_what_is_looked_up() -> None:
    case = factories.cases(factories.opened("first"))[0]
    asked = Case, ["id", "stage"], {"id": case.pk}
    assert statements.look_and_hold(*asked) == statements.select_columns(*asked) == [(case.pk, case.stage)]


def test_a_row_inserted_has_its_key_and_the_values_of_its_moment() -> None:
    case = factories.cases(factories.opened("first"))[0]
    step = Step(case=case, number=7, before="screening", event="match", after="settled", note="näh")
    assert statements.insert_row(step)
    stored = Step.objects.get(pk=step.pk)
    assert (stored.note, stored.number, stored.at, stored.seconds) == ("näh", 7, step.at, None)


def test_a_second_row_is_refused_or_left_out() -> None:
    case = factories.cases(factories.opened("first"))[0]

    def label(value: int) -> Label:
        return Label(pair_id=case.pair_id, annotator_id=case.annotator_id, round=1, value=value)

    assert statements.insert_row(label(1), unless_there=True)
    assert not statements.insert_row(label(0), unless_there=True)
    with pytest.raises(IntegrityError), transaction.atomic():
        statements.insert_row(label(0))
    assert list(Label.objects.values_list("value", flat=True)) == [1]


def test_many_rows_are_stored_at_once_and_those_that_are_there_stay() -> None:
    queries, snippets = (
        list(of.members.order_by("position")) for of in (factories.queries(), factories.snippets())
    )
    keys = [(query.text_id, snippet.text_id) for query in queries for snippet in snippets]
    statements.insert_all(Pair, ["query", "snippet"], keys[:3])
    statements.insert_all(Pair, ["query", "snippet"], keys, unless_there=True)
    statements.insert_all(Pair, ["query", "snippet"], [])
    assert sorted(Pair.objects.values_list("query", "snippet")) == sorted(keys)
    pair, annotator, now = Pair.objects.all()[0], factories.annotator(), timezone.now()
    columns = ["pair", "annotator", "round", "value", "scale", "assisted", "source", "created_at"]
    rows = [
        (pair.pk, annotator.pk, 1, None, "binary", True, "n\u00e4h's \\\" {,} NULL", now),
        (pair.pk, annotator.pk, 2, 1, "binary", False, "", now),
    ]
    statements.insert_all(Label, columns, rows)
    first, second = Label.objects.order_by("round")
    assert (first.value, first.assisted, first.source, first.created_at) == (
        None,
        True,
        "n\u00e4h's \\\" {,} NULL",
        now,
    )
    assert (second.value, second.assisted) == (1, False)
    with pytest.raises(IntegrityError), transaction.atomic():
        statements.insert_all(Label, columns, rows)


def test_bytes_and_json_are_stored_as_the_models_do() -> None:
    body = TextBody.packed("a b\x00 c")
    statements.insert_all(TextBody, ["digest", "size", "data"], [(body.digest, body.size, body.data)])
    assert TextBody.objects.get().text == body.text
    statements.insert_all(
        Annotator,
        ["kind", "name", "version", "config", "created_at"],
        [("person", "p", "v", '{"a": [1]}', timezone.now())],
    )
    assert Annotator.objects.get(name="p").config == {"a": [1]}


def test_rows_are_found_by_any_number_of_values() -> None:
    members = list(factories.snippets().members.select_related("text").order_by("position"))
    texts = {member.text.body_id: member.text_id for member in members}
    digests = [
        *texts,
        *(f"{number:064x}" for number in range(70_000)),
    ]  # too many parameters
    assert dict(statements.look_among(Text, ("body", "id"), "body", digests)) == texts
    assert statements.look_among(Text, ("id",), "body", []) == []
    found = statements.look_among(Member, ("text",), "collection", [members[0].collection_id])
    assert sorted(found) == sorted((member.text_id,) for member in members)
    wanted, collection = [member.text_id for member in members], members[0].collection_id
    found = statements.look_among(Member, ("text",), "text", wanted, {"collection": collection})
    assert sorted(found) == sorted((text,) for text in wanted)
    assert statements.look_among(Member, ("text",), "text", wanted, {"collection": collection + 1}) == []
