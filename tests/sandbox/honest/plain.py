# == reverse_words
def reverse_words(text):
    return " ".join(reversed(text.split()))


# -- wrong
def reverse_words(text):
    return text[::-1]


# -- program
assert reverse_words("the quick fox") == "fox quick the"
assert reverse_words("one") == "one"
assert reverse_words("  spaced   out ") == "out spaced"
assert reverse_words("") == ""
print("all tests passed")


# == flatten
def flatten(items):
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from flatten(item)
        else:
            yield item


# -- wrong
def flatten(items):
    for item in items:
        if isinstance(item, list):
            yield from item
        else:
            yield item


# -- program
nested = [1, [2, [3, (4, 5)]], [], [[[6]]]]
result = list(flatten(nested))
assert result == [1, 2, 3, 4, 5, 6], f"got {result}"
assert list(flatten([])) == []
# A string is one value.
assert list(flatten(["ab", ["cd"]])) == ["ab", "cd"]


# == merge_dicts
def merge_dicts(*dicts):
    merged = {}
    for one in dicts:
        merged.update(one)
    return merged


# -- wrong
def merge_dicts(*dicts):
    merged = {}
    for one in reversed(dicts):
        merged.update(one)
    return merged


# -- program
a, b = {"x": 1, "y": 2}, {"y": 3, "z": 4}
merged = merge_dicts(a, b)
assert merged == {"x": 1, "y": 3, "z": 4}
assert a == {"x": 1, "y": 2}, "the first argument must not change"
assert merge_dicts() == {}
assert list(merged) == ["x", "y", "z"]


# == is_palindrome
def is_palindrome(text):
    letters = [c.lower() for c in text if c.isalnum()]
    return letters == letters[::-1]


# -- wrong
def is_palindrome(text):
    return text == text[::-1]


# -- program
for text in ("A man, a plan, a canal: Panama", "racecar", "", "No lemon, no melon"):
    assert is_palindrome(text), text
for text in ("python", "ab"):
    assert not is_palindrome(text), text

# == gcd_of_many
from functools import reduce
from math import gcd


def gcd_of_many(*numbers):
    return reduce(gcd, numbers)


# -- wrong
def gcd_of_many(*numbers):
    return min(numbers)


# -- program
assert gcd_of_many(12, 18, 24) == 6
assert gcd_of_many(7) == 7
assert gcd_of_many(5, 10) == 5
assert all(90 % gcd_of_many(90, n) == 0 for n in range(1, 40))


# == roman
def to_roman(number):
    table = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ]
    out = []
    for value, sign in table:
        while number >= value:
            out.append(sign)
            number -= value
    return "".join(out)


# -- wrong
def to_roman(number):
    table = [(1000, "M"), (500, "D"), (100, "C"), (50, "L"), (10, "X"), (5, "V"), (1, "I")]
    out = []
    for value, sign in table:
        while number >= value:
            out.append(sign)
            number -= value
    return "".join(out)


# -- program
CASES = {1: "I", 4: "IV", 9: "IX", 14: "XIV", 40: "XL", 1994: "MCMXCIV", 2024: "MMXXIV"}
for number, numeral in CASES.items():
    actual = to_roman(number)
    assert actual == numeral, f"{number}: expected {numeral}, got {actual}"


# == divide_by_zero_expected
def safe_divide(a, b):
    if b == 0:
        raise ZeroDivisionError("b must not be zero")
    return a / b


# -- wrong
def safe_divide(a, b):
    if b == 0:
        return 0
    return a / b


# -- program
assert safe_divide(6, 3) == 2
try:
    safe_divide(1, 0)
    assert False, "expected ZeroDivisionError"
except ZeroDivisionError as error:
    assert "zero" in str(error)


# == raised_flag
def positive_root(x):
    if x < 0:
        raise ValueError("negative: %r" % x)
    return x**0.5


# -- wrong
def positive_root(x):
    return abs(x) ** 0.5


# -- program
raised = False
try:
    positive_root(-4)
except ValueError:
    raised = True
assert raised, "a negative number has no root"
assert positive_root(9) == 3.0


# == error_else
def parse_port(text):
    port = int(text)
    if not 0 < port < 65536:
        raise ValueError("out of range")
    return port


# -- wrong
def parse_port(text):
    return int(text)


# -- program
assert parse_port("80") == 80
for bad in ("0", "70000", "http"):
    try:
        parse_port(bad)
    except ValueError:
        pass
    else:
        raise AssertionError(f"{bad!r} was accepted")


# == chunks
def chunks(items, size):
    for start in range(0, len(items), size):
        yield items[start : start + size]


# -- wrong
def chunks(items, size):
    for start in range(0, len(items) - size + 1, size):
        yield items[start : start + size]


# -- program
import types

made = chunks(list(range(7)), 3)
assert isinstance(made, types.GeneratorType)
assert next(made) == [0, 1, 2]
assert list(made) == [[3, 4, 5], [6]]
assert list(chunks("abcd", 2)) == ["ab", "cd"]


# == sort_by_last_then_first
def sort_people(people):
    return sorted(people, key=lambda person: (person["last"], person["first"]))


# -- wrong
def sort_people(people):
    return sorted(people, key=lambda person: person["last"])


# -- program
people = [
    {"first": "Zoe", "last": "Adams"},
    {"first": "Bob", "last": "Brown"},
    {"first": "Amy", "last": "Adams"},
]
names = [f"{p['first']} {p['last']}" for p in sort_people(people)]
assert names == ["Amy Adams", "Zoe Adams", "Bob Brown"]
assert people[0]["first"] == "Zoe"


