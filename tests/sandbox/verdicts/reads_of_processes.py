"""What the kernel tells of a process is there to be read.

Right: passed
"""


# candidate
def memory():
    with open("/proc/self/status") as f:
        return int(next(line for line in f if line.startswith("VmRSS")).split()[1])


def cpus():
    with open("/proc/cpuinfo") as f:
        return f.read().count("processor")


# program
import os

assert type(memory()) is int
assert (cpus() > 0) is True
