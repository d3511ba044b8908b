# == tmp_path_factory
def merge_files(paths, out):
    with open(out, "w") as target:
        for path in paths:
            target.write(open(path).read())


# -- wrong
def merge_files(paths, out):
    with open(out, "w") as target:
        for path in paths[:1]:
            target.write(open(path).read())


# -- program
import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    (root / "a.txt").write_text("one\n")
    (root / "b.txt").write_text("two\n")
    return root


def test_merge(folder):
    out = folder / "out.txt"
    merge_files([folder / "a.txt", folder / "b.txt"], out)
    assert out.read_text() == "one\ntwo\n"


# == param_ids_and_marks
def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


# -- wrong
def is_leap(year):
    return year % 4 == 0


# -- program
import pytest


@pytest.mark.parametrize(
    "year, wanted",
    [pytest.param(2000, True, id="400"), pytest.param(1900, False, id="100"), (2023, False), (2024, True)],
)
def test_leap(year, wanted):
    assert is_leap(year) is wanted


# == class_scoped_fixture
class Cart:
    def __init__(self):
        self.items = {}

    def add(self, name, n=1):
        self.items[name] = self.items.get(name, 0) + n

    def total(self):
        return sum(self.items.values())


# -- wrong
class Cart:
    def __init__(self):
        self.items = {}

    def add(self, name, n=1):
        self.items[name] = n

    def total(self):
        return sum(self.items.values())


# -- program
import pytest


class TestCart:
    @pytest.fixture(autouse=True)
    def prepare(self):
        self.cart = Cart()
        self.cart.add("pear")

    def test_one(self):
        assert self.cart.total() == 1

    def test_twice(self):
        self.cart.add("pear", 2)
        assert self.cart.items == {"pear": 3}
        assert self.cart.total() == 3


# == pytest_main_twice
def clamp(x, low, high):
    return max(low, min(x, high))


# -- wrong
def clamp(x, low, high):
    return max(low, x)


# -- program
import pytest, sys


@pytest.mark.parametrize("x, wanted", [(5, 5), (11, 10), (-1, 0)])
def test_clamp(x, wanted):
    assert clamp(x, 0, 10) == wanted


def test_same():
    assert clamp(3, 3, 3) == 3


if __name__ == "__main__":
    first = pytest.main(["-q", __file__])
    second = pytest.main(["-q", __file__])
    sys.exit(first or second)


# == expected_failure
def mean(items):
    return sum(items) / len(items)


# -- wrong
def mean(items):
    return sum(items) // len(items)


# -- program
import unittest


class TestMean(unittest.TestCase):
    def test_mean(self):
        self.assertAlmostEqual(mean([1, 2]), 1.5)

    def test_empty(self):
        with self.assertRaises(ZeroDivisionError):
            mean([])


if __name__ == "__main__":
    unittest.main(verbosity=2)


# == skip_if_and_unless
def path_join(a, b):
    return a.rstrip("/") + "/" + b


# -- wrong
def path_join(a, b):
    return a + "/" + b


# -- program
import sys, unittest


class TestJoin(unittest.TestCase):
    @unittest.skipIf(sys.platform == "win32", "posix")
    def test_slash(self):
        self.assertEqual(path_join("a/", "b"), "a/b")

    @unittest.skipUnless(sys.platform == "win32", "windows")
    def test_windows(self):
        self.assertEqual(path_join("a\\", "b"), "a\\b")

    def test_plain(self):
        self.assertEqual(path_join("a", "b"), "a/b")


unittest.main()


# == set_up_module
def tokens(text):
    return text.split()


# -- wrong
def tokens(text):
    return text.split(" ")


# -- program
import unittest

shared = {}


def setUpModule():
    shared["text"] = "a  b\tc"


def tearDownModule():
    shared.clear()


class TestTokens(unittest.TestCase):
    def test_tokens(self):
        self.assertListEqual(tokens(shared["text"]), ["a", "b", "c"])


if __name__ == "__main__":
    unittest.main()


