"""List handling as it turns up in scripts: filtering, chunking, duplicates, comparing."""

from collections import Counter
from itertools import groupby, islice

import numpy as np


def remove_empty_strings(items):
    """Return a copy of the list without its empty strings."""
    return [item for item in items if item != ""]


def drop_falsy_strings(strings):
    """Filter empty strings out of a list of strings."""
    return list(filter(None, strings))


def remove_blank_strings(values):
    """Remove strings that are empty or hold only white space.

    The remaining strings are returned as they were, not stripped.
    """
    return [value for value in values if value.strip()]


def remove_first_empty(items):
    """Remove the empty string from a list, if there is one."""
    result = list(items)
    if "" in result:
        result.remove("")
    return result


def remove_empty_in_loop(items):
    """Remove empty strings from the given list while walking over it."""
    for item in items:
        if item == "":
            items.remove(item)
    return items


def purge_empty_strings(items):
    """Remove every empty string from the list in place and return the list."""
    while "" in items:
        items.remove("")
    return items


def remove_empty_lists(rows):
    """Remove the empty lists from a list of lists."""
    return [row for row in rows if len(row) > 0]


def chunk_list(items, size):
    """Split a list into chunks of the given size; the last chunk may be shorter."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def take_chunks(iterable, n):
    """Split any iterable into lists of n items, reading it only once."""
    iterator = iter(iterable)
    chunks = []
    while True:
        chunk = list(islice(iterator, n))
        if not chunk:
            return chunks
        chunks.append(chunk)


def split_into_parts(items, n):
    """Split a list into n parts of nearly equal size."""
    quotient, remainder = divmod(len(items), n)
    parts = []
    start = 0
    for index in range(n):
        end = start + quotient + (1 if index < remainder else 0)
        parts.append(items[start:end])
        start = end
    return parts


def full_chunks(items, size):
    """Group a list into chunks of exactly size items."""
    return [list(group) for group in zip(*[iter(items)] * size)]


def chunk_by_index(items, n):
    """Cut a list into chunks of size n."""
    chunks = []
    for start in range(0, len(items) - n, n):
        chunks.append(items[start : start + n])
    return chunks


def chunk_recursive(items, n):
    """Split a list into chunks of size n by recursion."""
    if not items:
        return []
    return [items[:n]] + chunk_recursive(items[n:], n)


def chunk_array(values, size):
    """Split a list or array into numpy chunks of the given size."""
    return np.array_split(values, range(size, len(values), size))


def iter_chunks(items, size):
    """Yield successive chunks of a list, each of the given size."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def unique_in_order(items):
    """Remove duplicates from a list and keep the order of first occurrence."""
    seen = set()
    result = []
    for item in items:
        if item not in seen:
            seen.add(item)
            result.append(item)
    return result


def dedupe_with_dict(items):
    """Remove duplicates from a list and keep the order, as dictionary keys do."""
    return list(dict.fromkeys(items))


def unique_with_set(items):
    """Remove duplicates from a list."""
    return list(set(items))


def unique_sorted(items):
    """Remove duplicates from a list and return it in sorted order."""
    return sorted(set(items))


def squeeze_repeats(items):
    """Remove duplicates that follow each other in a list, keeping the order."""
    return [key for key, _ in groupby(items)]


def find_duplicates(items):
    """Return the duplicates from a list, each once, in the order of the list."""
    counts = Counter(items)
    return [item for item in counts if counts[item] > 1]


def dedupe_unhashable(items):
    """Remove duplicates from a list and keep its order; the items may be unhashable."""
    result = []
    for item in items:
        if item not in result:
            result.append(item)
    return result


def dedupe_ordered_set(items):
    """Remove duplicates with an ordered set, so that the list keeps its order."""
    from ordered_set import OrderedSet

    return list(OrderedSet(items))


def list_difference(first, second):
    """Difference of two lists: the items of the first that the second lacks."""
    return [item for item in first if item not in second]


def set_difference(first, second):
    """Return the difference between two lists as a list, using sets."""
    return list(set(first) - set(second))


def either_but_not_both(first, second):
    """Difference between two lists in both directions."""
    left = [item for item in first if item not in second]
    right = [item for item in second if item not in first]
    return left + right


def subtract_lists(first, second):
    """Difference between two lists of numbers, position by position."""
    return [a - b for a, b in zip(first, second)]


def multiset_difference(first, second):
    """Difference between two lists that counts how often each item occurs."""
    remaining = Counter(first)
    remaining.subtract(second)
    return [item for item, count in remaining.items() for _ in range(count)]


def list_intersection(first, second):
    """Return the common items of two lists, not the difference between them."""
    wanted = set(second)
    return [item for item in first if item in wanted]


def lists_differ(first, second):
    """Tell whether two lists differ, ignoring the order of their items."""
    return sorted(first) != sorted(second)


def first_difference(first, second):
    """Return the position of the first difference between two lists, or -1."""
    for index, (a, b) in enumerate(zip(first, second)):
        if a != b:
            return index
    if len(first) != len(second):
        return min(len(first), len(second))
    return -1
