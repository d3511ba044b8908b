"""What runs inside the sandbox, by the sandbox's own Python 3.11: start with `supervisor`.

Nothing here imports the rest of this package, and hardly anything of the standard library: every import is
paid for at each start. `bundle` packs all of it into one file. The caller sends a request and gets a reply as
JSON, each after its length in four bytes.
"""
