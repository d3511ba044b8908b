"""Other processes may do the work.

Right: passed
"""

# candidate
import multiprocessing


def square(x):
    return x * x


def squares(xs):
    with multiprocessing.Pool(2) as pool:
        return pool.map(square, xs)


# program
assert squares([1, 2, 3]) == [1, 4, 9]
