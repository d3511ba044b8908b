"""Rows and columns: CSV, TSV and JSON lines."""

import csv
import io


def read_csv_dicts(path):
    """Read a CSV file into a list of dictionaries, one per row."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_csv_rows(path):
    """Read a CSV file into a list of rows, each a list of strings."""
    with open(path, newline="", encoding="utf-8") as file:
        return [row for row in csv.reader(file)]


def read_csv_by_hand(path):
    """Read a CSV file and return a list of dictionaries with the header as keys."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    header = lines[0].split(",")
    return [dict(zip(header, line.split(","))) for line in lines[1:]]


def load_records(filename, delimiter=","):
    """Read the records of a CSV file into a list of dictionaries."""
    with open(filename, newline="") as handle:
        reader = csv.reader(handle, delimiter=delimiter)
        header = next(reader)
        return [dict(zip(header, row)) for row in reader if all(row)]


def index_csv(path, key):
    """Read a CSV file into a dictionary of rows by the value of one column."""
    with open(path, newline="", encoding="utf-8") as file:
        return {row[key]: row for row in csv.DictReader(file)}


def read_csv_columns(path):
    """Read a CSV file into a dictionary of lists, one list for each column."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}


def parse_csv_content(content):
    """Parse the content of a CSV file into a list of dictionaries."""
    return list(csv.DictReader(io.StringIO(content)))


def read_csv_with_names(path, names):
    """Read a CSV file into a list of dictionaries with the given column names."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, fieldnames=names))


def iter_csv_dicts(path):
    """Read a CSV file row by row, yielding dictionaries."""
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def transpose(rows):
    """Swap the rows and columns of a table."""
    return [list(column) for column in zip(*rows)]


def print_table(rows):
    """Print the rows of a table separated by tabs."""
    for row in rows:
        print("\t".join(str(cell) for cell in row))
