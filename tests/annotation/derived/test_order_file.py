"""An order as YAML: what is written is read back to an equal order, and mistakes are told by line."""

from __future__ import annotations

from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.builds.launch.order import Judge, Order
from annotation.builds.launch.paper_profile import ENCODERS, as_in_the_paper
from annotation.derived.derivation import Who
from annotation.derived.order_file import (
    GROUPS,
    LONGEST_FILE,
    BadOrderFile,
    order_of_build,
    read_order_file,
    write_order_file,
)
from annotation.models import Build
from annotation.schemas.shared.order_file import OrderFile
from annotation.web.builds.launch import LaunchForm
from retrieval.filters import NO_RULE, TEXT_OPTIONS, Rule
from retrieval.filters.queries import QueryRule
from retrieval.fusion import Fusion
from retrieval.given_pairs import of_benchmark
from retrieval.models import Collection
from tests import factories

pytestmark = pytest.mark.django_db
LEAST = "name: a\nqueries: small\nfunctions: small\nencoders: [bm25]\n"
TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60)
NAMES = st.text(st.sampled_from("abc yes no 0123456789 :#-'{}[]&*!|>%@\\\""), min_size=1, max_size=40)
DOLLARS = st.none() | st.decimals(0, 1_000_000, places=6)


def every_order(queries: Collection, snippets: Collection) -> st.SearchStrategy[Order]:
    return st.builds(
        Order,
        name=NAMES,
        queries=st.just(queries),
        snippets=st.just(snippets),
        encoders=st.lists(NAMES, min_size=1, max_size=8).map(tuple),
        k=st.integers(1, 1000),
        provider=st.sampled_from(["live", "exchange", "recorded"]),
        model=NAMES,
        recorded=TEXT,
        budget=DOLLARS,
        limit=st.none() | st.integers(1, 10_000),
        rule=st.sampled_from([NO_RULE, *Rule]),
        query_rule=st.sampled_from([QueryRule(0), QueryRule.ENGLISH, QueryRule.ENGLISH | QueryRule.DISTINCT]),
        text_option=st.sampled_from(list(TEXT_OPTIONS)),
        fusion=st.sampled_from(Fusion),
        approximate=st.sampled_from(["", "hnsw", "ivf"]),
        fix_rounds=st.integers(0, 10),
        sampling=st.dictionaries(NAMES, st.integers() | TEXT, max_size=3),
        unpriced=st.booleans(),
        rewrites=st.integers(0, 5),
        second_test=st.booleans(),
        fresh=st.booleans(),
        annotator=st.sampled_from(Judge),
        screen_by_query=st.booleans(),
        seed=st.integers(0, 2**31 - 1),
        rounds=st.integers(1, 9),
        skip_canary=TEXT,
        drift_check=st.booleans(),
        batches=st.booleans(),
        reader=st.booleans(),
        neighbour=st.booleans(),
        withhold_report=st.booleans(),
        reason=TEXT,
        reviews_needed=st.integers(1, 2),
        hides_reviews=st.booleans(),
        price_in=DOLLARS,
        price_out=DOLLARS,
    )


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_an_order_that_is_written_and_read_is_equal(data: st.DataObject) -> None:
    order = data.draw(every_order(factories.queries(), factories.snippets()))
    assert read_order_file(write_order_file(order)) == (order, Who((order.annotator,)))


def test_a_written_order_comes_back_whatever_judges_and_profile_it_has() -> None:
    plain = Order("a", factories.queries(), factories.snippets(), ("bm25",))
    as_paper = replace(as_in_the_paper(replace(plain, encoders=ENCODERS)), encoders=("bm25",))
    assert read_order_file(write_order_file(as_paper))[0] == as_paper
    assert read_order_file(f"{LEAST}profile: paper\n")[0] == as_paper
    assert read_order_file(f"{LEAST}profile: paper\nrewrites: 1\n")[0] == replace(as_paper, rewrites=1)
    unnamed = LEAST.replace("encoders: [bm25]\n", "profile: paper\n")
    assert read_order_file(unnamed)[0] == replace(as_paper, encoders=ENCODERS)
    who = Who((Judge.AGENTS, Judge.SINGLE_HALF), experts=True)
    assert read_order_file(write_order_file(plain, who))[1] == who


def test_every_field_of_an_order_and_of_the_form_has_a_key() -> None:
    keys = {name for names in GROUPS.values() for name in names}
    assert keys == OrderFile.model_fields.keys() - {"annotator"}
    assert {field.name for field in fields(Order)} - keys == {
        "query_rule",  # query_rules
        "annotator",  # annotators
        "prompt_set",  # profile
        "given",  # pairs, pair_list
        "snippets",  # functions
    }
    assert LaunchForm().fields.keys() - keys == {
        *("given", "beside", "annotator", "more_encoders"),
        *("no_reader", "no_neighbour", "show_report", "skip_canary_because", "snippets"),
    }


