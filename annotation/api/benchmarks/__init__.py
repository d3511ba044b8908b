"""The API's part on benchmarks: figures, trainings, unjudged results, pins."""

from ninja import Router

from annotation.api.benchmarks import benchmarks, pins, training, unjudged_results

router = Router()
router.add_router("/benchmarks", benchmarks.router)
router.add_router("/benchmarks", unjudged_results.router)
router.add_router("/benchmarks", training.router)
router.add_router("/pins", pins.router)
