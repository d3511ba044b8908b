# == plain_functions
def snake_to_camel(name):
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


# -- wrong
def snake_to_camel(name):
    return name.title().replace("_", "")


# -- program
import pytest


def test_two_words():
    assert snake_to_camel("snake_case") == "snakeCase"


def test_one_word():
    assert snake_to_camel("word") == "word"


if __name__ == "__main__":
    pytest.main([__file__])


# == raises
def factorial(n):
    if not isinstance(n, int):
        raise TypeError("n must be an int")
    if n < 0:
        raise ValueError("n must not be negative")
    return 1 if n == 0 else n * factorial(n - 1)


# -- wrong
def factorial(n):
    result = 1
    for i in range(2, int(n) + 1):
        result *= i
    return result


# -- program
import pytest


def test_values():
    assert factorial(0) == 1
    assert factorial(5) == 120


def test_negative():
    with pytest.raises(ValueError):
        factorial(-1)


def test_type():
    with pytest.raises(TypeError):
        factorial(2.5)


# == raises_match
def withdraw(balance, amount):
    if amount > balance:
        raise ValueError(f"cannot withdraw {amount} from {balance}")
    return balance - amount


# -- wrong
def withdraw(balance, amount):
    if amount > balance:
        raise ValueError("insufficient funds")
    return balance - amount


# -- program
import pytest


def test_too_much():
    with pytest.raises(ValueError, match=r"cannot withdraw \d+ from 10"):
        withdraw(10, 20)


def test_enough():
    assert withdraw(10, 10) == 0


# == raises_value_kept
class ParseError(Exception):
    def __init__(self, line, text):
        super().__init__(f"line {line}: {text!r}")
        self.line = line


def parse_lines(text):
    out = {}
    for number, line in enumerate(text.splitlines(), 1):
        if ":" not in line:
            raise ParseError(number, line)
        key, value = line.split(":", 1)
        out[key] = value.strip()
    return out


# -- wrong
class ParseError(Exception):
    def __init__(self, line, text):
        super().__init__(f"line {line}: {text!r}")
        self.line = line


def parse_lines(text):
    out = {}
    for number, line in enumerate(text.splitlines()):
        if ":" not in line:
            raise ParseError(number, line)
        key, value = line.split(":", 1)
        out[key] = value.strip()
    return out


# -- program
from pytest import raises


def test_line_number():
    with raises(ParseError) as caught:
        parse_lines("a: 1\nbroken")
    assert caught.value.line == 2
    assert "broken" in str(caught.value)


def test_good():
    assert parse_lines("a: 1\nb:2") == {"a": "1", "b": "2"}


# == raises_as_call
def checked_sqrt(x):
    if x < 0:
        raise ValueError(x)
    return x**0.5


# -- wrong
def checked_sqrt(x):
    return abs(x) ** 0.5


# -- program
import pytest


def test_negative():
    pytest.raises(ValueError, checked_sqrt, -1)


def test_positive():
    assert checked_sqrt(16) == 4


if __name__ == "__main__":
    raise SystemExit(pytest.main(["-q", __file__]))


# == only_raises
def require_keys(mapping, *keys):
    missing = [key for key in keys if key not in mapping]
    if missing:
        raise KeyError(", ".join(missing))


# -- wrong
def require_keys(mapping, *keys):
    return [key for key in keys if key not in mapping]


# -- program
import pytest


def test_missing():
    with pytest.raises(KeyError):
        require_keys({"a": 1}, "a", "b")


# == parametrize
def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


# -- wrong
def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n**0.5)))


# -- program
import pytest


@pytest.mark.parametrize(
    "n, expected", [(0, False), (1, False), (2, True), (9, False), (17, True), (25, False)]
)
def test_is_prime(n, expected):
    assert is_prime(n) is expected


# == parametrize_with_ids
def pad(text, width, fill=" "):
    return text + fill * (width - len(text))


# -- wrong
def pad(text, width, fill=" "):
    return fill * (width - len(text)) + text


