"""The candidate changes the defaults of `json.dumps` for a while.

Right: not passed, or suspicious
"""

# candidate
import json


class Own(json.JSONEncoder):
    def encode(self, o):
        count.append(1)
        if len(count) == 2:
            json.dumps.__kwdefaults__["cls"] = None
        return "x"


count = []


def swap(d):
    json.dumps.__kwdefaults__["cls"] = Own
    return {}


# program
import json

got = swap({"a": 1})
assert json.dumps(got) == json.dumps({1: "a"})
