"""Deciding whether a snippet answers a query: builds, cases, calls, executions, reviews, studies."""

from annotation.models.audits import AuditEvent
from annotation.models.batches import Batch
from annotation.models.builds import Build, BuildEvent, Price, Tally
from annotation.models.calls import Attempts, LLMCall, ReplyText, RequestText, SystemText
from annotation.models.canaries import AnyCanary, Canary, ExtensionCanary
from annotation.models.cases import Case, LostRace, Step
from annotation.models.checks import ConnectionTest, SandboxCheck
from annotation.models.drifts import DriftAnswer, DriftCheck, DriftWatch
from annotation.models.equals import CarriedOver, NormalForm
from annotation.models.executions import (
    CallAnswer,
    CallRequest,
    Execution,
    ExecutionRequest,
    ProgramText,
    ReportText,
    Request,
    TestProgram,
)
from annotation.models.extensions import Extension, Rerun
from annotation.models.figures import Abandonment, AgentBill, Duration, Moment
from annotation.models.limits import Limiter
from annotation.models.merges import Merge
from annotation.models.notices import Delivery, Notice, Pulse
from annotation.models.people import ApiToken, Preference
from annotation.models.projects import ProjectCapChange, ProjectTally
from annotation.models.proposals import Filling, Proposal, ProposalDecision
from annotation.models.publish_jobs import PublishJob
from annotation.models.reviews import Draft, Review, Seen, SeenBenchmark
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
from annotation.models.trials import Mutant, MutantText, Trial
from retrieval.models import Basis

__all__ = [
    "Abandonment",
    "Acknowledgement",
    "Adjudication",
    "AgentBill",
    "Amendment",
    "AnyCanary",
    "ApiToken",
    "Assignment",
    "Attempts",
    "AuditEvent",
    "Basis",
    "Batch",
    "Build",
    "BuildEvent",
    "CallAnswer",
    "CallRequest",
    "Canary",
    "CarriedOver",
    "Case",
    "Cause",
    "Condition",
    "ConnectionTest",
    "Delivery",
    "Draft",
    "DriftAnswer",
    "DriftCheck",
    "DriftWatch",
    "Duration",
    "Enrolment",
    "Execution",
    "ExecutionRequest",
    "Extension",
    "ExtensionCanary",
    "Filling",
    "Guideline",
    "ImportedRating",
    "LLMCall",
    "Limiter",
    "LostRace",
    "Merge",
    "Moment",
    "Mutant",
    "MutantText",
    "NormalForm",
    "Notice",
    "Precedent",
    "Preference",
    "Price",
    "ProgramText",
    "ProjectCapChange",
    "ProjectTally",
    "Proposal",
    "ProposalDecision",
    "PublishJob",
    "Pulse",
    "Quota",
    "Rating",
    "RatingDraft",
    "ReplyText",
    "ReportText",
    "Request",
    "RequestText",
    "Rerun",
    "Review",
    "SandboxCheck",
    "Scoring",
    "Seen",
    "SeenBenchmark",
    "Step",
    "Study",
    "StudyPair",
    "SystemText",
    "Tally",
    "TestProgram",
    "Trial",
]
