# == mock_called
def save_all(items, repository):
    for item in items:
        repository.save(item)
    repository.commit()


# -- wrong
def save_all(items, repository):
    for item in items:
        repository.save(item)
        repository.commit()


# -- program
from unittest.mock import MagicMock, call

repository = MagicMock()
save_all([1, 2], repository)
assert repository.method_calls == [call.save(1), call.save(2), call.commit()]
repository.commit.assert_called_once()


# == mock_return_values
def temperature_report(client, city):
    data = client.get(f"/weather/{city}")
    return f"{city}: {data['temp']}°C" if data else f"{city}: unknown"


# -- wrong
def temperature_report(client, city):
    data = client.get(f"/weather/{city}")
    return f"{city}: {data and data['temp']}°C"


# -- program
import unittest
from unittest.mock import Mock


class ReportTest(unittest.TestCase):
    def test_known(self):
        client = Mock()
        client.get.return_value = {"temp": 21}
        self.assertEqual(temperature_report(client, "Rome"), "Rome: 21°C")
        client.get.assert_called_with("/weather/Rome")

    def test_unknown(self):
        client = Mock(get=Mock(return_value=None))
        self.assertEqual(temperature_report(client, "Oz"), "Oz: unknown")


if __name__ == "__main__":
    unittest.main()


# == side_effects
def with_retry(call, attempts=3):
    for attempt in range(attempts):
        try:
            return call()
        except ConnectionError:
            if attempt == attempts - 1:
                raise


# -- wrong
def with_retry(call, attempts=3):
    try:
        return call()
    except ConnectionError:
        return None


# -- program
from unittest import mock

flaky = mock.Mock(side_effect=[ConnectionError(), ConnectionError(), "ok"])
assert with_retry(flaky) == "ok"
assert flaky.call_count == 3

broken = mock.Mock(side_effect=ConnectionError("down"))
try:
    with_retry(broken, attempts=2)
    gave_up = False
except ConnectionError:
    gave_up = True
assert gave_up
assert broken.call_count == 2

# == patch_time
import time


class RateLimiter:
    def __init__(self, per_second):
        self.interval, self.last = 1 / per_second, None

    def allow(self):
        now = time.monotonic()
        if self.last is not None and now - self.last < self.interval:
            return False
        self.last = now
        return True


# -- wrong
import time


class RateLimiter:
    def __init__(self, per_second):
        self.interval, self.last = 1 / per_second, None

    def allow(self):
        self.last = time.monotonic()
        return True


# -- program
from unittest.mock import patch

limiter = RateLimiter(per_second=2)
with patch("time.monotonic", side_effect=[10.0, 10.1, 10.6]):
    answers = [limiter.allow() for _ in range(3)]
assert answers == [True, False, True]

# == patch_random
import random


def roll(count, sides=6):
    return [random.randint(1, sides) for _ in range(count)]


# -- wrong
import random


def roll(count, sides=6):
    return [random.randint(0, sides - 1) for _ in range(count)]


# -- program
import random
from unittest import mock

with mock.patch("random.randint", side_effect=lambda low, high: (low, high)) as randint:
    assert roll(2, 8) == [(1, 8), (1, 8)]
assert randint.call_count == 2
random.seed(3)
assert all(1 <= value <= 6 for value in roll(100))

# == patch_dictionary
import os


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ["HOME"], ".cache")
    return os.path.join(base, "app")


# -- wrong
import os


def cache_folder():
    return os.path.join(os.environ["HOME"], ".cache", "app")


# -- program
import unittest
from unittest.mock import patch


class CacheFolderTest(unittest.TestCase):
    @patch.dict("os.environ", {"XDG_CACHE_HOME": "/var/cache"})
    def test_set(self):
        self.assertEqual(cache_folder(), "/var/cache/app")

    @patch.dict("os.environ", {"HOME": "/home/me"}, clear=True)
    def test_home(self):
        self.assertEqual(cache_folder(), "/home/me/.cache/app")


unittest.main()


# == patch_open
def read_version(path):
    with open(path) as file:
        for line in file:
            if line.startswith("version"):
                return line.split("=")[1].strip().strip('"')
    return None


# -- wrong
def read_version(path):
    with open(path) as file:
        return file.readline().split("=")[1].strip()


# -- program
from unittest.mock import mock_open, patch

TEXT = 'name = "tool"\nversion = "1.2.3"\n'
with patch("builtins.open", mock_open(read_data=TEXT)) as opened:
    version = read_version("pyproject.toml")
opened.assert_called_once_with("pyproject.toml")
assert version == "1.2.3"


# == fake_class
def checkout(cart, gateway):
    total = sum(price for _, price in cart)
    if total == 0:
        return "empty"
    return "paid" if gateway.charge(total) else "declined"


