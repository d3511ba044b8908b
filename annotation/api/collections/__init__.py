"""The API's part on collections: imports, and what they hold."""

from ninja import Router

from annotation.api.collections import corpus, imports

router = Router()
router.add_router("/collections", imports.router)
router.add_router("", corpus.router)
