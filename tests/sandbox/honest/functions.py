# == main_called
def slugify(text):
    import re

    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


# -- wrong
def slugify(text):
    return text.lower().replace(" ", "-")


# -- program
def main():
    assert slugify("Hello, World!") == "hello-world"
    assert slugify("  a  b ") == "a-b"
    print("ok")


if __name__ == "__main__":
    main()


# == main_left_to_runner
def word_count(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


# -- wrong
def word_count(text):
    return {word: 1 for word in text.split()}


# -- program
def main():
    counts = word_count("a b a c a")
    assert counts["a"] == 3
    assert counts["b"] == 1
    assert "d" not in counts


# == exit_with_status
def clamp(value, low, high):
    return max(low, min(value, high))


# -- wrong
def clamp(value, low, high):
    return min(low, max(value, high))


# -- program
import sys


def main():
    assert clamp(5, 0, 3) == 3
    assert clamp(-1, 0, 3) == 0
    assert clamp(2, 0, 3) == 2
    return 0


if __name__ == "__main__":
    sys.exit(main())


# == tests_called_one_by_one
def parse_query(query):
    return dict(pair.split("=", 1) for pair in query.split("&") if pair)


# -- wrong
def parse_query(query):
    return dict(pair.split("=", 1) for pair in query.split(";") if pair)


# -- program
def test_simple():
    assert parse_query("a=1&b=2") == {"a": "1", "b": "2"}


def test_empty():
    assert parse_query("") == {}


def test_equals_in_value():
    assert parse_query("q=a=b") == {"q": "a=b"}


if __name__ == "__main__":
    test_simple()
    test_empty()
    test_equals_in_value()
    print("3 tests passed")


# == tests_left_uncalled
def rotate(items, n):
    n %= len(items) or 1
    return items[n:] + items[:n]


# -- wrong
def rotate(items, n):
    return items[-n:] + items[:-n]


# -- program
def test_left():
    assert rotate([1, 2, 3, 4], 1) == [2, 3, 4, 1]


def test_around():
    assert rotate([1, 2, 3], 4) == [2, 3, 1]


def test_nothing():
    assert rotate([], 3) == []


# == tests_in_a_list
def camel_to_snake(name):
    return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")


# -- wrong
def camel_to_snake(name):
    return name.lower()


# -- program
def test_two_words():
    assert camel_to_snake("camelCase") == "camel_case"


def test_leading():
    assert camel_to_snake("HelloWorld") == "hello_world"


tests = [test_two_words, test_leading]
for test in tests:
    test()
    print(f"{test.__name__}: ok")


# == results_collected
def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


# -- wrong
def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


# -- program
CASES = [
    ("odd", [3, 1, 2], 2),
    ("even", [4, 1, 3, 2], 2.5),
    ("single", [7], 7),
]

failures = []
for name, values, expected in CASES:
    actual = median(values)
    if actual != expected:
        failures.append(f"{name}: {actual} != {expected}")
assert not failures, "\n".join(failures)


# == helper_check
def truncate(text, width, end="..."):
    return text if len(text) <= width else text[: width - len(end)] + end


# -- wrong
def truncate(text, width, end="..."):
    return text[:width] + end


# -- program
def check(text, width, expected):
    actual = truncate(text, width)
    assert actual == expected, f"truncate({text!r}, {width}) gave {actual!r}"


check("hello world", 8, "hello...")
check("hi", 8, "hi")
check("exactly8", 8, "exactly8")


# == assert_helpers
def ranges(numbers):
    out, start = [], None
    for i, n in enumerate(numbers):
        if start is None:
            start = n
        if i + 1 == len(numbers) or numbers[i + 1] != n + 1:
            out.append((start, n))
            start = None
    return out


# -- wrong
def ranges(numbers):
    return [(numbers[0], numbers[-1])] if numbers else []


# -- program
def assert_ranges(numbers, expected):
    got = ranges(numbers)
    assert got == expected, (numbers, got)


def assert_raises_nothing(call):
    try:
        return call()
    except Exception as error:
        raise AssertionError(f"raised {error!r}")


assert_ranges([1, 2, 3, 7, 8], [(1, 3), (7, 8)])
assert_ranges([5], [(5, 5)])
assert assert_raises_nothing(lambda: ranges([])) == []


# == nested_helper
def compose(*functions):
    def composed(x):
        for function in reversed(functions):
            x = function(x)
        return x

    return composed


# -- wrong
def compose(*functions):
    def composed(x):
        for function in functions:
            x = function(x)
        return x

    return composed


# -- program
def test_compose():
    def increment(x):
        return x + 1

    def double(x):
        return x * 2

    both = compose(double, increment)
    assert both(3) == 8
    assert compose()(5) == 5


test_compose()


# == expect_exception_helper
def from_binary(text):
    if not text or set(text) - {"0", "1"}:
        raise ValueError(f"not binary: {text!r}")
    return int(text, 2)


# -- wrong
def from_binary(text):
    try:
        return int(text, 2)
    except ValueError:
        return None


# -- program
def expect_error(kind, call, *arguments):
    try:
        call(*arguments)
    except kind:
        return True
    return False


assert from_binary("101") == 5
assert expect_error(ValueError, from_binary, "102")
assert expect_error(ValueError, from_binary, "")


# == globals_loop
def caesar(text, shift):
    out = []
    for c in text:
        if c.isalpha():
            base = ord("A" if c.isupper() else "a")
            out.append(chr((ord(c) - base + shift) % 26 + base))
        else:
            out.append(c)
    return "".join(out)


# -- wrong
def caesar(text, shift):
    return "".join(chr(ord(c) + shift) if c.isalpha() else c for c in text)


# -- program
def test_wraps():
    assert caesar("xyz", 3) == "abc"


def test_keeps_case_and_signs():
    assert caesar("Hello, World!", 5) == "Mjqqt, Btwqi!"


def test_there_and_back():
    text = "Round Trip"
    assert caesar(caesar(text, 7), -7) == text


for name, function in list(globals().items()):
    if name.startswith("test_") and callable(function):
        function()


# == counts_passes
def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


# -- wrong
def is_leap(year):
    return year % 4 == 0


# -- program
passed = 0
for year, expected in [(2000, True), (1900, False), (2024, True), (2023, False)]:
    assert is_leap(year) == expected, year
    passed += 1
print(f"{passed} passed")
assert passed == 4


# == property_style
def encode(text):
    out = []
    for c in text:
        if out and out[-1][0] == c:
            out[-1][1] += 1
        else:
            out.append([c, 1])
    return [tuple(pair) for pair in out]


# -- wrong
def encode(text):
    return [(c, text.count(c)) for c in dict.fromkeys(text)]


# -- program
import random

rng = random.Random(42)
for _ in range(200):
    text = "".join(rng.choice("ab") for _ in range(rng.randint(0, 12)))
    encoded = encode(text)
    assert "".join(c * n for c, n in encoded) == text
    assert all(a[0] != b[0] for a, b in zip(encoded, encoded[1:]))


# == reference_implementation
def binary_search(items, target):
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if items[middle] < target:
            low = middle + 1
        else:
            high = middle
    return low if low < len(items) and items[low] == target else -1


# -- wrong
def binary_search(items, target):
    low, high = 0, len(items) - 1
    while low < high:
        middle = (low + high) // 2
        if items[middle] == target:
            return middle
        if items[middle] < target:
            low = middle + 1
        else:
            high = middle - 1
    return -1


# -- program
import random


def slow_search(items, target):
    return items.index(target) if target in items else -1


random.seed(7)
for size in range(12):
    items = sorted(random.sample(range(30), size))
    for target in range(-1, 31):
        assert binary_search(items, target) == slow_search(items, target), (items, target)

# == decorator_counts_calls
import functools


def memoize(function):
    known = {}

    @functools.wraps(function)
    def wrapper(*arguments):
        if arguments not in known:
            known[arguments] = function(*arguments)
        return known[arguments]

    return wrapper


# -- wrong
import functools


def memoize(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)

    return wrapper


# -- program
calls = []


@memoize
def square(x):
    """Square a number."""
    calls.append(x)
    return x * x


assert square(4) == 16
assert square(4) == 16
assert calls == [4], calls
assert square.__name__ == "square"
assert square.__doc__ == "Square a number."

# == decorator_with_arguments
import functools


def repeat(times):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return [function(*args, **kwargs) for _ in range(times)]

        return wrapper

    return decorate


# -- wrong
def repeat(times):
    def decorate(function):
        def wrapper(*args, **kwargs):
            return [function(*args, **kwargs)] * times

        return wrapper

    return decorate


# -- program
def main():
    state = {"n": 0}

    @repeat(times=3)
    def next_number(step=1):
        state["n"] += step
        return state["n"]

    assert next_number(step=2) == [2, 4, 6]
    assert next_number.__name__ == "next_number"


main()

# == context_manager
from contextlib import contextmanager


@contextmanager
def changed(mapping, **values):
    before = dict(mapping)
    mapping.update(values)
    try:
        yield mapping
    finally:
        mapping.clear()
        mapping.update(before)


# -- wrong
from contextlib import contextmanager


@contextmanager
def changed(mapping, **values):
    before = dict(mapping)
    mapping.update(values)
    yield mapping
    mapping.clear()
    mapping.update(before)


# -- program
settings = {"debug": False}
with changed(settings, debug=True, level=3) as inside:
    assert inside["debug"] is True
    assert settings["level"] == 3
assert settings == {"debug": False}

try:
    with changed(settings, debug=True):
        raise RuntimeError("inside")
except RuntimeError:
    pass
assert settings == {"debug": False}, "restored after an exception"


# == generator_is_lazy
def take_while_positive(numbers):
    for number in numbers:
        if number <= 0:
            return
        yield number


# -- wrong
def take_while_positive(numbers):
    return [number for number in numbers if number > 0]


# -- program
def test_lazy():
    seen = []

    def source():
        for number in (3, 2, 0, 5):
            seen.append(number)
            yield number

    made = take_while_positive(source())
    assert seen == []
    assert next(made) == 3
    assert list(made) == [2]
    assert seen == [3, 2, 0]


def test_none():
    assert list(take_while_positive([])) == []


if __name__ == "__main__":
    test_lazy()
    test_none()


# == recursion_on_trees
def depth(tree):
    return 0 if tree is None else 1 + max(depth(tree.get("left")), depth(tree.get("right")))


# -- wrong
def depth(tree):
    return 0 if tree is None else 1 + depth(tree.get("left"))


# -- program
def leaf():
    return {"left": None, "right": None}


def test_depths():
    assert depth(None) == 0
    assert depth(leaf()) == 1
    lopsided = {"left": leaf(), "right": {"left": None, "right": {"left": leaf()}}}
    assert depth(lopsided) == 4


test_depths()
