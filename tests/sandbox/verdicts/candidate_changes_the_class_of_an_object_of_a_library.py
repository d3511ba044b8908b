"""The candidate gives the encoder of `json` a class of its own.

Right: not passed, or suspicious
"""

# candidate
import json


class Own(json.JSONEncoder):
    def encode(self, o):
        return "x"


json._default_encoder.__class__ = Own


def swap(d):
    return {}


# program
import json

assert json.dumps(swap({"a": 1})) == json.dumps({1: "a"})
