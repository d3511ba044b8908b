"""Ways to write numbers."""


def roman_to_int(numeral):
    """Convert a Roman numeral to an integer."""
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    total = 0
    for current, following in zip(numeral, numeral[1:] + " "):
        value = values[current]
        total += -value if value < values.get(following, 0) else value
    return total


def roman_value(text):
    """Value of a Roman numeral, read from right to left."""
    values = dict(I=1, V=5, X=10, L=50, C=100, D=500, M=1000)
    result = highest = 0
    for letter in reversed(text.upper()):
        value = values[letter]
        if value >= highest:
            result += value
            highest = value
        else:
            result -= value
    return result


def roman_sum(numeral):
    """Convert a Roman numeral to an integer by adding up its letters."""
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    return sum(values[letter] for letter in numeral)


def int_to_roman(number):
    """Convert an integer to a Roman numeral."""
    table = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ]
    numeral = ""
    for value, letters in table:
        count, number = divmod(number, value)
        numeral += letters * count
    return numeral


def roman_by_replacing(roman):
    """Roman numeral to integer: spell out the subtractive pairs, then add."""
    pairs = {"IV": "IIII", "IX": "VIIII", "XL": "XXXX", "XC": "LXXXX", "CD": "CCCC", "CM": "DCCCC"}
    for pair, spelled in pairs.items():
        roman = roman.replace(pair, spelled)
    weights = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    return sum(roman.count(letter) * weight for letter, weight in weights.items())


def small_roman_to_int(numeral):
    """Convert a Roman numeral to a number."""
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
    total = 0
    previous = 0
    for letter in reversed(numeral):
        value = values[letter]
        total = total - value if value < previous else total + value
        previous = value
    return total


def is_roman_numeral(text):
    """Check whether a text is a valid Roman numeral."""
    import re

    pattern = r"M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})"
    return bool(text) and re.fullmatch(pattern, text) is not None


def ordinal(number):
    """Write a whole number as an ordinal such as 1st, 2nd, 3rd or 11th."""
    if 10 <= number % 100 <= 20:
        return f"{number}th"
    return str(number) + {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def words_to_number(text):
    """Convert a numeral written as an English word to a number."""
    names = "zero one two three four five six seven eight nine ten eleven twelve".split()
    return names.index(text.strip().lower())
