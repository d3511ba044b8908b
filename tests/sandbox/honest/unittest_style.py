# == main_at_the_end
def title_case(text):
    return " ".join(word[:1].upper() + word[1:] for word in text.split(" "))


# -- wrong
def title_case(text):
    return text.upper()


# -- program
import unittest


class TestTitleCase(unittest.TestCase):
    def test_words(self):
        self.assertEqual(title_case("hello big world"), "Hello Big World")

    def test_empty(self):
        self.assertEqual(title_case(""), "")

    def test_apostrophe(self):
        self.assertEqual(title_case("don't stop"), "Don't Stop")


if __name__ == "__main__":
    unittest.main()


# == set_up
class Account:
    def __init__(self, balance=0):
        self.balance = balance

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.balance += amount

    def withdraw(self, amount):
        if amount > self.balance:
            raise RuntimeError("insufficient funds")
        self.balance -= amount


# -- wrong
class Account:
    def __init__(self, balance=0):
        self.balance = balance

    def deposit(self, amount):
        self.balance += amount

    def withdraw(self, amount):
        self.balance -= amount


# -- program
import unittest


class AccountTest(unittest.TestCase):
    def setUp(self):
        self.account = Account(100)

    def test_deposit(self):
        self.account.deposit(50)
        self.assertEqual(self.account.balance, 150)

    def test_deposit_negative(self):
        with self.assertRaises(ValueError):
            self.account.deposit(-5)

    def test_overdraw(self):
        with self.assertRaisesRegex(RuntimeError, "insufficient"):
            self.account.withdraw(200)
        self.assertEqual(self.account.balance, 100)


unittest.main()


# == classes_left_to_runner
def lcm(a, b):
    import math

    return a * b // math.gcd(a, b)


# -- wrong
def lcm(a, b):
    return a * b


# -- program
from unittest import TestCase


class LcmTests(TestCase):
    def test_coprime(self):
        self.assertEqual(lcm(3, 5), 15)

    def test_common_factor(self):
        self.assertEqual(lcm(4, 6), 12)


