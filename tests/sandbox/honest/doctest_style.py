# == run_docstring_examples
def double(x):
    return x * 2


# -- wrong
def double(x):
    return x + x + 1


# -- program
import doctest

EXAMPLES = """
>>> double(3)
6
>>> double("ab")
'abab'
"""
parser = doctest.DocTestParser()
test = parser.get_doctest(EXAMPLES, {"double": double}, "double", None, 0)
runner = doctest.DocTestRunner(verbose=False)
runner.run(test)
assert runner.failures == 0
assert double(2) == 4


# == own_docstring
def initials(name):
    """Initials of a name.

    >>> initials("Ada Lovelace")
    'A.L.'
    """
    return "".join(part[0] + "." for part in name.split())


# -- wrong
def initials(name):
    """Initials of a name.

    >>> initials("Ada Lovelace")
    'A.L.'
    """
    return ".".join(part[0] for part in name.split())


# -- program
import doctest

finder = doctest.DocTestFinder()
tests = finder.find(initials, "initials", globs={"initials": initials})
runner = doctest.DocTestRunner()
results = [runner.run(test) for test in tests]
assert results and all(result.failed == 0 for result in results)


# == function_with_examples
def pairwise_sums(numbers):
    return [a + b for a, b in zip(numbers, numbers[1:])]


# -- wrong
def pairwise_sums(numbers):
    return [a + b for a, b in zip(numbers[::2], numbers[1::2])]


# -- program
import doctest


def check_pairwise():
    """
    >>> pairwise_sums([1, 2, 3, 4])
    [3, 5, 7]
    >>> pairwise_sums([1])
    []
    """


failed, attempted = doctest.testmod()
assert attempted == 2
assert failed == 0, f"{failed} examples failed"


# == testmod_alone
def spell(n):
    """Spell a digit.

    >>> spell(0)
    'zero'
    >>> spell(2)
    'two'
    """
    return ("zero", "one", "two", "three")[n]


# -- wrong
def spell(n):
    """Spell a digit.

    >>> spell(0)
    'zero'
    >>> spell(2)
    'two'
    """
    return ("one", "two", "three", "four")[n]


# -- program
import doctest

if __name__ == "__main__":
    doctest.testmod()


# == testmod_in_tests
def swap_case(text):
    return "".join(c.lower() if c.isupper() else c.upper() for c in text)


# -- wrong
def swap_case(text):
    return text.upper()


# -- program
"""
>>> swap_case("aBc")
'AbC'
>>> [swap_case(word) for word in ("x", "Y")]
['X', 'y']
"""
import doctest


def main():
    results = doctest.testmod(verbose=True)
    print(f"{results.attempted} tests, {results.failed} failures")


main()


# == examples_raise
def nth(items, n):
    if n >= len(items):
        raise IndexError("too few items")
    return items[n]


# -- wrong
def nth(items, n):
    return items[n % len(items)]


# -- program
"""Examples.

>>> nth("abc", 1)
'b'
>>> nth("abc", 3)
Traceback (most recent call last):
    ...
IndexError: too few items
"""
import doctest
import sys

sys.exit(doctest.testmod().failed)
