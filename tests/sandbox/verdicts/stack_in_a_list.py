"""Functions that work on a list of the program's, and are asked about it.

Right: passed
"""


# candidate
def push(stack, item):
    stack.append(item)


def pop(stack):
    return stack.pop()


def size(stack):
    return len(stack)


def peek(stack):
    return stack[-1]


# program
stack = [1, 2]
push(stack, 3)
assert size(stack) == len(stack)
assert peek(stack) == stack[-1] == 3
assert pop(stack) == 3
assert size(stack) == len(stack) == 2
