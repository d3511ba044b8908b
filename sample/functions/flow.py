"""Calling functions: again, later, less often."""

import functools
import random
import time


def retry(function, attempts=3, wait=0.1):
    """Call a function again until it succeeds, waiting longer each time."""
    for attempt in range(attempts):
        try:
            return function()
        except Exception:
            if attempt == attempts - 1:
                raise
            time.sleep(wait * 2**attempt)


def memoize(function):
    """Remember the results of a function by its arguments."""
    cache = {}

    @functools.wraps(function)
    def wrapper(*args):
        if args not in cache:
            cache[args] = function(*args)
        return cache[args]

    return wrapper


def binary_search(ordered, wanted):
    """Find a value in a sorted list and return its position, or -1."""
    low, high = 0, len(ordered) - 1
    while low <= high:
        middle = (low + high) // 2
        if ordered[middle] == wanted:
            return middle
        if ordered[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return -1


def roll_dice():
    """Roll two dice."""
    return random.randint(1, 6) + random.randint(1, 6)


def countdown_clock(seconds):
    """Count down on the terminal."""
    for left in range(seconds, 0, -1):
        print(left)
        time.sleep(1)


def log(message):
    """Print a message with the time of day."""
    print(time.strftime("%H:%M:%S"), message)
