"""Averages, sequences and small number theory."""

import math
from collections import deque

import numpy as np


def moving_average(values, window):
    """Moving average of a list of numbers over a window of the given size."""
    return [sum(values[i : i + window]) / window for i in range(len(values) - window + 1)]


def rolling_mean(values, size):
    """Moving average of a list with a window of the given size, kept up by a running total."""
    queue = deque()
    total = 0.0
    means = []
    for value in values:
        queue.append(value)
        total += value
        if len(queue) > size:
            total -= queue.popleft()
        means.append(total / size)
    return means


def moving_average_numpy(values, window):
    """Moving average with a window, computed by numpy."""
    return np.convolve(values, np.ones(window) / window, mode="same")


def moving_sum(values, window):
    """Moving sum of a list with a window of the given size."""
    return [sum(values[i : i + window]) for i in range(len(values) - window + 1)]


def moving_average_short(data, n):
    """Moving average of the data with window size n."""
    result = []
    for i in range(len(data) - n):
        result.append(sum(data[i : i + n]) / n)
    return result


def block_average(values, size):
    """Average of a list over windows of the given size."""
    return [sum(values[i : i + size]) / len(values[i : i + size]) for i in range(0, len(values), size)]


def smooth(values, window):
    """Smooth a list by a moving average of window size."""
    return [sum(values[i : i + window]) // window for i in range(len(values) - window + 1)]


def moving_median(values, window):
    """Moving median of a list with a window of odd size."""
    middle = window // 2
    return [sorted(values[i : i + window])[middle] for i in range(len(values) - window + 1)]


def average(values):
    """Average of a list of numbers."""
    return sum(values) / len(values)


def is_prime(number):
    """Tell whether a whole number is prime."""
    if number < 2:
        return False
    return all(number % divisor for divisor in range(2, math.isqrt(number) + 1))