# == type_equality_function
class Money:
    def __init__(self, n, c):
        self.n, self.c = n, c

    def __eq__(self, o):
        return (self.n, self.c) == (o.n, o.c)

    def __repr__(self):
        return f"Money({self.n}, {self.c!r})"


def add(a, b):
    return Money(a.n + b.n, a.c)


# -- wrong
class Money:
    def __init__(self, n, c):
        self.n, self.c = n, c

    def __eq__(self, o):
        return (self.n, self.c) == (o.n, o.c)

    def __repr__(self):
        return f"Money({self.n}, {self.c!r})"


def add(a, b):
    return Money(a.n - b.n, a.c)


# -- program
import unittest


class TestMoney(unittest.TestCase):
    def setUp(self):
        self.addTypeEqualityFunc(Money, self.assertMoney)

    def assertMoney(self, a, b, msg=None):
        if (a.n, a.c) != (b.n, b.c):
            raise self.failureException(msg or f"{a} != {b}")

    def test_add(self):
        self.assertEqual(add(Money(1, "EUR"), Money(2, "EUR")), Money(3, "EUR"))
        self.assertEqual(add(Money(1, "EUR"), Money(2, "EUR")).n, 3)


unittest.main()


# == doctest_ellipsis
def describe(items):
    return [repr(object()) if item is None else item for item in items]


# -- wrong
def describe(items):
    return list(items)


# -- program
import doctest


def examples():
    """
    >>> describe([None])  # doctest: +ELLIPSIS
    ['<object object at 0x...>']
    >>> describe([1,
    ...           2])  # doctest: +NORMALIZE_WHITESPACE
    [1,   2]
    """


if __name__ == "__main__":
    failed, tried = doctest.testmod()
    assert tried == 2 and failed == 0


# == runtime_protocol
class Buffer:
    def __init__(self):
        self.parts = []

    def write(self, text):
        self.parts.append(text)
        return len(text)

    def close(self):
        self.closed = True


# -- wrong
class Buffer:
    def __init__(self):
        self.parts = []

    def write(self, text):
        self.parts.append(text)

    def close(self):
        self.closed = True


# -- program
from typing import Protocol, runtime_checkable


@runtime_checkable
class Writable(Protocol):
    def write(self, text): ...
    def close(self): ...


b = Buffer()
assert isinstance(b, Writable)
assert b.write("abc") == 3
b.close()
assert b.closed and b.parts == ["abc"]
# == abc_subclass_registered
from collections.abc import Sequence


class Window:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


Sequence.register(Window)
# -- wrong
from collections.abc import Sequence


class Window:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return 0

    def __getitem__(self, i):
        return self.items[i]


Sequence.register(Window)
# -- program
from collections.abc import Sequence

w = Window([1, 2, 3])
assert isinstance(w, Sequence)
assert w[0] == 1
assert list(w) == [1, 2, 3]
n = len(w)
assert n == 3
# == timeout_decorator
import functools, signal


def timeout(seconds):
    def decorate(function):
        def handle(signum, frame):
            raise TimeoutError(getattr(function, "__name__", "it"))

        @functools.wraps(function)
        def run(*args, **kwargs):
            former = signal.signal(signal.SIGALRM, handle)
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                return function(*args, **kwargs)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, former)

        return run

    return decorate


# -- wrong
def timeout(seconds):
    return lambda function: function


# -- program
import time


@timeout(0.1)
def slow():
    time.sleep(0.5)
    return "done"


@timeout(1)
def fast():
    return "done"


assert fast() == "done"
try:
    slow()
except TimeoutError:
    stopped = True
else:
    stopped = False
assert stopped
# == decorator_that_inspects
import functools, inspect


def typed(function):
    names = list(inspect.signature(function).parameters)
    is_async = inspect.iscoroutinefunction(function)

    @functools.wraps(function)
    def run(*args):
        for name, value in zip(names, args):
            kind = function.__annotations__.get(name)
            if kind and not isinstance(value, kind):
                raise TypeError(name)
        return function(*args)

    run.names = names
    return run


# -- wrong
import functools


def typed(function):
    @functools.wraps(function)
    def run(*args):
        return function(*args)

    run.names = ()
    return run


