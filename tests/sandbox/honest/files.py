# == temporary_file
def count_words_in_file(path):
    with open(path, encoding="utf-8") as file:
        return sum(len(line.split()) for line in file)


# -- wrong
def count_words_in_file(path):
    with open(path, encoding="utf-8") as file:
        return len(file.readline().split())


# -- program
import os
import tempfile

with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
    file.write("one two\nthree\n\nfour five six\n")
try:
    assert count_words_in_file(file.name) == 6
finally:
    os.unlink(file.name)
assert not os.path.exists(file.name)

# == pathlib_tree
from pathlib import Path


def folder_size(folder):
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


# -- wrong
from pathlib import Path


def folder_size(folder):
    return sum(path.stat().st_size for path in Path(folder).glob("*") if path.is_file())


# -- program
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "a.bin").write_bytes(b"x" * 10)
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / "sub" / "deep" / "b.bin").write_bytes(b"y" * 32)
    size = folder_size(folder)
assert size == 42

# == writes_a_file: errored
import json


def save_settings(path, **settings):
    with open(path, "w") as file:
        json.dump(settings, file, indent=2, sort_keys=True)


# -- wrong
import json


def save_settings(path, **settings):
    with open(path, "w") as file:
        file.write(str(settings))


# -- program
import json
import os
import tempfile

path = os.path.join(tempfile.mkdtemp(), "settings.json")
save_settings(path, theme="dark", size=12)
with open(path) as file:
    text = file.read()
assert json.loads(text) == {"size": 12, "theme": "dark"}
assert text.index("size") < text.index("theme")


# == append_log
def append_line(path, line):
    with open(path, "a") as file:
        file.write(line.rstrip("\n") + "\n")


# -- wrong
def append_line(path, line):
    with open(path, "w") as file:
        file.write(line.rstrip("\n") + "\n")


# -- program
import os

path = "/tmp/events.log"
if os.path.exists(path):
    os.remove(path)
append_line(path, "first")
append_line(path, "second\n")
with open(path) as file:
    lines = file.readlines()
os.remove(path)
assert lines == ["first\n", "second\n"]

# == csv_reader
import csv
import io


def read_rows(text):
    return [
        {key: int(value) if value.isdigit() else value for key, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]


# -- wrong
def read_rows(text):
    head, *lines = text.splitlines()
    return [dict(zip(head.split(","), line.split(","))) for line in lines]


# -- program
SOURCE = 'name,age\n"Doe, Jane",31\nBob,7\n'
rows = read_rows(SOURCE)
assert len(rows) == 2
assert rows[0] == {"name": "Doe, Jane", "age": 31}
assert rows[1]["age"] == 7

# == csv_writer
import csv


def write_rows(file, rows):
    writer = csv.DictWriter(file, fieldnames=sorted({key for row in rows for key in row}), restval="")
    writer.writeheader()
    writer.writerows(rows)


# -- wrong
import csv


def write_rows(file, rows):
    writer = csv.DictWriter(file, fieldnames=list(rows[0]), extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)


# -- program
import io
import unittest


class WriteRowsTest(unittest.TestCase):
    def test_union_of_keys(self):
        out = io.StringIO()
        write_rows(out, [{"b": 1}, {"a": 2, "b": 3}])
        self.assertEqual(out.getvalue().splitlines(), ["a,b", ",1", "2,3"])


unittest.main()

# == json_round_trip
import datetime
import json


def dumps(value):
    def default(one):
        if isinstance(one, (datetime.date, datetime.datetime)):
            return one.isoformat()
        if isinstance(one, set):
            return sorted(one)
        raise TypeError(type(one).__name__)

    return json.dumps(value, default=default)


# -- wrong
import json


def dumps(value):
    return json.dumps(value, default=str)


# -- program
import datetime
import json

text = dumps({"day": datetime.date(2024, 2, 29), "tags": {"b", "a"}})
assert json.loads(text) == {"day": "2024-02-29", "tags": ["a", "b"]}
try:
    dumps(object())
except TypeError as error:
    message = str(error)
else:
    message = "nothing was raised"
assert message == "object"

# == json_lines
import json


def read_json_lines(lines):
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"line {number}: {error.msg}") from error


# -- wrong
import json


def read_json_lines(lines):
    for line in lines:
        if line.strip():
            yield json.loads(line)


