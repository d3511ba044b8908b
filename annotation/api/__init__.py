"""The app's part of the API: builds, queries, candidates, cases, executions, reviews."""

from django.http import HttpRequest
from ninja import Router

from annotation.accounts.roles import role_of
from annotation.api import benchmarks, builds, collections, derived, project, rating, review, studies
from annotation.api.shared import visible
from annotation.schemas.builds.builds import Me

router = Router()
router.add_router("", builds.router)
router.add_router("", derived.router)
router.add_router("", collections.router)
router.add_router("", benchmarks.router)
router.add_router("", project.router)
router.add_router("", review.router)
router.add_router("", studies.router)
router.add_router("", rating.router)


@router.get("/me", response=Me, tags=["people"])
def me(request: HttpRequest) -> Me:
    """Whom the request counts as."""
    user = visible.caller(request)
    return Me(name=user.username, role=str(role_of(user)))
