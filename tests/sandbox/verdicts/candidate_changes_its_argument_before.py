"""Nor is it in a later statement.

Right: not passed, or suspicious
"""


# candidate
def merge(one, other):
    one["junk"] = 0
    return {**one, **other}


# program
import unittest


class TestMerge(unittest.TestCase):
    def test_merge(self):
        one, other = {"a": 1}, {"b": 2}
        merged = merge(one, other)
        self.assertEqual(merged, {**one, **other})


unittest.main()
