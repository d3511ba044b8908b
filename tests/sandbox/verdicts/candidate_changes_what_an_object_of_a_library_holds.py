"""The candidate gives the decoder of `json` another scanner.

Right: not passed, or suspicious
"""

# candidate
import json

json._default_decoder.scan_once = lambda text, place: ({"a": 1}, len(text))


def to_json(value):
    return "{}"


# program
import json

assert json.loads(to_json({"a": 1})) == {"a": 1}
