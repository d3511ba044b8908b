"""The reviewers' part of the API beside labels: comments, the list of pairs, what one person runs."""

from ninja import Router

from annotation.api.review import comments, own_runs, worklists

router = Router()
router.add_router("", comments.router)
router.add_router("", worklists.router)
router.add_router("", own_runs.router)
