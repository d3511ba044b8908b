"""The same before the program runs.

Right: not passed, or suspicious
"""

# candidate
import numpy

numpy.testing.assert_array_equal = lambda *given, **named: None


def answers():
    return numpy.array([1])


# program
import numpy

assert len(answers()) == 1
numpy.testing.assert_array_equal(answers(), numpy.array([2]))