# -- program
@typed
def add(a: int, b: int):
    assert a is not None
    return a + b


assert add(1, 2) == 3
try:
    add("1", 2)
    refused = False
except TypeError as error:
    refused = str(error) == "a"
assert refused
# == logs_with_stack
import logging, traceback

log = logging.getLogger("work")


def guarded(function, default=None):
    try:
        return function()
    except Exception as error:
        log.exception("failed: %s", error, stack_info=True)
        traceback.format_exc()
        return default


# -- wrong
def guarded(function, default=None):
    try:
        return function()
    except Exception:
        return None


# -- program
import logging


class Keep(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


keep = Keep()
logging.getLogger().addHandler(keep)
logging.getLogger().setLevel(logging.INFO)
assert guarded(lambda: 1) == 1
assert guarded(lambda: 1 / 0, 7) == 7
assert [r.levelname for r in keep.records] == ["ERROR"]
# == task_names
import asyncio


async def gather_named(jobs):
    tasks = [asyncio.create_task(job, name=name) for name, job in jobs.items()]
    for task in tasks:
        repr(task)
    done = await asyncio.gather(*tasks)
    return {task.get_name(): value for task, value in zip(tasks, done)}


# -- wrong
import asyncio


async def gather_named(jobs):
    done = await asyncio.gather(*jobs.values())
    return dict(enumerate(done))


# -- program
import unittest, asyncio


async def give(x, wait):
    await asyncio.sleep(wait)
    return x


class TestGather(unittest.IsolatedAsyncioTestCase):
    async def test_names(self):
        got = await gather_named({"a": give(1, 0.02), "b": give(2, 0)})
        self.assertEqual(got, {"a": 1, "b": 2})


if __name__ == "__main__":
    unittest.main()


# == plugin_subclasses
class Plugin:
    registry = {}

    def __init_subclass__(cls, **named):
        super().__init_subclass__(**named)
        Plugin.registry[cls.__name__.lower()] = cls

    @classmethod
    def names(cls):
        return sorted(kind.__name__.lower() for kind in cls.__subclasses__())


def make(name):
    return globals()["Plugin"].registry[name]()


# -- wrong
class Plugin:
    registry = {}

    def __init_subclass__(cls, **named):
        Plugin.registry[cls.__name__] = cls

    @classmethod
    def names(cls):
        return sorted(cls.registry)


def make(name):
    return Plugin.registry.get(name, Plugin)()


# -- program
class Csv(Plugin):
    pass


class Json(Plugin):
    pass


assert Plugin.names() == ["csv", "json"]
assert type(make("csv")) is Csv
# == pickle_of_own_class
import copyreg, pickle


class Ratio:
    def __init__(self, n, d):
        self.n, self.d = n, d


copyreg.pickle(Ratio, lambda r: (Ratio, (r.n, r.d)))


def clone(x):
    return pickle.loads(pickle.dumps(x))


# -- wrong
class Ratio:
    def __init__(self, n, d):
        self.n, self.d = n, d


def clone(x):
    return Ratio(x.n, 1)


# -- program
import copy, pickle

r = clone(Ratio(1, 2))
assert (r.n, r.d) == (1, 2)
c = copy.copy(r)
assert (c.n, c.d) == (1, 2) and c is not r
# == regex_tables
import re

PATTERNS = {name: re.compile(p) for name, p in {"int": r"\d+", "word": r"[a-z]+"}.items()}


def scan(text):
    out = []
    for part in re.split(r"\s+", text.strip()):
        for name, pattern in PATTERNS.items():
            if pattern.fullmatch(part):
                out.append((name, part))
                break
    re.purge()
    return out


# -- wrong
import re


def scan(text):
    return [("word", part) for part in re.split(r"\s+", text)]


# -- program
import re

assert scan(" ab 12 ") == [("word", "ab"), ("int", "12")]
assert re.fullmatch(r"\d+", scan("7")[0][1])
# == pandas_options_and_json
import json
import pandas as pd

pd.set_option("display.max_rows", 5)


class Encoder(json.JSONEncoder):
    def default(self, o):
        return getattr(o, "tolist", lambda: str(o))()


def to_json(frame):
    return json.dumps({name: frame[name] for name in frame}, cls=Encoder, sort_keys=True)


# -- wrong
import json


def to_json(frame):
    return json.dumps({name: list(map(str, frame[name])) for name in frame})


# -- program
import json
import pandas as pd

frame = pd.DataFrame({"b": [1, 2], "a": [3, 4]})
assert json.loads(to_json(frame)) == {"a": [3, 4], "b": [1, 2]}
assert to_json(frame) == json.dumps({"a": [3, 4], "b": [1, 2]})
# == numpy_random_generator
import numpy as np


def bootstrap(values, n, seed):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(values, len(values)).mean() for _ in range(n)])


