"""Who may do what: three roles as Django groups, and the one predicate of which builds a person may see."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from enum import StrEnum
from functools import lru_cache, partial, wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group, User
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.db.models import Count, F, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.accounts.logins import check_login
from annotation.models import Assignment, Build, Case, Enrolment, Study, StudyPair
from retrieval.models import Benchmark, Member
from retrieval.models.prepared_query import PreparedQuery

Visitor = AbstractBaseUser | AnonymousUser
P = ParamSpec("P")


class Role(StrEnum):
    """From the fewest rights to the most; each role may do what those before it may."""

    READER = "reader"
    EXPERT = "expert"
    ADMIN = "admin"


RANK = {role.value: rank for rank, role in enumerate(Role)}
LIVE = (Study.State.RUNNING, Study.State.PAUSED)
ROLE = "workbench_role"
"""The attribute of a user that keeps the role, once it was looked up."""
PARTS = "workbench_parts"
"""Likewise of the parts in studies that are not over."""
LIVE_PARTS: PreparedQuery[Enrolment] = PreparedQuery(
    lambda user: (
        Enrolment.objects.filter(user=user, study__state__in=LIVE)
        .only("study_id", "finished_at", "shown_at")
        .order_by("study_id")
    ),
    int,
)


def role_of(user: Visitor) -> Role | None:
    """The highest role of `user`; superusers are admins; None for people without one.

    Looked up once for each user object, that is, once a request: pages ask for it many times.
    """
    if not isinstance(user, User) or not user.is_active:
        return None
    if not hasattr(user, ROLE):
        setattr(user, ROLE, looked_up(user))
    found: Role | None = getattr(user, ROLE)
    return found


def looked_up(user: User) -> Role | None:
    return find_highest_role(user, user.groups.values_list("name", flat=True))


def find_highest_role(user: User, groups: Iterable[str | None]) -> Role | None:
    """The role of a person who is in `groups`."""
    if user.is_superuser:
        return Role.ADMIN
    held = [name for name in groups if name in RANK]
    return Role(max(held, key=RANK.__getitem__)) if held else None


class Backend(ModelBackend):
    """Django's, which reads a signed-in person's groups with the person: every request asks for both."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **more: Any,
    ) -> Any:
        """As Django does, for as many at once and as often as `logins` allows. Raises TooManyLogins."""
        check = partial(super().authenticate, request, username, password, **more)
        if request is None or username is None or password is None:
            return check()
        return check_login(request, username, check)

    def get_user(self, user_id: Any) -> User | None:
        """The person, whose role is known then; None for one who is gone or was locked out."""
        rows = list(User.objects.raw(compose_person_query(connection.vendor), [user_id]))
        if not rows or not self.user_can_authenticate(rows[0]):
            return None
        setattr(rows[0], ROLE, find_highest_role(rows[0], [vars(row)["group"] for row in rows]))
        return rows[0]


@lru_cache(maxsize=2)
def compose_person_query(vendor: str) -> str:
    """A person by key, once for each `group`: composed once, as each request asks for it."""
    return User.objects.filter(pk=0).annotate(group=F("groups__name")).query.sql_with_params()[0]


def has_role(user: Visitor, wanted: Role) -> bool:
    """Whether `user` may do what `wanted` may."""
    held = role_of(user)
    return held is not None and RANK[held] >= RANK[wanted]


GET, POST, FORM = ("GET", "HEAD"), ("POST",), ("GET", "HEAD", "POST")
"""The methods of a page that is read, of an order, and of a page with a form that is sent to itself."""


def require_role(
    wanted: Role, methods: tuple[str, ...] = ()
) -> Callable[
    [Callable[Concatenate[HttpRequest, P], HttpResponseBase]],
    Callable[Concatenate[HttpRequest, P], HttpResponseBase],
]:
    """Refuse a view to people without the role; on the server, whatever the template shows.

    Who is kept blind is told so instead of "not found", whether or not there is anything. With `methods`
    another one is refused before.
    """

    def decorate(
        view: Callable[Concatenate[HttpRequest, P], HttpResponseBase],
    ) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not has_role(request.user, wanted):
                raise PermissionDenied(f"This page is for the role {wanted}; ask an admin for it.")
            try:
                return view(request, *args, **kwargs)
            except Http404:
                refuse_while_blind(request.user)
                raise

        return require_http_methods(list(methods))(guarded) if methods else guarded

    return decorate


def give_role(user: User, role: Role) -> None:
    """Make `role` the only role of `user`."""
    user.groups.remove(*Group.objects.filter(name__in=RANK))
    user.groups.add(Group.objects.get_or_create(name=role.value)[0])
    user.__dict__.pop(ROLE, None)


class KeptBlind(PermissionDenied):
    """The person still rates in a study, and what agents said of its pairs is closed until that is done."""


def blind_studies(user: Visitor) -> QuerySet[Study]:
    """The live studies in which `user` has not finished, whatever the condition: the oldest first."""
    if not isinstance(user, User):
        return Study.objects.none()
    mine = Q(enrolments__user=user, enrolments__finished_at=None)
    return Study.objects.filter(mine, state__in=LIVE).order_by("id")


