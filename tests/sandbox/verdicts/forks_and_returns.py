"""A child may come back to the program.

Right: passed
"""

# candidate
import os


def fork_worker():
    pid = os.fork()
    return "child" if pid == 0 else pid


# program
import os

pid = fork_worker()
if pid == "child":
    os._exit(5)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
