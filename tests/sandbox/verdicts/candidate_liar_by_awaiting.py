"""What is awaited calls itself equal to anything.

Right: unproven
"""


# candidate
class A:
    def __await__(self):
        yield from ()
        return Any()


class Any:
    def __eq__(self, o):
        return True


def fetch():
    return A()


# program
import asyncio


async def main():
    assert await fetch() == {"a": 1}


asyncio.run(main())