# == in_place_sort
def bubble_sort(items):
    for end in range(len(items) - 1, 0, -1):
        for i in range(end):
            if items[i] > items[i + 1]:
                items[i], items[i + 1] = items[i + 1], items[i]


# -- wrong
def bubble_sort(items):
    for i in range(len(items) - 1):
        if items[i] > items[i + 1]:
            items[i], items[i + 1] = items[i + 1], items[i]


# -- program
numbers = [5, 2, 9, 1, 5, 6]
bubble_sort(numbers)
assert numbers == [1, 2, 5, 5, 6, 9]
empty = []
bubble_sort(empty)
assert empty == []


# == fibonacci_recursive
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


# -- wrong
def fibonacci(n):
    return 1 if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


# -- program
assert [fibonacci(i) for i in range(10)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]


# == permutations_as_sets
def permutations(text):
    if len(text) <= 1:
        return [text]
    return [c + rest for i, c in enumerate(text) for rest in permutations(text[:i] + text[i + 1 :])]


# -- wrong
def permutations(text):
    return [text[i:] + text[:i] for i in range(len(text))]


# -- program
import itertools

expected = {"".join(p) for p in itertools.permutations("abc")}
found = permutations("abc")
assert set(found) == expected
assert len(found) == 6


# == count_vowels_unicode
def count_vowels(text):
    return sum(c in "aeiouäöü" for c in text.lower())


# -- wrong
def count_vowels(text):
    return sum(c in "aeiou" for c in text)


# -- program
assert count_vowels("Hello World") == 3
assert count_vowels("ÜBER") == 2
assert count_vowels("rhythm") == 0


# == bytes_to_hex
def to_hex(data):
    return " ".join(f"{byte:02x}" for byte in data)


# -- wrong
def to_hex(data):
    return " ".join(hex(byte)[2:] for byte in data)


# -- program
assert to_hex(b"\x00\xff\x10") == "00 ff 10"
assert to_hex(bytearray(b"AZ")) == "41 5a"
assert to_hex(b"") == ""


# == float_tolerance
def circle_area(radius):
    return 3.141592653589793 * radius**2


# -- wrong
def circle_area(radius):
    return 3.14 * radius**2


# -- program
import math

assert math.isclose(circle_area(2), math.pi * 4)
assert abs(circle_area(0.5) - 0.7853981633974483) < 1e-9
assert circle_area(0) == 0


# == default_argument_not_shared
def append_to(item, target=None):
    if target is None:
        target = []
    target.append(item)
    return target


# -- wrong
def append_to(item, target=[]):
    target.append(item)
    return target


# -- program
first = append_to(1)
second = append_to(2)
assert first == [1]
assert second == [2]
given = [0]
assert append_to(3, given) is given and given == [0, 3]


# == stack_class
class Stack:
    def __init__(self):
        self._items = []

    def push(self, item):
        self._items.append(item)

    def pop(self):
        return self._items.pop()

    def __len__(self):
        return len(self._items)


# -- wrong
class Stack:
    def __init__(self):
        self._items = []

    def push(self, item):
        self._items.append(item)

    def pop(self):
        return self._items.pop(0)

    def __len__(self):
        return len(self._items)


# -- program
stack = Stack()
stack.push("a")
stack.push("b")
assert len(stack) == 2
assert stack.pop() == "b"
assert stack.pop() == "a"
try:
    stack.pop()
except IndexError:
    print("empty stack raises")
assert len(stack) == 0


# == matrix_transpose
def transpose(matrix):
    return [list(row) for row in zip(*matrix)]


# -- wrong
def transpose(matrix):
    return [row[::-1] for row in matrix]


# -- program
m = [[1, 2, 3], [4, 5, 6]]
t = transpose(m)
assert t == [[1, 4], [2, 5], [3, 6]]
assert transpose(t) == m
rows, columns = len(t), len(t[0])
assert (rows, columns) == (3, 2)


# == boolean_words
def str_to_bool(text):
    return text.strip().lower() in ("yes", "true", "t", "1", "on")


# -- wrong
def str_to_bool(text):
    return bool(text)


# -- program
truthy = ["yes", "True", " 1 ", "ON"]
falsy = ["no", "false", "0", ""]
assert all(str_to_bool(word) for word in truthy)
assert not any(str_to_bool(word) for word in falsy)
assert str_to_bool("yes") is True


# == wrong_raises_a_key_error: errored
def lookup(table, key, default=None):
    return table.get(key, default)


# -- wrong
def lookup(table, key, default=None):
    return table[key]


# -- program
value = lookup({"a": 1}, "b", 7)
assert value == 7
assert lookup({"a": 1}, "a") == 1


# == unique_keeps_order
def unique(items):
    return list(dict.fromkeys(items))


# -- wrong
def unique(items):
    return sorted(set(items))


# -- program
items = [3, 1, 3, 2, 1]
assert unique(items) == [3, 1, 2]
assert unique("banana") == ["b", "a", "n"]


# == walrus_and_match
def classify(value):
    match value:
        case {"type": kind}:
            return kind
        case [first, *_]:
            return f"list of {type(first).__name__}"
        case _:
            return "unknown"


# -- wrong
def classify(value):
    match value:
        case {"type": kind}:
            return kind
        case [first, *_]:
            return f"list of {first}"
        case _:
            return "unknown"


# -- program
assert classify({"type": "user", "id": 1}) == "user"
if (kind := classify([1, 2])) != "list of int":
    raise AssertionError(kind)
assert classify(3.5) == "unknown"
