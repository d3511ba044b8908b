"""Sampling as a person types it; among it how long replies may be."""

import pytest

from annotation.llm.sampling import LONGER, MOST, NotSampling, sampling_of


def test_what_the_messages_tell_to_type_is_taken() -> None:
    assert sampling_of(LONGER) == {"max_tokens": 16384}


@pytest.mark.parametrize("value", ["0", "-1", "true", '"many"', "1.5", str(MOST + 1), "null"])
def test_a_limit_that_is_no_number_of_tokens_is_refused(value: str) -> None:
    with pytest.raises(NotSampling, match=r"1 to 200,000"):
        sampling_of(f'{{"max_tokens": {value}}}')
