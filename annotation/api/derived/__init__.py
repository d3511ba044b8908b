"""The API's part on builds made of builds: extensions, reruns, missing functions."""

from ninja import Router

from annotation.api.derived import derived_builds, missing_functions

router = Router()
router.add_router("/builds", derived_builds.router)
router.add_router("", missing_functions.router)