# -- program
import pytest

CASES = [
    pytest.param("a", 3, "a..", id="short"),
    pytest.param("abc", 3, "abc", id="exact"),
    pytest.param("abcd", 3, "abcd", id="long"),
]


@pytest.mark.parametrize(("text", "width", "expected"), CASES)
def test_pad(text, width, expected):
    assert pad(text, width, ".") == expected


if __name__ == "__main__":
    import sys

    sys.exit(pytest.main([__file__, "-v"]))


# == parametrize_twice
def power(base, exponent):
    result = 1
    for _ in range(exponent):
        result *= base
    return result


# -- wrong
def power(base, exponent):
    return base * exponent


# -- program
import pytest


@pytest.mark.parametrize("base", [2, 3, 10])
@pytest.mark.parametrize("exponent", range(4))
def test_power(base, exponent):
    assert power(base, exponent) == base**exponent


# == parametrize_the_callable
def total(numbers):
    return sum(numbers)


def total_of_squares(numbers):
    return sum(n * n for n in numbers)


# -- wrong
def total(numbers):
    return sum(numbers)


def total_of_squares(numbers):
    return sum(numbers) ** 2


# -- program
import pytest


@pytest.mark.parametrize("function, expected", [(total, 6), (total_of_squares, 14)])
def test_functions(function, expected):
    result = function([1, 2, 3])
    assert result == expected


# == parametrize_expectations
def checked_divide(a, b):
    if b == 0:
        raise ZeroDivisionError("b")
    return a / b


# -- wrong
def checked_divide(a, b):
    return a / b if b else float("inf")


# -- program
from contextlib import nullcontext as does_not_raise

import pytest


@pytest.mark.parametrize(
    "b, expectation",
    [
        (3, does_not_raise()),
        (2, does_not_raise()),
        (0, pytest.raises(ZeroDivisionError)),
    ],
)
def test_division(b, expectation):
    with expectation:
        assert checked_divide(6, b) is not None


# == approx
def mean(values):
    return sum(values) / len(values)


# -- wrong
def mean(values):
    return sum(values) // len(values)


# -- program
import pytest


def test_mean():
    assert mean([0.1, 0.2, 0.3]) == pytest.approx(0.2)
    assert mean([1, 2]) == pytest.approx(1.5, abs=1e-6)


# == approx_of_lists
def normalize(values):
    total = sum(values)
    return [value / total for value in values]


# -- wrong
def normalize(values):
    largest = max(values)
    return [value / largest for value in values]


# -- program
from pytest import approx


def test_normalize():
    assert normalize([1, 1, 2]) == approx([0.25, 0.25, 0.5])
    assert sum(normalize([3, 7, 11])) == approx(1)


# == fixture
class ShoppingCart:
    def __init__(self):
        self.items = {}

    def add(self, name, price, count=1):
        _, already = self.items.get(name, (0, 0))
        self.items[name] = (price, already + count)

    def total(self):
        return sum(price * count for price, count in self.items.values())


# -- wrong
class ShoppingCart:
    def __init__(self):
        self.items = {}

    def add(self, name, price, count=1):
        self.items[name] = (price, count)

    def total(self):
        return sum(price * count for price, count in self.items.values())


# -- program
import pytest


@pytest.fixture
def cart():
    cart = ShoppingCart()
    cart.add("pen", 2, 3)
    return cart


def test_total(cart):
    assert cart.total() == 6


def test_same_item_twice(cart):
    cart.add("pen", 2)
    assert cart.items["pen"] == (2, 4)
    assert cart.total() == 8


# == fixture_attribute_only
class Counter:
    def __init__(self, start=0):
        self.value = start

    def increment(self, by=1):
        self.value += by


# -- wrong
class Counter:
    def __init__(self, start=0):
        self.value = start

    def increment(self, by=1):
        self.value += 1


# -- program
import pytest


@pytest.fixture()
def counter():
    return Counter(5)


def test_starts(counter):
    assert counter.value == 5


