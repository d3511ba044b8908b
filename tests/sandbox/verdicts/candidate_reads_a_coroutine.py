"""The code of a coroutine is not the candidate's to read.

Right: not passed, or suspicious
"""

# candidate
import asyncio


async def answer():
    code = asyncio.current_task().get_coro().cr_code
    return max(c for c in code.co_consts if type(c) is int)


# program
import asyncio


async def main():
    assert await answer() == 43


asyncio.run(main())
