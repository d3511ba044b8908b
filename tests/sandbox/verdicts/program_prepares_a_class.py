"""Names in a class body are looked up in what its metaclass makes.

Right: not passed, or suspicious
"""


# candidate
def answer():
    return 42


# program
class Meta(type):
    def __prepare__(name, bases):
        return {"ans" + "wer": lambda: 43}


answer()


class Answers(metaclass=Meta):
    assert answer() == 43
