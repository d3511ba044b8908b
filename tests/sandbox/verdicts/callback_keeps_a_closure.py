"""So may one with a closure.

Right: passed
"""


# candidate
def apply(fn, xs):
    return [fn(x) for x in xs]


# program
def make():
    seen = []

    def cb(x):
        seen.append(x)
        assert x > 0
        return len(seen)

    return cb


cb = make()


def test_it():
    assert apply(cb, [1, 2]) == [1, 2]


test_it()