# -- wrong
import numpy as np


def bootstrap(values, n, seed):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(values, len(values)).sum() for _ in range(n)])


# -- program
import numpy as np

a, b = bootstrap([1.0, 2.0, 3.0], 50, 4), bootstrap([1.0, 2.0, 3.0], 50, 4)
np.testing.assert_array_equal(a, b)
assert a.shape == (50,)
assert 1.0 <= a.min() and a.max() <= 3.0
# == random_seeded
import random


def sample_words(words, k, seed=None):
    rng = random.Random(seed)
    return rng.sample(sorted(words), k)


# -- wrong
import random


def sample_words(words, k, seed=None):
    return [random.Random(seed).choice(sorted(words)) for _ in range(k)]


# -- program
import random

words = {"a", "b", "c", "d"}
got = sample_words(words, 3, seed=1)
assert len(set(got)) == 3 and set(got) <= words
assert got == random.Random(1).sample(sorted(words), 3)
# == calendar_weeks: errored
import calendar


def weekdays(year, month):
    return [
        d for d in range(1, calendar.monthrange(year, month)[1] + 1) if calendar.weekday(year, month, d) < 5
    ]


# -- wrong
import calendar


def weekdays(year, month):
    return [d for d in range(1, 31) if calendar.weekday(year, month, d) < 5]


# -- program
import calendar, datetime

days = weekdays(2024, 2)
assert len(days) == 21
assert all(datetime.date(2024, 2, d).weekday() < 5 for d in days)
assert max(weekdays(2023, 5)) == 31


# == exception_group: errored
def run_all(jobs):
    errors = []
    for job in jobs:
        try:
            job()
        except Exception as error:
            errors.append(error)
    if errors:
        raise ExceptionGroup("jobs failed", errors)


# -- wrong
def run_all(jobs):
    for job in jobs:
        job()


# -- program
import pytest


def bad():
    raise ValueError("x")


def worse():
    raise KeyError("y")


def test_group():
    with pytest.raises(ExceptionGroup) as caught:
        run_all([bad, print, worse])
    assert [type(e) for e in caught.value.exceptions] == [ValueError, KeyError]


def test_none():
    assert run_all([]) is None


# == singledispatch
import functools


@functools.singledispatch
def show(x):
    return str(x)


@show.register
def _(x: list):
    return "[" + " ".join(map(show, x)) + "]"


@show.register(float)
def _(x):
    return f"{x:.1f}"


# -- wrong
def show(x):
    return str(x)


# -- program
def test_show():
    assert show([1, 2.0, ["a"]]) == "[1 2.0 [a]]"
    assert show(1.25) in ("1.2", "1.3")


if __name__ == "__main__":
    test_show()
    print("ok")


# == generator_send
def averager():
    total, n, mean = 0, 0, None
    while True:
        total += yield mean
        n += 1
        mean = total / n


# -- wrong
def averager():
    mean = None
    while True:
        mean = yield mean


# -- program
import inspect

g = averager()
next(g)
assert g.send(2) == 2
assert g.send(4) == 3
assert inspect.getgeneratorstate(g) == "GEN_SUSPENDED"
g.close()
# == global_memo_declared
cache = None


def load():
    global cache, json
    import json

    if cache is None:
        cache = json.loads('{"a": 1}')
    return cache


# -- wrong
def load():
    return {}


