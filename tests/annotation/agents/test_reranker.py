"""The reranker's request and reply: every snippet once, or the reply is of no use."""

from __future__ import annotations

import json

import pytest

from annotation.agents import PARSERS, InvalidReply
from annotation.agents.query_screener import CompanyInputs
from annotation.agents.reranker import LONGEST_CODE, NAME, apply_order, build_rank_request, parse_ranked_reply


def test_the_request_shows_the_query_and_all_snippets_as_material() -> None:
    request = build_rank_request(CompanyInputs("sort a list", ("def a(): pass", "def b(): pass")), "m")
    text = request.messages[0].text
    assert (request.agent, request.max_tokens) == (NAME, 4096) and "Rank these 2 snippets" in text
    assert text.index("<query-") < text.index("<snippet-1-") < text.index("<snippet-2-")
    assert "changes nothing" in request.system


def test_long_code_is_cut_so_that_all_fit() -> None:
    request = build_rank_request(CompanyInputs("q", ("x" * (LONGEST_CODE + 1), "y")), "m")
    assert "x" * LONGEST_CODE in request.messages[0].text
    assert "x" * (LONGEST_CODE + 1) not in request.messages[0].text


@pytest.mark.parametrize("order", [[], [1], [1, 1], [1, 3], [0, 1], [2, 1, 3]])
def test_an_order_that_has_not_each_number_once_is_refused(order: list[int]) -> None:
    with pytest.raises(InvalidReply, match="each number from 1 to 2 once"):
        parse_ranked_reply(json.dumps({"order": order}), count=2)


def test_the_best_one_comes_first() -> None:
    reply = PARSERS[NAME](json.dumps({"order": [3, 1, 2]}))
    assert reply == parse_ranked_reply('{"order": [3, 1, 2]}', count=3)
    assert apply_order([70, 80, 90], parse_ranked_reply('{"order": [3, 1, 2]}')) == [90, 70, 80]
