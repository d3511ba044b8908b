# == dataframe_inplace
def add_sum(df):
    df["sum"] = df["a"] + df["b"]
    return df


# -- wrong
def add_sum(df):
    df["sum"] = df["a"] - df["b"]
    return df


# -- program
import pandas as pd

df = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
result = add_sum(df)
assert list(result["sum"]) == list(df["a"] + df["b"])


# == dataframe_deduplicated
def dedupe(df):
    df.drop_duplicates(inplace=True)
    return df


# -- wrong
def dedupe(df):
    return df


# -- program
import pandas as pd

df = pd.DataFrame({"a": [1, 1], "b": [3, 3]})
assert dedupe(df).equals(df.head(1))
assert len(dedupe(df)) == 1


# == frames_compared
import pandas as pd


def fill(df):
    return df.fillna(0)


# -- wrong
import pandas as pd


def fill(df):
    return df.dropna()


# -- program
import pandas as pd
import pandas.testing as tm

df = pd.DataFrame({"a": [1.0, None]})
tm.assert_frame_equal(fill(df), pd.DataFrame({"a": [1.0, 0.0]}))
tm.assert_series_equal(fill(df)["a"], df["a"].fillna(0))


# == array_doubled_in_place
import numpy as np


def double(a):
    a *= 2
    return a


# -- wrong
import numpy as np


def double(a):
    a *= 3
    return a


# -- program
import numpy as np

a = np.array([1, 2, 3])
np.testing.assert_array_equal(double(a.copy()), a * 2)
np.testing.assert_allclose(double(a.copy()), a + a)
assert np.array_equal(double(a.copy()), a * 2)


# == all_of_a_table
def get(t, k):
    return t[k]


# -- wrong
def get(t, k):
    return t[k] + 1


# -- program
t = {"a": 1, "b": 2}
assert all(get(t, k) == v for k, v in t.items())


# == all_sorted_in_place
def sort_it(x):
    x.sort()
    return x


# -- wrong
def sort_it(x):
    return x


# -- program
assert all(sort_it(x) == sorted(x) for x in [[3, 1], [2, 1]])


# == drained_queue
def drain(q):
    out = []
    while q:
        out.append(q.pop(0))
    return out


# -- wrong
def drain(q):
    q.clear()
    return [0, 0, 0]


# -- program
q = [1, 2, 3]
assert all(a == b for a, b in zip(drain(q), [1, 2, 3]))
q = [1, 2, 3]
assert drain(q) == [1, 2, 3] and q == []


# == mean_between
def mean(xs):
    return sum(xs) / len(xs)


# -- wrong
def mean(xs):
    return sum(xs)


# -- program
import math

xs = [1.0, 2.0, 4.0]
assert math.isclose(mean(xs), sum(xs) / len(xs))
assert min(xs) <= mean(xs) <= max(xs)


# == large_list_sorted
def sort_it(xs):
    return sorted(xs)


# -- wrong
def sort_it(xs):
    return list(xs)


# -- program
items = list(range(200_000, 0, -1))
assert sort_it(items) == items[::-1]


# == functions_patched_by_name: errored
import random
import time


def roll():
    return random.randint(1, 6), time.time()


# -- wrong
import random
import time


def roll():
    return random.choices(range(6), k="two"), time.time()


# -- program
import random
import time


def test_roll(monkeypatch):
    monkeypatch.setattr(random, "randint", lambda a, b: 4)
    monkeypatch.setattr("time.time", lambda: 5)
    assert roll() == (4, 5)


# == json_patched
import json


def load(path):
    with open(path) as file:
        return json.load(file)


# -- wrong
def load(path):
    with open(path) as file:
        return file.read()


# -- program
import json
from unittest import mock


def test_load():
    with mock.patch("builtins.open", mock.mock_open(read_data='{"a": 1}')):
        assert load("x") == {"a": 1}
    with mock.patch.object(json, "load", return_value=3), mock.patch("builtins.open", mock.mock_open()):
        assert load("x") == 3


test_load()


# == attributes_set_by_name: errored
class Config:
    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)

    def get(self, name, default=None):
        return getattr(self, name, default)


# -- wrong
class Config:
    def __init__(self, **values):
        self.values = values

    def get(self, name, default=None):
        return self.values.get(name, default)


# -- program
import collections
import decimal
import itertools
import json
import statistics

config = Config(a=1, b="x")
assert config.get("a") == 1
assert config.a == 1 and config.b == "x"
assert json.dumps(vars(config)) == '{"a": 1, "b": "x"}'
assert statistics.mean([1, 3]) == 2 and decimal.Decimal("1") == 1


# == modules_loaded_by_name: errored
import importlib


def load(name):
    return importlib.import_module(name)


def call(name, *given):
    return globals()[name](*given)


# -- wrong
def load(name):
    return name


def call(name, *given):
    return given


# -- program
import math

import numpy as np