def blind_beside(user: Visitor, study: Study) -> Study | None:
    """Another study with a pair of this one, in which `user` is kept blind: what people said is closed."""
    rows = StudyPair.objects.filter(study=study)
    first, second = rows.values("pair"), rows.filter(other__isnull=False).values("other")
    of_one = Q(pairs__pair__in=first) | Q(pairs__pair__in=second)
    of_two = Q(pairs__other__in=first) | Q(pairs__other__in=second)
    return blind_studies(user).exclude(pk=study.pk).filter(of_one | of_two).distinct().first()


def blind_in(user: Visitor) -> tuple[int, ...]:
    """The ids of the studies in which `user` is kept blind."""
    return tuple(part.study_id for part in parts_of(user) if part.finished_at is None)


def parts_of(user: Visitor) -> tuple[Enrolment, ...]:
    """The person's parts in live studies, looked up once for each user object, that is, once a request."""
    known: dict[str, tuple[Enrolment, ...]] = user.__dict__
    if PARTS not in known:
        known[PARTS] = tuple(LIVE_PARTS.load(user.pk) if user.pk else ())
    return known[PARTS]


def end_blindness(user: Visitor) -> None:
    """Remember that what is closed to raters is shown to one whose part is over: its labels are final then.

    To be called before anything is shown that is closed to who is kept blind. Whoever took a rating back in
    another window at this moment rates on, and is kept blind again.
    """
    fresh = [part.pk for part in parts_of(user) if is_over_unseen(part)]
    if fresh:
        rows = Enrolment.objects.filter(pk__in=fresh, finished_at__isnull=False)
        rows.update(shown_at=timezone.now())
        del user.__dict__[PARTS]


def is_over_unseen(part: Enrolment) -> bool:
    """Whether nothing that is closed to raters was shown since the part is over."""
    if part.finished_at is None:
        return False
    return part.shown_at is None or part.shown_at < part.finished_at


def refuse_while_blind(user: Visitor) -> None:
    """Raises KeptBlind with the study and what is left, for people who are kept blind."""
    end_blindness(user)
    if not isinstance(user, User) or not blind_in(user):
        return
    study = blind_studies(user).select_related(None)[0]
    enrolled = study.enrolments.annotate(
        done=Count("assignments", filter=Q(assignments__state=Assignment.State.DONE))
    ).get(user_id=user.pk)
    most = min(enrolled.capacity, study.pairs.count())
    raise KeptBlind(
        f"This is not here, or closed to you while you rate in the study \u201c{study}\u201d: "
        "builds that judged its pairs open again when your part is finished or the study is closed. "
        f"You have rated {enrolled.done:,} pairs of at most {most:,}; "
        "continue under \u201cYour work\u201d."
    )


def closed_for(studies: Collection[int]) -> QuerySet[Build]:
    """The builds that judged any pair of these studies.

    Looked up, not stored: a build that is launched or extended later is closed as well.
    """
    sampled = StudyPair.objects.filter(study__in=studies)
    shown = Q(pair__in=sampled.values("pair")) | Q(
        pair__in=sampled.filter(other__isnull=False).values("other")
    )
    return Build.objects.filter(pk__in=Case.objects.filter(shown).values("build"))


def builds_visible_to(user: Visitor, *, opens: bool = True) -> QuerySet[Build]:
    """The builds that `user` may know of: every QuerySet of builds, cases and labels starts here.

    Jobs that write functions are not among them: see `jobs_visible_to`. With `opens` False, builds of a study
    in which the person's part is over are left out until they have opened such a build elsewhere, as they
    can change their labels until then.
    """
    if opens:
        end_blindness(user)
    return find_open_builds(user).filter(filling__isnull=True)


def jobs_visible_to(user: Visitor, *, opens: bool = True) -> QuerySet[Build]:
    """Those builds and the jobs that write for them: for whoever watches, stops or pays for either."""
    known = builds_visible_to(user, opens=opens)
    return find_open_builds(user).filter(Q(pk__in=known) | Q(filling__of__in=known))


def unopened_in(user: Visitor) -> tuple[int, ...]:
    """The ids of the studies that are over for `user`, who has been shown nothing since."""
    return tuple(part.study_id for part in parts_of(user) if is_over_unseen(part))


def can_see_every_build(user: Visitor) -> bool:
    """Whether `user` may know of every build that writes no functions, as no study closes any to them.

    To be asked where `builds_visible_to` would be, for a query that is composed once.
    """
    end_blindness(user)
    return has_role(user, Role.READER) and not (blind_in(user) or unopened_in(user))


def find_open_builds(user: Visitor) -> QuerySet[Build]:
    """Builds and jobs for readers and above, without those that judged pairs of a study that closes them."""
    if not has_role(user, Role.READER):
        return Build.objects.none()
    studies = (*blind_in(user), *unopened_in(user))
    return Build.objects.exclude(pk__in=closed_for(studies).values("pk")) if studies else Build.objects.all()


def benchmarks_visible_to(user: Visitor) -> QuerySet[Benchmark]:
    """The benchmarks that `user` may know of, for readers and above.

    Labels and ranked lists of a query tell of its pairs, whoever gave the labels: while a rater is kept
    blind, every benchmark with a query of that study is closed.
    """
    if not has_role(user, Role.READER):
        return Benchmark.objects.none()
    end_blindness(user)
    if not blind_in(user):
        return Benchmark.objects.all()
    asked = StudyPair.objects.filter(study__in=blind_in(user)).values("pair__query")
    return Benchmark.objects.exclude(queries__in=Member.objects.filter(text__in=asked).values("collection"))
