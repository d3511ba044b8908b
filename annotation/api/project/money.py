"""The cap that all live builds share, and what models cost."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Status

from annotation.accounts.roles import Role
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.form_refusals import InvalidValues
from annotation.builds.control import spending_caps
from annotation.models import Price, ProjectCapChange
from annotation.schemas.builds.builds import CapIn
from annotation.schemas.project.project import CapChangeOut, ModelPriceOut, PriceIn, PricePage, ProjectCapOut
from annotation.web.money.page import project_money
from retrieval.schemas import LARGEST_ID, Page, Paging

router = Router(tags=["money"], auth=signed_in(Role.ADMIN))


@router.get("/project/cap", response=ProjectCapOut)
def get_project_cap(request: HttpRequest) -> ProjectCapOut:
    """The cap that all live builds share, and which builds stopped at it. For admins."""
    return project_cap_out()


@router.post("/project/cap", response=ProjectCapOut)
def change_project_cap(request: HttpRequest, wanted: CapIn) -> ProjectCapOut:
    """Give all live builds another common cap, or none. For admins."""
    spending_caps.change_project_cap(wanted.budget, visible.caller(request), wanted.reason)
    return project_cap_out()


def project_cap_out() -> ProjectCapOut:
    page = project_money()
    return ProjectCapOut.of(
        page["cap"],
        stopped=[build.pk for build in page["stopped"]],
        notices=[f"{notice['words']} {notice['to_do']}".strip() for notice in page["notices"]],
    )


@router.get("/project/cap/changes", response=Page[CapChangeOut])
def list_cap_changes(request: HttpRequest, wanted: Query[Paging]) -> Page[ProjectCapChange]:
    """Who changed the project's cap, when and why, the newest first. For admins."""
    rows = ProjectCapChange.objects.filter(pk__lt=wanted.after or LARGEST_ID).select_related("user")
    return wanted.page(rows.order_by("-pk"))


@router.get("/prices", response=Page[ModelPriceOut])
def list_prices(request: HttpRequest, wanted: Query[PricePage]) -> Page[Price]:
    """What models cost and since when, the latest entry first. For admins."""
    rows = Price.objects.filter(pk__lt=wanted.after or LARGEST_ID)
    if wanted.model is not None:
        rows = rows.filter(model=wanted.model)
    return wanted.page(rows.order_by("-pk"))


@router.post("/prices", response={201: ModelPriceOut})
def enter_price(request: HttpRequest, told: PriceIn) -> Status[Price]:
    """Enter what a model costs from a moment on; earlier calls stay as they were counted. For admins."""
    since = told.effective_from or timezone.now()
    price = Price(**told.dict(exclude={"effective_from"}), effective_from=since)
    try:
        price.full_clean()
    except ValidationError as why:
        raise InvalidValues(("", what) for what in why.messages) from why
    price.save()
    return Status(201, price)