# == sub_tests
def ordinal(n):
    if 10 <= n % 100 <= 20:
        return f"{n}th"
    return f"{n}" + {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")


# -- wrong
def ordinal(n):
    return f"{n}" + {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")


# -- program
import unittest


class OrdinalTest(unittest.TestCase):
    def test_table(self):
        for number, text in [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (112, "112th")]:
            with self.subTest(number=number):
                self.assertEqual(ordinal(number), text)


if __name__ == "__main__":
    unittest.main(verbosity=2)


# == argv_and_no_exit
def partition(items, predicate):
    yes, no = [], []
    for item in items:
        (yes if predicate(item) else no).append(item)
    return yes, no


# -- wrong
def partition(items, predicate):
    return list(filter(predicate, items)), list(items)


# -- program
import unittest


class PartitionTest(unittest.TestCase):
    def test_even_odd(self):
        even, odd = partition(range(6), lambda n: n % 2 == 0)
        self.assertListEqual(even, [0, 2, 4])
        self.assertListEqual(odd, [1, 3, 5])

    def test_empty(self):
        self.assertEqual(partition([], bool), ([], []))


unittest.main(argv=["first-arg-is-ignored"], exit=False)


# == text_test_runner
def histogram(values):
    out = {}
    for value in values:
        out[value] = out.get(value, 0) + 1
    return out


# -- wrong
def histogram(values):
    out = {}
    for value in values:
        out[value] = 1
    return out


# -- program
import unittest


class HistogramTest(unittest.TestCase):
    def test_counts(self):
        self.assertDictEqual(histogram("abca"), {"a": 2, "b": 1, "c": 1})

    def test_empty(self):
        self.assertFalse(histogram([]))


suite = unittest.TestLoader().loadTestsFromTestCase(HistogramTest)
result = unittest.TextTestRunner(verbosity=1).run(suite)
print("success" if result.wasSuccessful() else "failure")


# == runner_with_exit_status
def strip_tags(html):
    import re

    return re.sub(r"<[^>]+>", "", html)


# -- wrong
def strip_tags(html):
    return html.replace("<b>", "")


# -- program
import sys
import unittest


class StripTags(unittest.TestCase):
    def test_bold(self):
        self.assertEqual(strip_tags("<b>bold</b> text"), "bold text")

    def test_attributes(self):
        self.assertNotIn("href", strip_tags('<a href="x">link</a>'))


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(StripTags)
    outcome = unittest.TextTestRunner(stream=sys.stdout).run(suite)
    sys.exit(not outcome.wasSuccessful())


# == almost_equal
def celsius(fahrenheit):
    return (fahrenheit - 32) * 5 / 9


# -- wrong
def celsius(fahrenheit):
    return (fahrenheit - 32) / 2


# -- program
import unittest


class CelsiusTest(unittest.TestCase):
    def test_known(self):
        self.assertAlmostEqual(celsius(98.6), 37.0)
        self.assertAlmostEqual(celsius(-40), -40.0)
        self.assertAlmostEqual(celsius(0), -17.78, places=2)
        self.assertAlmostEqual(celsius(100), 37.8, delta=0.1)


unittest.main()


# == many_assert_methods
def analyse(text):
    words = text.split()
    return {"words": len(words), "longest": max(words, key=len, default=None), "set": set(words)}


# -- wrong
def analyse(text):
    words = text.split(" ")
    return {"words": len(words), "longest": max(words, default=None), "set": words}


# -- program
import unittest


class AnalyseTest(unittest.TestCase):
    def test_all(self):
        found = analyse("to be or not to be, that")
        self.assertIsInstance(found, dict)
        self.assertIn("longest", found)
        self.assertGreater(found["words"], 5)
        self.assertLessEqual(found["words"], 7)
        self.assertCountEqual(found["set"], ["to", "be", "or", "not", "be,", "that"])
        self.assertRegex(found["longest"], r"^that$")

    def test_nothing(self):
        self.assertIsNone(analyse("")["longest"])
        self.assertSetEqual(analyse("")["set"], set())


if __name__ == "__main__":
    unittest.main()


# == set_up_class
def load_config(path):
    config = {}
    with open(path) as file:
        for line in file:
            line = line.split("#")[0].strip()
            if line:
                key, _, value = line.partition("=")
                config[key.strip()] = value.strip()
    return config


# -- wrong
def load_config(path):
    config = {}
    with open(path) as file:
        for line in file:
            key, _, value = line.partition("=")
            config[key.strip()] = value.strip()
    return config


# -- program
import os
import shutil
import tempfile
import unittest


class LoadConfigTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.path = os.path.join(cls.folder, "app.cfg")
        with open(cls.path, "w") as file:
            file.write("# comment\nhost = localhost\n\nport=80 # default\n")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_values(self):
        self.assertEqual(load_config(self.path), {"host": "localhost", "port": "80"})

    def test_missing_file(self):
        self.assertRaises(FileNotFoundError, load_config, self.path + ".bak")


if __name__ == "__main__":
    unittest.main()

# == add_cleanup
import os


def touch(path):
    with open(path, "a"):
        os.utime(path)


# -- wrong
def touch(path):
    open(path, "w").close()


# -- program
import os
import tempfile
import unittest


class TouchTest(unittest.TestCase):
    def setUp(self):
        handle, self.path = tempfile.mkstemp()
        os.write(handle, b"kept")
        os.close(handle)
        self.addCleanup(os.remove, self.path)

    def test_content_is_kept(self):
        touch(self.path)
        with open(self.path) as file:
            self.assertEqual(file.read(), "kept")

    def test_new_file(self):
        new = self.path + ".new"
        self.addCleanup(lambda: os.path.exists(new) and os.remove(new))
        touch(new)
        self.assertTrue(os.path.exists(new))


unittest.main()


# == raises_with_message
def get_item(items, index):
    if index >= len(items):
        raise IndexError(f"no item {index} in {len(items)}")
    return items[index]


# -- wrong
def get_item(items, index):
    if index > len(items):
        raise IndexError(f"no item {index} in {len(items)}")
    return items[index]


# -- program
import unittest


class GetItemTest(unittest.TestCase):
    def test_out_of_range(self):
        with self.assertRaises(IndexError) as caught:
            get_item([1, 2], 2)
        self.assertEqual(str(caught.exception), "no item 2 in 2")

    def test_in_range(self):
        self.assertEqual(get_item([1, 2], 1), 2)


if __name__ == "__main__":
    unittest.main()


# == skip_some
def home_of(environment):
    return environment.get("HOME") or environment.get("USERPROFILE", "")


# -- wrong
def home_of(environment):
    return environment.get("USERPROFILE", "")


# -- program
import sys
import unittest


class HomeTest(unittest.TestCase):
    @unittest.skipIf(sys.platform == "win32", "POSIX only")
    def test_posix(self):
        self.assertEqual(home_of({"HOME": "/home/a"}), "/home/a")

    @unittest.skipUnless(sys.platform == "win32", "Windows only")
    def test_windows(self):
        self.assertEqual(home_of({"USERPROFILE": "C:\\a"}), "C:\\a")

    def test_none(self):
        self.assertEqual(home_of({}), "")


unittest.main()

# == async_case
import asyncio


async def gather_all(*calls):
    return await asyncio.gather(*(call() for call in calls))


# -- wrong
import asyncio


async def gather_all(*calls):
    return [call for call in calls]


# -- program
import asyncio
import unittest


class GatherTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.order = []

    async def slow(self):
        await asyncio.sleep(0.02)
        self.order.append("slow")
        return 1

    async def fast(self):
        self.order.append("fast")
        return 2

    async def test_results_in_order(self):
        self.assertEqual(list(await gather_all(self.slow, self.fast)), [1, 2])
        self.assertEqual(self.order, ["fast", "slow"])


if __name__ == "__main__":
    unittest.main()


# == mixin_base
class Queue:
    def __init__(self):
        self.items = []

    def put(self, item):
        self.items.append(item)

    def get(self):
        return self.items.pop(0)


# -- wrong
class Queue:
    def __init__(self):
        self.items = []

    def put(self, item):
        self.items.append(item)

    def get(self):
        return self.items.pop()


# -- program
import unittest


class OrderMixin:
    def test_first_in_first_out(self):
        queue = self.make()
        for letter in "abc":
            queue.put(letter)
        self.assertEqual([queue.get() for _ in range(3)], list("abc"))


class QueueTest(OrderMixin, unittest.TestCase):
    def make(self):
        return Queue()


if __name__ == "__main__":
    unittest.main()


# == suite_of_two_classes
def tokenize(text):
    import re

    return re.findall(r"\d+|[-+*/()]", text)


# -- wrong
def tokenize(text):
    return list(text.replace(" ", ""))


# -- program
import unittest


class NumbersTest(unittest.TestCase):
    def runTest(self):
        self.assertEqual(tokenize("12 + 345"), ["12", "+", "345"])


class SignsTest(unittest.TestCase):
    def test_brackets(self):
        self.assertEqual(tokenize("(1*2)"), ["(", "1", "*", "2", ")"])


suite = unittest.TestSuite()
suite.addTest(NumbersTest())
suite.addTest(SignsTest("test_brackets"))
outcome = unittest.TextTestRunner().run(suite)
assert outcome.wasSuccessful(), outcome.failures


# == wrong_raises_in_a_test: errored
def first_line(text):
    lines = text.splitlines()
    return lines[0] if lines else ""


# -- wrong
def first_line(text):
    return text.splitlines()[0]


# -- program
import unittest


class FirstLineTest(unittest.TestCase):
    def test_two(self):
        self.assertEqual(first_line("a\nb"), "a")

    def test_none(self):
        line = first_line("")
        self.assertEqual(line, "")


unittest.main()


# == custom_assertion
def shuffle_deck(seed):
    import random

    deck = [f"{rank}{suit}" for suit in "CDHS" for rank in "23456789TJQKA"]
    random.Random(seed).shuffle(deck)
    return deck


# -- wrong
def shuffle_deck(seed):
    import random

    random.seed(seed)
    return [random.choice("23456789TJQKA") + random.choice("CDHS") for _ in range(52)]


# -- program
import unittest


class DeckTest(unittest.TestCase):
    def assertIsDeck(self, deck):
        self.assertEqual(len(deck), 52)
        self.assertEqual(len(set(deck)), 52, "cards are doubled")

    def test_complete(self):
        self.assertIsDeck(shuffle_deck(1))

    def test_repeatable(self):
        self.assertEqual(shuffle_deck(3), shuffle_deck(3))
        self.assertNotEqual(shuffle_deck(3), shuffle_deck(4))


unittest.main()

# == logs
import logging


def retry(call, times):
    for attempt in range(1, times + 1):
        try:
            return call()
        except OSError as error:
            logging.getLogger("retry").warning("attempt %d failed: %s", attempt, error)
    raise RuntimeError("gave up")


# -- wrong
def retry(call, times):
    for attempt in range(times):
        try:
            return call()
        except OSError:
            pass


# -- program
import unittest


class RetryTest(unittest.TestCase):
    def test_logs_and_gives_up(self):
        def broken():
            raise OSError("disk")

        with self.assertLogs("retry", level="WARNING") as logs:
            with self.assertRaises(RuntimeError):
                retry(broken, 2)
        self.assertEqual(len(logs.output), 2)
        self.assertIn("attempt 1 failed: disk", logs.output[0])

    def test_second_time(self):
        outcomes = [OSError("net"), None]

        def flaky():
            outcome = outcomes.pop(0)
            if outcome:
                raise outcome
            return "done"

        self.assertEqual(retry(flaky, 3), "done")


unittest.main()
