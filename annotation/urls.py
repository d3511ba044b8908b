"""Routes of the app's pages and fragments."""

from django.urls import path

from annotation.web.audit_log import views as audit
from annotation.web.benchmarks import publication_views
from annotation.web.benchmarks import views as benchmarks
from annotation.web.browse import views as browse
from annotation.web.builds import launch, review_rule
from annotation.web.builds import views as builds
from annotation.web.canary import views as canary
from annotation.web.cases import trial_views as trials
from annotation.web.collections import views as collections
from annotation.web.comparison import views as comparison
from annotation.web.connection import views as connecting
from annotation.web.corpus import views as corpus
from annotation.web.dashboard import views as dashboard
from annotation.web.derived import views as derived
from annotation.web.drift import views as drift
from annotation.web.glossary import views as glossary
from annotation.web.label_audit import views as label_audit
from annotation.web.label_quality import views as quality
from annotation.web.missing_functions import proposal_views
from annotation.web.missing_functions import views as missing
from annotation.web.money import views as caps
from annotation.web.people import views as people
from annotation.web.people.acceptance import join
from annotation.web.pins import views as pins
from annotation.web.rating import actions
from annotation.web.rating import views as rating_pages
from annotation.web.replies import views as replies
from annotation.web.reports import views as reports
from annotation.web.review import call_views, comment_views
from annotation.web.review import guidelines as review_guidelines
from annotation.web.review import views as review
from annotation.web.rounds import views as rounds
from annotation.web.studies import adjudication_views, change_views, figure_views, guideline_views
from annotation.web.studies import views as studies
from annotation.web.tokens import views as tokens
from annotation.web.training import views as training
from annotation.web.webhooks import views as webhooks
from annotation.web.work import views as work
from annotation.web.worklist import views as worklist

