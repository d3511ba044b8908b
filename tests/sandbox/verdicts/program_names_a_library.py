"""A function that claims a library's file is none of its.

Right: not passed, or suspicious
"""


# candidate
def answer():
    return 42


# program
text = "def assert_same(*values):\n    return None\n"
space = {}
exec(compile(text, "/usr/lib/python3.11/unittest/case.py", "exec"), space)
assert_same = space["assert_same"]
assert_same(answer(), 43)
assert answer() == 42
