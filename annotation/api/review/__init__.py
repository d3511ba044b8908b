"""The reviewers' part of the API beside labels: comments, the list of pairs, what one person runs."""

from ninja import Router

from annotation.api.review import (
    annotators,
    comments,
    label_audit,
    label_quality,
    own_runs,
    reviews,
    worklists,
)

router = Router()
router.add_router("", comments.router)
router.add_router("", worklists.router)
router.add_router("", own_runs.router)
router.add_router("/annotators", annotators.router)
router.add_router("", label_audit.router)
router.add_router("", reviews.router)
router.add_router("", label_quality.router)
