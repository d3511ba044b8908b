"""The API's part on a rater's own part of a study."""

from ninja import Router

from annotation.api.rating import rating, rating_runs

router = Router()
router.add_router("/rate", rating.router)
router.add_router("/rate", rating_runs.router)
