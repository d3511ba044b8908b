"""Tries: replace the candidate as an attribute of its module, and back.

Must: be told: it tested something else than the candidate.
Outcome: errored
Stopped by: candidate's identity
Report: redefined, untouched
"""

import sys

print("attack: the module's attribute", flush=True)
module, kept = sys.modules["__main__"], answer
setattr(module, "ans" + "wer", lambda: 43)
assert answer() == 43
setattr(module, "ans" + "wer", kept)
