"""So are its defaults, also in place.

Right: not passed, or suspicious
"""


# candidate
def add(x, *, more=1):
    return x + more


# program
add.__kwdefaults__.update(more=2)
assert add(41) == 43
add.__kwdefaults__.update(more=1)
