"""The HTTP client of language models connects to what was judged, under the name that it was given."""

from __future__ import annotations

import httpx2
import pytest

from annotation.llm.deadline import bounded_client


def test_a_pinned_client_tells_the_server_the_name_and_goes_to_the_first_address_that_answers() -> None:
    seen: list[httpx2.Request] = []

    def answer(self: httpx2.HTTPTransport, request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        if request.url.host == "192.0.2.1":
            raise httpx2.ConnectError("nobody there")
        return httpx2.Response(200, text="here")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(httpx2.HTTPTransport, "handle_request", answer)
        with bounded_client(5.0, ("192.0.2.1", "2001:db8::1")) as client:
            told = client.post("https://models.example:8443/v1/messages", json={"a": 1})
    assert told.text == "here"
    assert [request.url.host for request in seen] == ["192.0.2.1", "2001:db8::1"]
    assert {request.headers["host"] for request in seen} == {"models.example:8443"}
    assert {request.extensions["sni_hostname"] for request in seen} == {"models.example"}
    assert [request.read() for request in seen] == [b'{"a":1}'] * 2
