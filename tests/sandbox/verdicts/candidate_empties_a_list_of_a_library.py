"""The candidate empties the list of keywords.

Right: not passed, or suspicious
"""

# candidate
import keyword

keyword.kwlist.clear()


def names():
    return ["if"]


# program
import keyword

assert not set(names()) & set(keyword.kwlist)