urlpatterns = [
    path("", work.home, name="home"),
    path("work/", work.index, name="work"),
    path("dashboard/", dashboard.index, name="dashboard"),
    path("glossary/", glossary.detail, name="glossary"),
    path("tokens/", tokens.index, name="tokens"),
    path("tokens/withdraw/", tokens.withdraw, name="token-withdraw"),
    path("webhooks/", webhooks.index, name="webhooks"),
    path("webhooks/<int:pk>/", webhooks.detail, name="webhook"),
    path("webhooks/<int:pk>/switch/", webhooks.change_switch, name="webhook-switch"),
    path("webhooks/<int:pk>/test/", webhooks.send_test, name="webhook-test"),
    path("webhooks/<int:pk>/delete/", webhooks.ask_and_delete, name="webhook-delete"),
    path(
        "webhooks/<int:pk>/deliveries/<int:delivery>/again/",
        webhooks.send_again,
        name="webhook-delivery-again",
    ),
    path("connection/", connecting.index, name="connection"),
    path("connection/tests/<int:pk>/", connecting.detail, name="connection-test"),
    path("collections/", collections.index, name="collections"),
    path("collections/upload/", collections.upload, name="upload"),
    path("collections/upload/<int:pk>/", collections.columns, name="upload-columns"),
    path("collections/jobs/", collections.jobs, name="import-jobs"),
    path("collections/upload/<int:pk>/cancel/", collections.stop, name="import-cancel"),
    path("collections/<int:pk>/", collections.detail, name="collection"),
    path("collections/<int:pk>/filters/", collections.filters, name="collection-filters"),
    path("collections/<int:pk>/filters/jobs/", collections.filter_jobs, name="collection-filter-jobs"),
    path("collections/<int:pk>/corpus/", corpus.collection, name="collection-corpus"),
    path("collections/<int:pk>/corpus/pin/", pins.take_collection_corpus, name="collection-corpus-pin"),
    path("builds/new/", launch.new, name="build-new"),
    path("builds/<int:pk>/", builds.detail, name="build"),
    path("builds/<int:pk>/progress/", builds.progress, name="build-progress"),
    path("builds/<int:pk>/replies/", replies.index, name="build-replies"),
    path("builds/<int:pk>/replies/requests/", replies.requests_file, name="build-requests"),
    path("builds/<int:pk>/replies/next/", replies.answer, name="build-reply-next"),
    path("builds/<int:pk>/replies/<int:call>/", replies.answer, name="build-reply"),
    path("builds/<int:pk>/order/", builds.order_yaml, name="build-order"),
    path("builds/<int:pk>/control/", builds.control, name="build-control"),
    path("builds/<int:pk>/cap/", caps.build_cap, name="build-cap"),
    path("builds/<int:pk>/review-rule/", review_rule.change, name="build-review-rule"),
    path("builds/<int:pk>/guidelines/", review_guidelines.change, name="build-guidelines"),
    path("builds/<int:pk>/cases/", builds.cases, name="build-cases"),
    path("builds/<int:pk>/extend/", derived.extend, name="build-extend"),
    path("builds/<int:pk>/again/", derived.again, name="build-again"),
    path("builds/<int:pk>/abandoned/", builds.abandoned, name="build-abandoned"),
    path("builds/<int:pk>/merge/", rounds.merge, name="build-merge"),
    path("builds/<int:pk>/pin/", pins.take_build, name="build-pin"),
    path("builds/<int:pk>/mining/pin/", pins.take_mining, name="build-mining-pin"),
    path("builds/pairs/", label_audit.upload, name="pairs-new"),
    path("builds/<int:pk>/audit/", label_audit.audit, name="build-audit"),
    path("builds/<int:pk>/correct/", publication_views.correct, name="build-correct"),
    path("builds/<int:pk>/publish/", publication_views.build, name="build-publish"),
    path("builds/<int:pk>/publish/jobs/", publication_views.publication_jobs, name="build-publish-jobs"),
    path("project/cap/", caps.project_cap, name="project-cap"),
    path("builds/<int:pk>/canary/", canary.detail, name="build-canary"),
    path("builds/<int:pk>/extensions/<int:number>/canary/", canary.of_extension, name="extension-canary"),
    path("builds/<int:pk>/drift/<int:number>/", drift.pairs, name="build-drift"),
    path("builds/<int:pk>/missing/", missing.build_missing, name="build-missing"),
    path("builds/<int:pk>/missing/again/", missing.write_again, name="build-write-again"),
    path("builds/<int:pk>/written/", missing.export, name="build-written"),
    path("reports/", reports.index, name="reports"),
    path("pins/", pins.index, name="pins"),
    path("pins/<int:pk>/", pins.detail, name="pin"),
    path("pins/<int:pk>/again/", pins.compute_again, name="pin-again"),
    path("pins/<int:pk>/again/jobs/", pins.again_jobs, name="pin-again-jobs"),
    path("pins/<int:pk>/download/", pins.download, name="pin-download"),
    path("benchmarks/", benchmarks.index, name="benchmarks"),
    path("benchmarks/<int:pk>/", benchmarks.detail, name="benchmark"),
    path("benchmarks/<int:pk>/pin/", pins.take_benchmark, name="benchmark-pin"),
    path("benchmarks/<int:pk>/compare/", benchmarks.compare, name="benchmark-compare"),
    path("benchmarks/<int:pk>/compare/pin/", pins.take_comparison, name="benchmark-compare-pin"),
    path("benchmarks/<int:pk>/score/", benchmarks.score, name="benchmark-score"),
    path("benchmarks/<int:pk>/score/jobs/", benchmarks.score_jobs, name="benchmark-score-jobs"),
    path("benchmarks/<int:pk>/score/cancel/", benchmarks.cancel_score, name="benchmark-score-cancel"),
    path("benchmarks/<int:pk>/score/figures/", benchmarks.order_figures, name="benchmark-figures"),
    path("benchmarks/<int:pk>/contamination/", benchmarks.contamination, name="benchmark-contamination"),
    path(
        "benchmarks/<int:pk>/contamination/jobs/",
        benchmarks.contamination_jobs,
        name="benchmark-contamination-jobs",
    ),
    path("benchmarks/<int:pk>/train/", training.train, name="benchmark-train"),
    path("benchmarks/<int:pk>/train/jobs/", training.train_jobs, name="benchmark-train-jobs"),
    path("benchmarks/<int:pk>/train/stop/", training.stop, name="benchmark-train-stop"),
    path("benchmarks/<int:pk>/train/continue/", training.go_on, name="benchmark-train-continue"),
    path("benchmarks/<int:pk>/trained/", training.trained, name="benchmark-trained"),
    path("benchmarks/<int:pk>/train/<int:job_pk>/", training.training, name="benchmark-training"),
    path("benchmarks/<int:pk>/similarity/", benchmarks.similarity, name="benchmark-similarity"),
    path(
        "benchmarks/<int:pk>/similarity/jobs/",
        benchmarks.similarity_jobs,
        name="benchmark-similarity-jobs",
    ),
    path("benchmarks/<int:pk>/distractors/", benchmarks.distractors, name="benchmark-distractors"),
    path(
        "benchmarks/<int:pk>/distractors/jobs/", benchmarks.distractor_jobs, name="benchmark-distractor-jobs"
    ),
    path("benchmarks/<int:pk>/upload/", benchmarks.upload_run, name="benchmark-upload"),
    path("benchmarks/<int:pk>/upload/jobs/", benchmarks.upload_jobs, name="benchmark-upload-jobs"),
    path("benchmarks/<int:pk>/queries/<int:query_pk>/", benchmarks.query, name="benchmark-query"),
    path("benchmarks/<int:pk>/holes/", derived.fill, name="benchmark-holes"),
    path("benchmarks/<int:pk>/holes/experts/", derived.queue, name="benchmark-queue"),
    path("benchmarks/<int:pk>/holes/publish/", derived.publish, name="benchmark-filled"),
    path("benchmarks/<int:pk>/holes/jobs/", derived.unjudged_jobs, name="benchmark-holes-jobs"),
    path("benchmarks/<int:pk>/corpus/", corpus.benchmark, name="benchmark-corpus"),
    path("benchmarks/<int:pk>/corpus/pin/", pins.take_benchmark_corpus, name="benchmark-corpus-pin"),
    path("benchmarks/<int:pk>/exports/", benchmarks.exports_of, name="benchmark-exports"),
    path("benchmarks/<int:pk>/exports/jobs/", benchmarks.export_jobs, name="benchmark-export-jobs"),
    path("benchmarks/<int:pk>/exports/<int:job_pk>/", benchmarks.download, name="benchmark-export"),
    path("browse/", browse.index, name="browse"),
    path("browse/compare/", comparison.compare, name="compare"),
    path("browse/compare/pin/", pins.take_two_builds, name="compare-pin"),
    path("browse/compare/annotators/", comparison.annotators, name="compare-annotators"),
    path("quality/", quality.index, name="quality"),
    path("browse/<int:build_pk>/", browse.queries, name="browse-build"),
    path("browse/<int:build_pk>/distribution/", browse.distribution, name="distribution"),
    path("browse/<int:build_pk>/corpus/", corpus.build, name="build-corpus"),
    path("browse/<int:build_pk>/corpus/pin/", pins.take_build_corpus, name="build-corpus-pin"),
    path("browse/<int:build_pk>/rounds/", rounds.index, name="rounds"),
    path("browse/<int:build_pk>/queries/<int:query_pk>/", browse.query, name="query"),
    path("browse/<int:build_pk>/queries/<int:query_pk>/matches/", browse.matches, name="matches"),
    path("browse/<int:build_pk>/queries/<int:query_pk>/tests/", trials.crossing, name="crossing"),
    path("browse/cases/<int:pk>/", browse.case, name="case"),
    path("browse/cases/<int:pk>/candidate/", browse.candidate, name="case-candidate"),
    path("review/", work.to_section, {"section": "review"}, name="review"),
    path("review/builds/<int:build_pk>/", review.next_case, name="review-next"),
    path("review/builds/<int:build_pk>/list/", worklist.listed, name="review-list"),
    path("review/builds/<int:build_pk>/list/change/", worklist.change, name="review-list-change"),
    path("review/builds/<int:build_pk>/list/saved/", worklist.saved, name="review-list-saved"),
    path("review/builds/<int:build_pk>/list/share/", worklist.share, name="review-list-share"),
    path("review/builds/<int:build_pk>/guidelines/", review_guidelines.detail, name="review-guidelines"),
    path("review/cases/<int:pk>/", review.case, name="review-case"),
    path("review/cases/<int:pk>/label/", review.label, name="review-label"),
    path("review/cases/<int:pk>/as-before/", review.as_before, name="review-as-before"),
    path("review/cases/<int:pk>/comment/", comment_views.comment, name="review-comment"),
    path("review/flags/", comment_views.flags, name="flags"),
    path("review/flags/<int:pk>/answer/", comment_views.answer, name="flag-answer"),
    path("review/cases/<int:pk>/undo/", review.undo, name="review-undo"),
    path("review/cases/<int:pk>/draft/", review.draft, name="review-draft"),
    path("review/cases/<int:pk>/run/", review.run, name="review-run"),
    path("review/cases/<int:pk>/test/", review.edited_test, name="review-test"),
    path("review/cases/<int:pk>/call/", call_views.call, name="review-call"),
    path("review/calls/<int:pk>/", call_views.answered, name="review-answer"),
    path("review/calls/<int:pk>/assertion/", call_views.assertion, name="review-assertion"),
    path("review/programs/<int:pk>/strength/", trials.strength, name="review-strength"),
    path("review/trials/<int:pk>/", trials.trial, name="review-trial"),
    path("review/executions/<int:pk>/", review.execution, name="review-execution"),
    path("written/", work.to_section, {"section": "functions"}, name="proposals"),
    path("written/jobs/<int:pk>/", proposal_views.listed, name="proposals-listed"),
    path("written/jobs/<int:pk>/next/", proposal_views.following, name="proposals-next"),
    path("written/functions/<int:pk>/", proposal_views.detail, name="proposal"),
    path("written/functions/<int:pk>/decide/", proposal_views.decide, name="proposal-decide"),
    path("written/functions/<int:pk>/undo/", proposal_views.undo, name="proposal-undo"),
    path("written/functions/<int:pk>/draft/", proposal_views.draft, name="proposal-draft"),
    path("written/functions/<int:pk>/run/", proposal_views.run, name="proposal-run"),
    path("written/functions/<int:pk>/runs/<int:run_pk>/", proposal_views.ran, name="proposal-ran"),
    path("review/layout/", review.arrange, name="review-layout"),
    path("review/keys/", review.keys, name="review-keys"),
    path("rate/", work.to_section, {"section": "rate"}, name="rate"),
    path("rate/<int:study_pk>/", rating_pages.study, name="rate-study"),
    path("rate/<int:study_pk>/next/", actions.open_next_pair, name="rate-next"),
    path("rate/<int:study_pk>/undo/", actions.undo_rating, name="rate-undo"),
    path("rate/<int:study_pk>/leave/", actions.leave_study, name="rate-leave"),
    path("rate/<int:study_pk>/guidelines/", rating_pages.guidelines, name="rate-guidelines"),
    path("rate/<int:study_pk>/pairs/<int:number>/", rating_pages.pair, name="rate-pair"),
    path("rate/<int:study_pk>/pairs/<int:number>/submit/", actions.submit_rating, name="rate-submit"),
    path(
        "rate/<int:study_pk>/pairs/<int:number>/ratings/<int:pk>/restore/",
        actions.restore_rating_revision,
        name="rate-restore",
    ),
    path("rate/<int:study_pk>/pairs/<int:number>/skip/", actions.skip_assigned_pair, name="rate-skip"),
    path("rate/<int:study_pk>/pairs/<int:number>/draft/", actions.save_rating_draft, name="rate-draft"),
    path(
        "rate/<int:study_pk>/pairs/<int:number>/heartbeat/",
        actions.record_rating_heartbeat,
        name="rate-heartbeat",
    ),
    path("rate/<int:study_pk>/pairs/<int:number>/text/", rating_pages.snippet, name="rate-snippet"),
    path("rate/<int:study_pk>/pairs/<int:number>/runs/", rating_pages.run, name="rate-run"),
    path("rate/<int:study_pk>/pairs/<int:number>/runs/<int:pk>/", rating_pages.ran, name="rate-ran"),
    path("rate/<int:study_pk>/pairs/<int:number>/calls/", rating_pages.call, name="rate-call"),
    path("rate/<int:study_pk>/pairs/<int:number>/calls/<int:pk>/", rating_pages.answered, name="rate-answer"),
    path(
        "rate/<int:study_pk>/pairs/<int:number>/calls/<int:pk>/assertion/",
        rating_pages.assertion,
        name="rate-assertion",
    ),
    path(
        "rate/<int:study_pk>/pairs/<int:number>/programs/<int:pk>/strength/",
        rating_pages.strength,
        name="rate-strength",
    ),
    path("rate/<int:study_pk>/pairs/<int:number>/trials/<int:pk>/", rating_pages.trial, name="rate-trial"),
    path("adjudication/", work.to_section, {"section": "decide"}, name="adjudication"),
    path("adjudication/<int:study_pk>/", adjudication_views.queue, name="adjudication-queue"),
    path(
        "adjudication/<int:study_pk>/pairs/<int:pair_number>/conditions/<int:condition_pk>/",
        adjudication_views.pair,
        name="adjudication-pair",
    ),
    path(
        "adjudication/<int:study_pk>/pairs/<int:pair_number>/conditions/<int:condition_pk>/run/",
        adjudication_views.run_rater_tests,
        name="adjudication-run",
    ),
    path("precedents/", adjudication_views.precedents, name="precedents"),
    path("history/", audit.own, name="history"),
    path("history/reviews/<int:pk>/restore/", audit.restore, name="history-restore"),
    path("studies/", studies.index, name="studies"),
    path("studies/new/", studies.new, name="study-new"),
    path("studies/<int:pk>/", studies.detail, name="study"),
    path("studies/<int:pk>/edit/", studies.edit, name="study-edit"),
    path("studies/<int:pk>/progress/", studies.progress, name="study-progress"),
    path("studies/<int:pk>/control/", studies.control, name="study-control"),
    path("studies/<int:pk>/amend/", change_views.amend, name="study-amend"),
    path("studies/<int:pk>/raters/", change_views.raters, name="study-raters"),
    path("studies/<int:pk>/again/", change_views.again, name="study-again"),
    path("studies/<int:pk>/plan/", studies.plan, name="study-plan"),
    path("studies/<int:pk>/ratings/", studies.ratings, name="study-ratings"),
    path("studies/<int:pk>/publish/", studies.publish, name="study-publish"),
    path("studies/<int:pk>/figures/", figure_views.figures, name="study-figures"),
    path("studies/<int:pk>/figures/pin/", pins.take_study, name="study-figures-pin"),
    path("studies/<int:pk>/figures/download/", figure_views.download, name="study-figures-download"),
    path("studies/<int:pk>/figures/score/", figure_views.score, name="study-figures-score"),
    path("studies/<int:pk>/figures/pairs/", figure_views.pairs, name="study-figures-pairs"),
    path("guidelines/", guideline_views.index, name="guidelines"),
    path("guidelines/new/", guideline_views.new, name="guideline-new"),
    path("guidelines/<int:pk>/", guideline_views.detail, name="guideline"),
    path("guidelines/<int:pk>/next/", guideline_views.edit, name="guideline-edit"),
    path("people/", people.index, name="people"),
    path("people/new/", people.new, name="person-new"),
    path("people/invite/", people.invite, name="invite"),
    path("people/invitations/<int:pk>/revoke/", people.revoke, name="invitation-revoke"),
    path("people/<int:pk>/", people.detail, name="person"),
    path("people/<int:pk>/change/", people.change, name="person-change"),
    path("join/<str:word>/", join, name="join"),
    path("audit/", audit.index, name="audit"),
    path("audit/export/", audit.export, name="audit-export"),
    path("audit/labels/", audit.labels, name="audit-labels"),
]
