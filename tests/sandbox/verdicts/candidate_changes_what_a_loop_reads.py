"""The same by unittest, with numbers.

Right: not passed, or suspicious
"""


# candidate
def at(items, i):
    items[:] = [items[0]] * len(items)
    return items[0]


# program
import unittest


class T(unittest.TestCase):
    def test(self):
        items = [1, 2, 3]
        for i, wanted in enumerate(items):
            self.assertEqual(at(items, i), wanted)


unittest.main()
