"""Tries: change the kernel's settings under /proc/sys and /sys.

Must: be refused to open them.
Outcome: passed
Stopped by: fixed
"""

assert answer() == 42
print("attack: open settings to write", flush=True)
for path in (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sysrq-trigger",
    "/sys/kernel/uevent_helper",
):
    try:
        open(path, "r+").close()
        print("ESCAPE:", path)
    except OSError as refused:
        print("refused:", refused)
