"""Tries: read the kernel's memory, addresses and keys from files.

Must: be refused, or find nothing.
Outcome: passed
Stopped by (docker): no rights
Stopped by (bubblewrap): fixed
"""

assert answer() == 42


def readable(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return b""


print("attack: kernel files", flush=True)
for path in (
    "/proc/kcore",
    "/proc/kmsg",
    "/proc/vmallocinfo",
    "/proc/slabinfo",
    "/proc/timer_list",
    "/sys/firmware/acpi/tables/DSDT",
):
    if readable(path):
        print("ESCAPE:", path)
if any(int(line.split()[0], 16) for line in readable("/proc/kallsyms").decode().splitlines()[:100]):
    print("ESCAPE: addresses of the kernel")
