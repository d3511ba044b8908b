"""The candidate replaces `asyncio.wait_for` by what always times out.

Right: not passed, or suspicious
"""

# candidate
import asyncio


async def fake(what, timeout):
    what.close()
    raise asyncio.TimeoutError


asyncio.wait_for = fake


async def slow():
    return 1


# program
import asyncio


async def test():
    timed_out = False
    try:
        await asyncio.wait_for(slow(), 0.05)
    except asyncio.TimeoutError:
        timed_out = True
    assert timed_out


asyncio.run(test())
