"""Nothing that agents said of a study's pairs reaches its raters, by any route, operation or socket.

Not by looking for known words: everything is asked for twice, and between the two all that agents said is
changed. Status, headers, order, size and every byte must be the same for who is kept blind. That the changes
can be seen is proved by somebody who is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import takewhile
from typing import Any, Final

import pytest
from django.contrib.auth.models import User
from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.models import F
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import consumers
from annotation.accounts import roles
from annotation.accounts.roles import KeptBlind, Role, give_role
from annotation.models import (
    Build,
    Case,
    Condition,
    Enrolment,
    Execution,
    Guideline,
    LLMCall,
    Review,
    Seen,
    Step,
    Study,
    Tally,
    TestProgram,
    Webhook,
    WebhookDelivery,
)
from annotation.review import labels
from annotation.stages import Stage
from retrieval.models import Candidate, Collection, Pair, PairList, Pin, Text
from tests import factories, studies
from tests.site.samples import Samples, samples
from tests.site.test_access import NOTE, Route, browser, ours, posted

pytestmark = pytest.mark.django_db

Kind = Condition.Kind
Answer = tuple[int, tuple[Any, ...], bytes, bool]
"""Status, headers, body; whether whoever asked was marked as having seen something."""
Asked = tuple[str, dict[str, Answer], dict[str, Answer]]
"""Route and address, the answers before and after, by method."""
SHOWS_AGENTS: Final = {"case", "query", "review-case", "browse-build", "api:get_case", "api:list_cases"}
"""Some of the routes whose answers must change for somebody who is not kept blind."""
CHANGING: Final = re.compile(
    rb'(csrf\w*token" value|csrf-token|nonce|X-CSRFToken": )[="\']+[\w=/+-]+|nonce-[\w=/+-]+'
    rb'|"(created_at|reserved_until|due_at|token)": ?"[^"]*"'
    rb'|"msg_[0-9a-f]+"|name="seed" value="[0-9]+"|Seed: [0-9]+'
)
"""What is drawn anew for each answer, and the moment at which a request itself made something."""
LEFT_OUT: Final = {"logout", "login", "health", "api:openapi-json"}
SOCKETS: Final = {"ws/builds/<int:pk>/"}


@pytest.fixture
def case() -> Case:
    """A case that a test decided, with a settled and an abandoned one beside it, all in one study."""
    build = factories.opened("zanzibar")
    first, second, third = factories.cases(build)[:3]
    factories.settled(second, 1, NOTE)
    factories.abandoned(third, "nobody came")
    Collection.objects.update(created_at=timezone.now() - timedelta(days=3))  # pages say how long ago
    return factories.examined(first, 0)


@pytest.fixture
def study(case: Case) -> Study:
    """A running study over the build's pairs: most of them drawn from its cases."""
    cases = case.build.cases.order_by("id")[:3]
    pairs = list(Pair.objects.filter(cases__in=cases).order_by("id"))
    made = studies.study(conditions=(Kind.OWN_TESTS, Kind.READING, Kind.AGENTS_TESTS), pairs=pairs)
    made.builds.add(case.build)
    Guideline.objects.update(created_at=timezone.now() - timedelta(days=3))
    factories.erin()  # who reviews among the changes; lists of people know her before
    for sampled in made.pairs.all():
        sampled.case = Case.objects.get(pair=sampled.pair)
        sampled.save()
    return made


def enrolled(study: Study, role: Role, kind: str = Kind.OWN_TESTS) -> Enrolment:
    rita = studies.rater("rita", study, kind)
    give_role(rita.user, role)
    for sampled in study.pairs.all():
        studies.assignment(rita, sampled)
    return rita


def change_what_agents_said(of: Case) -> None:
    """Other verdicts, stages, tests, outcomes, ranks, scores, costs, steps, reviews."""
    cases = Case.objects.filter(build=of.build)
    cases.update(label=1 - F("label"))
    cases.filter(stage=Stage.ABANDONED).update(stage=Stage.SETTLED, label=1, reason="")
    cases.update(label_in_force=F("label"))
    cases.update(rank=20 - F("rank"))
    Candidate.objects.filter(cases__in=cases).update(rank=20 - F("rank"), score=F("score") / 3)
    Case.objects.filter(pk=of.pk).update(program=None, execution=None)
    for step in Step.objects.filter(case__in=cases):
        Step.objects.filter(pk=step.pk).update(
            note=step.note + " or the wallaby", program=None, execution=None
        )
    Step.objects.filter(case=of).order_by("-number")[:1].get().delete()
    TestProgram.objects.filter(author=None).update(
        reading="an entirely different reading of the query", helpers=["helper"]
    )
    Execution.objects.update(outcome="errored", seconds=F("seconds") + 5, ran=False)
    LLMCall.objects.update(cost=12345678, model="another-model")
    more = {name: F(name) + 1 for name in ("settled", "matches_in_force")}
    Tally.objects.filter(build=of.build).update(spent=F("spent") + 1000, **more)
    erin = factories.erin()
    stored = Case.objects.get(pk=of.pk)
    labels.store_label(erin, stored, stored.label, "as the agents", "a" * 64, 0)


