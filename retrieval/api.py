"""Read collections: what can be searched, and where it came from."""

from __future__ import annotations

from typing import Annotated, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Path, Query, Router
from pydantic import AfterValidator

from retrieval.filters import Rule
from retrieval.hostile import clean
from retrieval.models import Collection, Member, Text
from retrieval.schemas import CollectionOut, Id, Kind, MemberOut, Page, Paging, TextHead, WholeMember, page_of

router = Router(tags=["collections"])
RULES = {str(rule.name).lower(): rule for rule in Rule}
RuleName = Literal[
    "testable",
    "testable_with_self",
    "testable_with_bare_return",
    "testable_with_yield",
    "testable_in_any_sense",
    "testable_without_output",
]


class CollectionPage(Paging):
    kind: Kind | None = Field(None)
    name: Annotated[str, AfterValidator(clean)] | None = Field(None, description="exactly this name")


class MemberPage(Paging):
    rule: RuleName | None = Field(None, description="only members that pass this rule")


@router.get("", response=Page[CollectionOut])
def list_collections(request: HttpRequest, wanted: Query[CollectionPage]) -> Page[CollectionOut]:
    """All versions of all collections, the oldest first."""
    rows = Collection.objects.filter(pk__gt=wanted.after or 0).order_by("pk")
    if wanted.kind:
        rows = rows.filter(kind=wanted.kind)
    if wanted.name is not None:
        rows = rows.filter(name=wanted.name)
    return page_of(rows[: wanted.limit + 1], wanted.limit, lambda row: row.pk, collection_out)


@router.get("/{int:pk}", response=CollectionOut)
def get_collection(request: HttpRequest, pk: Path[Id]) -> CollectionOut:
    """One version of a collection."""
    return collection_out(get_object_or_404(Collection, pk=pk))


@router.get("/{int:pk}/members", response=Page[MemberOut])
def list_members(request: HttpRequest, pk: Path[Id], wanted: Query[MemberPage]) -> Page[MemberOut]:
    """The members by position, each with the beginning of its text."""
    collection = get_object_or_404(Collection, pk=pk)
    rows = Member.objects.filter(collection=collection).select_related("text").order_by("position")
    if wanted.after is not None:
        rows = rows.filter(position__gt=wanted.after)
    if wanted.rule:
        rows = rows.passing(RULES[wanted.rule])
    return page_of(rows[: wanted.limit + 1], wanted.limit, lambda row: row.position, member_out)


@router.get("/{int:pk}/members/{int:position}", response=WholeMember)
def get_member(request: HttpRequest, pk: Path[Id], position: int) -> WholeMember:
    """One member with the whole of its text."""
    rows = Member.objects.select_related("text__body")
    member = get_object_or_404(rows, collection=pk, position=position)
    return WholeMember(**member_out(member).dict(), whole=member.text.text)


def collection_out(collection: Collection) -> CollectionOut:
    return CollectionOut.from_orm(collection)


def member_out(member: Member) -> MemberOut:
    return MemberOut(
        position=member.position,
        source_id=member.source_id,
        origin=member.origin,
        licence=member.licence,
        rules=[name for name, rule in RULES.items() if member.rules & rule],
        text=text_head(member.text),
    )


def text_head(text: Text) -> TextHead:
    return TextHead(id=text.pk, digest=text.digest, head=text.head, size=text.size)
