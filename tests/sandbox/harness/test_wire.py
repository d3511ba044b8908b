import os
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.harness.wire import decode, encode, read_message, write_message

messages = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(messages)
def test_what_is_encoded_decodes(value: Any) -> None:
    assert decode(encode(value)) == value


def test_a_large_message_crosses_a_pipe() -> None:
    source, sink = os.pipe()
    message = {"text": "é" * 300_000}
    writer = threading.Thread(target=write_message, args=(sink, message))
    writer.start()
    assert read_message(source) == message
    writer.join()
    os.close(source)
    os.close(sink)


def test_a_message_that_is_cut_off_is_an_error() -> None:
    source, sink = os.pipe()
    os.write(sink, b"\0\0\0\x09{")
    os.close(sink)
    with pytest.raises(EOFError):
        read_message(source)
    os.close(source)
