"""`python -m tests.raters.prepare PAIRS RATERS`: a study and its raters, logged in, before a server starts.

Prints the study and each rater's session as JSON. Half of the raters look twice at each pair.
"""

from __future__ import annotations

import json
import os
import sys

import django


def main(pairs: int, raters: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cosqa_site.settings")
    django.setup()
    from django.db import transaction

    from annotation.models import Condition
    from cosqa_site.service import startup
    from retrieval.models import Pair, Text
    from tests import studies

    startup.prepare_database()
    with transaction.atomic():
        queries = Text.objects.keep_all([f"query number {number}" for number in range(max(1, pairs // 3))])
        snippets = Text.objects.keep_all([f"def f{number}(x):\n    return x\n" for number in range(3)])
        keys = [(query.pk, snippet.pk) for query in queries for snippet in snippets]
        kinds = (Condition.Kind.READING, Condition.Kind.SECOND_LOOK)
        sampled = Pair.objects.keep_all(keys[:pairs])
        study = studies.study("the crowd", kinds, sampled, raters=3, one_more=True)
        sessions = {}
        for number in range(raters):
            rater = studies.rater(f"rater{number:02}", study, kinds[number % 2], capacity=pairs)
            sessions[rater.user.username] = session_of(rater.user)
    print(json.dumps({"study": study.pk, "sessions": sessions}))


def session_of(user: object) -> str:
    """The key of a session in which `user` is logged in."""
    from django.contrib.auth import login
    from django.contrib.auth.models import User
    from django.contrib.sessions.backends.db import SessionStore
    from django.http import HttpRequest

    assert isinstance(user, User)
    request = HttpRequest()
    request.session = SessionStore()
    login(request, user, backend="annotation.accounts.roles.Backend")
    request.session.save()
    return str(request.session.session_key)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
