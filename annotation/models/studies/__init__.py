"""Ground-truth studies: what is asked of whom under which plan, what raters said, and what was decided."""

from annotation.models.studies.decisions import Adjudication, Cause
from annotation.models.studies.guidelines import Acknowledgement, Guideline, Precedent
from annotation.models.studies.imported_ratings import ImportedRating
from annotation.models.studies.raters import Assignment, Enrolment, Rating, RatingDraft
from annotation.models.studies.samples import Quota, StudyPair
from annotation.models.studies.studies import Amendment, Condition, Scoring, Study
