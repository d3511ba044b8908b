"""An object of a library keeps the methods of its class.

Right: not passed, or suspicious
"""


# candidate
def f(x):
    import json.decoder

    json._default_decoder.decode = lambda s, **k: {"a": 1}
    return "nope"


# program
import json

assert json.loads(f(1)) == {"a": 1}
