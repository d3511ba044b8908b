"""The same with a runner of the program's own.

Right: not passed, or suspicious
"""


# candidate
def half(x):
    return x / 2


# program
def test_number():
    assert half(8) == 4


def test_text():
    assert half("8") == 4


passed = 0
for test in (test_number, test_text):
    try:
        test()
        passed += 1
    except Exception as error:
        print("error", error)
print(passed, "passed")
