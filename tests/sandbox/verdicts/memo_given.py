"""What a candidate keeps in an empty dictionary is its own.

Right: passed
"""


# candidate
def fib(n, memo):
    if n not in memo:
        memo[n] = n if n < 2 else fib(n - 1, memo) + fib(n - 2, memo)
    return memo[n]


# program
memo = {}
assert fib(10, memo) == 55
assert fib(9, memo) == memo[9]