def test_load():
    import fractions

    assert load("math").pi == math.pi
    assert call("load", "fractions") is fractions
    assert np.linalg.norm([3, 4]) == 5


test_load()


# == warning_formatted
import warnings


def warn_nicely(message):
    warnings.formatwarning = lambda text, *rest, **named: f"{text}\n"
    warnings.warn(message)


# -- wrong
import warnings


def warn_nicely(message):
    warnings.formatwarning = lambda text, *rest, **named: f"{text}\n"


# -- program
import warnings

with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    warn_nicely("old")
assert len(found) == 1 and "old" in str(found[0].message)


# == attribute_dictionary
class AttrDict(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)


# -- wrong
class AttrDict(dict):
    def __getattr__(self, name):
        return 5


# -- program
import unittest


class TestAttrDict(unittest.TestCase):
    def test_present(self):
        self.assertEqual(AttrDict(a=2).a, 2)

    def test_absent(self):
        with self.assertRaises(AttributeError):
            AttrDict().nope


unittest.main()


# == dataclass_with_a_cache
from dataclasses import dataclass, field


@dataclass
class Point:
    x: int
    cache: dict = field(default_factory=dict, compare=False)


def move(point, by):
    return Point(point.x + by)


# -- wrong
from dataclasses import dataclass, field


@dataclass
class Point:
    x: int
    cache: dict = field(default_factory=dict, compare=False)


def move(point, by):
    return point


# -- program
assert move(Point(1), 3) == Point(4)


# == counting_stream
import io


class CountingIO(io.StringIO):
    count = 0

    def write(self, text):
        self.count += 1
        return super().write(text)


def make_stream():
    return CountingIO()


# -- wrong
import io


class CountingIO(io.StringIO):
    count = 0


def make_stream():
    return CountingIO()


# -- program
stream = make_stream()
stream.write("a")
stream.write("b")
assert stream.count == 2
assert stream.getvalue() == "ab"


# == enumeration_with_a_property
from enum import Enum


class Color(Enum):
    RED = 1
    GREEN = 2

    @property
    def hex(self):
        return {1: "#f00", 2: "#0f0"}[self.value]


def parse(text):
    return Color[text.upper()]


# -- wrong
from enum import Enum


class Color(Enum):
    RED = 1
    GREEN = 2

    @property
    def hex(self):
        return "#f00"


def parse(text):
    return Color[text.upper()]


# -- program
assert parse("green") is Color.GREEN
assert parse("green").hex == "#0f0"


# == encoder_of_dates
import datetime
import json


class Encoder(json.JSONEncoder):
    def default(self, value):
        if isinstance(value, datetime.date):
            return value.isoformat()
        return super().default(value)


def dumps(value):
    return json.dumps(value, cls=Encoder)


# -- wrong
import json


def dumps(value):
    return json.dumps(value, default=str, indent=1)


# -- program
import datetime
import json

assert dumps({"d": datetime.date(2020, 1, 2)}) == '{"d": "2020-01-02"}'
assert json.loads(dumps([1])) == [1]


# == own_error_with_text
class NegativeError(ValueError):
    def __str__(self):
        return f"{self.args[0]} is negative"


def root(x):
    if x < 0:
        raise NegativeError(x)
    return x**0.5


# -- wrong
class NegativeError(ValueError):
    pass


def root(x):
    if x < 0:
        raise NegativeError(x)
    return x**0.5


# -- program
import pytest


def test_root():
    assert root(4) == pytest.approx(2)
    with pytest.raises(NegativeError, match="-1 is negative"):
        root(-1)


# == subtests_of_a_table
def fizz(n):
    return "fizz" if n % 3 == 0 else str(n)


# -- wrong
def fizz(n):
    return "fizz" if n % 3 == 1 else str(n)


# -- program
import unittest


class TestFizz(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = {1: "1", 2: "2", 3: "fizz"}

    def test_table(self):
        for n, wanted in self.table.items():
            with self.subTest(n=n):
                self.assertEqual(fizz(n), wanted)


unittest.main()


# == gathered
import asyncio


async def fetch_all(fetch, keys):
    return dict(zip(keys, await asyncio.gather(*map(fetch, keys))))


# -- wrong
async def fetch_all(fetch, keys):
    return {key: None for key in keys}


# -- program
import asyncio


async def fetch(key):
    await asyncio.sleep(0)
    return key * 2


def test_fetch_all():
    assert asyncio.run(fetch_all(fetch, [1, 2])) == {1: 2, 2: 4}


test_fetch_all()


# == logged_and_captured
import logging


def warn(text):
    print(text)
    logging.getLogger("app").warning("seen %s", text)


# -- wrong
def warn(text):
    print(text)


# -- program
def test_warn(caplog, capsys, tmp_path):
    warn("x")
    assert "seen x" in caplog.text
    assert capsys.readouterr().out == "x\n"
    assert tmp_path.exists()
