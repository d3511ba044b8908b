"""A profiler of the library is there to be used.

Right: passed
"""

# candidate
import cProfile, io, pstats


def profiled(function, *args):
    profile = cProfile.Profile()
    profile.enable()
    try:
        return function(*args), True
    finally:
        profile.disable()


# program
def work(x):
    return x * 2


assert profiled(work, 4) == (8, True)
