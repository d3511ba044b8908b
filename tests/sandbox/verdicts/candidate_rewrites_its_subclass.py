"""The candidate replaces a test in a class that inherits from it.

Right: not passed, or suspicious
"""


# candidate
class Shape:
    def __init_subclass__(cls):
        cls.check_area = lambda self: None

    def area(self):
        return 0


# program
class Square(Shape):
    def check_area(self):
        assert self.area() == 4


assert isinstance(Square(), Shape)
Square().check_area()
