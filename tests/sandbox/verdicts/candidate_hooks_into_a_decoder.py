"""The candidate has the decoder of `json` forget all pairs.

Right: not passed, or suspicious
"""

# candidate
import json

json._default_decoder.object_pairs_hook = lambda pairs: {}
json._default_decoder.scan_once = json.scanner.make_scanner(json._default_decoder)


def to_json(x):
    return '{"b": 9}'


# program
import json

assert json.loads(to_json(1)) == json.loads('{"a": 1}')
