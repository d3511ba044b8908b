"""An exit by a runner of its own is none of unittest's.

Right: not passed, or suspicious
"""


# candidate
def answer():
    return 42


# program
import sys
import types

runner = types.ModuleType("unittest.main")
exec("import sys\ndef main():\n    sys.exit(0)\n", vars(runner))
runner.__file__ = "<string>"
sys.modules["unittest.main"] = runner
assert answer() == 42
runner.main()
assert answer() == 43
