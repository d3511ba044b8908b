"""Threads that call the candidate at once spoil no record, and names that the program binds meanwhile are its own.

Right: passed
"""


# candidate
def double(x):
    return x * 2


# program
import threading

found = []


def work():
    for number in range(200):
        found.append(double(number))


threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(found) == 1600
assert sorted(found)[-1] == double(199)
