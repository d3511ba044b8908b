# == numpy_moving_average
import numpy as np


def moving_average(values, window):
    return np.convolve(values, np.ones(window) / window, mode="valid")


# -- wrong
import numpy as np


def moving_average(values, window):
    return np.convolve(values, np.ones(window) / window, mode="same")


# -- program
import numpy as np

result = moving_average([1, 2, 3, 4, 5], 3)
assert isinstance(result, np.ndarray)
assert result.shape == (3,)
assert np.allclose(result, [2, 3, 4])

# == numpy_testing
import numpy as np


def one_hot(labels, classes):
    out = np.zeros((len(labels), classes), dtype=int)
    out[np.arange(len(labels)), labels] = 1
    return out


# -- wrong
import numpy as np


def one_hot(labels, classes):
    return np.eye(len(labels), classes, dtype=int)


# -- program
import numpy as np
from numpy.testing import assert_array_equal

encoded = one_hot([2, 0], 3)
assert_array_equal(encoded, [[0, 0, 1], [1, 0, 0]])
assert encoded.sum() == 2

# == numpy_almost_equal
import numpy as np


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()


# -- wrong
import numpy as np


def softmax(x):
    return np.asarray(x) / np.sum(x)


# -- program
import numpy as np

p = softmax(np.array([1.0, 2.0, 3.0]))
np.testing.assert_almost_equal(p.sum(), 1.0)
np.testing.assert_allclose(p, [0.09003057, 0.24472847, 0.66524096], rtol=1e-6)
assert not np.isnan(softmax(np.array([1000.0, 1000.0]))).any()


# == numpy_in_place
def zero_negatives(array):
    array[array < 0] = 0


# -- wrong
def zero_negatives(array):
    array = array.clip(0)


# -- program
import numpy as np

values = np.array([[1, -2], [-3, 4]])
zero_negatives(values)
assert (values == np.array([[1, 0], [0, 4]])).all()
assert values.min() == 0

# == numpy_distances
import numpy as np


def pairwise(points):
    difference = points[:, None, :] - points[None, :, :]
    return np.sqrt((difference**2).sum(-1))


# -- wrong
import numpy as np


def pairwise(points):
    difference = points[:, None, :] - points[None, :, :]
    return np.abs(difference).sum(-1)


# -- program
import unittest

import numpy as np


class PairwiseTest(unittest.TestCase):
    def setUp(self):
        self.points = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])

    def test_values(self):
        distances = pairwise(self.points)
        self.assertEqual(distances.shape, (3, 3))
        self.assertAlmostEqual(distances[0, 1], 5.0)
        self.assertTrue(np.allclose(np.diag(distances), 0))
        self.assertTrue(np.allclose(distances, distances.T))


unittest.main()

# == pandas_group
import pandas as pd


def total_by(frame, key, value):
    return frame.groupby(key)[value].sum().sort_values(ascending=False)


# -- wrong
import pandas as pd


def total_by(frame, key, value):
    return frame.groupby(key)[value].mean().sort_values(ascending=False)


# -- program
import pandas as pd

frame = pd.DataFrame({"city": ["Rome", "Oslo", "Rome"], "sales": [1, 5, 7]})
totals = total_by(frame, "city", "sales")
assert totals.to_dict() == {"Rome": 8, "Oslo": 5}
assert list(totals.index) == ["Rome", "Oslo"]

# == pandas_frame_equal
import pandas as pd


def add_share(frame, column):
    return frame.assign(share=frame[column] / frame[column].sum())


# -- wrong
import pandas as pd


def add_share(frame, column):
    frame["share"] = frame[column] / frame[column].max()
    return frame


# -- program
import pandas as pd
from pandas.testing import assert_frame_equal

source = pd.DataFrame({"n": [1, 3]})
expected = pd.DataFrame({"n": [1, 3], "share": [0.25, 0.75]})
assert_frame_equal(add_share(source, "n"), expected)
assert list(source.columns) == ["n"], "the source must stay as it is"

# == pandas_cleaning
import pandas as pd


def drop_sparse_columns(frame, share=0.5):
    return frame.loc[:, frame.notna().mean() >= share]


# -- wrong
import pandas as pd


def drop_sparse_columns(frame, share=0.5):
    return frame.dropna(axis=1)


# -- program
import numpy as np
import pandas as pd


def main():
    frame = pd.DataFrame({"full": [1, 2, 3, 4], "half": [1, np.nan, 3, np.nan], "poor": [np.nan] * 3 + [1]})
    cleaned = drop_sparse_columns(frame)
    assert list(cleaned.columns) == ["full", "half"]
    assert cleaned.shape == (4, 2)
    assert drop_sparse_columns(frame, share=0.0).equals(frame)


main()

