"""What a corpus looks like in numbers: lengths, languages, matches by rank, what encoders have in common.

Counted by statements over sets of rows. Where texts themselves have to be read, an even sample of so many is,
so that a look at 653,994 snippets costs what one at 2,000 does; who wants all of them asks for that.
"""

from __future__ import annotations

SAMPLED = 2_000


def sample_places_evenly(total: int, most: int | None = SAMPLED) -> list[int]:
    """At most `most` of the places 0 to total - 1, as far from each other as they can be; None: all.

    >>> evenly(10, 3)
    [0, 3, 6]
    """
    if most is None or total <= most:
        return list(range(total))
    return [place * total // most for place in range(most)]
