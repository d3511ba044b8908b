"""Wide text: compressed, stored once by hash, in one side table a kind, so that lists never scan it."""

import hashlib
import zlib
from collections.abc import Iterable
from typing import ClassVar, Self

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from retrieval.models import statements
from retrieval.texts.hostile import mark_hostile_characters


def digest_of(text: str) -> str:
    """sha256 (hex) of the UTF-8 text."""
    return hashlib.sha256(text.encode()).hexdigest()


class Digest(models.CharField):  # type: ignore[type-arg]  # at run time it takes no types
    """A hash in hex. Nobody asks for a part of one."""

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        """With PostgreSQL the long name of varchar: by its short one Django adds an index for LIKE."""
        named = super().db_type(connection)
        return named and named.replace("varchar", "character varying")


class Blob(models.Model):
    """A wide text by its own hash; the concrete tables are the kinds."""

    common: ClassVar[bytes] = b""
    """What texts of a kind have in common, so that none has to store it. It can't be changed any more: what
    was stored with it can be read with it alone."""

    digest = Digest(max_length=64, primary_key=True)
    size = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.digest[:12]} ({self.size} characters)"

    @classmethod
    def packed(cls, text: str) -> Self:
        """An unsaved row that holds `text`, cleaned."""
        text = mark_hostile_characters(text)
        return cls(digest=digest_of(text), size=len(text), data=cls.compressed(text))

    @classmethod
    def compressed(cls, text: str) -> bytes:
        """What is stored of `text`."""
        if not cls.common:
            return zlib.compress(text.encode())
        stream = zlib.compressobj(zdict=cls.common)
        return stream.compress(text.encode()) + stream.flush()

    @classmethod
    def keep(cls, text: str) -> Self:
        """The row that holds `text`; two writers of one text end with one row."""
        row = cls.packed(text)
        statements.insert_row(row, unless_there=True)
        return row

    @classmethod
    def keep_all(cls, texts: Iterable[str]) -> list[Self]:
        """As `keep`, many at once; in the order of hashes, so that two writers never wait for each other."""
        rows = [cls.packed(text) for text in texts]
        ordered = sorted(rows, key=lambda row: row.digest)
        cls._default_manager.bulk_create(ordered, ignore_conflicts=True, batch_size=500)
        return rows

    @property
    def text(self) -> str:
        return zlib.decompressobj(zdict=self.common).decompress(bytes(self.data)).decode()
