"""Read collections: what can be searched, and where it came from."""

from __future__ import annotations

from typing import Annotated, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Path, Query, Router
from pydantic import AfterValidator

from retrieval.filters import Rule
from retrieval.models import Collection, Member
from retrieval.schemas import CollectionOut, Id, Kind, MemberOut, Page, Paging, WholeMember
from retrieval.texts.hostile import mark_hostile_characters

router = Router(tags=["collections"])
RULES = {str(rule.name).lower(): rule for rule in Rule}
RuleName = Literal[
    "testable",
    "testable_with_self",
    "testable_with_bare_return",
    "testable_with_yield",
    "testable_in_any_sense",
    "testable_without_output",
    "testable_by_call",
]


class CollectionPage(Paging):
    kind: Kind | None = Field(None)
    name: Annotated[str, AfterValidator(mark_hostile_characters)] | None = Field(
        None, description="exactly this name"
    )


class MemberPage(Paging):
    rule: RuleName | None = Field(None, description="only members that pass this rule")


@router.get("", response=Page[CollectionOut])
def list_collections(request: HttpRequest, wanted: Query[CollectionPage]) -> Page[Collection]:
    """All versions of all collections, the oldest first."""
    rows = Collection.objects.filter(pk__gt=wanted.after or 0).order_by("pk")
    if wanted.kind:
        rows = rows.filter(kind=Collection.Kind.named(wanted.kind))
    if wanted.name is not None:
        rows = rows.filter(name=wanted.name)
    return wanted.page(rows)


@router.get("/{int:pk}", response=CollectionOut)
def get_collection(request: HttpRequest, pk: Path[Id]) -> Collection:
    """One version of a collection."""
    return get_object_or_404(Collection, pk=pk)


@router.get("/{int:pk}/members", response=Page[MemberOut])
def list_members(request: HttpRequest, pk: Path[Id], wanted: Query[MemberPage]) -> Page[MemberOut]:
    """The members by position, each with the beginning of its text."""
    collection = get_object_or_404(Collection, pk=pk)
    rows = Member.objects.filter(collection=collection).select_related("text").order_by("position")
    if wanted.after is not None:
        rows = rows.filter(position__gt=wanted.after)
    if wanted.rule:
        rows = rows.passing(RULES[wanted.rule])
    page = wanted.page(rows, lambda row: row.position)
    return Page(items=[MemberOut.of(row, rules=rule_names(row)) for row in page.items], next=page.next)


@router.get("/{int:pk}/members/{int:position}", response=WholeMember)
def get_member(request: HttpRequest, pk: Path[Id], position: int) -> WholeMember:
    """One member with the whole of its text."""
    rows = Member.objects.select_related("text__body")
    member = get_object_or_404(rows, collection=pk, position=position)
    return WholeMember.of(member, rules=rule_names(member), whole=member.text.text)


def rule_names(member: Member) -> list[str]:
    return [name for name, rule in RULES.items() if member.rules & rule]
