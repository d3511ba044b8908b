"""What the audit log keeps of accounts and tokens, and how its events are found."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command

from annotation.models import AuditEvent
from annotation.studies.audit_log import Verb, append_audit_event, find_audit_events
from tests import factories, studies

pytestmark = pytest.mark.django_db


def test_accounts_and_tokens_are_kept_without_their_secrets() -> None:
    out = StringIO()
    call_command("account", "zoe", role="expert", stdout=out)
    call_command("token", "zoe", name="laptop", stdout=out, stderr=StringIO())
    call_command("token", "zoe", revoke="laptop", stdout=out)
    found = [(one.verb, one.what) for one in AuditEvent.objects.order_by("pk")]
    assert found == [
        ("account changed", "account zoe"),
        ("token made", "token laptop of zoe"),
        ("token withdrawn", "token laptop of zoe"),
    ]
    secrets = [line.split()[-1] for line in out.getvalue().splitlines()]
    kept = str(list(AuditEvent.objects.values()))
    assert not any(len(secret) > 10 and secret in kept for secret in secrets)


def test_events_are_found_by_what_they_are() -> None:
    study = studies.study()
    first = append_audit_event(factories.ada(), Verb.STUDY_MADE, "one", study)
    second = append_audit_event(None, Verb.EXPORTED, "two")
    assert list(find_audit_events()) == [second, first]
    assert (
        list(find_audit_events(who="ada"))
        == list(find_audit_events(study=study.pk))
        == list(find_audit_events(verb="study made"))
        == [first]
    )


def test_an_event_outlives_its_study() -> None:
    study = studies.study(pairs=())
    append_audit_event(None, Verb.STUDY_MADE, "one", study)
    study.delete()
    assert AuditEvent.objects.get().study is None
