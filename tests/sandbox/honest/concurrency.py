# == asyncio_run
import asyncio


async def fetch_all(names, fetch):
    return dict(zip(names, await asyncio.gather(*map(fetch, names))))


# -- wrong
import asyncio


async def fetch_all(names, fetch):
    return {name: fetch(name) for name in names}


# -- program
import asyncio


async def fake_fetch(name):
    await asyncio.sleep(0.001 * len(name))
    return name.upper()


async def main():
    result = await fetch_all(["b", "aaa"], fake_fetch)
    assert result == {"b": "B", "aaa": "AAA"}
    assert await fetch_all([], fake_fetch) == {}


asyncio.run(main())

# == async_test_functions
import asyncio


async def with_timeout(awaitable, seconds, default=None):
    try:
        return await asyncio.wait_for(awaitable, seconds)
    except asyncio.TimeoutError:
        return default


# -- wrong
import asyncio


async def with_timeout(awaitable, seconds, default=None):
    return await asyncio.wait_for(awaitable, seconds + 1)


# -- program
import asyncio


async def test_in_time():
    assert await with_timeout(asyncio.sleep(0, "done"), 1) == "done"


async def test_too_late():
    assert await with_timeout(asyncio.sleep(0.3, "late"), 0.01, "default") == "default"


# == async_generator
async def batches(source, size):
    batch = []
    async for item in source:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


# -- wrong
async def batches(source, size):
    batch = []
    async for item in source:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []


# -- program
import asyncio


async def numbers(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


async def collect():
    return [batch async for batch in batches(numbers(5), 2)]


found = asyncio.run(collect())
assert found == [[0, 1], [2, 3], [4]], found

# == async_semaphore
import asyncio


async def limited(calls, limit):
    gate = asyncio.Semaphore(limit)

    async def run(call):
        async with gate:
            return await call()

    return await asyncio.gather(*(run(call) for call in calls))


# -- wrong
import asyncio


async def limited(calls, limit):
    return await asyncio.gather(*(call() for call in calls))


# -- program
import asyncio

running = peak = 0


async def job():
    global running, peak
    running += 1
    peak = max(peak, running)
    await asyncio.sleep(0.005)
    running -= 1
    return peak


results = asyncio.run(limited([job] * 6, 2))
assert len(results) == 6
assert peak == 2, peak

# == async_queue
import asyncio


async def produce_consume(items, workers, handle):
    queue, out = asyncio.Queue(), []

    async def work():
        while True:
            item = await queue.get()
            out.append(await handle(item))
            queue.task_done()

    tasks = [asyncio.create_task(work()) for _ in range(workers)]
    for item in items:
        await queue.put(item)
    await queue.join()
    for task in tasks:
        task.cancel()
    return out


# -- wrong
import asyncio


async def produce_consume(items, workers, handle):
    return [await handle(item) for item in items[:workers]]


# -- program
import asyncio
import unittest


class ProduceConsumeTest(unittest.TestCase):
    def test_all_handled(self):
        async def square(n):
            await asyncio.sleep(0)
            return n * n

        loop = asyncio.new_event_loop()
        try:
            out = loop.run_until_complete(produce_consume(range(5), 2, square))
        finally:
            loop.close()
        self.assertEqual(sorted(out), [0, 1, 4, 9, 16])


unittest.main()

# == async_context_manager
from contextlib import asynccontextmanager


@asynccontextmanager
async def opened(log, name):
    log.append(f"open {name}")
    try:
        yield name
    finally:
        log.append(f"close {name}")


# -- wrong
from contextlib import asynccontextmanager


@asynccontextmanager
async def opened(log, name):
    log.append(f"open {name}")
    yield name


# -- program
import asyncio


async def scenario():
    log = []
    try:
        async with opened(log, "db") as name:
            log.append(f"use {name}")
            raise LookupError
    except LookupError:
        log.append("caught")
    return log


assert asyncio.run(scenario()) == ["open db", "use db", "close db", "caught"]

# == thread_counter
import threading


class SafeCounter:
    def __init__(self):
        self._lock = threading.Lock()
        self.value = 0

    def increment(self):
        with self._lock:
            self.value += 1


# -- wrong
class SafeCounter:
    def __init__(self):
        self.value = 0

    def increment(self):
        self.value = 1


# -- program
import threading

counter = SafeCounter()


def work():
    for _ in range(100):
        counter.increment()


threads = [threading.Thread(target=work) for _ in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert counter.value == 500, counter.value

# == thread_pool
from concurrent.futures import ThreadPoolExecutor


def parallel_map(function, items, workers=4):
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, items))