# == dataclass_equality
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0

    def moved(self, dx, dy):
        return replace(self, x=self.x + dx, y=self.y + dy)


# -- wrong
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0

    def moved(self, dx, dy):
        return replace(self, x=self.x + dx)


# -- program
from dataclasses import FrozenInstanceError, asdict

point = Point(1.0)
assert asdict(point) == {"x": 1.0, "y": 0.0}
moved = point.moved(2, 3)
assert (moved.x, moved.y) == (3.0, 3)
assert moved == Point(3.0, 3.0)
try:
    point.x = 5
    frozen = False
except FrozenInstanceError:
    frozen = True
assert frozen

# == dataclass_from_dict
import dataclasses


def from_dict(kind, data):
    names = {field.name for field in dataclasses.fields(kind)}
    return kind(**{key: value for key, value in data.items() if key in names})


# -- wrong
def from_dict(kind, data):
    return kind(*data.values())


# -- program
from dataclasses import dataclass, field


@dataclass
class User:
    name: str
    tags: list = field(default_factory=list)


user = from_dict(User, {"extra": 1, "name": "Ann"})
assert user == User("Ann", [])
assert from_dict(User, {"tags": ["x"], "name": "Bob"}).tags == ["x"]

# == datetime_difference
from datetime import date, timedelta


def business_days(start, end):
    days = 0
    while start < end:
        days += start.weekday() < 5
        start += timedelta(days=1)
    return days


# -- wrong
from datetime import date, timedelta


def business_days(start, end):
    return (end - start).days * 5 // 7


# -- program
from datetime import date

monday = date(2024, 1, 1)
assert business_days(monday, monday) == 0
assert business_days(monday, date(2024, 1, 8)) == 5
assert business_days(date(2024, 1, 5), date(2024, 1, 8)) == 1

# == datetime_parsing
from datetime import datetime, timezone


def parse_timestamp(text):
    for pattern in ("%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M", "%Y-%m-%d"):
        try:
            found = datetime.strptime(text, pattern)
        except ValueError:
            continue
        return found if found.tzinfo else found.replace(tzinfo=timezone.utc)
    raise ValueError(f"no timestamp: {text!r}")


# -- wrong
from datetime import datetime


def parse_timestamp(text):
    return datetime.strptime(text[:10], "%Y-%m-%d")


# -- program
from datetime import datetime, timedelta, timezone

assert parse_timestamp("2024-03-01") == datetime(2024, 3, 1, tzinfo=timezone.utc)
assert parse_timestamp("2024-03-01 12:30").hour == 12
with_zone = parse_timestamp("2024-03-01T12:00:00+0200")
assert with_zone.utcoffset() == timedelta(hours=2)
assert with_zone == datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
try:
    parse_timestamp("yesterday")
except ValueError as error:
    assert "yesterday" in str(error)

# == regex_extract
import re


def find_emails(text):
    return re.findall(r"[\w.+-]+@[\w-]+\.[\w.-]*\w", text)


# -- wrong
import re


def find_emails(text):
    return re.findall(r"\S+@\S+", text)


# -- program
text = "Write to ann@example.com, or bob.b+x@mail.example.org. Not to @nobody."
assert find_emails(text) == ["ann@example.com", "bob.b+x@mail.example.org"]
assert find_emails("") == []

# == regex_replace
import re


def mask_digits(text, keep=4):
    digits = len(re.findall(r"\d", text))
    seen = 0

    def replace(match):
        nonlocal seen
        seen += 1
        return "*" if seen <= digits - keep else match[0]

    return re.sub(r"\d", replace, text)


# -- wrong
import re


def mask_digits(text, keep=4):
    return re.sub(r"\d", "*", text[:-keep]) + text[-keep:]


# -- program
assert mask_digits("4111 1111 1111 1234") == "**** **** **** 1234"
assert mask_digits("12-34", keep=3) == "*2-34"
assert mask_digits("no digits") == "no digits"

# == unicode_normal_form
import unicodedata


def strip_accents(text):
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


# -- wrong
def strip_accents(text):
    return text.encode("ascii", "ignore").decode()


# -- program
assert strip_accents("Café Ñandú") == "Cafe Nandu"
assert strip_accents("naïve") == "naive"
assert strip_accents("日本") == "日本"
assert len(strip_accents("é")) == 1


# == bytes_and_text
def decode_any(data, encodings=("utf-8", "latin-1")):
    for encoding in encodings:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    raise ValueError("unknown encoding")


# -- wrong
def decode_any(data, encodings=("utf-8", "latin-1")):
    return data.decode(encodings[0], errors="replace"), encodings[0]


# -- program
text = "grün €"
assert decode_any(text.encode("utf-8")) == (text, "utf-8")
assert decode_any("grün".encode("latin-1")) == ("grün", "latin-1")
try:
    decode_any(b"\xff", encodings=["ascii"])
    raised = False
