"""Deciding whether a snippet answers a query: builds, cases, calls, executions, reviews, studies."""

from annotation.models.audits import AuditEvent
from annotation.models.builds.batches import Batch
from annotation.models.builds.build import Build, BuildEvent, Price, Tally
from annotation.models.builds.calls import Attempts, LLMCall, ReplyText, RequestText, SystemText
from annotation.models.builds.canaries import Canary
from annotation.models.builds.cases import Case, LostRace, Step
from annotation.models.builds.drift import DriftAnswer, DriftCheck, DriftWatch
from annotation.models.builds.extensions import Extension, Rerun
from annotation.models.builds.figures import Abandonment, AgentBill, Duration, Moment
from annotation.models.builds.project_money import ProjectCapChange, ProjectTally
from annotation.models.builds.rate_limits import Limiter
from annotation.models.builds.round_merges import Merge
from annotation.models.executions.checks import ConnectionTest, SandboxCheck
from annotation.models.executions.programs import (
    CallAnswer,
    CallRequest,
    Execution,
    ExecutionRequest,
    ProgramText,
    ReportText,
    Request,
    TestProgram,
)
from annotation.models.executions.trials import Mutant, MutantText, Trial
from annotation.models.notices import Delivery, Notice, Pulse
from annotation.models.people import ApiToken, Invitation, Preference, SignInIdentity, StoredAnswer
from annotation.models.proposals import Filling, Proposal, ProposalDecision
from annotation.models.reviews.comments import Comment, Mention
from annotation.models.reviews.equal_snippets import CarriedOver, NormalForm
from annotation.models.reviews.reviews import Draft, Review, Seen, SeenBenchmark, SeenBuild
from annotation.models.reviews.worklists import ListChange, PairTag, ReviewAssignment, SavedList
from annotation.models.studies import (
    Acknowledgement,
    Adjudication,
    Amendment,
    Assignment,
    Cause,
    Condition,
    Enrolment,
    Guideline,
    ImportedRating,
    Precedent,
    Quota,
    Rating,
    RatingDraft,
    Scoring,
    Study,
    StudyPair,
)
from annotation.models.webhooks import Webhook, WebhookDelivery
from retrieval.models import Basis