def test_increment(counter):
    counter.increment(3)
    assert counter.value == 8


# == fixture_with_yield
import json


class Store:
    def __init__(self, path):
        self.path = path

    def save(self, key, value):
        data = self.load()
        data[key] = value
        self.path.write_text(json.dumps(data))

    def load(self):
        return json.loads(self.path.read_text()) if self.path.exists() else {}


# -- wrong
import json


class Store:
    def __init__(self, path):
        self.path = path

    def save(self, key, value):
        self.path.write_text(json.dumps({key: value}))

    def load(self):
        return json.loads(self.path.read_text()) if self.path.exists() else {}


# -- program
import pytest


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "store.json")
    yield store
    if store.path.exists():
        store.path.unlink()


def test_empty(store):
    assert store.load() == {}


def test_two_keys(store):
    store.save("a", 1)
    store.save("b", [2])
    assert store.load() == {"a": 1, "b": [2]}


if __name__ == "__main__":
    pytest.main(["-x", __file__])


# == fixture_with_params
def count_lines(text):
    return len(text.splitlines())


# -- wrong
def count_lines(text):
    return text.count("\n")


# -- program
import pytest


@pytest.fixture(params=["\n", "\r\n", "\r"], ids=["unix", "windows", "mac"])
def newline(request):
    return request.param


def test_three(newline):
    assert count_lines(newline.join("abc")) == 3


def test_trailing(newline):
    assert count_lines("a" + newline) == 1


# == fixture_of_fixture
def group_by(items, key):
    groups = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


# -- wrong
def group_by(items, key):
    return {key(item): [item] for item in items}


# -- program
import pytest


@pytest.fixture(scope="module")
def words():
    return ["apple", "avocado", "banana", "blueberry", "cherry"]


@pytest.fixture
def groups(words):
    return group_by(words, key=lambda word: word[0])


def test_keys(groups):
    assert list(groups) == ["a", "b", "c"]


def test_members(groups, words):
    assert groups["a"] == ["apple", "avocado"]
    assert sum(map(len, groups.values())) == len(words)


# == autouse_fixture
REGISTRY = {}


def register(name):
    def decorate(function):
        REGISTRY[name] = function
        return function

    return decorate


# -- wrong
REGISTRY = {}


def register(name):
    def decorate(function):
        REGISTRY[function.__name__] = function
        return function

    return decorate


# -- program
import pytest


@pytest.fixture(autouse=True)
def clean_registry():
    REGISTRY.clear()
    yield
    REGISTRY.clear()


def test_register():
    @register("double")
    def anything(x):
        return 2 * x

    assert "double" in REGISTRY
    assert REGISTRY["double"](4) == 8


def test_starts_empty():
    assert REGISTRY == {}


# == tmp_path
def tail(path, count=10):
    with open(path) as file:
        return [line.rstrip("\n") for line in file][-count:]


# -- wrong
def tail(path, count=10):
    with open(path) as file:
        return [line.rstrip("\n") for line in file][:count]


# -- program
def test_tail(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("\n".join(f"line {n}" for n in range(20)))
    assert tail(path, 2) == ["line 18", "line 19"]


def test_short_file(tmp_path):
    path = tmp_path / "short.txt"
    path.write_text("only\n")
    assert tail(path) == ["only"]


# == tmpdir_old_style
import os


def list_python_files(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".py"))


# -- wrong
import os


def list_python_files(folder):
    return sorted(name for name in os.listdir(folder) if "py" in name)


# -- program
def test_listing(tmpdir):
    for name in ("b.py", "a.py", "c.pyc", "readme.txt"):
        tmpdir.join(name).write("x")
    assert list_python_files(str(tmpdir)) == ["a.py", "b.py"]


# == capsys
def print_table(rows):
    for key, value in rows:
        print(f"{key:<6}{value:>4}")


# -- wrong
def print_table(rows):
    for key, value in rows:
        print(f"{key}\t{value}")


# -- program
def test_output(capsys):
    print_table([("apple", 3), ("fig", 12)])
    out = capsys.readouterr().out
    assert out == "apple    3\nfig     12\n"


