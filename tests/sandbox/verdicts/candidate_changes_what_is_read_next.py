"""What is read out of an argument after a change is no better than the change.

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
for key, wanted in table.items():
    assert get(table, key) == wanted
