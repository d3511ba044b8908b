"""Who was served agent evidence on which pair: nobody who has seen a pair can label it blind afterwards."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from annotation.models import Seen


def mark_seen(user: AbstractBaseUser | AnonymousUser, pairs: Iterable[int]) -> None:
    """Remember that `user` was served a page with agent evidence on these pairs (ids). Safe to repeat."""
    if not user.is_authenticated:
        return
    shown = set(pairs)
    known = Seen.objects.filter(user_id=user.pk, pair_id__in=shown).values_list("pair_id", flat=True)
    rows = [Seen(user_id=user.pk, pair_id=pair) for pair in sorted(shown.difference(known))]
    if rows:
        Seen.objects.bulk_create(rows, ignore_conflicts=True)