def told(user: User, route: Route, path: str) -> dict[str, Answer]:
    """What `user` is answered by each method; whatever a request changes is taken back."""
    found = {}
    for method in ("get",) if "?" in path else route.methods:
        send = getattr(browser(user), method)
        with transaction.atomic():
            response = send(path) if method == "get" else send(path, **posted(route))
            marked = Seen.objects.filter(user=user).exists()
            found[method] = (*fingerprint(response), marked)
            transaction.set_rollback(True)
        take_back_numbers()
    return found


NUMBERED: Final = (Collection, PairList, Pin, Webhook, WebhookDelivery)
"""What is made by whoever asks, and told with its number."""


def take_back_numbers() -> None:
    """PostgreSQL rolls all back but these: so what is made next has its number whoever was asked before."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), NUMBERED):
            cursor.execute(statement)


def fingerprint(response: HttpResponseBase) -> tuple[int, tuple[Any, ...], bytes]:
    """Status, headers and body without what is drawn anew for each answer."""
    streamed = b"".join(response) if response.streaming else getattr(response, "content", b"")
    headers = sorted(
        (name, CHANGING.sub(b"", value.encode()))
        for name, value in response.items()
        # The body itself is compared; a draft's revision is the moment at which it was kept, and Django's own
        # pages for passwords expire at the moment of the answer.
        if name not in {"Content-Length", "Draft-Revision", "Expires"}
    )
    cookies = sorted(response.cookies)
    return response.status_code, (*headers, *cookies), CHANGING.sub(b"", streamed)


def asked_twice(
    user: User,
    case: Case,
    given: Samples,
    change: Callable[[Case], None] = change_what_agents_said,
    wanted: Callable[[Route], object] = bool,
) -> Iterator[Asked]:
    """Each address of a wanted route with what it said before and after the agents' results were changed."""
    asked = by_name(where for where in addresses(given) if wanted(where[0]))
    return told_twice(user, case, asked, change)


def by_name(where: Iterable[tuple[Route, str]]) -> dict[str, tuple[Route, str]]:
    return {f"{route.name} {path}": (route, path) for route, path in where}


def told_twice(
    user: User, case: Case, asked: Mapping[str, tuple[Route, str]], change: Callable[[Case], None]
) -> Iterator[Asked]:
    before = all_told(user, asked)
    change(case)
    after = all_told(user, asked)
    return ((name, before[name], after[name]) for name in asked)


def all_told(user: User, asked: Mapping[str, tuple[Route, str]]) -> dict[str, dict[str, Answer]]:
    return {name: told(user, *where) for name, where in asked.items()}


def addresses(given: Samples) -> Iterator[tuple[Route, str]]:
    """Every route, and every list in each way in which it can be asked for."""
    for route in ours():
        if route.name not in LEFT_OUT:
            path = given.address(route.path)
            yield route, path
            for query in given.queries(route.name):
                yield route, f"{path}?{query}"


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        (Kind.OWN_TESTS, Role.EXPERT),
        pytest.param(Kind.READING, Role.ADMIN, marks=pytest.mark.alike),
    ],
)
def test_a_rater_is_told_the_same_whatever_the_agents_said_and_is_marked_as_seeing_nothing(
    case: Case, study: Study, role: Role, kind: str
) -> None:
    rita = enrolled(study, role, kind)
    asked = [*asked_twice(rita.user, case, samples(case, rita))]
    assert differing(asked) == {}, f"told to {kind} of what the agents said"
    assert marking(asked) == set()


def differing(asked: Iterable[Asked]) -> dict[str, tuple[str, str]]:
    """By method and address: where the two answers differ."""
    return {
        f"{method} {name}": parting(before[method], after[method])
        for name, before, after in asked
        for method in before
        if before[method] != after[method]
    }


def marking(asked: Iterable[Asked]) -> set[str]:
    """The names of the routes that marked whoever asked as having seen something."""
    return {
        name.split()[0]
        for name, before, after in asked
        if any(marked for *_, marked in (*before.values(), *after.values()))
    }


def parting(before: Answer, after: Answer) -> tuple[str, str]:
    """The two answers from shortly before the first byte in which they differ."""
    one, other = repr(before), repr(after)
    same = takewhile(lambda two: two[0] == two[1], zip(one, other, strict=False))
    place = sum(1 for _ in same)
    return one[max(0, place - 80) : place + 200], other[max(0, place - 80) : place + 200]


@pytest.mark.alike
def test_the_changes_can_be_seen_by_who_is_not_kept_blind(case: Case, study: Study) -> None:
    given = samples(case, enrolled(study, Role.EXPERT))
    asked = [*asked_twice(factories.ada(), case, given, wanted=lambda route: route.name in SHOWS_AGENTS)]
    assert {name.split()[1] for name in differing(asked)} == SHOWS_AGENTS
    assert marking(asked) >= {"case", "review-case", "api:get_case"}


