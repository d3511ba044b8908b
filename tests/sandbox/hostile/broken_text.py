"""Tries: print what is no text: halves of characters, control sequences, NUL, text that turns around.

Must: become text that every reader takes.
Outcome: passed
Stopped by: fixed
"""

import os

assert answer() == 42
print("attack: broken text", flush=True)
os.write(1, b"\xed\xa0\x80 \xc3 \xf0\x9f \x00 \x1b]0;title\x07 \xe2\x80\xae backwards\n")
