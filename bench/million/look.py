"""What the scratch database holds by now: the mined pairs, and the pages that show them."""

from __future__ import annotations

import hashlib
import statistics
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client, override_settings

from annotation.accounts.roles import Role, give_role
from annotation.models import Build, Case
from bench.million.texts import MATCH_IN
from bench.pages.growth import NO_CACHE, Counting, roll_back_writes
from retrieval.models import Collection, Member, Mining

LOOKS: Final = 5
ROWS_A_READ: Final = 2_000


def mined_rows() -> Iterator[tuple[str, int, str, float]]:
    """The mined pairs by query and rank: ids of the texts, and the score."""
    mining = Mining.objects.get()
    asked, code = (dict(ids_of(one)) for one in (mining.queries, mining.snippets))
    rows = mining.candidates.order_by("query", "rank").values_list(
        "query_id", "rank", "pair__snippet_id", "score"
    )
    for query, rank, snippet, score in rows.iterator(ROWS_A_READ):
        yield asked[query], rank, code[snippet], score


def ids_of(collection: Collection) -> Iterator[tuple[int, str]]:
    rows = Member.objects.filter(collection=collection).order_by()
    return rows.values_list("text_id", "source_id").iterator(ROWS_A_READ)


def digest_pairs() -> str:
    """A hash of all mined pairs with rank and score, whatever their order: the same on every database."""
    total = 0
    for row in mined_rows():
        total += int.from_bytes(hashlib.sha256(repr(row).encode()).digest(), "big")
    return f"{total % 2**256:064x}"


def judge_pairs(path: Path) -> None:
    """Write a file of judgements: one pair in some is a match, whichever database says so."""
    with path.open("w", encoding="ascii") as file:
        for query, _, snippet, _ in mined_rows():
            number = int.from_bytes(hashlib.sha256(f"{query} {snippet}".encode()).digest()[:4], "big")
            file.write(f"{query} 0 {snippet} {int(number % MATCH_IN == 0)}\n")


def addresses() -> Mapping[str, str]:
    """Pages and lists of the API by name, the deep ones far down."""
    build = Build.objects.get()
    cases = Case.objects.filter(build=build)
    case, late = (
        cases.order_by("pk").values_list("pk", flat=True)[build.tally.total * n // 20] for n in (10, 19)
    )
    queries, snippets = build.queries, build.snippets
    far = snippets.size * 19 // 20
    query = Case.objects.get(pk=case).query_id
    review = f"/review/builds/{build.pk}/"
    return {
        "dashboard": "/dashboard/",
        "collections": "/collections/",
        "collection": f"/collections/{snippets.pk}/",
        "collection, deep": f"/collections/{snippets.pk}/?after={far}",
        "build": f"/builds/{build.pk}/",
        "cases": f"/builds/{build.pk}/cases/",
        "cases, deep": f"/builds/{build.pk}/cases/?after={late}",
        "browse": f"/browse/{build.pk}/",
        "browse, a word": f"/browse/{build.pk}/?q=python",
        "query": f"/browse/{build.pk}/queries/{query}/",
        "case": f"/browse/cases/{case}/",
        "your work": "/work/",
        "review, all": f"{review}?show=all",
        "review, deep": f"{review}?show=all&after={late}",
        "review a case": f"/review/cases/{case}/",
        "benchmarks": "/benchmarks/",
        "API: cases": f"/api/builds/{build.pk}/cases?after={late}",
        "API: members": f"/api/collections/{snippets.pk}/members?after={far}",
        "API: queries": f"/api/builds/{build.pk}/queries",
        "API: queries, late": f"/api/collections/{queries.pk}/members?after={queries.size * 19 // 20}",
    }


def look_at_pages() -> Mapping[str, Mapping[str, float]]:
    """Milliseconds of a processor (the median of some looks) and statements of each page, as an admin."""
    found = dict[str, Mapping[str, float]]()
    with override_settings(CACHES=NO_CACHE), roll_back_writes():
        client = Client(headers={"host": "127.0.0.1"})
        client.force_login(create_admin())
        for name, address in addresses().items():
            looks = [open_page(client, address) for _ in range(LOOKS + 1)][1:]
            found[name] = {
                "milliseconds": round(1000 * statistics.median(seconds for seconds, _ in looks), 1),
                "statements": looks[-1][1],
            }
    return found


def create_admin() -> User:
    user = User.objects.create_user("million")
    give_role(user, Role.ADMIN)
    return user


def open_page(client: Client, address: str) -> tuple[float, int]:
    """Raises RuntimeError unless the page is there."""
    seen = Counting()
    with connection.execute_wrapper(seen):
        began = time.process_time()
        answer = client.get(address)
        seconds = time.process_time() - began
    if answer.status_code not in {200, 302}:
        raise RuntimeError(f"{address} answers {answer.status_code}")
    return seconds, seen.count
