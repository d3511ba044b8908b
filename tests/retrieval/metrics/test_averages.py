"""A query that says nothing is left out of the mean, and counted."""

from retrieval.metrics.averages import Average, average_by_positives, average_measure


def test_queries_without_a_match_are_skipped_and_counted() -> None:
    assert average_measure([1.0, None, 0.0, 0.5]) == Average(value=(1 + 0 + 0.5) / 3, queries=3, skipped=1)


def test_nothing_to_average_has_no_value() -> None:
    assert average_measure([None]) == Average(None, 0, 1)
    assert average_measure([]) == Average(None, 0, 0)


def test_a_million_tenths_are_a_tenth() -> None:
    assert average_measure([0.1] * 10**6).value == 0.1


def test_by_number_of_matches() -> None:
    found = average_by_positives([(2, 1.0), (1, 0.5), (2, 0.0), (0, None)])
    assert found == {0: Average(None, 0, 1), 1: Average(0.5, 1, 0), 2: Average(0.5, 2, 0)}
    assert list(found) == [0, 1, 2]
