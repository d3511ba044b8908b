"""In how many of all snippets of a mining each term is: counted once, kept with it, read for each part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from retrieval.encoders import Encoder, is_lexical
from retrieval.encoders.base import LexicalEncoder
from retrieval.encoders.lexical.frequencies import Counting, Frequencies
from retrieval.index import StageProgress
from retrieval.index.ties import digest_text
from retrieval.mining import parts
from retrieval.mining.input_texts import MEMBERS_A_READ, texts_of
from retrieval.models import Mining, MiningShared

Known = Mapping[str, Sequence[Frequencies]]


def load_document_frequencies(
    mining: Mining, members: Sequence[int], chosen: Sequence[Encoder], progress: StageProgress | None
) -> Known:
    """By lexical encoder the frequencies of its fields, of all `members`; none where they are one part.

    Whoever comes first counts, before there are parts for others to take up.
    """
    lexical = [encoder for encoder in chosen if is_lexical(encoder) and encoder.fields("")]
    if not lexical or parts.is_one(mining, len(members)):
        return {}
    wanted = [frequency_name_of(one, field) for one in lexical for field in range(len(one.fields("")))]
    stored = mining.shared.filter(name__in=wanted).values_list("name", "content")
    known = {name: bytes(content) for name, content in stored}
    if len(known) < len(wanted):
        counted = count_document_frequencies(mining, members, lexical, progress)
        rows = [
            MiningShared(mining=mining, name=name, content=frequency) for name, frequency in counted.items()
        ]
        MiningShared.objects.bulk_create(rows, ignore_conflicts=True)
        known = counted
    return {
        one.name: [
            Frequencies.from_bytes(known[frequency_name_of(one, field)])
            for field in range(len(one.fields("")))
        ]
        for one in lexical
    }


def frequency_name_of(encoder: LexicalEncoder, field: int) -> str:
    return f"frequencies of field {field} of {encoder.name}"


def count_document_frequencies(
    mining: Mining,
    members: Sequence[int],
    lexical: Sequence[LexicalEncoder],
    progress: StageProgress | None,
) -> dict[str, bytes]:
    """Count the fields of the snippets that differ, as they are searched."""
    counting = {
        frequency_name_of(lexical_encoder, field): Counting()
        for lexical_encoder in lexical
        for field in range(len(lexical_encoder.fields("")))
    }
    seen = set[bytes]()
    for start in range(0, len(members), MEMBERS_A_READ):
        for text in texts_of(members[start : start + MEMBERS_A_READ], mining.text_option).texts:
            if (key := digest_text(text)) in seen:
                continue
            seen.add(key)
            for encoder in lexical:
                for field, part in enumerate(encoder.fields(text)):
                    counting[frequency_name_of(encoder, field)].add(part)
        if progress is not None:
            progress("counting terms", min(start + MEMBERS_A_READ, len(members)), len(members))
    return {name: one.done().to_bytes() for name, one in counting.items()}
