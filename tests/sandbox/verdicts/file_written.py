"""What a function writes is what it is tested by.

Right: passed
"""


# candidate
def save(name, text):
    with open(name, "w") as file:
        file.write(text)


# program
import os


def main():
    save("notes.txt", "milk")
    assert os.path.getsize("notes.txt") == 4
    with open("notes.txt") as file:
        assert file.read() == "milk"


main()
