"""The API's part on studies, their guidelines and decisions."""

from ninja import Router

from annotation.api.studies import adjudication, guidelines, studies, study_changes

router = Router()
router.add_router("", adjudication.router)
router.add_router("/studies", studies.router)
router.add_router("/studies", study_changes.router)
router.add_router("", guidelines.router)
