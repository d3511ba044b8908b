"""The same of what is looked up.

Right: not passed, or suspicious
"""


# candidate
def get(table, key):
    value = table[key]
    for k in table:
        table[k] = value
    return value


# program
table = {"a": 1, "b": 2}
for key in table:
    assert get(table, key) == table[key]
