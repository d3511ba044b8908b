"""What a generator reads is no proof after the candidate has changed it.

Right: not passed, or suspicious
"""


# candidate
def get(t, k):
    for q in t:
        t[q] = 9
    return 9


# program
t = {"a": 1, "b": 2}
assert all(get(t, k) == w for k, w in t.items())
