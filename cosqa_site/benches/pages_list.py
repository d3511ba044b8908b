"""The pages and lists that are opened: every address that can be read, lists also far down and filtered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cosqa_site.benches.seeding import ADMIN, RATER

CASES: Final = "/builds/{build}/cases/"
BROWSE: Final = "/browse/{build}/"
REVIEW: Final = "/review/builds/{build}/"


@dataclass(frozen=True)
class Place:
    """An address with ids in braces, and who opens it; `grows` says why it has to grow with the build."""

    name: str
    path: str
    who: str = ADMIN
    grows: str = ""


BESIDE: Final = "looks at each case for that of another build, where few or none have one"
EVERY_CASE: Final = "reads every case once, and is kept until the build changes"
EVERY_PAIR: Final = "reads every label of both once, and is kept until there is another one"
EVERY_LABEL: Final = "merges what was said of every pair, which the page asks for once it is there"
EVERY_QUERY: Final = "is about a figure of each query, none of which is stored"
EVERY_MEMBER: Final = "reads the length of every member's text once, and is kept until there are more"
EVERY_TEXT: Final = "looks for a part of a text, for which there is no index"
RARE: Final = "looks for what few cases are"
COUNTED: Final = "counts up to 2,000 rows, which the small build does not have"
PLACES: Final = (
    Place("dashboard", "/dashboard/"),
    Place("connection", "/connection/"),
    Place("collections", "/collections/"),
    Place("upload", "/collections/upload/"),
    Place("jobs", "/collections/jobs/"),
    Place("collection-snippets-filters", "/collections/{snippets}/filters/", grows=EVERY_MEMBER),
    Place("collection-filter-jobs", "/collections/{snippets}/filters/jobs/"),
    Place("collection-queries", "/collections/{queries}/", grows=COUNTED),
    Place("collection-snippets", "/collections/{snippets}/"),
    Place("collection-snippets-deep", "/collections/{snippets}/?after={late_snippet}"),
    Place("collection-queries-corpus", "/collections/{queries}/corpus/", grows=EVERY_MEMBER),
    Place("collection-snippets-corpus", "/collections/{snippets}/corpus/", grows=EVERY_MEMBER),
    Place("build-new", "/builds/new/"),
    Place("pairs-new", "/builds/pairs/"),
    Place("build", "/builds/{build}/"),
    Place("build-progress", "/builds/{build}/progress/"),
    Place("build-again", "/builds/{again}/"),
    Place("build-cancel", "/builds/{build}/control/?action=cancel"),
    Place("build-cap", "/builds/{build}/cap/"),
    Place("build-extend", "/builds/{build}/extend/"),
    Place("build-missing", "/builds/{build}/missing/"),
    Place("project-cap", "/project/cap/"),
    Place("build-abandoned", "/builds/{again}/abandoned/"),
    Place("build-abandoned-none", "/builds/{build}/abandoned/"),
    Place("build-abandoned-deep", "/builds/{again}/abandoned/?after={abandoned}"),
    Place("build-cases", CASES),
    Place("build-cases-deep", CASES + "?after={late}"),
    Place("build-cases-before", CASES + "?before={late}"),
    Place("build-cases-settled", CASES + "?stage=settled"),
    Place("build-cases-screening", CASES + "?stage=screening"),
    Place("build-cases-abandoned", CASES + "?stage=abandoned"),
    Place("build-cases-match", CASES + "?label=1", grows=COUNTED),
    Place("build-cases-match-deep", CASES + "?label=1&after={late}"),
    Place("build-cases-unlabelled", CASES + "?label=none"),
    *(Place(f"build-cases-{name}", f"{CASES}?reached={name}") for name in ("clear", "unclear", "fixed")),
    Place("build-cases-slowest", CASES + "?reached=clear&sort=duration"),
    Place("build-cases-slowest-tested", CASES + "?reached=arbitrated&sort=duration"),
    Place("build-cases-slowest-deep", CASES + "?reached=clear&sort=duration&after={late}"),
    Place("build-cases-arbitrated-deep", CASES + "?reached=arbitrated&after={late}"),
    Place("build-cases-failed", CASES + "?outcome=failed"),
    Place("build-cases-flaky", CASES + "?outcome=timed_out", grows=RARE),
    Place("build-cases-ran", CASES + "?ran=yes"),
    Place("build-cases-not-ran", CASES + "?ran=no&label=1", grows=RARE),
    Place("build-cases-agent", CASES + "?agent=arbiter&label=0", grows=COUNTED),
    Place("build-cases-beside", CASES + "?against={again}&other=1&label=1", grows=BESIDE),
    Place("build-cases-cause", "/builds/{again}/cases/?cause=declined"),
    Place("build-publish", "/builds/{build}/publish/"),
    Place("build-publish-counted", "/builds/{build}/publish/?counted", grows=EVERY_LABEL),
    Place("build-publish-jobs", "/builds/{build}/publish/jobs/"),
    Place("browse", "/browse/"),
    Place("browse-build", BROWSE, grows=COUNTED),
    Place("browse-build-deep", BROWSE + "?after={late_member}", grows=COUNTED),
    Place("browse-build-search", BROWSE + "?q=flatten", grows=EVERY_TEXT),
    Place("browse-build-nothing", BROWSE + "?q=zzzz", grows=EVERY_TEXT),
    Place("browse-build-by-text", BROWSE + "?sort=text", grows=EVERY_QUERY),
    Place("browse-build-by-matches", BROWSE + "?sort=matches", grows=EVERY_QUERY),
    Place("browse-build-many", BROWSE + "?found=5%2B", grows=EVERY_QUERY),
    Place("browse-build-open", BROWSE + "?state=open"),
    Place("browse-build-abandoned", BROWSE + "?state=abandoned"),
    Place("browse-build-settled", BROWSE + "?state=settled", grows=EVERY_QUERY),
    Place("browse-build-differs", BROWSE + "?differs=experts", grows=EVERY_QUERY),
    Place("browse-build-differs-any", BROWSE + "?differs=any", grows=EVERY_QUERY),
    Place("distribution", BROWSE + "distribution/", grows=EVERY_CASE),
    Place("build-corpus", BROWSE + "corpus/", grows=EVERY_CASE),
    Place("benchmarks", "/benchmarks/"),
    Place("pins", "/pins/"),
    Place("compare", "/browse/compare/?first={build}&second={again}", grows=EVERY_CASE),
    Place("rounds", BROWSE + "rounds/", grows=EVERY_CASE),
    Place("compare-none", "/browse/compare/"),
    Place(
        "compare-annotators",
        "/browse/compare/annotators/?first={annotator}&second={other_annotator}",
        grows=EVERY_PAIR,
    ),
    Place("compare-annotators-none", "/browse/compare/annotators/"),
    Place("quality", "/quality/", RATER),
    Place("query", BROWSE + "queries/{query}/"),
    Place("matches", BROWSE + "queries/{query}/matches/"),
    Place("case", "/browse/cases/{case}/"),
    Place("case-screened", "/browse/cases/{screened}/"),
    Place("adjudication", "/adjudication/", RATER),
    Place("precedents", "/precedents/?q=sort+list", RATER),
    Place("api-precedents", "/api/precedents"),
    Place("review", "/review/", RATER),
    *(
        Place(f"review-{show}", f"{REVIEW}?show={show}", RATER)
        for show in ("waiting", "unsettled", "reviewed", "unsure", "overridden", "all")
    ),
    Place("review-apart", REVIEW + "?show=apart-{annotator}.0-{other_annotator}.0", RATER),
    Place("review-flipped", REVIEW + "?show=flipped-{again}", RATER),
    Place("review-next-deep", REVIEW + "?after={late}", RATER),
    Place("review-before-deep", REVIEW + "?before={late}", RATER),
    Place("review-overridden-deep", REVIEW + "?show=overridden&after={late}", RATER),
    Place("review-case", "/review/cases/{case}/", RATER),
    Place("review-case-screened", "/review/cases/{screened}/", RATER),
    Place("crossing", "/browse/{build}/queries/{query}/tests/", RATER),
    Place("review-strength", "/review/programs/{program}/strength/", RATER),
    Place("review-test", "/review/cases/{case}/test/", RATER),
    Place("review-keys", "/review/keys/", RATER),
    Place("history", "/history/", RATER),
    Place("studies", "/studies/"),
    Place("study-new", "/studies/new/"),
    Place("guidelines", "/guidelines/"),
    Place("guideline-new", "/guidelines/new/"),
    Place("audit", "/audit/"),
    Place("audit-labels", "/audit/labels/"),
    Place("rate", "/rate/", RATER),
    Place("admin", "/admin/"),
    Place("admin-prices", "/admin/annotation/price/"),
    Place("api-builds", "/api/builds"),
    Place("api-build", "/api/builds/{build}"),
    Place("api-cases", "/api/builds/{build}/cases"),
    Place("api-cases-deep", "/api/builds/{build}/cases?after={late}"),
    Place("api-cases-stage", "/api/builds/{build}/cases?stage=settled&after={late}"),
    Place("api-cases-none", "/api/builds/{build}/cases?stage=screening"),
    Place("api-cases-label", "/api/builds/{build}/cases?label=1"),
    Place("api-cases-query", "/api/builds/{build}/cases?query={late_query}"),
    Place("api-place-effect", "/api/builds/{build}/place-effect"),
    Place("api-annotators", "/api/annotators"),
    Place(
        "api-annotators-comparison",
        "/api/annotators/{annotator}/comparison/{other_annotator}",
        grows=EVERY_PAIR,
    ),
    Place("api-comparison", "/api/builds/{build}/comparison/{again}", grows=EVERY_CASE),
    Place("api-extensions", "/api/builds/{build}/extensions"),
    Place("api-missing", "/api/builds/{build}/missing"),
    Place("api-rounds", "/api/builds/{build}/rounds", grows=EVERY_CASE),
    Place("api-queries", "/api/builds/{build}/queries"),
    Place("api-queries-deep", "/api/builds/{build}/queries?after={late_query}"),
    Place("api-queries-search", "/api/builds/{build}/queries?q=flatten", grows=EVERY_TEXT),
    Place("api-candidates", "/api/builds/{build}/queries/{query}/candidates"),
    Place("api-reviews", "/api/builds/{build}/reviews"),
    Place("api-case", "/api/cases/{case}"),
    Place("api-case-reviews", "/api/cases/{case}/reviews"),
    Place("api-collections", "/api/collections"),
    Place("api-collection", "/api/collections/{snippets}"),
    Place("api-members", "/api/collections/{snippets}/members"),
    Place("api-members-deep", "/api/collections/{snippets}/members?after={late_snippet}&rule=testable"),
    Place("api-member", "/api/collections/{snippets}/members/{late_snippet}"),
    Place("api-execution", "/api/executions/{execution}"),
    Place("api-me", "/api/me"),
)