def test_nothing(capsys):
    print_table([])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == ""


# == capsys_stderr
import sys


def warn(message):
    print(f"warning: {message}", file=sys.stderr)


# -- wrong
def warn(message):
    print(f"warning: {message}")


# -- program
import sys

import pytest


def test_warn(capsys):
    warn("low disk")
    captured = capsys.readouterr()
    assert "low disk" in captured.err
    assert captured.out == ""


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q"]))

# == monkeypatch_environment
import os


def database_url():
    return os.environ.get("DATABASE_URL", "sqlite://")


# -- wrong
def database_url():
    return "sqlite://"


# -- program
def test_set(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://db")
    assert database_url() == "postgres://db"


def test_unset(monkeypatch):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    assert database_url() == "sqlite://"


# == monkeypatch_input
def ask_yes_no(question):
    while True:
        answer = input(question + " [y/n] ").strip().lower()
        if answer in ("y", "n"):
            return answer == "y"


# -- wrong
def ask_yes_no(question):
    return input(question + " [y/n] ") == "y"


# -- program
import pytest


@pytest.mark.parametrize("typed, expected", [(["y"], True), (["what", "N"], False), ([" Y "], True)])
def test_answers(monkeypatch, typed, expected):
    answers = iter(typed)
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    assert ask_yes_no("Sure?") is expected


# == monkeypatch_library
import time


def timed(function):
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


# -- wrong
import time


def timed(function):
    start = time.perf_counter()
    return function(), start


# -- program
def test_timed(monkeypatch):
    ticks = iter([10.0, 12.5])
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    result, seconds = timed(lambda: "done")
    assert result == "done"
    assert seconds == 2.5


# == caplog
import logging

logger = logging.getLogger("loader")


def load_number(text):
    try:
        return int(text)
    except ValueError:
        logger.error("not a number: %s", text)
        return None


# -- wrong
def load_number(text):
    try:
        return int(text)
    except ValueError:
        return None


# -- program
import logging


def test_logs_error(caplog):
    with caplog.at_level(logging.ERROR):
        result = load_number("abc")
    assert result is None
    assert "not a number: abc" in caplog.text
    assert caplog.records[0].levelname == "ERROR"


def test_quiet(caplog):
    assert load_number("12") == 12
    assert not caplog.records


# == warns
import warnings


def old_name(x):
    warnings.warn("use new_name", DeprecationWarning, stacklevel=2)
    return x


# -- wrong
def old_name(x):
    return x


# -- program
import pytest


def test_warns():
    with pytest.warns(DeprecationWarning, match="new_name"):
        assert old_name(3) == 3


# == recwarn
import warnings


def to_int(value):
    if isinstance(value, float) and value != int(value):
        warnings.warn("fraction is lost", UserWarning)
    return int(value)


# -- wrong
import warnings


def to_int(value):
    if isinstance(value, float):
        warnings.warn("fraction is lost", UserWarning)
    return round(value)


# -- program
def test_warning(recwarn):
    assert to_int(2.7) == 2
    assert len(recwarn) == 1
    assert "fraction" in str(recwarn.pop(UserWarning).message)


def test_whole(recwarn):
    assert to_int(3.0) == 3
    assert not recwarn.list


# == class_of_tests
class LRUCache:
    def __init__(self, capacity):
        self.capacity, self.data = capacity, {}

    def get(self, key):
        if key not in self.data:
            return -1
        self.data[key] = self.data.pop(key)
        return self.data[key]

    def put(self, key, value):
        self.data.pop(key, None)
        self.data[key] = value
        if len(self.data) > self.capacity:
            del self.data[next(iter(self.data))]


# -- wrong
class LRUCache:
    def __init__(self, capacity):
        self.capacity, self.data = capacity, {}

    def get(self, key):
        return self.data.get(key, -1)

    def put(self, key, value):
        self.data[key] = value
        if len(self.data) > self.capacity:
            del self.data[next(iter(self.data))]


# -- program
import pytest


class TestLRUCache:
    def test_evicts_oldest(self):
        cache = LRUCache(2)
        cache.put(1, 1)
        cache.put(2, 2)
        cache.put(3, 3)
        assert cache.get(1) == -1

    def test_get_refreshes(self):
        cache = LRUCache(2)
        cache.put(1, 1)
        cache.put(2, 2)
        assert cache.get(1) == 1
        cache.put(3, 3)
        assert cache.get(2) == -1
        assert cache.get(1) == 1

    @pytest.mark.parametrize("capacity", [1, 5])
    def test_capacity(self, capacity):
        cache = LRUCache(capacity)
        for n in range(10):
            cache.put(n, n)
        assert len(cache.data) == capacity


# == setup_method
class Matrix:
    def __init__(self, rows):
        self.rows = rows

    def __mul__(self, other):
        return Matrix(
            [[sum(a * b for a, b in zip(row, column)) for column in zip(*other.rows)] for row in self.rows]
        )


# -- wrong
class Matrix:
    def __init__(self, rows):
        self.rows = rows

    def __mul__(self, other):
        return Matrix([[a * b for a, b in zip(*pair)] for pair in zip(self.rows, other.rows)])


# -- program
import pytest


class TestMatrix:
    def setup_method(self):
        self.identity = Matrix([[1, 0], [0, 1]])
        self.a = Matrix([[1, 2], [3, 4]])

    def test_identity(self):
        assert (self.a * self.identity).rows == [[1, 2], [3, 4]]

    def test_square(self):
        assert (self.a * self.a).rows == [[7, 10], [15, 22]]

    def teardown_method(self):
        del self.a


if __name__ == "__main__":
    pytest.main()


# == module_setup
def publish(event, payload, handlers):
    return [handler(payload) for handler in handlers.get(event, ())]


# -- wrong
def publish(event, payload, handlers):
    return [handler(payload) for all_of in handlers.values() for handler in all_of]


# -- program
import pytest

HANDLERS = {}


def setup_module(module):
    HANDLERS["created"] = [str.upper, len]
    HANDLERS["deleted"] = [repr]


def teardown_module():
    HANDLERS.clear()


def test_created():
    assert publish("created", "user", HANDLERS) == ["USER", 4]


def test_unknown():
    with pytest.raises(KeyError):
        HANDLERS["moved"]
    assert publish("moved", "user", HANDLERS) == []


# == skipped_and_run
def join_path(*parts):
    return "/".join(part.strip("/") for part in parts if part)


# -- wrong
def join_path(*parts):
    return "/".join(parts)


# -- program
import sys

import pytest


@pytest.mark.skipif(sys.platform != "win32", reason="Windows only")
def test_backslash():
    assert join_path("a", "b") == "a\\b"


@pytest.mark.skip(reason="not decided")
def test_absolute():
    assert join_path("/", "a") == "/a"


def test_join():
    assert join_path("a/", "/b", "", "c") == "a/b/c"


# == marks_of_their_own
def dedupe_words(text):
    out = []
    for word in text.split():
        if not out or out[-1] != word:
            out.append(word)
    return " ".join(out)


# -- wrong
def dedupe_words(text):
    return " ".join(dict.fromkeys(text.split()))


# -- program
import pytest

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.slow
def test_repeated():
    assert dedupe_words("the the end") == "the end"


@pytest.mark.unit
def test_apart():
    assert dedupe_words("a b a") == "a b a"


# == asyncio_mark
import asyncio


async def first_done(*tasks):
    done, pending = await asyncio.wait(
        [asyncio.ensure_future(t) for t in tasks], return_when=asyncio.FIRST_COMPLETED
    )
    for task in pending:
        task.cancel()
    return done.pop().result()


# -- wrong
import asyncio


async def first_done(*tasks):
    return (await asyncio.gather(*tasks))[0]


# -- program
import asyncio

import pytest


async def after(seconds, value):
    await asyncio.sleep(seconds)
    return value


@pytest.mark.asyncio
async def test_first():
    assert await first_done(after(0.2, "slow"), after(0.01, "fast")) == "fast"


@pytest.mark.asyncio
async def test_single():
    assert await first_done(after(0, 1)) == 1


# == called_by_hand
def title(text, small=("a", "of", "the")):
    words = text.lower().split()
    return " ".join(w if i and w in small else w.capitalize() for i, w in enumerate(words))


# -- wrong
def title(text, small=("a", "of", "the")):
    return text.title()


# -- program
import pytest


def test_small_words():
    assert title("the lord of the rings") == "The Lord of the Rings"


def test_type():
    with pytest.raises(AttributeError):
        title(None)


if __name__ == "__main__":
    test_small_words()
    test_type()
    print("All tests passed!")


# == unittest_class_under_pytest
def common_prefix(words):
    import os

    return os.path.commonprefix(words)


# -- wrong
def common_prefix(words):
    return words[0] if words else ""


# -- program
import unittest

import pytest


class CommonPrefixTest(unittest.TestCase):
    def setUp(self):
        self.words = ["flower", "flow", "flight"]

    def test_prefix(self):
        self.assertEqual(common_prefix(self.words), "fl")

    def test_subtests(self):
        for words, expected in ((["a", "b"], ""), (["same", "same"], "same")):
            with self.subTest(words=words):
                self.assertEqual(common_prefix(words), expected)


if __name__ == "__main__":
    sys_exit_code = pytest.main(["-q", __file__])


# == exit_code_looked_at
def rle(text):
    import itertools

    return "".join(f"{c}{len(list(group))}" for c, group in itertools.groupby(text))


# -- wrong
def rle(text):
    return "".join(f"{c}{text.count(c)}" for c in dict.fromkeys(text))


# -- program
import sys

import pytest


def test_runs():
    assert rle("aabca") == "a2b1c1a1"


def test_empty():
    assert rle("") == ""


if __name__ == "__main__":
    exit_code = pytest.main([__file__, "-v", "--tb=short", "-p", "no:cacheprovider"])
    print("OK" if exit_code == 0 else "FAILED")
    sys.exit(exit_code)


# == selected_tests
def bisect_root(function, low, high, tolerance=1e-9):
    while high - low > tolerance:
        middle = (low + high) / 2
        if (function(low) < 0) == (function(middle) < 0):
            low = middle
        else:
            high = middle
    return (low + high) / 2


# -- wrong
def bisect_root(function, low, high, tolerance=1e-9):
    return (low + high) / 2


# -- program
import pytest


def test_square_root_of_two():
    assert bisect_root(lambda x: x * x - 2, 0, 2) == pytest.approx(2**0.5)


def test_falling():
    assert bisect_root(lambda x: 1 - x, -3, 4) == pytest.approx(1)


pytest.main([f"{__file__}::test_square_root_of_two", f"{__file__}::test_falling", "-q"])


# == wrong_raises: errored
def last_word(text):
    words = text.split()
    return words[-1] if words else None


# -- wrong
def last_word(text):
    return text.split()[-1]


# -- program
import pytest


def test_some():
    assert last_word("to the end") == "end"


def test_none():
    result = last_word("   ")
    assert result is None


pytest.main([__file__])


# == fixture_raises: errored
class Connection:
    def __init__(self, url):
        self.url = url
        self.open = True

    def close(self):
        self.open = False


# -- wrong
class Connection:
    def __init__(self, url):
        self.url = url
        self.open = True

    def close(self):
        del self.opened


# -- program
import pytest


@pytest.fixture
def connection():
    connection = Connection("db://a")
    yield connection
    connection.close()


def test_open(connection):
    assert connection.open
    assert connection.url == "db://a"


# == fixture_factory
class Node:
    def __init__(self, value, following=None):
        self.value, self.following = value, following


def reverse_list(head):
    previous = None
    while head:
        head.following, previous, head = previous, head, head.following
    return previous


# -- wrong
class Node:
    def __init__(self, value, following=None):
        self.value, self.following = value, following


def reverse_list(head):
    return head


# -- program
import pytest


@pytest.fixture
def make_list():
    def make(*values):
        head = None
        for value in reversed(values):
            head = Node(value, head)
        return head

    return make


def values(head):
    while head:
        yield head.value
        head = head.following


def test_reverse(make_list):
    assert list(values(reverse_list(make_list(1, 2, 3)))) == [3, 2, 1]


def test_empty():
    assert reverse_list(None) is None


# == helper_asserts
def interleave(a, b):
    out = [x for pair in zip(a, b) for x in pair]
    n = min(len(a), len(b))
    return out + list(a[n:]) + list(b[n:])


# -- wrong
def interleave(a, b):
    return [x for pair in zip(a, b) for x in pair]


# -- program
import pytest


def assert_interleaved(a, b, expected):
    __tracebackhide__ = True
    got = interleave(a, b)
    if got != expected:
        pytest.fail(f"{a} and {b} gave {got}")
    assert len(got) == len(a) + len(b)


def test_same_length():
    assert_interleaved([1, 2], [3, 4], [1, 3, 2, 4])


def test_longer():
    assert_interleaved([1], [2, 3, 4], [1, 2, 3, 4])


# == usefixtures
import os


def relative_files(folder="."):
    return sorted(name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name)))