# -- program
good = ['{"a": 1}\n', "\n", "[2]\n"]
assert list(read_json_lines(good)) == [{"a": 1}, [2]]
try:
    list(read_json_lines(['{"a": 1}', "{broken"]))
    raise SystemExit("no error")
except ValueError as error:
    assert str(error).startswith("line 2: "), error

# == sqlite_memory
import sqlite3


def top_customers(connection, limit):
    query = """SELECT customer, SUM(amount) AS total FROM orders
               GROUP BY customer ORDER BY total DESC, customer LIMIT ?"""
    return connection.execute(query, (limit,)).fetchall()


# -- wrong
import sqlite3


def top_customers(connection, limit):
    query = "SELECT customer, MAX(amount) FROM orders GROUP BY customer ORDER BY 2 DESC LIMIT ?"
    return connection.execute(query, (limit,)).fetchall()


# -- program
import sqlite3


def make_database():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE orders (customer TEXT, amount INTEGER)")
    orders = [("ann", 10), ("bob", 25), ("ann", 20), ("cid", 5)]
    connection.executemany("INSERT INTO orders VALUES (?, ?)", orders)
    return connection


database = make_database()
assert top_customers(database, 2) == [("ann", 30), ("bob", 25)]
assert len(top_customers(database, 10)) == 3
database.close()


# == sqlite_insert
def add_user(connection, name, email):
    with connection:
        cursor = connection.execute("INSERT INTO users (name, email) VALUES (?, ?)", (name, email))
    return cursor.lastrowid


# -- wrong
def add_user(connection, name, email):
    connection.execute(f"INSERT INTO users (name, email) VALUES ('{name}', '{email}')")
    return 1


# -- program
import sqlite3

connection = sqlite3.connect(":memory:")
connection.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT UNIQUE)")
first = add_user(connection, "Ann", "ann@x")
second = add_user(connection, "Bob", "bob@x")
assert (first, second) == (1, 2)
count = connection.execute("SELECT COUNT(*) FROM users").fetchone()[0]
assert count == 2
row = connection.execute("SELECT name FROM users WHERE id = ?", (second,)).fetchone()
assert row == ("Bob",)
assert not connection.in_transaction

# == environment
import os


def env_flag(name, default=False):
    value = os.getenv(name)
    return default if value is None else value.lower() in ("1", "true", "yes")


# -- wrong
import os


def env_flag(name, default=False):
    return bool(os.getenv(name, default))


# -- program
import os

os.environ["FEATURE_A"] = "yes"
os.environ["FEATURE_B"] = "0"
os.environ.pop("FEATURE_C", None)
assert env_flag("FEATURE_A") is True
assert env_flag("FEATURE_B") is False
assert env_flag("FEATURE_C") is False
assert env_flag("FEATURE_C", default=True) is True
del os.environ["FEATURE_A"], os.environ["FEATURE_B"]

# == environment_changed
import os


def set_proxy(url):
    for name in ("http_proxy", "https_proxy"):
        if url:
            os.environ[name] = url
        else:
            os.environ.pop(name, None)


# -- wrong
import os


def set_proxy(url):
    os.environ["http_proxy"] = url or ""


# -- program
import os

set_proxy("http://proxy:3128")
assert os.environ["http_proxy"] == "http://proxy:3128"
assert os.environ.get("https_proxy") == "http://proxy:3128"
set_proxy(None)
assert "http_proxy" not in os.environ
set_proxy("")

# == working_directory
import os
from contextlib import contextmanager


@contextmanager
def cd(path):
    before = os.getcwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


# -- wrong
import os
from contextlib import contextmanager


@contextmanager
def cd(path):
    os.chdir(path)
    yield


# -- program
import os
import tempfile

start = os.getcwd()
folder = os.path.realpath(tempfile.mkdtemp())
with cd(folder):
    inside = os.getcwd()
assert inside == folder
assert os.getcwd() == start

# == rename_files
from pathlib import Path


def change_extension(folder, old, new):
    renamed = []
    for path in sorted(Path(folder).glob(f"*{old}")):
        renamed.append(path.rename(path.with_suffix(new)).name)
    return renamed


# -- wrong
from pathlib import Path


def change_extension(folder, old, new):
    return [path.with_suffix(new).name for path in sorted(Path(folder).glob(f"*{old}"))]


# -- program
import shutil
import tempfile
from pathlib import Path