except ValueError:
    raised = True
assert raised

# == base64_urls
import base64


def encode_id(number):
    raw = number.to_bytes((number.bit_length() + 7) // 8 or 1, "big")
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode_id(text):
    return int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")


# -- wrong
import base64


def encode_id(number):
    return base64.urlsafe_b64encode(str(number).encode()).decode()


def decode_id(text):
    return int(base64.urlsafe_b64decode(text))


# -- program
for number in (0, 1, 255, 256, 10**12):
    encoded = encode_id(number)
    assert "=" not in encoded and "/" not in encoded
    assert decode_id(encoded) == number

# == collections_counter
from collections import Counter


def most_common_words(text, n):
    words = [word.strip(".,!?").lower() for word in text.split()]
    return Counter(words).most_common(n)


# -- wrong
from collections import Counter


def most_common_words(text, n):
    return Counter(text.split()).most_common(n)


# -- program
from collections import Counter

text = "The cat saw the dog. The dog ran!"
assert most_common_words(text, 1) == [("the", 3)]
top = dict(most_common_words(text, 2))
assert top == {"the": 3, "dog": 2}

# == namedtuple_result
from collections import namedtuple

Stats = namedtuple("Stats", "low high mean")


def stats(values):
    return Stats(min(values), max(values), sum(values) / len(values))


# -- wrong
from collections import namedtuple

Stats = namedtuple("Stats", "low high mean")


def stats(values):
    return Stats(values[0], values[-1], sum(values) / len(values))


# -- program
found = stats([3, 1, 2])
assert found.low == 1
assert found == (1, 3, 2.0)
low, *_ = stats([5, 4])
assert low == 4
assert found._asdict()["high"] == 3


# == set_operations
def compare(old, new):
    old, new = set(old), set(new)
    return {"added": new - old, "removed": old - new, "kept": old & new}


# -- wrong
def compare(old, new):
    old, new = set(old), set(new)
    return {"added": old - new, "removed": new - old, "kept": old | new}


# -- program
changes = compare(["a", "b"], ["b", "c"])
assert changes == {"added": {"c"}, "removed": {"a"}, "kept": {"b"}}
assert sorted(changes) == ["added", "kept", "removed"]

# == enum_members
from enum import Enum


class Color(Enum):
    RED = "#ff0000"
    GREEN = "#00ff00"

    @classmethod
    def from_hex(cls, text):
        return cls(text.lower())


# -- wrong
from enum import Enum


class Color(Enum):
    RED = "#ff0000"
    GREEN = "#00ff00"

    @classmethod
    def from_hex(cls, text):
        return cls.RED


# -- program
assert Color.from_hex("#FF0000") is Color.RED
assert Color.from_hex("#00ff00").name == "GREEN"
assert [color.name for color in Color] == ["RED", "GREEN"]

# == decimal_money
from decimal import ROUND_HALF_UP, Decimal


def price_with_tax(price, rate):
    return (Decimal(str(price)) * (1 + Decimal(str(rate)))).quantize(Decimal("0.01"), ROUND_HALF_UP)


# -- wrong
def price_with_tax(price, rate):
    return round(price * (1 + rate), 2)


# -- program
from decimal import Decimal

result = price_with_tax(10.05, 0.1)
assert result == Decimal("11.06"), result
assert isinstance(result, Decimal)
assert str(price_with_tax(1, 0)) == "1.00"


# == equality_of_own_class
class Money:
    def __init__(self, amount, currency):
        self.amount, self.currency = amount, currency

    def __add__(self, other):
        if self.currency != other.currency:
            raise ValueError("currencies differ")
        return Money(self.amount + other.amount, self.currency)


# -- wrong
class Money:
    def __init__(self, amount, currency):
        self.amount, self.currency = amount, currency

    def __add__(self, other):
        return Money(self.amount + other.amount, other.currency)


# -- program
total = Money(5, "EUR") + Money(7, "EUR")
assert total.amount == 12
assert total.currency == "EUR"
try:
    Money(1, "EUR") + Money(1, "USD")
except ValueError as e:
    error = e
else:
    error = None
assert isinstance(error, ValueError)

# == xml_reading
import xml.etree.ElementTree as ET


def titles(xml):
    return [item.findtext("title", "").strip() for item in ET.fromstring(xml).iter("item")]


# -- wrong
import xml.etree.ElementTree as ET


def titles(xml):
    return [title.text for title in ET.fromstring(xml).iter("title")]


# -- program
FEED = """<rss><channel><title>Feed</title>
<item><title> One </title></item><item><link>x</link></item></channel></rss>"""
assert titles(FEED) == ["One", ""]
assert titles("<rss/>") == []
