"""One key labels a candidate as an equal one of the same query was labelled before."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from annotation import review
from annotation.accounts.roles import Role, require_role
from annotation.review import order
from annotation.review.carried_labels import carry_label_over
from annotation.web.review import page, words
from annotation.web.review.views import (
    is_fragment,
    list_of,
    number,
    person,
    show_case,
    to_case,
    to_end,
    visible_case,
)


@require_role(Role.EXPERT)
@require_http_methods(["GET", "HEAD", "POST"])
def as_before(request: HttpRequest, pk: int) -> HttpResponse:
    """Carry the earlier label over and go on to the next case. A GET stores nothing."""
    found, user, sent = visible_case(request, pk), person(request), request.POST
    show, evidence = list_of(request, sent), request.POST.get("evidence", "")
    if request.method != "POST":
        return to_case(found, show)
    try:
        page.refuse_changed(found, evidence)
        made = carry_label_over(user, found, number(sent, "source"), evidence, number(sent, "seen_revision"))
    except review.Conflict as conflict:
        return show_case(request, found, show, page.UnsavedReview(conflict=conflict), status=409)
    except page.EvidenceChanged as why:
        return show_case(request, found, show, page.UnsavedReview(problem=str(why), changed=True), status=409)
    except review.BadReview as why:
        return show_case(request, found, show, page.UnsavedReview(problem=str(why)), status=422)
    messages.success(request, f"As before. {words.labelled_message(user, made, is_fragment(request))}")
    following = order.next_case(user, found.build, show, found)
    return to_case(following, show) if following else to_end(found.build_id, show)
