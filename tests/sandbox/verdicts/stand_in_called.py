"""What a function tells a stand-in is what it is tested by.

Right: passed
"""


# candidate
def warn(text):
    mailer.send("root", text.upper())


# program
class Mailer:
    def __init__(self):
        self.sent = []

    def send(self, *mail):
        self.sent.append(mail)


mailer = Mailer()
warn("fire")
assert mailer.sent == [("root", "FIRE")]
