"""Vectors of a server that speaks OpenAI's embeddings protocol, with a small one that does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import LazySettings
from django.core.management import call_command

from retrieval import encoders
from retrieval.encoders import MissingWeights
from retrieval.encoders.dense import endpoint
from retrieval.encoders.dense.endpoint import EndpointEncoder, asked_in_words
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.mining import begin_anew, perform_mining
from retrieval.models import Annotator, Label, Mining, Pair
from tests import factories

Answer = tuple[int, dict[str, Any]]


@dataclass
class Server:
    """What was asked, and what is answered before the vectors."""

    port: int = 0
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    instead: list[Answer] = field(default_factory=list)
    usage: Any = field(default_factory=dict)

    def answer(self, body: dict[str, Any]) -> Answer:
        self.asked.append(body)
        if self.instead:
            return self.instead.pop(0)
        if len(body["input"]) > endpoint.TEXTS_A_REQUEST or "" in body["input"]:
            return 400, {"error": {"message": "input has an empty string, or is too long"}}
        rows = [
            {"object": "embedding", "index": place, "embedding": vector_of(text)}
            for place, text in enumerate(body["input"])
        ]
        return 200, {"object": "list", "model": body["model"], "data": rows[::-1], "usage": self.usage}


def vector_of(text: str) -> list[float]:
    return [3.0 * len(text), 4.0, float(text.count("a"))]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.keys.add(self.headers["Authorization"])
            status, told = state.answer(body) if self.path == "/v1/embeddings" else (404, {})
            data = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("retry-after-ms", "10")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        state.port = listening.server_address[1]
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        monkeypatch.setenv(endpoint.BASE_URL, f"http://127.0.0.1:{state.port}/v1")
        monkeypatch.setenv(endpoint.KEY, "secret-key")
        yield state
        listening.shutdown()


def expected(texts: list[str]) -> Any:
    rows = np.array([vector_of(" ".join(text.split())[: endpoint.LONGEST] or "empty") for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_vectors_are_those_of_their_texts_whatever_the_order_of_the_answer(server: Server) -> None:
    texts = [f"sort  a\nlist {'a' * (n % 7)}" for n in range(300)] + ["", "   ", "x" * 20_000]
    done: list[tuple[int, int]] = []
    found = EndpointEncoder("tiny").encode(texts, "snippet", lambda *seen: done.append(seen))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected(texts), atol=1e-6)
    assert done[-1] == (303, 303)
    assert {body["model"] for body in server.asked} == {"tiny"}
    assert server.keys == {"Bearer secret-key"}


def test_no_text_gives_no_vector_and_the_dimension_is_the_servers(server: Server) -> None:
    encoder = EndpointEncoder("tiny")
    assert encoder.encode([], "query").shape == (0, 3)
    assert encoder.dimension == 3
    assert len(server.asked) == 1


def test_a_server_that_puts_off_is_asked_again(server: Server) -> None:
    server.instead = [(429, {"error": {"message": "slowly"}}), (503, {}), (500, {})]
    np.testing.assert_allclose(EndpointEncoder("tiny").encode(["ab"], "query"), expected(["ab"]), atol=1e-6)


def test_a_refusal_is_told_without_the_key(server: Server) -> None:
    server.instead = [(401, {"error": {"message": "the key is none of ours"}})]
    with pytest.raises(MissingWeights, match="the key is none of ours") as caught:
        EndpointEncoder("tiny").encode(["a"], "query")
    assert "secret-key" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "1 texts were sent"),
        ([{"index": 0, "embedding": [0.0, 0.0]}], "no direction"),
        ([{"index": 0, "embedding": [1e300, 1.0]}], "no direction"),
        ([{"index": 0, "embedding": "AAAA"}], "no list of vectors"),
        ([{"index": 0}], "the answer has shape"),
        (None, "no list of vectors|No embedding data"),
    ],
)
def test_an_answer_that_is_none_is_told(server: Server, data: Any, said: str) -> None:
    server.instead = [(200, {"object": "list", "data": data, "model": "tiny"})]
    with pytest.raises(MissingWeights, match=said):
        _ = EndpointEncoder("tiny").dimension


def test_vectors_of_two_lengths_are_refused(server: Server) -> None:
    encoder = EndpointEncoder("tiny")
    assert encoder.dimension == 3
    server.instead = [(200, {"data": [{"index": 0, "embedding": [1.0, 0.0]}]})]
    with pytest.raises(MissingWeights, match="vectors of 2 and 3"):
        encoder.encode(["a"], "query")


def test_what_is_not_configured_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (endpoint.BASE_URL, endpoint.KEY, endpoint.MODEL):
        monkeypatch.delenv(name, raising=False)
    missing = encoders.why_missing("endpoint:tiny")
    assert missing is not None and endpoint.BASE_URL in missing
    monkeypatch.setenv(endpoint.BASE_URL, "models:8000")
    assert "begin it with https://" in str(encoders.why_missing("endpoint:tiny"))
    monkeypatch.setenv(endpoint.BASE_URL, "http://models:8000/v1/")
    assert endpoint.KEY in str(encoders.why_missing("endpoint:tiny"))
    monkeypatch.setenv(endpoint.KEY, "any")
    assert encoders.why_missing("endpoint:tiny") is None
    assert endpoint.MODEL in str(encoders.why_missing("endpoint"))
    monkeypatch.setenv(endpoint.MODEL, "tiny")
    assert encoders.why_missing("endpoint") is None


def test_what_is_stored_is_kept_by_server_model_and_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(endpoint.BASE_URL, "https://user:pass@models.example:8443/v1/")
    monkeypatch.setenv(endpoint.KEY, "any")
    encoder = encoders.find_encoder("endpoint:text-large")
    assert encoder.name == "endpoint:text-large"
    assert encoder.identity == "endpoint;server=models.example:8443/v1;model=text-large;characters=8000"


def test_a_server_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "RETRIES", 0)
    monkeypatch.setenv(endpoint.BASE_URL, "http://user:pass@127.0.0.1:9/v1")
    monkeypatch.setenv(endpoint.KEY, "any")
    with pytest.raises(MissingWeights, match="endpoint:tiny: Connection error of the server at 127") as told:
        EndpointEncoder("tiny").encode(["a"], "query")
    assert "127.0.0.1:9/v1; COSQA_EMBEDDINGS_BASE_URL says" in str(told.value)
    assert "pass" not in str(told.value)


def test_tokens_are_counted_as_the_server_tells_them(server: Server) -> None:
    server.usage = {"prompt_tokens": 11, "total_tokens": 11}
    encoder = EndpointEncoder("tiny")
    encoder.encode(["a"] * (2 * endpoint.TEXTS_A_REQUEST), "snippet")
    assert (encoder.used.requests, encoder.used.tokens, encoder.used.untold) == (3, 33, 0)
    assert encoder == EndpointEncoder("tiny")


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"prompt_tokens": None},
        {"prompt_tokens": -1},
        {"prompt_tokens": 10**12},
        {"prompt_tokens": True},
    ],
)
def test_an_answer_without_a_number_of_tokens_is_counted_as_such(server: Server, usage: Any) -> None:
    server.usage = usage
    encoder = EndpointEncoder("tiny")
    encoder.encode(["a"], "query")
    assert (encoder.used.requests, encoder.used.tokens, encoder.used.untold) == (2, 0, 2)


def test_what_was_answered_wrongly_is_paid_all_the_same(server: Server) -> None:
    server.instead = [(200, {"data": [], "usage": {"prompt_tokens": 5}}), *[(401, {})] * 2]
    encoder = EndpointEncoder("tiny")
    for _ in range(2):
        with pytest.raises(MissingWeights):
            _ = encoder.dimension
    assert (encoder.used.requests, encoder.used.tokens) == (1, 5)


@pytest.mark.django_db
def test_a_mining_adds_up_what_was_asked_for_it(server: Server, tmp_path: Path) -> None:
    server.usage = {"prompt_tokens": 7}
    queries, snippets = factories.queries(), factories.snippets()
    row = Mining.objects.create(
        queries=queries, snippets=snippets, encoders=["endpoint:tiny", "bm25"], k=2, rule=0
    )
    perform_mining(row, tmp_path)
    row.refresh_from_db()
    before = len(server.asked)
    counts = {"model": "tiny", "requests": before, "tokens": 7 * before, "untold": 0}
    assert row.asked == {"endpoint:tiny": counts}
    begin_anew(row)
    perform_mining(row, tmp_path)
    row.refresh_from_db()
    now = len(server.asked)
    assert row.asked == {"endpoint:tiny": {**counts, "requests": now, "tokens": 7 * now}}
    assert now <= before + 1, "vectors are stored: at most the dimension is asked for"


@pytest.mark.django_db
def test_what_was_asked_of_a_server_that_fails_later_is_kept(server: Server, tmp_path: Path) -> None:
    server.instead = [(200, {"data": [], "usage": {"prompt_tokens": 5}})]
    row = Mining.objects.create(
        queries=factories.queries(), snippets=factories.snippets(), encoders=["endpoint:tiny"], k=2, rule=0
    )
    with pytest.raises(MissingWeights):
        perform_mining(row, tmp_path)
    asked = {"model": "tiny", "requests": 1, "tokens": 5, "untold": 0}
    assert Mining.objects.get(pk=row.pk).asked == {"endpoint:tiny": asked}


def test_whether_it_counts_terms_is_known_without_asking_a_server(server: Server) -> None:
    assert not encoders.is_lexical(EndpointEncoder("tiny"))
    assert encoders.is_lexical(encoders.find_encoder("bm25"))
    assert server.asked == []


@pytest.mark.django_db
def test_an_evaluation_says_what_was_asked_for_it(
    server: Server, settings: LazySettings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.COSQA_HOME = tmp_path
    server.usage = {"prompt_tokens": 600}
    queries, snippets = factories.queries(), factories.snippets()
    texts = (queries.members.get(position=0).text_id, snippets.members.get(position=0).text_id)
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    Label.objects.create(pair=Pair.objects.keep_all([texts])[0], annotator=by, value=1)
    publish_benchmark(Order("small", queries, snippets, "by hand"), Label.objects.all())
    call_command("evaluate", "small", "--encoder", "endpoint:tiny", "bm25", "--metrics", "mrr", "--json")
    found = json.loads(capsys.readouterr().out)
    requests = len(server.asked)
    counts = {"model": "tiny", "requests": requests, "tokens": 600 * requests, "untold": 0}
    assert found["endpoint:tiny"]["asked"] == {"endpoint:tiny": counts}
    assert found["bm25"]["asked"] is None
    call_command("evaluate", "small", "--encoder", "endpoint:tiny", "--metrics", "mrr")
    more = len(server.asked) - requests
    told = asked_in_words("endpoint:tiny", {"requests": more, "tokens": 600 * more, "untold": 0})
    assert told in capsys.readouterr().out.splitlines()


def test_what_was_asked_is_said_in_words() -> None:
    counts = {"model": "m", "requests": 1, "tokens": 1_200, "untold": 1}
    assert asked_in_words("tiny", counts) == "tiny: 1,200 tokens in 1 request; 1 answer named none"
