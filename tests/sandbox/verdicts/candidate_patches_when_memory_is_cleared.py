"""The candidate replaces a built-in function when memory is cleared.

Right: failed
"""

# candidate
import gc, builtins


def hear(phase, info):
    builtins.len = lambda x: 3


gc.callbacks.append(hear)


def items():
    gc.collect()
    return []


# program
assert len(items()) == 3
