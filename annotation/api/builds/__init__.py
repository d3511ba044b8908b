"""The API's part on builds: launch, control, cases, queries, replies."""

from ninja import Router

from annotation.api.builds import (
    builds,
    canary,
    cases,
    comparisons,
    drift,
    publication,
    queries,
    replies,
    rounds,
)

router = Router()
router.add_router("/builds", builds.router)
router.add_router("/builds", canary.router)
router.add_router("/builds", drift.router)
router.add_router("/builds", queries.router)
router.add_router("/builds", comparisons.router)
router.add_router("/builds", rounds.router)
router.add_router("/builds", replies.router)
router.add_router("/builds", publication.router)
router.add_router("", cases.router)
