"""The app's part of the API: builds, queries, candidates, cases, executions, reviews."""

from django.http import HttpRequest
from ninja import Router

from annotation.accounts.roles import role_of
from annotation.api import (
    adjudication,
    annotators,
    benchmarks,
    builds,
    canary,
    cases,
    comparisons,
    corpus,
    derived_builds,
    drift,
    guidelines,
    imports,
    jobs,
    label_audit,
    label_quality,
    missing_functions,
    pins,
    project,
    publication,
    queries,
    rating,
    rating_runs,
    replies,
    review,
    reviews,
    rounds,
    studies,
    study_changes,
    training,
    unjudged_results,
    visible,
    webhooks,
)
from annotation.schemas.builds import Me

router = Router()
router.add_router("/builds", builds.router)
router.add_router("/builds", canary.router)
router.add_router("/builds", derived_builds.router)
router.add_router("/builds", drift.router)
router.add_router("/builds", queries.router)
router.add_router("/builds", comparisons.router)
router.add_router("/builds", rounds.router)
router.add_router("/builds", replies.router)
router.add_router("/builds", publication.router)
router.add_router("/collections", imports.router)
router.add_router("/benchmarks", benchmarks.router)
router.add_router("/benchmarks", unjudged_results.router)
router.add_router("/benchmarks", training.router)
router.add_router("/jobs", jobs.router)
router.add_router("/pins", pins.router)
router.add_router("", corpus.router)
router.add_router("/annotators", annotators.router)
router.add_router("", label_audit.router)
router.add_router("", cases.router)
router.add_router("", adjudication.router)
router.add_router("", missing_functions.router)
router.add_router("", reviews.router)
router.add_router("", review.router)
router.add_router("", label_quality.router)
router.add_router("/rate", rating.router)
router.add_router("/rate", rating_runs.router)
router.add_router("/studies", studies.router)
router.add_router("/studies", study_changes.router)
router.add_router("", guidelines.router)
router.add_router("", project.router)
router.add_router("/webhooks", webhooks.router)


@router.get("/me", response=Me, tags=["people"])
def me(request: HttpRequest) -> Me:
    """Whom the request counts as."""
    user = visible.caller(request)
    return Me(name=user.username, role=str(role_of(user)))
