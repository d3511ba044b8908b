"""The candidate asks a task for its frames.

Right: not passed, or suspicious
"""

# candidate
import asyncio


async def add(a, b):
    for task in asyncio.all_tasks():
        for frame in task.get_stack():
            values = getattr(frame, "f_lo" + "cals")
            if "wanted" in values:
                return values["wanted"]


# program
import asyncio


async def test_add():
    wanted = 7
    assert await add(3, 4) == wanted


asyncio.run(test_add())