# -- program
import json

assert load() == {"a": 1}
assert load() is load()
assert json.dumps(load()) == '{"a": 1}'


# == class_swapped_by_state
class Door:
    def __init__(self):
        self.__class__ = Shut


class Shut(Door):
    def open(self):
        self.__class__ = Open

    def is_open(self):
        return False


class Open(Door):
    def shut(self):
        self.__class__ = Shut

    def is_open(self):
        return True


# -- wrong
class Door:
    def __init__(self):
        self.o = False

    def open(self):
        self.o = True

    def shut(self):
        pass

    def is_open(self):
        return self.o


# -- program
door = Door()
assert door.is_open() is False
door.open()
assert door.is_open() is True
door.shut()
assert door.is_open() is False
# == threading_worker
import queue, threading


class Worker(threading.Thread):
    def __init__(self, jobs):
        super().__init__(daemon=True)
        self.jobs, self.done = jobs, []

    def run(self):
        while True:
            job = self.jobs.get()
            if job is None:
                return
            self.done.append(job * job)


# -- wrong
import threading


class Worker(threading.Thread):
    def __init__(self, jobs):
        super().__init__(daemon=True)
        self.jobs, self.done = jobs, []

    def run(self):
        self.done.append(self.jobs.get())


# -- program
import queue, unittest


class TestWorker(unittest.TestCase):
    def test_work(self):
        jobs = queue.Queue()
        worker = Worker(jobs)
        worker.start()
        for n in (2, 3):
            jobs.put(n)
        jobs.put(None)
        worker.join(2)
        self.assertFalse(worker.is_alive())
        self.assertEqual(worker.done, [4, 9])


unittest.main()
# == logger_subclass
import logging


class Loud(logging.Logger):
    def notice(self, text, *args):
        self.log(25, text, *args)


logging.addLevelName(25, "NOTICE")
logging.setLoggerClass(Loud)


def get_logger(name):
    return logging.getLogger(name)


# -- wrong
import logging


class Loud(logging.Logger):
    def notice(self, text, *args):
        self.log(20, text, *args)


logging.setLoggerClass(Loud)


def get_logger(name):
    return logging.getLogger(name)


# -- program
import logging, unittest


class TestNotice(unittest.TestCase):
    def test_notice(self):
        with self.assertLogs("own", level=25) as caught:
            get_logger("own").notice("hello %s", "you")
        self.assertEqual(caught.output, ["NOTICE:own:hello you"])


unittest.main()


# == program_sets_method_prefix
def double(x):
    return 2 * x


# -- wrong
def double(x):
    return x


# -- program
import unittest


class Checks(unittest.TestCase):
    def check_double(self):
        self.assertEqual(double(2), 4)


loader = unittest.TestLoader()
loader.testMethodPrefix = "check"
result = unittest.TextTestRunner().run(loader.loadTestsFromTestCase(Checks))
assert result.wasSuccessful() and result.testsRun == 1


# == copy_of_nested
def with_defaults(options, defaults):
    out = {k: dict(v) if isinstance(v, dict) else v for k, v in defaults.items()}
    for k, v in options.items():
        out[k] = with_defaults(v, out[k]) if isinstance(v, dict) and isinstance(out.get(k), dict) else v
    return out


# -- wrong
def with_defaults(options, defaults):
    defaults.update(options)
    return defaults


# -- program
import copy

defaults = {"a": 1, "b": {"c": 2, "d": 3}}
before = copy.deepcopy(defaults)
assert with_defaults({"b": {"c": 9}}, defaults) == {"a": 1, "b": {"c": 9, "d": 3}}
assert defaults == before
# == module_attribute_set
import random, socket, ssl

socket.setdefaulttimeout(5)
ssl._create_default_https_context = ssl._create_unverified_context


def shuffled(items, seed):
    out = list(items)
    random.Random(seed).shuffle(out)
    return out


# -- wrong
def shuffled(items, seed):
    return list(items)


# -- program
import random, socket

items = list(range(20))
got = shuffled(items, 3)
assert got != items
assert sorted(got) == items
assert items == list(range(20))
