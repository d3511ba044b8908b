"""What is taken out of a list leaves the rest as it was.

Right: passed
"""


# candidate
def pop(stack):
    return stack.pop()


# program
stack = [1, 2, 3]
while stack:
    top = stack[-1]
    assert pop(stack) == top
