"""Nested and lazy things: flattening, windows, pairs."""

from itertools import chain, islice


def flatten(nested):
    """Flatten a nested list recursively into one flat list."""
    flat = []
    for item in nested:
        if isinstance(item, list):
            flat.extend(flatten(item))
        else:
            flat.append(item)
    return flat


def flatten_once(list_of_lists):
    """Chain a few lists into one."""
    return list(chain.from_iterable(list_of_lists))


def flatten_with_stack(nested):
    """Flatten a nested list of any depth without recursion."""
    flat = []
    stack = [iter(nested)]
    while stack:
        for item in stack[-1]:
            if isinstance(item, (list, tuple)):
                stack.append(iter(item))
                break
            flat.append(item)
        else:
            stack.pop()
    return flat


def flatten_any(nested):
    """Recursively flatten everything that can be iterated over."""
    flat = []
    for item in nested:
        if hasattr(item, "__iter__"):
            flat.extend(flatten_any(item))
        else:
            flat.append(item)
    return flat


def flatten_until_flat(nested):
    """Flatten a nested list one level at a time, without recursion."""
    items = list(nested)
    while any(hasattr(item, "__iter__") for item in items):
        unpacked = []
        for item in items:
            if hasattr(item, "__iter__"):
                unpacked.extend(item)
            else:
                unpacked.append(item)
        items = unpacked
    return items


def flatten_with_sum(nested):
    """Flatten a nested list with the sum trick."""
    return sum(nested, [])


def flatten_backwards(nested):
    """Flatten a nested list with an explicit stack."""
    stack = list(nested)
    flat = []
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack.extend(item)
        else:
            flat.append(item)
    return flat


def flatten_to_depth(nested, depth=None):
    """Flatten a nested list recursively, at most depth levels; None flattens all."""
    flat = []
    for item in nested:
        if isinstance(item, list) and depth != 0:
            flat.extend(flatten_to_depth(item, None if depth is None else depth - 1))
        else:
            flat.append(item)
    return flat


def flatten_by_text(nested):
    """Flatten a nested list by way of its printed form."""
    text = str(nested).replace("[", "").replace("]", "")
    return [part.strip() for part in text.split(",")]


def iter_flat(nested):
    """Recursively yield the leaves of a nested list."""
    for item in nested:
        if isinstance(item, list):
            yield from iter_flat(item)
        else:
            yield item


def sliding_windows(items, size):
    """Return the overlapping windows of n neighbouring items of a list."""
    return [items[start : start + size] for start in range(len(items) - size + 1)]


def take(iterable, n):
    """Return the first n items of an iterable as a list."""
    return list(islice(iterable, n))


def countdown(start):
    """Yield whole numbers from start down to one."""
    while start > 0:
        yield start
        start -= 1
