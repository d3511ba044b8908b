"""The project's part of the API: money, connections, people."""

from ninja import Router

from annotation.api.project import connection_tests, jobs, money, people, webhooks

router = Router()
router.add_router("", money.router)
router.add_router("/connection/tests", connection_tests.router)
router.add_router("/people", people.router)
router.add_router("/jobs", jobs.router)
router.add_router("/webhooks", webhooks.router)