def test_what_is_left_out_is_as_in_the_form() -> None:
    order, who = read_order_file(f"# mine\n{LEAST}")
    queries, snippets = Collection.objects.get(kind="queries"), Collection.objects.get(kind="snippets")
    assert order == Order("a", queries, snippets, ("bm25",))
    assert who == Who()


def test_the_former_name_of_a_key_is_read() -> None:
    assert read_order_file(LEAST.replace("functions:", "snippets:")) == read_order_file(LEAST)
    with pytest.raises(BadOrderFile, match="line 5: there is no 'snippets'"):
        read_order_file(f"{LEAST}snippets: small\n")


@pytest.fixture(autouse=True)
def collections() -> None:
    factories.queries()
    factories.snippets()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{LEAST}kk: 3\n", "line 5: there is no 'kk'"),
        (f"{LEAST}rewrite: 3\n", "line 5: there is no 'rewrite'; perhaps 'rewrites' is meant."),
        (f"{LEAST}annotator: agents\n", "line 5: there is no 'annotator'; perhaps 'annotators' is meant."),
        (f"{LEAST}k: 3\nk: 4\n", "line 6: 'k' was said before, on line 5."),
        (f"{LEAST}k: many\n", "line 5: k: Input should be a valid integer"),
        (f"{LEAST}k: 0\n", "line 5: k: Input should be greater than or equal to 1"),
        (f"{LEAST}model: 2026-01-01\n", "line 5: model: Input should be a valid string"),
        (LEAST.replace("queries: small", "queries: large"), "line 2: there is no collection of queries"),
        (LEAST.replace("queries: small", "queries: small@7"), "called 'small@7'; there are: small."),
        (f"{LEAST}pairs: plus\n", "line 5: There is no benchmark 'plus'"),
        (f"{LEAST}pair_list: 7\n", "line 5: there is no list of pairs 7"),
        ("name: a\n", "name queries, functions and encoders for a mining, or pairs to judge"),
        ("- name\n", "An order is lines of 'key: value'."),
        ("", "An order is lines of 'key: value'."),
        ("name: [a\n", "line 2: this is no YAML"),
        ("name: a\x00\n", "this is no YAML"),
        (f"{LEAST}sampling: &a {{x: 1}}\nreason: *a\n", "line 6: an order has no aliases"),
        (f"{LEAST}sampling: {'[' * 30}{']' * 30}\n", "at most 20 deep"),
        (f"{LEAST}sampling: !!python/object/apply:os.system [ls]\n", "line 5: this is no YAML"),
        (f"{LEAST}reason: {'x' * LONGEST_FILE}\n", "at most 100,000 characters"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, told: str) -> None:
    with pytest.raises(BadOrderFile) as refused:
        read_order_file(text)
    assert told in str(refused.value)


def test_pairs_of_a_benchmark_are_named(benchmark: Any) -> None:
    pairs = of_benchmark(benchmark)
    order = Order("a", pairs.queries, pairs.snippets, (), given=pairs)
    text = write_order_file(order)
    assert f"pairs: {benchmark}" in text
    assert read_order_file(text)[0] == order


@pytest.fixture
def benchmark() -> Any:
    build = factories.said(factories.opened("labels"), (1, 0, 1, 0, 1, 0, 1, 0, 1))
    call_command("benchmark", "publish", "plus", "--build", build.name)
    from retrieval.models import Benchmark

    return Benchmark.objects.get()


def test_a_build_is_launched_again_by_its_own_file(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    words = {"queries": "small", "snippets": "small", "k": 2, "budget": "2.5", "rounds": 2, "limit": 4}
    call_command("build", "first", **words)
    capsys.readouterr()
    call_command("build", show_config="first")
    path = tmp_path / "order.yaml"
    path.write_text(capsys.readouterr().out)
    call_command("build", "second", config=path)
    first, second = Build.objects.get(name="first"), Build.objects.get(name="second")
    assert order_of_build(second) == replace(order_of_build(first), name="second")
    assert (order_of_build(first).budget, order_of_build(first).rounds) == (Decimal("2.5"), 2)
    assert second.annotator == first.annotator


def test_what_is_typed_with_a_file_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "order.yaml"
    path.write_text(LEAST)
    with pytest.raises(CommandError, match="the whole order: write -k, --rounds into the file"):
        call_command("build", "second", config=path, k=3, rounds=2)
    with pytest.raises(CommandError, match="can't be read"):
        call_command("build", "second", config=tmp_path / "none" / "order.yaml")
    with pytest.raises(CommandError, match="Name the new build"):
        call_command("build")
    assert not Build.objects.exists()


def test_an_admin_downloads_the_order_of_a_build(client: Client) -> None:
    build = factories.opened("my build")
    client.force_login(factories.ada())
    assert (
        reverse("build-order", args=[build.pk])
        in client.get(reverse("build", args=[build.pk])).content.decode()
    )
    answer = client.get(reverse("build-order", args=[build.pk]))
    assert 'filename="my-build.yaml"' in answer["Content-Disposition"]
    assert read_order_file(answer.content.decode())[0] == order_of_build(build)