# -- wrong
def checkout(cart, gateway):
    total = sum(price for _, price in cart)
    gateway.charge(total)
    return "paid"


# -- program
class FakeGateway:
    def __init__(self, limit):
        self.limit = limit
        self.charged = []

    def charge(self, amount):
        self.charged.append(amount)
        return amount <= self.limit


gateway = FakeGateway(limit=50)
assert checkout([("pen", 20), ("ink", 10)], gateway) == "paid"
assert checkout([("desk", 500)], gateway) == "declined"
assert checkout([], gateway) == "empty"
assert gateway.charged == [30, 500]


# == stand_in_module
def fetch_title(url):
    import webclient

    page = webclient.get(url)
    start = page.index("<title>") + len("<title>")
    return page[start : page.index("</title>")]


# -- wrong
def fetch_title(url):
    import webclient

    return webclient.get(url)


# -- program
import sys
import types

webclient = types.ModuleType("webclient")
webclient.get = lambda url: f"<html><title>Page of {url}</title></html>"
sys.modules["webclient"] = webclient

assert fetch_title("http://a") == "Page of http://a"
del sys.modules["webclient"]


# == injected_clock
class Stopwatch:
    def __init__(self, clock):
        self.clock, self.started, self.elapsed = clock, None, 0

    def start(self):
        self.started = self.clock()

    def stop(self):
        self.elapsed += self.clock() - self.started
        self.started = None


# -- wrong
class Stopwatch:
    def __init__(self, clock):
        self.clock, self.started, self.elapsed = clock, None, 0

    def start(self):
        self.started = self.clock()

    def stop(self):
        self.elapsed = self.clock() - self.started
        self.started = None


# -- program
def ticking(*times):
    waiting = list(times)
    return lambda: waiting.pop(0)


watch = Stopwatch(ticking(0, 5, 10, 12))
watch.start()
watch.stop()
watch.start()
watch.stop()
assert watch.elapsed == 7
assert watch.started is None


# == stand_in_for_self
def full_name(self):
    return f"{self.first} {self.last}".strip()


# -- wrong
def full_name(self):
    return self.first + self.last


# -- program
from types import SimpleNamespace

person = SimpleNamespace(first="Ada", last="Lovelace")
assert full_name(person) == "Ada Lovelace"


class Person:
    first, last = "Plato", ""
    name = full_name


assert Person().name() == "Plato"


# == callbacks_recorded
def walk(tree, visit, path=()):
    visit(path, tree.get("value"))
    for name, child in sorted(tree.get("children", {}).items()):
        walk(child, visit, (*path, name))


# -- wrong
def walk(tree, visit, path=()):
    visit(path, tree.get("value"))
    for name, child in sorted(tree.get("children", {}).items()):
        walk(child, visit, (name,))


# -- program
seen = []


def visit(path, value):
    seen.append(("/".join(path), value))


tree = {"value": 0, "children": {"b": {"value": 2}, "a": {"children": {"x": {"value": 1}}}}}
walk(tree, visit)
assert seen == [("", 0), ("a", None), ("a/x", 1), ("b", 2)]

# == sleeps_patched
import time


def poll(check, interval=1.0, tries=5):
    for _ in range(tries):
        if check():
            return True
        time.sleep(interval)
    return False


# -- wrong
import time


def poll(check, interval=1.0, tries=5):
    for _ in range(tries):
        time.sleep(interval)
        if check():
            return True
    return False


# -- program
import time
import unittest
from unittest import mock


class PollTest(unittest.TestCase):
    def setUp(self):
        patcher = mock.patch.object(time, "sleep")
        self.sleep = patcher.start()
        self.addCleanup(patcher.stop)

    def test_at_once(self):
        self.assertTrue(poll(lambda: True))
        self.sleep.assert_not_called()

    def test_third_time(self):
        answers = iter([False, False, True])
        self.assertTrue(poll(lambda: next(answers), interval=9))
        self.assertEqual(self.sleep.call_args_list, [mock.call(9), mock.call(9)])

    def test_never(self):
        self.assertFalse(poll(lambda: False, tries=2))


unittest.main()

# == timing
import time


def debounce(seconds):
    def decorate(function):
        last = [float("-inf")]

        def wrapper(*args):
            now = time.monotonic()
            if now - last[0] >= seconds:
                last[0] = now
                return function(*args)

        return wrapper

    return decorate


# -- wrong
def debounce(seconds):
    def decorate(function):
        def wrapper(*args):
            return function(*args)

        return wrapper

    return decorate


# -- program
import time

calls = []


@debounce(0.05)
def save(x):
    calls.append(x)


save(1)
save(2)
time.sleep(0.08)
save(3)
assert calls == [1, 3], calls
