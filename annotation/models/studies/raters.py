"""Who rates, what was handed to them, and what they said. Ratings are only ever appended."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q, TextField
from django.db.models.functions import Cast

from annotation.models.reviews.marked_code import MarkedCode, marks_whole_lines
from annotation.models.reviews.typed_text import KeptText
from annotation.models.studies.guidelines import Guideline
from annotation.models.studies.samples import StudyPair
from annotation.models.studies.studies import Condition, Study


class Enrolment(models.Model):
    """One rater in one condition of one study. Exports name the pseudonym, never the account."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="enrolments")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="enrolments")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="enrolments")
    capacity = models.PositiveIntegerField(help_text="pairs that the rater can be given")
    pseudonym = models.CharField(max_length=12, help_text="R01, R02 …, in an order that tells nothing")
    seed = models.BigIntegerField(help_text="of the rater's order")
    years_of_python = models.PositiveSmallIntegerField(null=True)
    occupation = models.CharField(max_length=120, blank=True, help_text="the rater's role at work")
    languages = models.CharField(max_length=200, blank=True, help_text="spoken, as the rater gave them")
    code_languages = models.JSONField(
        default=list, help_text="programming languages whose pairs the rater is given; none: all"
    )
    accepted_at = models.DateTimeField(null=True, help_text="when the information text was accepted")
    finished_at = models.DateTimeField(null=True, help_text="when nothing is left to rate, or the rater left")
    shown_at = models.DateTimeField(
        null=True, help_text="when builds or labels of its pairs opened to a rater who was finished"
    )
    left_at = models.DateTimeField(null=True, help_text="when the rater left, or was let go, before the end")
    removed = models.BooleanField(
        default=False, db_default=False, help_text="let go by an admin: nothing more is taken"
    )
    excluded = models.BooleanField(
        default=False, db_default=False, help_text="left out of every figure, by an amendment"
    )

    class Meta:
        ordering = ["study", "pseudonym"]
        constraints = [
            models.UniqueConstraint(fields=["study", "user"], name="enrolment_once"),
            models.UniqueConstraint(fields=["study", "pseudonym"], name="enrolment_pseudonym_once"),
        ]

    def __str__(self) -> str:
        return f"{self.pseudonym} in {self.study}"


