"""The list of a build's pairs: read by filters, tagged, assigned, shared out, and kept by name."""

from __future__ import annotations

from dataclasses import fields

from django.contrib.auth.models import User
from django.http import HttpRequest, QueryDict
from ninja import Path, Query, Router, Status

from annotation.accounts.roles import Role
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.form_refusals import InvalidValues
from annotation.models import SavedList
from annotation.review.hidden_labels import find_hidden_pairs, hide_labels_in_force
from annotation.review.tags import Tag
from annotation.review.worklists import list_changes
from annotation.review.worklists.case_list import ListFilters
from annotation.review.worklists.list_changes import ListChangeRefused
from annotation.schemas.review.worklists import (
    AssignIn,
    ListChanged,
    ListDeleted,
    ListedPage,
    ListedPairOut,
    ListUndone,
    SavedListIn,
    SavedListOut,
    SharedOut,
    ShareIn,
    TagIn,
)
from annotation.studies.exposure import mark_seen
from annotation.web.worklist.filters import filters_of
from annotation.web.worklist.page import ListRow, find_rows, list_experts, list_rows, saved_lists
from annotation.web.worklist.views import keep_list, mark_filtered_seen, share_listed_pairs
from retrieval.schemas import Id, Page, Paging, TextHead

router = Router(tags=["reviews"], auth=signed_in(Role.EXPERT))
TOO_LONG = "The list takes too long: ask for it with fewer filters, or without words."


@router.get("/builds/{int:pk}/pairs", response=Page[ListedPairOut])
def list_pairs(request: HttpRequest, pk: Path[Id], wanted: Query[ListedPage]) -> Page[ListedPairOut]:
    """A build's pairs that pass the filters of the page, in its order, with tags and assignments. For
    experts.
    """
    build, user = visible.build(request, pk), visible.caller(request)
    filters = filters_from(wanted.filters)
    mark_filtered_seen(user, build, filters)
    found = find_rows(user, build, filters, QueryDict(f"after={wanted.after or ''}"), wanted.limit)
    if found.stopped:
        raise ListChangeRefused(TOO_LONG)
    rows = list_rows(user, build, [case.pk for case in found.window.rows])
    pairs = [row.case.pair_id for row in rows]
    mark_seen(user, pairs)
    hide_labels_in_force([row.case for row in rows], find_hidden_pairs(user, build, pairs))
    items = [listed_out(row) for row in rows]
    return Page(items=items, next=rows[-1].case.pk if rows and found.window.next else None)


def listed_out(row: ListRow) -> ListedPairOut:
    case = row.case
    return ListedPairOut(
        case=case.pk,
        pair=case.pair_id,
        query=TextHead.model_validate(case.pair.query),
        function=TextHead.model_validate(case.pair.snippet),
        label=case.label,
        label_in_force=case.label_in_force,
        tags=list(row.tags),
        assigned=list(row.assigned),
    )


@router.post("/builds/{int:pk}/pairs/tags", response=ListChanged)
def tag_pairs(request: HttpRequest, pk: Path[Id], wanted: TagIn) -> ListChanged:
    """Put a tag on pairs, or take it off; no label changes. For experts."""
    build, user = visible.build(request, pk), visible.caller(request)
    if wanted.tag not in set(Tag):
        raise InvalidValues([("tag", f"Choose one of {', '.join(Tag)}.")])
    cases = list_changes.checked_cases(build, wanted.cases)
    change = list_changes.untag_cases if wanted.remove else list_changes.tag_cases
    return ListChanged(changed=change(user, build, cases, Tag(wanted.tag)))


@router.post("/builds/{int:pk}/pairs/assignments", response=ListChanged)
def assign_pairs(request: HttpRequest, pk: Path[Id], wanted: AssignIn) -> ListChanged:
    """Have an expert review pairs, or no more. For experts."""
    build, user = visible.build(request, pk), visible.caller(request)
    (expert,) = find_experts([wanted.expert], "expert")
    cases = list_changes.checked_cases(build, wanted.cases)
    change = list_changes.unassign_cases if wanted.remove else list_changes.assign_cases
    return ListChanged(changed=change(user, build, cases, expert))


@router.post("/builds/{int:pk}/pairs/undo", response=ListUndone)
def undo_pairs_change(request: HttpRequest, pk: Path[Id]) -> ListUndone:
    """Take back your latest change of tags or assignments in the build. For experts."""
    undone = list_changes.undo_last_change(visible.caller(request), visible.build(request, pk))
    return ListUndone(undone=undone.get_kind_display())


@router.post("/builds/{int:pk}/pairs/share", response=SharedOut, auth=signed_in(Role.ADMIN))
def share_pairs(request: HttpRequest, pk: Path[Id], wanted: ShareIn) -> SharedOut:
    """Share the pairs of a list out among experts. For admins."""
    build, user = visible.build(request, pk), visible.caller(request)
    experts = find_experts(wanted.experts, "experts")
    filters = filters_from(wanted.filters)
    mark_filtered_seen(user, build, filters)  # how many pairs they are
    shared = share_listed_pairs(user, build, filters, experts, wanted.overlap, wanted.seed)
    return SharedOut(pairs=shared.pairs, assignments=shared.assignments)


@router.get("/builds/{int:pk}/lists", response=Page[SavedListOut])
def list_saved_lists(request: HttpRequest, pk: Path[Id], wanted: Query[Paging]) -> Page[SavedList]:
    """Your saved lists of the build, and those that others share, the oldest first. For experts."""
    rows = saved_lists(visible.caller(request), visible.build(request, pk))
    return wanted.page(rows.filter(pk__gt=wanted.after or 0).order_by("pk"))


@router.post("/builds/{int:pk}/lists", response={201: SavedListOut})
def save_list(request: HttpRequest, pk: Path[Id], wanted: SavedListIn) -> Status[SavedList]:
    """Keep filters of the list by a name. For experts."""
    build, user = visible.build(request, pk), visible.caller(request)
    query = filters_from(wanted.filters).query
    return Status(201, keep_list(user, build, wanted.name, query, shared=wanted.shared))


@router.post("/lists/{int:pk}/delete", response=ListDeleted)
def delete_list(request: HttpRequest, pk: Path[Id]) -> ListDeleted:
    """Delete a saved list of your own. For experts."""
    own = SavedList.objects.filter(user=visible.caller(request), build__in=visible.builds(request))
    return ListDeleted(deleted=bool(own.filter(pk=pk).delete()[0]))


def find_experts(names: list[str], field: str) -> list[User]:
    """The accounts of these names that can review. Raises InvalidValues."""
    found = {user.get_username(): user for user in list_experts().filter(username__in=names)}
    missing = [name for name in names if name not in found]
    if missing:
        raise InvalidValues([(field, f"No expert or admin is called {missing[0]!r}.")])
    return [found[name] for name in dict.fromkeys(names)]


def filters_from(text: str) -> ListFilters:
    """The filters in a text like an address; where a page leaves out what it does not know, this refuses.

    Raises InvalidValues.
    """
    sent = QueryDict(text)
    found = filters_of(sent)
    known = {field.name for field in fields(found)}
    for name, value in sent.items():
        if name not in known or (value and str(getattr(found, name)) != str(value)):
            raise InvalidValues([("filters", f"There is no filter {name}={value}.")])
    return found
