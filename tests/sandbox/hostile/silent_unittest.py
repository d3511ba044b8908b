"""Tries: replace the methods of unittest by ones that never fail.

Must: never count as passed: what the program put there is no assertion.
Outcome: errored
Stopped by: recorded verdict + signs of forging
Report: suspicious, untouched
"""

import unittest


def pleased(*arguments):
    return None


unittest.TestCase.assertEqual = pleased
print("attack: patch unittest", flush=True)


class Tests(unittest.TestCase):
    def test(self):
        self.assertEqual(answer(), 43)


Tests("test").test()
