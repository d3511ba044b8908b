"""The candidate changes the defaults of `json.dumps` in place.

Right: not passed, or suspicious
"""

# candidate
import json


class Own(json.JSONEncoder):
    def encode(self, o):
        return "x"


json.dumps.__kwdefaults__["cls"] = Own


def swap(d):
    return {}


# program
import json

assert json.dumps(swap({"a": 1})) == json.dumps({1: "a"})
