"""Routes of the app's pages and fragments."""

from django.urls import path

from annotation.views import browse, builds, calls, collections, comparison, connecting, dashboard, review

urlpatterns = [
    path("", dashboard.home, name="home"),
    path("dashboard/", dashboard.index, name="dashboard"),
    path("connection/", connecting.index, name="connection"),
    path("connection/tests/<int:pk>/", connecting.detail, name="connection-test"),
    path("collections/", collections.index, name="collections"),
    path("collections/upload/", collections.upload, name="upload"),
    path("collections/jobs/", collections.jobs, name="import-jobs"),
    path("collections/<int:pk>/", collections.detail, name="collection"),
    path("builds/new/", builds.new, name="build-new"),
    path("builds/<int:pk>/", builds.detail, name="build"),
    path("builds/<int:pk>/progress/", builds.progress, name="build-progress"),
    path("builds/<int:pk>/control/", builds.control, name="build-control"),
    path("builds/<int:pk>/abandoned/", builds.abandoned, name="build-abandoned"),
    path("browse/", browse.index, name="browse"),
    path("browse/compare/", comparison.compare, name="compare"),
    path("browse/<int:build_pk>/", browse.queries, name="browse-build"),
    path("browse/<int:build_pk>/distribution/", browse.distribution, name="distribution"),
    path("browse/<int:build_pk>/queries/<int:query_pk>/", browse.query, name="query"),
    path("browse/<int:build_pk>/queries/<int:query_pk>/matches/", browse.matches, name="matches"),
    path("browse/cases/<int:pk>/", browse.case, name="case"),
    path("review/", review.index, name="review"),
    path("review/builds/<int:build_pk>/", review.next_case, name="review-next"),
    path("review/cases/<int:pk>/", review.case, name="review-case"),
    path("review/cases/<int:pk>/label/", review.label, name="review-label"),
    path("review/cases/<int:pk>/undo/", review.undo, name="review-undo"),
    path("review/cases/<int:pk>/draft/", review.draft, name="review-draft"),
    path("review/cases/<int:pk>/run/", review.run, name="review-run"),
    path("review/cases/<int:pk>/test/", review.edited_test, name="review-test"),
    path("review/cases/<int:pk>/call/", calls.call, name="review-call"),
    path("review/calls/<int:pk>/", calls.answered, name="review-answer"),
    path("review/executions/<int:pk>/", review.execution, name="review-execution"),
    path("review/keys/", review.keys, name="review-keys"),
]