class Assignment(models.Model):
    """A pair handed to a rater, with the lease under which it is open."""

    class State(models.TextChoices):
        RESERVED = "reserved", "open"
        LOCKED = "locked", "blind label stored, second phase open"
        DONE = "done"
        SKIPPED = "skipped"
        LAPSED = "lapsed", "the reservation ran out"
        LEFT_OUT = "left_out", "done, and left out with its rater: the place is another one's"

    enrolment = models.ForeignKey(Enrolment, on_delete=models.PROTECT, related_name="assignments")
    study_pair = models.ForeignKey(StudyPair, on_delete=models.PROTECT, related_name="assignments")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="assignments")
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments")
    round = models.PositiveSmallIntegerField(
        default=1, help_text="2, 3, …: asked again after a change of meaning"
    )
    state = models.CharField(max_length=8, choices=State, default=State.RESERVED)
    position = models.PositiveIntegerField(help_text="from 1, the place in the rater's own order")
    swapped = models.BooleanField(default=False, help_text="pairwise: the second snippet stands on the left")
    token = models.CharField(max_length=32, help_text="of the reservation; another one after a lapse")
    reserved_until = models.DateTimeField()
    skip_reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    done_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["enrolment", "position"]
        constraints = [
            models.UniqueConstraint(fields=["study_pair", "rater", "round"], name="assignment_once"),
            models.UniqueConstraint(fields=["enrolment", "position"], name="assignment_position_once"),
        ]
        indexes = [
            models.Index(
                fields=["reserved_until"], condition=Q(state="reserved"), name="assignment_expiring"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study_pair} for {self.enrolment.pseudonym} ({self.state})"

    @property
    def is_open(self) -> bool:
        """Whether something is still wanted from the rater."""
        return self.state in {self.State.RESERVED, self.State.LOCKED}

    @property
    def needs_run(self) -> bool:
        """Whether its label needs a finished run of the rater's own program."""
        return self.enrolment.study.needs_run and self.condition.kind == Condition.Kind.OWN_TESTS


class RatingQuerySet(models.QuerySet["Rating"]):
    def current(self) -> RatingQuerySet:
        """The last revision of each (assignment, phase), unless it was withdrawn."""
        later = Rating.objects.filter(supersedes=OuterRef("pk"))
        return self.filter(~Exists(later), withdrawn=False)

    def counted(self) -> RatingQuerySet:
        """Without those that are left out of every figure: of excluded raters, or their place taken."""
        kept = self.filter(assignment__enrolment__excluded=False)
        return kept.exclude(assignment__state=Assignment.State.LEFT_OUT)

    def tagged(self, tag: str) -> RatingQuerySet:
        """Those that carry the tag; told as `ReviewQuerySet.tagged` tells it."""
        return self.alias(said=Cast("tags", TextField())).filter(said__contains=f'"{tag}"')


class Rating(MarkedCode):
    """What a rater said of a pair in one phase, with all that was on screen. Appended, never changed."""

    class Phase(models.TextChoices):
        BLIND = "blind", "before anything of the agents was shown"
        REVISED = "revised", "after everything was revealed"
        SECOND_LOOK = "second_look", "looked at again, with nothing new"

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="ratings")
    phase = models.CharField(max_length=11, choices=Phase, default=Phase.BLIND)
    revision = models.PositiveIntegerField(help_text="1, 2, … for each assignment and phase")
    supersedes = models.OneToOneField(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="superseded_by"
    )
    value = models.SmallIntegerField(
        null=True,
        help_text="binary 1, 0; steps 2 all of it, 1 at least half, 0 less; graded 0 to 3; preference 1 the "
        "pair's own snippet, -1 the other, 0 a tie; null: unsure",
    )
    withdrawn = models.BooleanField(default=False, help_text="this revision takes the rating back (undo)")
    reason = models.TextField(blank=True, help_text="why it was revised")
    notes = models.TextField(blank=True)
    reading = models.CharField(
        max_length=300, blank=True, db_default="", help_text="how the rater read the query, in one line"
    )
    no_test = models.TextField(
        blank=True, db_default="", help_text="why no test is possible, where a label needs a run"
    )
    tags = models.JSONField(default=list)
    seconds = models.FloatField(default=0, help_text="of active time on the pair, up to this revision")
    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, null=True, related_name="ratings")
    docstring = models.CharField(max_length=6, choices=Study.Docstring, default=Study.Docstring.SHOWN)
    evidence = models.CharField(max_length=64, help_text="sha256 of what was on screen")
    calls = models.JSONField(default=list, help_text="ids of the calls made for it")
    runs = models.JSONField(default=list, help_text="ids of the runs of own tests made for it")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = RatingQuerySet.as_manager()

    class Meta:
        ordering = ["assignment", "id"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "phase", "revision"], name="rating_revision_once"),
            marks_whole_lines("rating_marks_whole_lines"),
        ]

    def __str__(self) -> str:
        return f"rating of {self.assignment}, {self.phase} {self.revision}"


class RatingDraft(KeptText):
    """What a rater had typed for an assignment and not submitted; survives a lapse of the reservation."""

    class Field(models.TextChoices):
        NOTES = "notes"
        REASON = "reason"
        TEST = "test"
        CALL = "call"
        CHOICE = "choice"
        READING = "reading"
        LINES = "lines"
        NO_TEST = "no_test", "why no test is possible"
        SKIP = "skip", "why the pair is skipped"

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="drafts")
    field = models.CharField(max_length=7, choices=Field)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["assignment", "field"], name="rating_draft_once")]

    def __str__(self) -> str:
        return f"{self.field} draft of {self.assignment}"