# -- wrong
from concurrent.futures import ThreadPoolExecutor, as_completed


def parallel_map(function, items, workers=4):
    with ThreadPoolExecutor(workers) as pool:
        return {future.result() for future in as_completed([pool.submit(function, item) for item in items])}


# -- program
import time


def slow_square(x):
    time.sleep(0.001 * (5 - x))
    return x * x


assert parallel_map(slow_square, range(5)) == [0, 1, 4, 9, 16]
assert parallel_map(str, []) == []


# == candidate_in_a_pool
def checksum(data):
    return sum((i + 1) * byte for i, byte in enumerate(data)) % 65521


# -- wrong
def checksum(data):
    return sum(data) % 65521


# -- program
from concurrent.futures import ThreadPoolExecutor, as_completed

words = [b"ab", b"ba", b"", b"hello"]
with ThreadPoolExecutor(max_workers=2) as pool:
    futures = {pool.submit(checksum, word): word for word in words}
    results = {futures[future]: future.result() for future in as_completed(futures)}

assert results[b""] == 0
assert results[b"ab"] != results[b"ba"], "order must count"
assert results[b"ab"] == 97 + 2 * 98


# == futures_exception
def strict_int(text):
    if text.strip() != text:
        raise ValueError("spaces")
    return int(text)


# -- wrong
def strict_int(text):
    return int(text)


# -- program
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor() as pool:
    good = pool.submit(strict_int, "12")
    bad = pool.submit(strict_int, " 12")

assert good.result() == 12
assert isinstance(bad.exception(), ValueError)

# == queue_worker
import queue
import threading


def run_worker(tasks, handle):
    waiting, done = queue.Queue(), []

    def work():
        while True:
            task = waiting.get()
            if task is None:
                return
            done.append(handle(task))

    thread = threading.Thread(target=work)
    thread.start()
    for task in tasks:
        waiting.put(task)
    waiting.put(None)
    thread.join()
    return done


# -- wrong
import threading


def run_worker(tasks, handle):
    done = []
    threading.Thread(target=lambda: done.append(handle(tasks[0]))).start()
    return done


# -- program
def test_order():
    assert run_worker([1, 2, 3], lambda n: n * 10) == [10, 20, 30]


def test_in_another_thread():
    import threading

    names = run_worker([None, 1][1:], lambda _: threading.current_thread() is threading.main_thread())
    assert names == [False]


test_order()
test_in_another_thread()

# == event_timer
import threading


def call_later(seconds, function, *arguments):
    timer = threading.Timer(seconds, function, arguments)
    timer.start()
    return timer


# -- wrong
def call_later(seconds, function, *arguments):
    function(*arguments)


# -- program
import threading

called = threading.Event()
order = []


def note(word):
    order.append(word)
    called.set()


call_later(0.2, note, "later")
order.append("now")
assert called.wait(2)
assert order == ["now", "later"]

# == subprocess_output
import subprocess
import sys


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return done.returncode, done.stdout.strip()


# -- wrong
import subprocess
import sys


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return 0, done.stdout


# -- program
code, out = run_python("print(6 * 7)")
assert code == 0
assert out == "42"
code, out = run_python("import sys; print('bye'); sys.exit(3)")
assert (code, out) == (3, "bye")

# == subprocess_script_file
import subprocess
import sys


def run_script(path, *arguments, stdin=""):
    return subprocess.check_output([sys.executable, str(path), *arguments], input=stdin, text=True)


# -- wrong
import subprocess
import sys


def run_script(path, *arguments, stdin=""):
    return subprocess.check_output([sys.executable, str(path)], input=stdin, text=True)


# -- program
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    script = Path(folder, "upper.py")
    script.write_text("import sys\nprint(sys.stdin.read().upper() + ','.join(sys.argv[1:]))\n")
    output = run_script(script, "a", "b", stdin="hi ")
assert output == "HI a,b\n", output


# == multiprocessing_free
def chunked_sum(numbers, parts):
    size = -(-len(numbers) // parts)
    return [sum(numbers[i * size : (i + 1) * size]) for i in range(parts)]


# -- wrong
def chunked_sum(numbers, parts):
    size = len(numbers) // parts
    return [sum(numbers[i * size : (i + 1) * size]) for i in range(parts)]


# -- program
numbers = list(range(10))
for parts in (1, 2, 3, 4):
    sums = chunked_sum(numbers, parts)
    assert len(sums) == parts
    assert sum(sums) == 45, f"{parts} parts lose something: {sums}"
