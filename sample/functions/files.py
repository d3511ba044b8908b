"""Files and folders."""

import hashlib
import math
import os
import shutil
from pathlib import Path


def human_size(size):
    """Return a file size in human readable form, such as 3.4 MB."""
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1024 or unit == "TB":
            return f"{size:.1f} {unit}"
        size /= 1024


def format_bytes_log(size):
    """Format a number of bytes as a human readable size with the help of a logarithm."""
    units = ["B", "KB", "MB", "GB", "TB"]
    power = int(math.log(size, 1024))
    return f"{round(size / 1024**power, 2)} {units[power]}"


def size_in_si_units(size):
    """Make a file size readable for humans with SI prefixes, 1 kB being 1000 bytes."""
    units = iter(["B", "kB", "MB", "GB", "TB"])
    unit = next(units)
    while size >= 1000 and unit != "TB":
        size /= 1000
        unit = next(units)
    return f"{size:g} {unit}"


def parse_size(text):
    """Parse a human readable file size such as 10 MB to a number of bytes."""
    number, unit = text.split()
    return int(float(number) * 1024 ** ["B", "KB", "MB", "GB", "TB"].index(unit.upper()))


def file_size(path):
    """Return the size of a file in bytes."""
    return os.path.getsize(path)


def file_size_label(path):
    """Return the size of the file at a path as human readable text."""
    size = float(os.stat(path).st_size)
    for unit in ["bytes", "KB", "MB", "GB"]:
        if size < 1024:
            break
        size /= 1024
    return "%.1f %s" % (size, unit)


def short_size(size):
    """Human readable file size in kilobytes or megabytes."""
    if size < 1024:
        return f"{size} B"
    if size < 1024**2:
        return f"{size // 1024} KB"
    return f"{size // 1024**2} KB"


def folder_size(path):
    """Return the size of all files under a folder in bytes."""
    return sum(entry.stat().st_size for entry in Path(path).rglob("*") if entry.is_file())


def hash_file(path, algorithm="sha256"):
    """Return the hash of a file, read in blocks."""
    digest = hashlib.new(algorithm)
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(65536), b""):
            digest.update(block)
    return digest.hexdigest()


def copy_tree(source, target):
    """Copy a folder and all that is in it."""
    shutil.copytree(source, target, dirs_exist_ok=True)


def touch(path):
    """Create an empty file or renew its time stamp."""
    Path(path).touch()
