"""Follows tasks to their ends by `tasks.poll` of the provider's official SDK, with the defaults of its client.

Writes {"sdk": VERSION} when it can begin. Reads one line, {"taskIds": [ID, ...], "tasksPerClient": N,
"spreadSeconds": S}: the polls begin evenly within that time. Then writes {"returnedAt": [...], "cpuSeconds": N}: the
epoch ms at which each poll returned, and the CPU of this process from the first poll to the last. A poll that fails
ends the process.
"""

import asyncio
import json
import sys
import time

from gcore import AsyncGcore, __version__


async def follow(client: AsyncGcore, task_id: str, delay: float) -> float:
    await asyncio.sleep(delay)
    await client.cloud.tasks.poll(task_id)
    return time.time() * 1_000


async def follow_all(task_ids: list, per_client: int, spread: float) -> list:
    clients = [AsyncGcore() for _ in range(0, len(task_ids), per_client)]
    return await asyncio.gather(
        *(
            follow(clients[index // per_client], task_id, spread * index / len(task_ids))
            for index, task_id in enumerate(task_ids)
        )
    )


def write(message: dict) -> None:
    print(json.dumps(message), flush=True)


# Loads what the SDK loads at its first use.
AsyncGcore().cloud.tasks
write({"sdk": __version__})
work = json.loads(sys.stdin.readline())
before = time.process_time()
returned = asyncio.run(follow_all(work["taskIds"], work["tasksPerClient"], work["spreadSeconds"]))
write({"returnedAt": returned, "cpuSeconds": time.process_time() - before})