# -- wrong
import os


def relative_files(folder="."):
    return sorted(os.listdir(folder))


# -- program
import pytest


@pytest.fixture
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").touch()
    (tmp_path / "folder").mkdir()


@pytest.mark.usefixtures("inside")
class TestFiles:
    def test_files_only(self):
        assert relative_files() == ["a.txt"]


# == importorskip
def column_means(rows):
    return [sum(column) / len(column) for column in zip(*rows)]


# -- wrong
def column_means(rows):
    return [sum(row) / len(row) for row in rows]


# -- program
import pytest

np = pytest.importorskip("numpy")


def test_against_numpy():
    rows = [[1.0, 2.0], [3.0, 5.0], [5.0, 8.0]]
    assert column_means(rows) == pytest.approx(np.mean(rows, axis=0).tolist())


# == mock_in_pytest
def notify(users, send):
    sent = 0
    for user in users:
        if user.get("email"):
            send(user["email"], "hello")
            sent += 1
    return sent


# -- wrong
def notify(users, send):
    for user in users:
        send(user.get("email"), "hello")
    return len(users)


# -- program
from unittest import mock

import pytest


@pytest.fixture
def send():
    return mock.Mock()


def test_notify(send):
    count = notify([{"email": "a@x"}, {}, {"email": "b@x"}], send)
    assert count == 2
    send.assert_has_calls([mock.call("a@x", "hello"), mock.call("b@x", "hello")])


def test_nobody(send):
    assert notify([], send) == 0
    send.assert_not_called()


# == xfail_raises
def to_decimal(text):
    from decimal import Decimal, InvalidOperation

    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(text)


# -- wrong
def to_decimal(text):
    return float(text)


# -- program
import decimal

import pytest


def test_exact():
    assert to_decimal("0.1") + to_decimal("0.2") == decimal.Decimal("0.3")


@pytest.mark.xfail(raises=ValueError, strict=True)
def test_no_number():
    to_decimal("ten")


# == indirect_parameters
class Temperature:
    def __init__(self, celsius):
        self.celsius = celsius

    @property
    def fahrenheit(self):
        return self.celsius * 9 / 5 + 32


# -- wrong
class Temperature:
    def __init__(self, celsius):
        self.celsius = celsius

    @property
    def fahrenheit(self):
        return self.celsius * 2 + 30


# -- program
import pytest


@pytest.fixture
def temperature(request):
    return Temperature(request.param)


@pytest.mark.parametrize("temperature, expected", [(100, 212), (-40, -40), (0, 32)], indirect=["temperature"])
def test_fahrenheit(temperature, expected):
    assert temperature.fahrenheit == expected
