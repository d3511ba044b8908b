# == redirect_stdout
def greet(*names):
    for name in names:
        print(f"Hello, {name}!")


# -- wrong
def greet(*names):
    print("Hello,", *names)


# -- program
import contextlib
import io

buffer = io.StringIO()
with contextlib.redirect_stdout(buffer):
    greet("Ann", "Bob")
assert buffer.getvalue() == "Hello, Ann!\nHello, Bob!\n"


# == stdout_replaced
def progress(done, total, width=10):
    filled = width * done // total
    print("[" + "#" * filled + "." * (width - filled) + "]", end="\r", flush=True)


# -- wrong
def progress(done, total, width=10):
    print("[" + "#" * done + "." * (width - done) + "]")


# -- program
import io
import sys

before = sys.stdout
sys.stdout = io.StringIO()
try:
    progress(5, 20, width=8)
    text = sys.stdout.getvalue()
finally:
    sys.stdout = before
assert text == "[##......]\r", repr(text)


# == stdout_patched
def show_menu(options):
    for number, option in enumerate(options, 1):
        print(number, option, sep=") ")


# -- wrong
def show_menu(options):
    for number, option in enumerate(options):
        print(number, option, sep=") ")


# -- program
import io
import unittest
from unittest.mock import patch


class ShowMenuTest(unittest.TestCase):
    @patch("sys.stdout", new_callable=io.StringIO)
    def test_two(self, stdout):
        show_menu(["new", "quit"])
        self.assertEqual(stdout.getvalue(), "1) new\n2) quit\n")

    def test_print_is_called(self):
        with patch("builtins.print") as fake:
            show_menu(["only"])
        fake.assert_called_once_with(1, "only", sep=") ")


unittest.main()


# == returns_and_prints
def report(scores):
    best = max(scores, key=scores.get)
    print(f"best: {best} ({scores[best]})")
    return best


# -- wrong
def report(scores):
    best = max(scores)
    print(f"best: {best} ({scores[best]})")
    return best


# -- program
winner = report({"ann": 10, "bob": 30, "cid": 20})
assert winner == "bob"
print("report prints", winner)

# == logging_handler
import logging


def make_logger(name, handler, level=logging.INFO):
    logger = logging.getLogger(name)
    logger.setLevel(level)
    handler.setFormatter(logging.Formatter("%(levelname)s:%(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
    return logger


# -- wrong
import logging


def make_logger(name, handler, level=logging.INFO):
    logger = logging.getLogger(name)
    logger.addHandler(handler)
    return logger


# -- program
import io
import logging

stream = io.StringIO()
log = make_logger("app", logging.StreamHandler(stream))
log.debug("hidden")
log.info("started")
log.error("broken")
assert stream.getvalue().splitlines() == ["INFO:started", "ERROR:broken"]

# == logging_list_handler
import logging


def process(items):
    done = 0
    for item in items:
        if item is None:
            logging.warning("skipping empty item")
            continue
        done += 1
    return done


# -- wrong
import logging


def process(items):
    done = 0
    for item in items:
        if not item:
            logging.warning("skipping empty item")
            continue
        done += 1
    return done


# -- program
import logging


class ListHandler(logging.Handler):
    def __init__(self):
        super().__init__()
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


handler = ListHandler()
logging.getLogger().addHandler(handler)
done = process([1, None, 0, "x"])
assert handler.messages == ["skipping empty item"]
assert done == 3

# == argparse_parser
import argparse


def build_parser():
    parser = argparse.ArgumentParser(prog="tool")
    parser.add_argument("files", nargs="+")
    parser.add_argument("-n", "--number", type=int, default=10)
    parser.add_argument("--dry-run", action="store_true")
    return parser


# -- wrong
import argparse


def build_parser():
    parser = argparse.ArgumentParser(prog="tool")
    parser.add_argument("files", nargs="+")
    parser.add_argument("-n", "--number", default=10)
    parser.add_argument("--dry-run", action="store_true")
    return parser


# -- program
parser = build_parser()
arguments = parser.parse_args(["a.txt", "b.txt", "-n", "3"])
assert arguments.files == ["a.txt", "b.txt"]
assert arguments.number == 3
assert arguments.dry_run is False
assert parser.parse_args(["--dry-run", "x"]).dry_run

# == argparse_exit
import argparse


def parse(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, choices=range(1, 65536), metavar="PORT", required=True)
    return parser.parse_args(argv)


# -- wrong
import argparse


def parse(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=80)
    return parser.parse_args(argv)


# -- program
assert parse(["--port", "8080"]).port == 8080


def exits(argv):
    try:
        parse(argv)
    except SystemExit as error:
        return error.code
    return None


assert exits(["--port", "0"]) == 2
assert exits([]) == 2

# == sys_argv
import sys


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    if not argv:
        print("usage: add NUMBER...", file=sys.stderr)
        return 2
    print(sum(map(float, argv)))
    return 0


# -- wrong
import sys


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    print(sum(map(float, argv)))
    return 0


# -- program
import sys

sys.argv = ["add"]
assert main() == 2
assert main(["1", "2.5"]) == 0


# == pretty_printing
def format_table(rows):
    widths = [max(len(str(cell)) for cell in column) for column in zip(*rows)]
    return "\n".join(" | ".join(str(c).ljust(w) for c, w in zip(row, widths)).rstrip() for row in rows)


# -- wrong
def format_table(rows):
    return "\n".join(" | ".join(map(str, row)) for row in rows)


# -- program
from textwrap import dedent

expected = dedent("""\
    name | n
    a    | 10
    long | 2""")
actual = format_table([("name", "n"), ("a", 10), ("long", 2)])
assert actual == expected, "\n" + actual


# == human_sizes
def human_size(count):
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1024 or unit == "GB":
            return f"{count:.1f} {unit}" if unit != "B" else f"{count} B"
        count /= 1024


# -- wrong
def human_size(count):
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.1f} {unit}"
        count /= 1000


# -- program
print("Testing human_size...")
test_cases = [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KB"), (1536, "1.5 KB"), (5 * 1024**3, "5.0 GB")]
for count, expected in test_cases:
    actual = human_size(count)
    print(f"  human_size({count}) = {actual}")
    assert actual == expected, f"Expected {expected}, got {actual}"
print("All tests passed!")

# == warnings_caught
import warnings


def average(values):
    if not values:
        warnings.warn("average of nothing", RuntimeWarning)
        return float("nan")
    return sum(values) / len(values)


# -- wrong
def average(values):
    return sum(values) / max(len(values), 1)


# -- program
import math
import warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    result = average([])
assert math.isnan(result)
assert len(caught) == 1
assert issubclass(caught[0].category, RuntimeWarning)
assert average([1, 2, 6]) == 3


# == traceback_text
def describe_error(error):
    cause = error.__cause__
    text = f"{type(error).__name__}: {error}"
    return text if cause is None else f"{text} (because of {describe_error(cause)})"


# -- wrong
def describe_error(error):
    return f"{type(error).__name__}: {error}"


# -- program
def make_error():
    try:
        try:
            {}["key"]
        except KeyError as inner:
            raise ValueError("outer") from inner
    except ValueError as error:
        return error


assert describe_error(TypeError("plain")) == "TypeError: plain"
assert describe_error(make_error()) == "ValueError: outer (because of KeyError: 'key')"