def test_change_extension():
    folder = Path(tempfile.mkdtemp())
    try:
        for name in ("a.jpeg", "b.jpeg", "c.png"):
            (folder / name).touch()
        assert change_extension(folder, ".jpeg", ".jpg") == ["a.jpg", "b.jpg"]
        assert sorted(path.name for path in folder.iterdir()) == ["a.jpg", "b.jpg", "c.png"]
    finally:
        shutil.rmtree(folder)


test_change_extension()

# == zip_archive
import io
import zipfile


def zip_texts(texts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return out.getvalue()


# -- wrong
import io
import zipfile


def zip_texts(texts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text.strip())
    return out.getvalue()


# -- program
import io
import zipfile

data = zip_texts({"a.txt": "hello ", "dir/b.txt": "wörld"})
assert data[:2] == b"PK"
with zipfile.ZipFile(io.BytesIO(data)) as archive:
    assert archive.namelist() == ["a.txt", "dir/b.txt"]
    assert archive.read("a.txt").decode() == "hello "
    assert archive.testzip() is None

# == gzip_and_pickle
import gzip
import pickle


def dump(value, path):
    with gzip.open(path, "wb") as file:
        pickle.dump(value, file)


def load(path):
    with gzip.open(path, "rb") as file:
        return pickle.load(file)


# -- wrong
import gzip
import pickle


def dump(value, path):
    with gzip.open(path, "wb") as file:
        pickle.dump(list(value), file)


def load(path):
    with gzip.open(path, "rb") as file:
        return pickle.load(file)


# -- program
import os
import tempfile

path = os.path.join(tempfile.gettempdir(), "value.pkl.gz")
for value in ([1, 2], {"a": (1, None)}, "text"):
    dump(value, path)
    assert load(path) == value
os.remove(path)

# == config_parser
import configparser


def read_ini(text, section):
    parser = configparser.ConfigParser()
    parser.read_string(text)
    return dict(parser[section])


# -- wrong
import configparser


def read_ini(text, section):
    parser = configparser.ConfigParser()
    parser.read_string(text)
    return dict(parser.items(parser.sections()[0]))


# -- program
INI = """
[server]
host = localhost
[client]
retries = 3
timeout = %(retries)s0
"""
assert read_ini(INI, "client") == {"retries": "3", "timeout": "30"}
try:
    read_ini(INI, "missing")
    found = True
except KeyError:
    found = False
assert found is False

# == binary_struct
import struct


def read_records(data):
    size = struct.calcsize("<HI")
    return [struct.unpack_from("<HI", data, at) for at in range(0, len(data) - size + 1, size)]


# -- wrong
import struct


def read_records(data):
    size = struct.calcsize(">HI")
    return [struct.unpack_from(">HI", data, at) for at in range(0, len(data) - size + 1, size)]


# -- program
import struct

data = struct.pack("<HI", 7, 1 << 20) + struct.pack("<HI", 65535, 0)
assert read_records(data) == [(7, 1048576), (65535, 0)]
assert read_records(b"") == []
assert len(read_records(data + b"\x00")) == 2

# == hash_of_file
import hashlib


def file_sha256(path, block=65536):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(block):
            digest.update(chunk)
    return digest.hexdigest()


# -- wrong
import hashlib


def file_sha256(path, block=65536):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read(block)).hexdigest()


# -- program
import hashlib
import pathlib
import tempfile

content = bytes(range(256)) * 400
path = pathlib.Path(tempfile.mkdtemp()) / "data.bin"
path.write_bytes(content)
expected = hashlib.sha256(content).hexdigest()
assert file_sha256(path) == expected
assert file_sha256(path, block=1000) == expected

# == write_atomically
import os


def write_atomic(path, text):
    temporary = f"{path}.tmp"
    with open(temporary, "w") as file:
        file.write(text)
    os.replace(temporary, path)


# -- wrong
def write_atomic(path, text):
    with open(f"{path}.tmp", "w") as file:
        file.write(text)


# -- program
import os
import tempfile
import unittest


class WriteAtomicTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "file.txt")

    def tearDown(self):
        self.folder.cleanup()

    def test_written(self):
        write_atomic(self.path, "one")
        write_atomic(self.path, "two")
        self.assertTrue(os.path.isfile(self.path))
        with open(self.path) as file:
            self.assertEqual(file.read(), "two")
        self.assertEqual(os.listdir(self.folder.name), ["file.txt"])


if __name__ == "__main__":
    unittest.main()