@pytest.mark.alike
def test_every_page_with_what_agents_said_remembers_who_saw_it(case: Case) -> None:
    """So that nobody rates blind what they have read before the study."""
    settled = Case.objects.filter(build=case.build, label=1).get()
    for route, path in addresses(samples(case)):
        ada = factories.ada()
        Seen.objects.all().delete()
        client = Client(raise_request_exception=False)
        client.force_login(ada)
        response = client.get(path)
        if NOTE in getattr(response, "content", b"").decode():
            pairs = set(Seen.objects.filter(user=ada).values_list("pair", flat=True))
            assert pairs & {settled.pair_id, *case.build.cases.values_list("pair", flat=True)}, route.name


def test_the_refusal_names_the_study_and_what_is_left(case: Case, study: Study) -> None:
    rita = enrolled(study, Role.EXPERT)
    client = Client()
    client.force_login(rita.user)
    for name in ("case", "review-case"):
        response = client.get(reverse(name, args=[case.pk]))
        assert response.status_code == 403
        assert study.name in response.content.decode()
        assert f"0 pairs of at most {study.pairs.count()};" in response.content.decode()
    answer = client.get(f"/api/cases/{case.pk}")
    assert (answer.status_code, answer.json()["type"]) == (403, "urn:cosqa:kept-blind")
    nowhere = client.get("/api/cases/999999")
    assert nowhere.content == answer.content, "what is not there is refused in the same words"


def test_the_tables_are_closed_to_an_admin_who_rates(case: Case, study: Study) -> None:
    rita = enrolled(study, Role.ADMIN)
    client = Client()
    client.force_login(rita.user)
    assert client.get(reverse("admin:index")).status_code == 403
    assert client.get(reverse("admin:annotation_case_changelist")).status_code == 403


def finish(rita: Enrolment) -> None:
    rita.finished_at = rita.accepted_at
    rita.save()


def close(rita: Enrolment) -> None:
    Study.objects.update(state=Study.State.CLOSED)


@pytest.mark.parametrize("end", [finish, close])
def test_builds_open_again_when_the_part_is_finished_or_the_study_closed(
    case: Case, study: Study, end: Callable[[Enrolment], None]
) -> None:
    rita = enrolled(study, Role.EXPERT)
    assert not roles.builds_visible_to(rita.user).exists()
    end(rita)
    assert list(roles.builds_visible_to(User.objects.get(pk=rita.user_id))) == [case.build]


def test_a_build_that_is_launched_later_is_closed_too_and_another_is_not(case: Case, study: Study) -> None:
    rita = enrolled(study, Role.EXPERT)
    later = factories.opened("later")
    texts = (
        factories.queries(("something else",), "apart"),
        factories.snippets(("def g(x): return x",), "apart"),
    )
    apart = factories.launched("apart", mining=factories.mining(*texts))
    visible = set(roles.builds_visible_to(User.objects.get(pk=rita.user_id)))
    assert later not in visible
    assert case.build not in visible
    assert visible == set(Build.objects.filter(pk=apart.pk))


def test_the_second_snippet_of_two_is_closed_as_well(case: Case) -> None:
    study = studies.study(pairs=(), kind=Study.Kind.PAIRWISE, scale=Study.Scale.PREFERENCE)
    elsewhere = Pair.objects.create(query=Text.objects.keep("q"), snippet=Text.objects.keep("s"))
    study.pairs.create(number=1, pair=elsewhere, other=case.pair)
    rita = studies.rater("rita", study)
    assert not roles.builds_visible_to(rita.user).exists()


def test_the_reader_of_a_study_that_is_a_draft_is_not_kept_from_anything(case: Case, study: Study) -> None:
    Study.objects.update(state=Study.State.DRAFT)
    rita = enrolled(study, Role.EXPERT)
    assert roles.builds_visible_to(rita.user).exists()
    roles.refuse_while_blind(rita.user)


def test_every_socket_is_entered_and_closed_to_a_blind_admin(case: Case, study: Study) -> None:
    known = {str(one.pattern) for one in consumers.websocket_urlpatterns if str(one.pattern)}
    assert known == SOCKETS
    rita = enrolled(study, Role.ADMIN)
    assert consumers.load_changed_fragment(factories.ada().pk, case.build_id, None) is not None
    with pytest.raises(Build.DoesNotExist):
        consumers.load_changed_fragment(rita.user_id, case.build_id, None)


def test_whoever_is_not_enrolled_is_not_blind() -> None:
    roles.refuse_while_blind(factories.erin())
    with pytest.raises(KeptBlind):
        roles.refuse_while_blind(enrolled(studies.study(), Role.EXPERT).user)


def test_reviews_of_a_closed_build_can_not_be_given(case: Case, study: Study) -> None:
    rita = enrolled(study, Role.EXPERT)
    client = Client()
    client.force_login(rita.user)
    sent = {"label": "1", "seen_revision": "0", "evidence": "a" * 64}
    assert client.post(reverse("review-label", args=[case.pk]), sent).status_code == 403
    assert not Review.objects.exists()
