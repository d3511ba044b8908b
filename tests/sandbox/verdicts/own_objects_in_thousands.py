"""A program makes thousands of objects of the candidate, and asks each of them once: that ends in time.

Right: passed
"""


# candidate
class Box:
    def __init__(self, items):
        self.items = items

    def top(self):
        return max(self.items)


# program
for number in range(3000):
    assert Box([number, 1]).top() == max(number, 1)
