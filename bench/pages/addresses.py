"""The pages and lists that are opened: every address that can be read, lists also far down and filtered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bench.seed.database import ADMIN, RATER

CASES: Final = "/builds/{build}/cases/"
BROWSE: Final = "/browse/{build}/"
REVIEW: Final = "/review/builds/{build}/"
LIST: Final = REVIEW + "list/"


@dataclass(frozen=True)
class BenchedPage:
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
EVERY_PLACE: Final = "gives every pair its place, for which there is no index"
EVERY_TEXT: Final = "looks for a part of a text, for which there is no index"
RARE: Final = "looks for what few cases are"
COUNTED: Final = "counts up to 2,000 rows, which the small build does not have"
PLACES: Final = (
    BenchedPage("dashboard", "/dashboard/"),
    BenchedPage("glossary", "/glossary/"),
    BenchedPage("tokens", "/tokens/"),
    BenchedPage("webhooks", "/webhooks/"),
    BenchedPage("connection", "/connection/"),
    BenchedPage("people", "/people/"),
    BenchedPage("person-new", "/people/new/"),
    BenchedPage("invite", "/people/invite/"),
    BenchedPage("collections", "/collections/"),
    BenchedPage("upload", "/collections/upload/"),
    BenchedPage("jobs", "/collections/jobs/"),
    BenchedPage("collection-snippets-filters", "/collections/{snippets}/filters/", grows=EVERY_MEMBER),
    BenchedPage("collection-filter-jobs", "/collections/{snippets}/filters/jobs/"),
    BenchedPage("collection-queries", "/collections/{queries}/", grows=COUNTED),
    BenchedPage("collection-snippets", "/collections/{snippets}/"),
    BenchedPage("collection-snippets-deep", "/collections/{snippets}/?after={late_snippet}"),
    BenchedPage("collection-queries-corpus", "/collections/{queries}/corpus/", grows=EVERY_MEMBER),
    BenchedPage("collection-snippets-corpus", "/collections/{snippets}/corpus/", grows=EVERY_MEMBER),
    BenchedPage("build-new", "/builds/new/"),
    BenchedPage("pairs-new", "/builds/pairs/"),
    BenchedPage("build", "/builds/{build}/"),
    BenchedPage("build-progress", "/builds/{build}/progress/"),
    BenchedPage("build-again", "/builds/{again}/"),
    BenchedPage("build-cancel", "/builds/{build}/control/?action=cancel"),
    BenchedPage("build-replies", "/builds/{build}/replies/"),
    BenchedPage("build-order", "/builds/{build}/order/"),
    BenchedPage("build-cap", "/builds/{build}/cap/"),
    BenchedPage("build-extend", "/builds/{build}/extend/"),
    BenchedPage("build-missing", "/builds/{build}/missing/"),
    BenchedPage("build-guidelines", "/builds/{build}/guidelines/"),
    BenchedPage("build-review-rule", "/builds/{build}/review-rule/"),
    BenchedPage("project-cap", "/project/cap/"),
    BenchedPage("build-abandoned", "/builds/{again}/abandoned/"),
    BenchedPage("build-abandoned-none", "/builds/{build}/abandoned/"),
    BenchedPage("build-abandoned-deep", "/builds/{again}/abandoned/?after={abandoned}"),
    BenchedPage("build-cases", CASES),
    BenchedPage("build-cases-deep", CASES + "?after={late}"),
    BenchedPage("build-cases-before", CASES + "?before={late}"),
    BenchedPage("build-cases-settled", CASES + "?stage=settled"),
    BenchedPage("build-cases-screening", CASES + "?stage=screening"),
    BenchedPage("build-cases-abandoned", CASES + "?stage=abandoned"),
    BenchedPage("build-cases-match", CASES + "?label=1", grows=COUNTED),
    BenchedPage("build-cases-match-deep", CASES + "?label=1&after={late}"),
    BenchedPage("build-cases-unlabelled", CASES + "?label=none"),
    *(
        BenchedPage(f"build-cases-{name}", f"{CASES}?reached={name}")
        for name in ("clear", "unclear", "fixed")
    ),
    BenchedPage("build-cases-slowest", CASES + "?reached=clear&sort=duration"),
    BenchedPage("build-cases-slowest-tested", CASES + "?reached=arbitrated&sort=duration"),
    BenchedPage("build-cases-slowest-deep", CASES + "?reached=clear&sort=duration&after={late}"),
    BenchedPage("build-cases-arbitrated-deep", CASES + "?reached=arbitrated&after={late}"),
    BenchedPage("build-cases-failed", CASES + "?outcome=failed"),
    BenchedPage("build-cases-flaky", CASES + "?outcome=timed_out", grows=RARE),
    BenchedPage("build-cases-ran", CASES + "?ran=yes"),
    BenchedPage("build-cases-not-ran", CASES + "?ran=no&label=1", grows=RARE),
    BenchedPage("build-cases-agent", CASES + "?agent=arbiter&label=0", grows=COUNTED),
    BenchedPage("build-cases-beside", CASES + "?against={again}&other=1&label=1", grows=BESIDE),
    BenchedPage("build-cases-cause", "/builds/{again}/cases/?cause=declined"),
    BenchedPage("build-publish", "/builds/{build}/publish/"),
    BenchedPage("build-publish-counted", "/builds/{build}/publish/?counted", grows=EVERY_LABEL),
    BenchedPage("build-publish-jobs", "/builds/{build}/publish/jobs/"),
    BenchedPage("browse", "/browse/"),
    BenchedPage("browse-build", BROWSE, grows=COUNTED),
    BenchedPage("browse-build-deep", BROWSE + "?after={late_member}", grows=COUNTED),
    BenchedPage("browse-build-search", BROWSE + "?q=flatten", grows=EVERY_TEXT),
    BenchedPage("browse-build-nothing", BROWSE + "?q=zzzz", grows=EVERY_TEXT),
    BenchedPage("browse-build-by-text", BROWSE + "?sort=text", grows=EVERY_QUERY),
    BenchedPage("browse-build-by-matches", BROWSE + "?sort=matches", grows=EVERY_QUERY),
    BenchedPage("browse-build-many", BROWSE + "?found=5%2B", grows=EVERY_QUERY),
    BenchedPage("browse-build-open", BROWSE + "?state=open"),
    BenchedPage("browse-build-abandoned", BROWSE + "?state=abandoned"),
    BenchedPage("browse-build-settled", BROWSE + "?state=settled", grows=EVERY_QUERY),
    BenchedPage("browse-build-differs", BROWSE + "?differs=experts", grows=EVERY_QUERY),
    BenchedPage("browse-build-differs-any", BROWSE + "?differs=any", grows=EVERY_QUERY),
    BenchedPage("build-corpus", BROWSE + "corpus/", grows=EVERY_CASE),
    BenchedPage("benchmarks", "/benchmarks/"),
    BenchedPage("reports", "/reports/"),
    BenchedPage("compare", "/browse/compare/?first={build}&second={again}", grows=EVERY_CASE),
    BenchedPage("rounds", BROWSE + "rounds/", grows=EVERY_CASE),
    BenchedPage("compare-none", "/browse/compare/"),
    BenchedPage(
        "compare-annotators",
        "/browse/compare/?of=annotators&first={annotator}&second={other_annotator}",
        grows=EVERY_PAIR,
    ),
    BenchedPage("compare-annotators-none", "/browse/compare/?of=annotators"),
    BenchedPage("quality", "/quality/", RATER),
    BenchedPage("query", BROWSE + "queries/{query}/"),
    BenchedPage("matches", BROWSE + "queries/{query}/matches/"),
    BenchedPage("case", "/browse/cases/{case}/"),
    BenchedPage("case-candidate", "/browse/cases/{case}/candidate/"),
    BenchedPage("case-screened", "/browse/cases/{screened}/"),
    BenchedPage("precedents", "/precedents/?q=sort+list", RATER),
    BenchedPage("api-precedents", "/api/precedents"),
    BenchedPage("work", "/work/", RATER),
    *(
        BenchedPage(f"review-{show}", f"{REVIEW}?show={show}", RATER)
        for show in ("waiting", "unsettled", "reviewed", "unsure", "overridden", "all")
    ),
    BenchedPage("review-list", LIST, RATER),
    BenchedPage("review-list-deep", LIST + "?after={late}", RATER),
    BenchedPage("review-list-information", LIST + "?sort=information", RATER, grows=EVERY_PLACE),
    BenchedPage("review-list-untested", LIST + "?smart=untested", RATER, grows=COUNTED),
    BenchedPage("review-list-weak", LIST + "?smart=weak_evidence", RATER, grows=RARE),
    BenchedPage("review-list-experts", LIST + "?smart=experts_disagree", RATER, grows=RARE),
    BenchedPage("review-list-sample", LIST + "?smart=sample&seed=1&size=50", RATER, grows=EVERY_PLACE),
    BenchedPage("review-list-search", LIST + "?q=flatten", RATER, grows=EVERY_TEXT),
    BenchedPage("review-list-share", LIST + "share/?smart=untested"),
    BenchedPage("review-apart", REVIEW + "?show=apart-{annotator}.0-{other_annotator}.0", RATER),
    BenchedPage("review-flipped", REVIEW + "?show=flipped-{again}", RATER),
    BenchedPage("review-next-deep", REVIEW + "?after={late}", RATER),
    BenchedPage("review-before-deep", REVIEW + "?before={late}", RATER),
    BenchedPage("review-overridden-deep", REVIEW + "?show=overridden&after={late}", RATER),
    BenchedPage("flags", "/review/flags/"),
    BenchedPage("review-guidelines", REVIEW + "guidelines/", RATER),
    BenchedPage("review-case", "/review/cases/{case}/", RATER),
    BenchedPage("review-case-screened", "/review/cases/{screened}/", RATER),
    BenchedPage("crossing", "/browse/{build}/queries/{query}/tests/", RATER),
    BenchedPage("review-strength", "/review/programs/{program}/strength/", RATER),
    BenchedPage("review-test", "/review/cases/{case}/test/", RATER),
    BenchedPage("review-keys", "/review/keys/", RATER),
    BenchedPage("history", "/history/", RATER),
    BenchedPage("studies", "/studies/"),
    BenchedPage("study-new", "/studies/new/"),
    BenchedPage("guidelines", "/guidelines/"),
    BenchedPage("guideline-new", "/guidelines/new/"),
    BenchedPage("audit", "/audit/"),
    BenchedPage("audit-labels", "/audit/labels/"),
    BenchedPage("admin", "/admin/"),
    BenchedPage("admin-prices", "/admin/annotation/price/"),
    BenchedPage("api-webhooks", "/api/webhooks"),
    BenchedPage("api-builds", "/api/builds"),
    BenchedPage("api-build", "/api/builds/{build}"),
    BenchedPage("api-requests", "/api/builds/{build}/requests"),
    BenchedPage("api-cases", "/api/builds/{build}/cases"),
    BenchedPage("api-cases-deep", "/api/builds/{build}/cases?after={late}"),
    BenchedPage("api-cases-stage", "/api/builds/{build}/cases?stage=settled&after={late}"),
    BenchedPage("api-cases-none", "/api/builds/{build}/cases?stage=screening"),
    BenchedPage("api-cases-label", "/api/builds/{build}/cases?label=1"),
    BenchedPage("api-cases-query", "/api/builds/{build}/cases?query={late_query}"),
    BenchedPage("api-place-effect", "/api/builds/{build}/place-effect"),
    BenchedPage("api-annotators", "/api/annotators"),
    BenchedPage(
        "api-annotators-comparison",
        "/api/annotators/{annotator}/comparison/{other_annotator}",
        grows=EVERY_PAIR,
    ),
    BenchedPage("api-comparison", "/api/builds/{build}/comparison/{again}", grows=EVERY_CASE),
    BenchedPage("api-extensions", "/api/builds/{build}/extensions"),
    BenchedPage("api-missing", "/api/builds/{build}/missing"),
    BenchedPage("api-rounds", "/api/builds/{build}/rounds", grows=EVERY_CASE),
    BenchedPage("api-queries", "/api/builds/{build}/queries"),
    BenchedPage("api-queries-deep", "/api/builds/{build}/queries?after={late_query}"),
    BenchedPage("api-queries-search", "/api/builds/{build}/queries?q=flatten", grows=EVERY_TEXT),
    BenchedPage("api-candidates", "/api/builds/{build}/queries/{query}/candidates"),
    BenchedPage("api-reviews", "/api/builds/{build}/reviews"),
    BenchedPage("api-case", "/api/cases/{case}"),
    BenchedPage("api-case-reviews", "/api/cases/{case}/reviews"),
    BenchedPage("api-collections", "/api/collections"),
    BenchedPage("api-benchmarks", "/api/benchmarks"),
    BenchedPage("api-build-corpus", "/api/builds/{build}/corpus", grows=EVERY_MEMBER),
    BenchedPage("api-collection-corpus", "/api/collections/{snippets}/corpus", grows=EVERY_MEMBER),
    BenchedPage("api-jobs", "/api/jobs"),
    BenchedPage("api-parts", "/api/rate", RATER),
    BenchedPage("api-pins", "/api/pins"),
    BenchedPage("api-publication", "/api/builds/{build}/publication", grows=EVERY_LABEL),
    BenchedPage("api-collection", "/api/collections/{snippets}"),
    BenchedPage("api-members", "/api/collections/{snippets}/members"),
    BenchedPage("api-members-deep", "/api/collections/{snippets}/members?after={late_snippet}&rule=testable"),
    BenchedPage("api-member", "/api/collections/{snippets}/members/{late_snippet}"),
    BenchedPage("api-execution", "/api/executions/{execution}"),
    BenchedPage("api-pairs", "/api/builds/{build}/pairs"),
    BenchedPage("api-lists", "/api/builds/{build}/lists"),
    BenchedPage("api-crossing", "/api/builds/{build}/queries/{query}/tests"),
    BenchedPage("api-comments", "/api/cases/{case}/comments"),
    BenchedPage("api-flags", "/api/flags"),
    BenchedPage("api-people", "/api/people"),
    BenchedPage("api-invitations", "/api/people/invitations"),
    BenchedPage("api-guidelines", "/api/guidelines"),
    BenchedPage("api-prices", "/api/prices"),
    BenchedPage("api-cap", "/api/project/cap"),
    BenchedPage("api-cap-changes", "/api/project/cap/changes"),
    BenchedPage("api-connection-tests", "/api/connection/tests"),
    BenchedPage("api-me", "/api/me"),
)
