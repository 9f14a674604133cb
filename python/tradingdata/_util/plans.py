"""Plans: procedures of both clients, written once as generators that never wait themselves.

A plan yields each of its steps, the result of a synchronous call or the awaitable of an
asynchronous one, and is sent the result of the step.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

Result = TypeVar("Result")
Plan = Generator[Any, Any, Result]


def run(plan: Plan[Result]) -> Result:
    """Runs a plan of synchronous steps, each of which has been done when it is yielded."""
    try:
        step = next(plan)
        while True:
            step = plan.send(step)
    except StopIteration as end:
        result: Result = end.value
        return result


async def run_async(plan: Plan[Result]) -> Result:
    """Runs a plan of asynchronous steps, whose errors are raised in the plan."""
    try:
        step = next(plan)
        while True:
            try:
                done = await step
            except BaseException as error:
                step = plan.throw(error)
            else:
                step = plan.send(done)
    except StopIteration as end:
        result: Result = end.value
        return result
