"""Sessions in the database, found by a statement that is composed once: every request asks for its own."""

from __future__ import annotations

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from retrieval.models.prepared_query import PreparedQuery

BY_KEY: PreparedQuery[Session] = PreparedQuery(lambda key: Session.objects.filter(session_key=key), str)


class SessionStore(db.SessionStore):
    """Django's, whose table and keys it keeps."""

    def _get_session_from_db(self) -> Session | None:
        """The session's row; None, and no key any more, where there is none that goes on."""
        found = BY_KEY.first(self.session_key) if self.session_key else None
        if found is not None and found.expire_date > timezone.now():
            return found
        self._session_key = None
        return None
