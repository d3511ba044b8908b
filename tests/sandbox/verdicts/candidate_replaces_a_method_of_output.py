"""The candidate has nothing written to what pytest captures.

Right: failed
"""

# candidate
import sys


def hello():
    sys.stdout.write = lambda text: None
    print("bye")


# program
def test_hello(capsys):
    hello()
    assert capsys.readouterr().out == "hello\n"
