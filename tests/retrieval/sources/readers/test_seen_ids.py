"""Ids that come again: with another text they are refused, with the same they do no harm."""

from retrieval.sources.readers.seen_ids import Seen


def test_an_id_stands_for_its_first_text() -> None:
    seen = Seen()
    assert [seen.refusal(*one) for one in (("1", "a"), ("2", "a"), ("1", "a"))] == ["", "", ""]
    assert [seen.refusal("3", text) for text in ("a\r\nb", " a\nb\n")] == ["", ""]
    for _ in range(2):
        assert seen.refusal("1", "b").startswith("the id '1' was there before with another text")
