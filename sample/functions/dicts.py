"""Dictionary handling: merging, sorting, inverting, walking."""

from collections import defaultdict


def deep_merge(first, second):
    """Merge two dictionaries recursively and return a new one.

    Where both hold a dictionary under a key, those are merged too; otherwise the
    value of the second dictionary wins.
    """
    merged = dict(first)
    for key, value in second.items():
        if isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = deep_merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def merge_shallow(first, second):
    """Merge two dictionaries; the second one wins."""
    return {**first, **second}


def deep_update(target, changes):
    """Merge changes into a dictionary recursively, in place, and return it."""
    for key, value in changes.items():
        if isinstance(value, dict):
            target[key] = deep_update(target.get(key, {}), value)
        else:
            target[key] = value
    return target


def merge_with_lists(left, right):
    """Merge two nested dictionaries recursively, joining the lists they hold."""
    result = {}
    for key in left.keys() | right.keys():
        if key not in right:
            result[key] = left[key]
        elif key not in left:
            result[key] = right[key]
        elif isinstance(left[key], dict) and isinstance(right[key], dict):
            result[key] = merge_with_lists(left[key], right[key])
        elif isinstance(left[key], list) and isinstance(right[key], list):
            result[key] = left[key] + right[key]
        else:
            result[key] = right[key]
    return result


def merge_common(first, second):
    """Merge two nested dictionaries key by key, going down recursively."""
    merged = {}
    for key in first:
        if key in second and isinstance(first[key], dict):
            merged[key] = merge_common(first[key], second[key])
        else:
            merged[key] = second.get(key, first[key])
    return merged


def add_counts(first, second):
    """Merge two dictionaries of numbers by adding the values of equal keys."""
    total = dict(first)
    for key, value in second.items():
        total[key] = total.get(key, 0) + value
    return total


def diff_dicts(old, new):
    """Compare two dictionaries recursively and return what changed in the new one."""
    changes = {}
    for key, value in new.items():
        if key not in old:
            changes[key] = value
        elif isinstance(value, dict) and isinstance(old[key], dict):
            below = diff_dicts(old[key], value)
            if below:
                changes[key] = below
        elif old[key] != value:
            changes[key] = value
    return changes


def merge_dict_list(dictionaries):
    """Merge a list of dictionaries into one dictionary of lists."""
    merged = defaultdict(list)
    for dictionary in dictionaries:
        for key, value in dictionary.items():
            merged[key].append(value)
    return dict(merged)


def sort_by_value_descending(mapping):
    """Return the dictionary sorted by value, largest first."""
    return dict(sorted(mapping.items(), key=lambda item: item[1], reverse=True))


def sort_dict_by_value(mapping):
    """Sort a dictionary by value."""
    return dict(sorted(mapping.items(), key=lambda item: item[1]))


def sort_by_key_descending(mapping):
    """Sort a dictionary by key in descending order."""
    return {key: mapping[key] for key in sorted(mapping, reverse=True)}


def ranked_items(scores):
    """Sort a dictionary into (key, value) pairs, descending by value."""
    return sorted(scores.items(), key=lambda pair: pair[1], reverse=True)


def keys_by_value(mapping):
    """Return the keys of a dictionary, sorted by their value in descending order."""
    return sorted(mapping, key=mapping.get, reverse=True)


def sort_numbers_down(mapping):
    """Sort a dictionary of numbers by value from high to low."""
    return {key: value for key, value in sorted(mapping.items(), key=lambda kv: (-kv[1], kv[0]))}


def sort_then_reverse(mapping):
    """Sort the items of a dictionary by value and reverse them to get descending order."""
    pairs = sorted(mapping.items(), key=lambda item: item[1])
    return pairs.reverse()


def sort_records(records, field):
    """Sort a list of dictionaries by one field, descending."""
    return sorted(records, key=lambda record: record[field], reverse=True)


def invert_mapping(mapping):
    """Swap keys and values of a dictionary."""
    return {value: key for key, value in mapping.items()}


def group_by(items, key):
    """Group items into a dictionary of lists by a key function."""
    groups = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return dict(groups)


def print_mapping(mapping, indent=2):
    """Print a nested dictionary as an indented tree."""
    for key, value in mapping.items():
        print(" " * indent + str(key))
        if isinstance(value, dict):
            print_mapping(value, indent + 2)
